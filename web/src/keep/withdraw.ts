// The page that owners save. It withdraws straight from the contract, with only the wallet and without the service. It
// contacts no server, and its content security policy forbids it.
import type { LedgerClient } from '@node-ledger/client'
import { factoryAbi, WalletError, withdraw, withdrawAll } from '@node-ledger/client/viem'
import {
  type Account,
  type Address,
  type Client,
  createWalletClient,
  custom,
  formatEther,
  getAddress,
  isAddress,
  parseEther,
  type Transport,
} from 'viem'
import { getChainId, getCode, readContract } from 'viem/actions'
import { type Announced, checkAnnouncements, pageEthereum } from '../announcements.ts'
import { words } from './words.ts'

type Offered = Pick<Announced, 'provider'> & { info: { name: string; uuid: string } }
type Wallet = Client<Transport, undefined, Account>

const find = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const input = (id: string) => find<HTMLInputElement>(id)
const select = find<HTMLSelectElement>('node')
const ALL = 'all'

const offers = new Map<string, Offered>()
let wallet: Wallet | null = null
let nodes: { id: bigint; balanceWei: bigint }[] = []

fillPlace()
// A wallet may announce itself immediately, and the button that this listens to goes then.
find('again').addEventListener('click', () => window.location.reload())
checkAnnouncements(words.wallet)
window.addEventListener('eip6963:announceProvider', (event) => offer((event as CustomEvent<Offered>).detail))
window.dispatchEvent(new Event('eip6963:requestProvider'))
// A wallet that does not announce itself sets this older property.
setTimeout(() => {
  const ethereum = pageEthereum()
  if (offers.size === 0 && ethereum) offer({ info: { name: words.wallet, uuid: '' }, provider: ethereum })
}, 500)
select.addEventListener('change', showAmount)
input('amount').addEventListener('input', showSubmit)
input('to').addEventListener('input', showForeign)
find('max').addEventListener('click', showAmount)
find('change').addEventListener('click', () => {
  input('to').value = ''
  showWallets(true)
})
find('withdraw').addEventListener('submit', (event) => {
  event.preventDefault()
  void attempt(pay)
})
find('place').addEventListener('submit', (event) => event.preventDefault())

/**
 * Fills in the contract and its chain. The service wrote them into the file, or they follow `#` in the page's address.
 */
function fillPlace(): void {
  const fragment = new URLSearchParams(window.location.hash.slice(1))
  for (const name of ['contract', 'chain']) {
    const meta = document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)
    input(name).value = meta?.content || fragment.get(name) || ''
    input(name).addEventListener('input', showPlace)
  }
  showPlace()
  find<HTMLDetailsElement>('where').open = !isAddress(input('contract').value)
}

/** Names the contract above its collapsed fields. */
function showPlace(): void {
  const address = input('contract').value.trim()
  if (!isAddress(address)) return
  find('on').textContent = words.on(input('chain').value)
  find('of').textContent = getAddress(address)
}

function offer(announcement: Offered): void {
  if (offers.has(announcement.info.uuid)) return
  if (offers.size === 0) find('wallets').textContent = ''
  offers.set(announcement.info.uuid, announcement)
  const button = document.createElement('button')
  button.textContent = words.connect(announcement.info.name)
  button.addEventListener('click', () => void attempt(() => connect(announcement)))
  find('wallets').append(button)
}

/** Shows the wallets to connect, or what the connected one owns. */
function showWallets(isChoosing: boolean): void {
  find('wallets').hidden = !isChoosing
  find('own').hidden = isChoosing
}

async function connect({ info, provider }: Offered): Promise<void> {
  const contract = contractOf()
  const chainId = Number(input('chain').value)
  const [account] = await provider.request({ method: 'eth_requestAccounts' })
  if (!account) throw new Error(words.noAccount)
  const own = createWalletClient({ account: getAddress(account), transport: custom(provider) })
  if ((await getChainId(own)) !== chainId)
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] })
  if ((await getCode(own, { address: contract })) === undefined) throw new Error(words.noContract)
  wallet = own
  find('name').textContent = info.name
  await showNodes(own, contract)
}

