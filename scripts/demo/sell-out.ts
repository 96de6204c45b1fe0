// Sells out a tier of ten places: twelve wallets pay at once, one of them with a referral code. For a tier with an allowlist, one listed and one
// unlisted wallet pay. Each verdict of the service, and the commission, is compared with the demo's own count from the chain.
import { type Account, formatEther } from 'viem'
import { referralSuffix } from '../../client/src/viem/referral.ts'
import type { Api, Tier } from './api.ts'
import { type DemoChain, freshAccount, GAS_MONEY_WEI } from './chain.ts'
import type { Screen } from './screen.ts'
import { type Payment, payTogether, type Transfer, transfersTo } from './together.ts'
import { Trouble, until } from './trouble.ts'

const SUPPLY = 10
const BUYERS = 12
const COMMISSION_BPS = 500n
const EVERY_MS = 1_500
const WAIT_MS = 90_000

interface Sale {
  readonly api: Api
  readonly chain: DemoChain
  readonly paymentAddress: `0x${string}`
  readonly screen: Screen
  /** The operator's key, `X-Admin-Key`. */
  readonly adminKey: string
  /** Pays the ether that the wallets need. */
  readonly faucet: Account
  /** A price that no tier has. No tier may have the price one wei above it either. */
  readonly priceWei: bigint
}

/** What is sold: the tiers, who is on the allowlist, and who pays with the code. */
interface Offer {
  tierId: string
  priceWei: bigint
  listedTierId: string
  listedPriceWei: bigint
  listed: `0x${string}`
  code: string
  referred: `0x${string}`
}

/** The verdict on a payment, derived from chain and list alone. */
interface Expected {
  transfer: Transfer
  what: string
  status: 'minted' | 'held'
  reason: string | null
}

/** Sells the tier out. Throws a Trouble if a verdict differs from the one derived from chain and list. */
export async function sellOut(sale: Sale): Promise<void> {
  const { api, chain, paymentAddress: to, screen, priceWei } = sale
  const [many, two] = [Array.from({ length: BUYERS }, freshAccount), [freshAccount(), freshAccount()]]
  const [{ address: referred }, { address: listed }] = [many[0], two[0]] as [Account, Account]
  const offer = await enterSale(sale, { referred, listed })
  await chain.fund(sale.faucet, [...many, ...two], offer.listedPriceWei + GAS_MONEY_WEI)
  const payments: Payment[] = [
    ...many.map((account) => ({ account, to, value: priceWei })),
    ...two.map((account) => ({ account, to, value: offer.listedPriceWei })),
  ]
  const [first] = payments
  if (first) first.data = referralSuffix(offer.code)
  const sent = await payTogether(chain, payments)
  const blocks = new Set(sent.map(({ blockNumber }) => blockNumber))
  screen.line(`${BUYERS} wallets pay ${formatEther(priceWei)} ETH each, in block ${[...blocks].join(' and ')}`)
  const found = await transfersTo(chain, to, [...blocks])
  const all = expected(offer, found)
  for (const one of all) await compare(sale, one)
  const { state, sold, remaining } = await tierOf(api, offer.tierId)
  if (state !== 'soldOut' || sold !== SUPPLY || remaining !== 0)
    throw new Trouble(`GET /api/tiers says ${state}, ${sold} sold, ${remaining} left.`)
  screen.line(`GET /api/tiers: ${offer.tierId} is sold out, ${sold} of ${SUPPLY}`)
  await compareCommission(sale, offer, all)
  for (const tierId of [offer.tierId, offer.listedTierId])
    await enter(sale, `tiers/${tierId}/sale`, { onSale: false, immediately: true, reason: 'the demo is over' })
  screen.line('POST /api/admin/tiers/…/sale: both tiers are off sale')
}

async function enter<T>({ api, adminKey }: Sale, path: string, body: object): Promise<T> {
  const answer = await api.post(`/api/admin/${path}`, body, { 'x-admin-key': adminKey })
  if (answer.status === 200) return answer.body as T
  throw new Trouble(`POST /api/admin/${path} answers ${answer.status}: ${answer.body.error}`)
}

