// Owns what each act costs, to the unit of gas, as its receipt says on a real node. It must never estimate, and no figure
// here changes without its row in docs/CONTRACT.md.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import {
  type Abi,
  type Address,
  createTestClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  keccak256,
  numberToHex,
  publicActions,
  slice,
  type TransactionReceipt,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { factoryBytecode } from '../../src/chain/factory.bytecode.ts'
import { factoryFullAbi as abi } from '../factory.full.abi.ts'
import { anvilPath } from '../tools/binaries.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'
const [owner, minter, distributor, alice, bob, carol] = [0, 1, 2, 3, 4, 5].map((addressIndex) =>
  mnemonicToAccount(MNEMONIC, { addressIndex }),
) as [Account, Account, Account, Account, Account, Account]
type Account = ReturnType<typeof mnemonicToAccount>

const INTERVAL_SEC = 86_400n
const AMOUNT_WEI = 1_234_567_890_123_456n
const BATCH = 50
const CAP = 256n
const START_TIMEOUT_MS = 20_000

/** Gas per unit. All inputs are fixed, so that a figure holds to the unit; those that are divided are rounded. */
const GAS = {
} as Record<string, number>

const measured = new Map<string, number>()

function record(what: keyof typeof GAS, gas: number): void {
  measured.set(what, Math.round(gas))
}

describe('gas by receipt', () => {
  let anvil: ChildProcess
  let chain: ReturnType<typeof connect>
  let factory: Address
  let lastCohort = 0n

  const fresh = (salt: string): Address =>
    slice(keccak256(numberToHex(BigInt(`0x${Buffer.from(salt).toString('hex')}`))), 0, 20)
  const ref = (salt: string): Hex => keccak256(`0x${Buffer.from(salt).toString('hex')}`)

  async function send(
    account: Account,
    functionName: string,
    args: unknown[],
    value = 0n,
  ): Promise<TransactionReceipt> {
    const call = { account, address: factory, abi: abi as Abi, functionName, args, value }
    const receipt = await chain.waitForTransactionReceipt({ hash: await chain.writeContract(call) })
    assert.equal(receipt.status, 'success', functionName)
    return receipt
  }

  const gasOf = async (...call: Parameters<typeof send>) => Number((await send(...call)).gasUsed)

  async function guard(): Promise<[bigint, Hex]> {
    const block = await chain.getBlock()
    return [block.number, block.hash]
  }

  async function openCohort(): Promise<{ cohort: bigint; gas: number }> {
    lastCohort += 1n
    const due = (await chain.getBlock()).timestamp + INTERVAL_SEC
    return { cohort: lastCohort, gas: await gasOf(minter, 'openCohort', [lastCohort, 1n, due, INTERVAL_SEC]) }
  }

  async function mint(cohort: bigint, recipients: Address[], salt: string): Promise<number> {
    const orders = recipients.map((to, index) => ({ to, cohort, ref: ref(`${salt}${index}`) }))
    return gasOf(minter, 'mint', [orders, ...(await guard())])
  }

  async function round(cohorts: bigint[], nodes: bigint): Promise<number> {
    await chain.increaseTime({ seconds: Number(INTERVAL_SEC) })
    await chain.mine({ blocks: 1 })
    const next = (await chain.readContract({ address: factory, abi, functionName: 'round' })) + 1n
    const credits = cohorts.map((cohort) => ({ cohort, amountPerNode: AMOUNT_WEI }))
    return gasOf(distributor, 'credit', [next, ...(await guard()), credits], AMOUNT_WEI * nodes)
  }

  before(async () => {
    anvil = spawn(anvilPath(), ['--port', '0', '--mnemonic', MNEMONIC], { stdio: ['ignore', 'pipe', 'inherit'] })
    process.once('exit', () => anvil.kill('SIGKILL'))
    chain = connect(await listening(anvil))
    const args = [owner.address, minter.address, distributor.address, CAP] as const
    const hash = await chain.deployContract({ account: owner, abi, bytecode: factoryBytecode, args })
    const { contractAddress } = await chain.waitForTransactionReceipt({ hash })
    assert.ok(contractAddress)
    factory = contractAddress
  })

  after(() => {
    anvil.kill('SIGKILL')
    console.log(table())
  })

  it('opening a cohort', async () => {
    record('open a cohort', (await openCohort()).gas)
    const due = (await chain.getBlock()).timestamp + INTERVAL_SEC
    const openings = Array.from({ length: 24 }, (_, index) => {
      return { cohort: 1_000n + BigInt(index), tier: 1n, firstDue: due + BigInt(index) * 3600n, interval: INTERVAL_SEC }
    })
    record('open a cohort, per cohort of 24', (await gasOf(minter, 'openCohorts', [openings])) / openings.length)
  })

  it('minting', async () => {
    const { cohort } = await openCohort()
    const recipients = Array.from({ length: BATCH }, (_, index) => fresh(`buyer${index}`))
    record('mint to new owners, per node of 50', (await mint(cohort, recipients, 'new')) / BATCH)
    record('mint to existing owners, per node of 50', (await mint(cohort, recipients, 'more')) / BATCH)
  })

  it('crediting costs the same for any number of nodes, and little for each further cohort', async () => {
    const { cohort: big } = await openCohort()
    const { cohort: small } = await openCohort()
    await mint(
      big,
      Array.from({ length: BATCH }, (_, index) => fresh(`big${index}`)),
      'big',
    )
    await mint(small, [fresh('small')], 'small')
    // The first round of a factory fills slots that were empty; every later one finds them full.
    await round([big, small], BigInt(BATCH + 1))
    record('round of one cohort, 50 nodes', await round([big], BigInt(BATCH)))
    await round([small], 1n)
    record('round of one cohort, 1 node', await round([small], 1n))

    const cohorts: bigint[] = []
    for (let index = 0; index < 10; index++) {
      cohorts.push((await openCohort()).cohort)
      await mint(cohorts[index] as bigint, [fresh(`many${index}`)], `many${index}`)
    }
    await round(cohorts, 10n)
    const ten = await round(cohorts, 10n)
    const one = await round(cohorts.slice(0, 1), 1n)
    record('each further cohort in a round', (ten - one) / 9)
  })

  it('withdrawing', async () => {
    const { cohort } = await openCohort()
    await mint(
      cohort,
      Array.from({ length: 8 }, () => alice.address),
      'alice',
    )
    await round([cohort], 8n)
    const ids = await chain.readContract({ address: factory, abi, functionName: 'nodesOf', args: [alice.address] })
    record('withdraw, first time', await gasOf(alice, 'withdraw', [ids[0], alice.address, AMOUNT_WEI / 3n]))
    record('withdraw, later', await gasOf(alice, 'withdraw', [ids[0], alice.address, AMOUNT_WEI / 3n]))
    record(
      'withdrawAll, per node of 7, first time',
      (await gasOf(alice, 'withdrawAll', [ids.slice(1), alice.address])) / 7,
    )
  })

  it('transferring', async () => {
    const { cohort } = await openCohort()
    const base = await chain.readContract({ address: factory, abi, functionName: 'lastId' })
    for (let minted = 0; minted < 250; minted += BATCH) {
      await mint(
        cohort,
        Array.from({ length: BATCH }, () => carol.address),
        `carol${minted}`,
      )
    }
    await mint(
      cohort,
      Array.from({ length: 6 }, () => carol.address),
      'carol-last',
    )
    const transfer = (from: Account, to: Address, id: bigint) => gasOf(from, 'transferFrom', [from.address, to, id])
    // The last but one is found last, and the last takes its place.
    record('transfer from a list of 256, worst case', await transfer(carol, bob.address, base + 255n))
    record('transfer to a new owner', await transfer(bob, fresh('heir'), base + 255n))
    await mint(cohort, [bob.address, bob.address], 'bob')
    record('transfer to an existing owner', await transfer(bob, alice.address, base + 257n))
  })
})