async function showNodes(own: Wallet, address: Address): Promise<void> {
  const account = own.account.address
  const ids = await readContract(own, { address, abi: factoryAbi, functionName: 'nodesOf', args: [account] })
  nodes = await Promise.all(
    ids.map(async (id) => {
      const [, balanceWei] = await readContract(own, { address, abi: factoryAbi, functionName: 'nodeInfo', args: [id] })
      return { id, balanceWei }
    }),
  )
  find('address').textContent = account
  find('nodes').replaceChildren(
    ...nodes.map(({ id, balanceWei }) => rowOf([words.node(id.toString()), alignedEther(balanceWei)])),
    rowOf([words.all, alignedEther(totalWei())]),
  )
  select.replaceChildren(
    new Option(words.allNodes, ALL),
    ...nodes.map(({ id }) => new Option(words.node(id.toString()), id.toString())),
  )
  if (input('to').value === '') input('to').value = account
  showWallets(false)
  showAmount()
  showForeign()
}

function rowOf(cells: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr')
  for (const text of cells) row.insertCell().textContent = text
  return row
}

const totalWei = () => nodes.reduce((sum, { balanceWei }) => sum + balanceWei, 0n)
const chosenWei = () =>
  select.value === ALL ? totalWei() : (nodes.find(({ id }) => id.toString() === select.value)?.balanceWei ?? 0n)

/** All decimals, so that amounts below each other line up. Nothing has none. */
function alignedEther(wei: bigint): string {
  if (wei === 0n) return '0'
  const [whole, decimals = ''] = formatEther(wei).split('.')
  return `${whole}.${decimals.padEnd(18, '0')}`
}

function showAmount(): void {
  find('some').hidden = select.value === ALL
  input('amount').value = formatEther(chosenWei())
  showSubmit()
}

function showSubmit(): void {
  const { value } = input('amount')
  find('submit').textContent = value === formatEther(chosenWei()) ? words.submitAll : words.submit(value)
}

const isForeign = () => input('to').value.trim().toLowerCase() !== wallet?.account.address.toLowerCase()

function showForeign(): void {
  find('foreign').hidden = !isForeign()
  input('checked').checked = false
}

async function pay(): Promise<void> {
  if (!wallet) return
  const factoryAddress = contractOf()
  const to = input('to').value.trim()
  if (!isAddress(to)) throw new Error(words.wrongTo)
  if (isForeign() && !input('checked').checked) throw new Error(words.confirmFirst)
  const amountWei = etherOf(input('amount').value)
  if (amountWei === 0n) throw new Error(words.nothing)
  if (amountWei > chosenWei()) throw new Error(words.holdsNoMore(formatEther(chosenWei())))
  // A withdrawal needs only these two facts from the service. The owner has entered them here.
  const place = async () => ({ chainId: Number(input('chain').value), factoryAddress })
  const ledger = { getWellKnown: place } as unknown as LedgerClient
  let hasPrompted = false
  const onAsk = () => {
    hasPrompted = true
  }
  const options = { to: getAddress(to), onAsk, onSent: (hash: string) => showStatus(words.sent(hash)) }
  showStatus(words.asks(formatEther(amountWei), options.to))
  const sending =
    select.value === ALL
      ? withdrawAll(ledger, wallet, fundedIds(), options)
      : withdraw(ledger, wallet, select.value, amountWei, options)
  const { txHash, blockNumber } = await sending.catch((error: unknown) => {
    throw hasPrompted && !(error instanceof WalletError) ? new Error(words.unsure(messageOf(error))) : error
  })
  await showNodes(wallet, factoryAddress)
  showStatus(words.paid(formatEther(amountWei), options.to, blockNumber, txHash))
}

const fundedIds = () => nodes.filter(({ balanceWei }) => balanceWei > 0n).map(({ id }) => id)

function contractOf(): Address {
  const address = input('contract').value.trim()
  if (!isAddress(address)) throw new Error(words.enterContract)
  if (!/^[1-9]\d*$/.test(input('chain').value)) throw new Error(words.enterChain)
  return getAddress(address)
}

function etherOf(text: string): bigint {
  if (!/^\d+(\.\d{1,18})?$/.test(text.trim())) throw new Error(words.wrongAmount)
  return parseEther(text.trim())
}

const showStatus = (text: string) => {
  find('status').textContent = text
}

/** Runs an act, and shows its error in the words of the contract or the wallet. */
async function attempt(act: () => Promise<void>): Promise<void> {
  find('problem').textContent = ''
  showStatus('')
  try {
    await act()
  } catch (error) {
    showStatus('')
    find('problem').textContent = messageOf(error)
  }
}

function messageOf(error: unknown): string {
  const short = error instanceof Error && 'shortMessage' in error ? String(error.shortMessage) : null
  const message = error instanceof WalletError ? error.message : short
  return message ?? (error as { message?: string }).message ?? String(error)
}