/** The expected verdicts. Places go by block and by position in it, counted from the blocks themselves. */
function expected({ priceWei, listedPriceWei, listed }: Offer, transfers: readonly Transfer[]): Expected[] {
  const inOrder = transfers.toSorted((a, b) => a.blockNumber - b.blockNumber || a.index - b.index)
  const places = inOrder.filter(({ value }) => value === priceWei)
  const [minted, held] = [{ status: 'minted' as const, reason: null }, { status: 'held' as const }]
  return [
    ...places.map((transfer, i) => ({
      transfer,
      what: `place ${i + 1}`,
      ...(i < SUPPLY ? minted : { ...held, reason: 'soldOut' }),
    })),
    ...inOrder
      .filter(({ value }) => value === listedPriceWei)
      .map((transfer) =>
        same(transfer.from, listed)
          ? { transfer, what: 'on the list', ...minted }
          : { transfer, what: 'not on the list', ...held, reason: 'notListed' },
      ),
  ]
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

async function compare({ api, chain, screen }: Sale, { transfer, what, status, reason }: Expected): Promise<void> {
  const paid = await decided(api, transfer)
  const nodes = await chain.nodesOf(transfer.from)
  screen.line(`  ${what}: ${transfer.from} ${paid.status}${paid.reason ? ` (${paid.reason})` : ''}`)
  const isAgreed = paid.status === status && paid.reason === reason && nodes.length === (status === 'minted' ? 1 : 0)
  if (!isAgreed)
    throw new Trouble(`By the chain's order and the list, ${what} is ${status}${reason ? `: ${reason}` : ''}.`)
}

/** Compares the commission. The referred wallet's payment earns it, if a node was sold to that wallet. */
async function compareCommission(
  { api, screen, adminKey }: Sale,
  { code, referred, priceWei }: Offer,
  all: readonly Expected[],
): Promise<void> {
  const isSold = all.some(({ transfer, status }) => same(transfer.from, referred) && status === 'minted')
  const own = isSold ? (priceWei * COMMISSION_BPS) / 10_000n : 0n
  const { commissions } = await api.get<{ commissions: { code: string; earnedWei: string }[] }>(
    '/api/admin/statement',
    {
      'x-admin-key': adminKey,
    },
  )
  const earned = BigInt(commissions.find((line) => line.code === code)?.earnedWei ?? 0)
  if (earned !== own) throw new Trouble(`The statement says ${earned} wei for ${code}; by the chain it is ${own}.`)
  screen.line(`GET /api/admin/statement: ${code} earned ${earned} wei`)
}

/** Adds a tier of ten places, a tier with an allowlist, and a code. */
async function enterSale(sale: Sale, { referred, listed }: Pick<Offer, 'referred' | 'listed'>): Promise<Offer> {
  const { api, screen, priceWei, faucet } = sale
  const name = `demo-${Date.now().toString(36)}`
  const [tierId, listedId, listedPriceWei] = [name, `${name}-list`, priceWei + 1n]
  await enter(sale, 'tiers', {
    tierId,
    label: 'Ten places',
    priceWei: String(priceWei),
    maxPerWallet: 1,
    supply: SUPPLY,
  })
  const { root } = await enter<{ root: string }>(sale, 'allowlists', { label: name, rows: `${listed},1` })
  const ofList = { tierId: listedId, label: 'For a list', priceWei: String(listedPriceWei), maxPerWallet: 1 }
  await enter(sale, 'tiers', { ...ofList, allowlist: root })
  await enter(sale, 'referrals', { code: name, payee: faucet.address, commissionBps: Number(COMMISSION_BPS) })
  screen.line(`POST /api/admin/tiers: ${tierId}, ${SUPPLY} places; ${listedId}, one wallet; code ${name}`)
  for (const id of [tierId, listedId]) {
    const isOpen = async () => {
      const { paymentAddress } = await api.get<{ paymentAddress?: string }>(`/api/deploy-quote?tier=${id}`)
      return paymentAddress ?? null
    }
    await until(isOpen, { everyMs: EVERY_MS, withinMs: WAIT_MS, late: `There is no quote for ${id}.` })
  }
  return { tierId, priceWei, listedTierId: listedId, listedPriceWei, listed, code: name, referred }
}

/** The payment, once it is minted or held. */
const decided = (api: Api, { hash, from }: Transfer) =>
  until(
    async () => {
      const paid = (await api.get<Paid[]>(`/api/payments/${from}`)).find(({ txHash }) => txHash === hash)
      return paid && ['minted', 'held'].includes(paid.status) ? paid : null
    },
    { everyMs: EVERY_MS, withinMs: WAIT_MS, late: `Payment ${hash} is not decided.` },
  )
interface Paid {
  txHash: string
  status: string
  reason: string | null
}

async function tierOf(api: Api, id: string): Promise<Tier> {
  const { tiers } = await api.get<{ tiers: Tier[] }>('/api/tiers')
  return tiers.find((tier) => tier.id === id) ?? Promise.reject(new Trouble(`GET /api/tiers has no ${id}.`))
}