function connect(port: number) {
  const chain = defineChain({
    id: 31_337,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [`http://127.0.0.1:${port}`] } },
  })
  const transport = http()
  const wallet = createWalletClient({ chain, transport })
  const options = { chain, transport, mode: 'anvil', pollingInterval: 20, cacheTime: 0 } as const
  return createTestClient(options)
    .extend(publicActions)
    .extend(() => ({ writeContract: wallet.writeContract, deployContract: wallet.deployContract }))
}

/** The port that anvil chose. */
function listening(anvil: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    const timer = setTimeout(() => reject(new Error(`anvil did not start:\n${output}`)), START_TIMEOUT_MS)
    anvil.once('error', reject)
    anvil.once('exit', (code) => reject(new Error(`anvil ended with ${code}:\n${output}`)))
    anvil.stdout?.on('data', (chunk) => {
      output += chunk
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (!port) return
      clearTimeout(timer)
      resolve(Number(port))
    })
  })
}

function table(): string {
  const row = (what: string, gas: string, ceiling: string) =>
    `${what.padEnd(42)}|${gas.padStart(9)} |${ceiling.padStart(9)}`
  const rows = [...measured].map(([what, gas]) =>
    row(what, gas.toFixed(0), CEILINGS[what as keyof typeof CEILINGS].toFixed(0)),
  )
  return [row('what', 'gas', 'ceiling'), ...rows].join('\n')
}
