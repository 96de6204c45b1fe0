// Owns the cost of each act, to the unit of gas, as its receipt says on a real node. It must never estimate, and no figure
// here changes without its row in docs/CONTRACT.md, if it has one.
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
import { factoryBytecode } from '../../src/chain/factory/bytecode.ts'
import { HANGING_MS, untilMined } from '../../test/support/until.ts'
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
/** A `validUntil` of five bytes: no call of these tests ends by itself. */
const NEVER = 0xfefefefefen
const CAP = 256n
const START_TIMEOUT_MS = 20_000

/** Gas per unit. All inputs are fixed, so that a figure holds to the unit; those that are divided are rounded. */
const GAS = {
  'open a cohort': 55_276,
  'open a cohort, per cohort of 24': 26_307,
  'mint to new owners, per node of 50': 74_228,
  'mint to existing owners, per node of 50': 56_786,
  'mint of a wallet’s eighth node, per node of 50': 79_577,
  'mint of a wallet’s ninth node, per node of 50': 62_477,
  'mint to existing owners, two tiers, per node of 50': 56_986,
  'mint to existing owners, two tiers in turn, per node of 50': 57_411,
  'mint of used refs, per order of 50': 6_310,
  'round of one cohort, 50 nodes': 39_960,
  'round of one cohort, 1 node': 39_960,
  'each further cohort in a round': 9_454,
  'round of one cohort, 365 turns': 39_984,
  'round of one cohort, from surplus': 47_151,
  'round that skips 365 turns and pays none': 43_895,
  'round that skips 365 turns and pays one': 46_736,
  'withdraw, first of three nodes': 64_569,
  'withdraw, later': 47_469,
  'withdrawAll of ten, first time': 183_161,
  'withdrawAll of ten, later': 114_761,
  'withdrawAll of seven, later': 92_492,
  'transfer from a list of 256, worst case': 144_808,
  'transfer to a new owner': 60_163,
  'transfer to an existing owner': 49_371,
  'expel one node': 45_622,
  'expel two nodes': 56_797,
  'refill the minter': 33_312,
  'expel a node that was credited': 45_765,
  'cap a tier': 30_797,
  'plain ether': 22_474,
  'decline gifts': 28_953,
  'a guard beyond 256 blocks, more': 4_878,
} as const

const measured = new Map<string, number>()

function record(what: keyof typeof GAS, gas: number): void {
  measured.set(what, Math.round(gas))
  assert.equal(Math.round(gas), GAS[what], `${what}: mend its row in docs/CONTRACT.md, if it has one`)
}

describe('gas by receipt', () => {
  let anvil: ChildProcess
  let chain: ReturnType<typeof connect>
  let factory: Address

  const fresh = (salt: string): Address => slice(ref(salt), 0, 20)

  async function send(
    account: Account,
    functionName: string,
    args: unknown[],
    value = 0n,
  ): Promise<TransactionReceipt> {
    const call = { account, address: factory, abi: abi as Abi, functionName, args, value }
    const receipt = await untilMined(chain, await chain.writeContract(call))
    assert.equal(receipt.status, 'success', functionName)
    return receipt
  }

  const gasOf = async (...call: Parameters<typeof send>) => Number((await send(...call)).gasUsed)

  const read = (functionName: string, args: unknown[] = []) =>
    chain.readContract({ address: factory, abi: abi as Abi, functionName, args }) as Promise<unknown>

  /** A block, `age` back or a little more, whose number and hash have no zero byte: those are cheaper, and figures would vary. */
  async function guard(age = 0n): Promise<[bigint, Hex]> {
    for (let number = (await chain.getBlockNumber()) - age; ; number--) {
      const { hash } = await chain.getBlock({ blockNumber: number })
      if (isDense(hash) && isDense(numberToHex(number, { size: 2 }))) return [number, hash]
    }
  }

  async function open(count: number, tier = 1n): Promise<{ cohorts: bigint[]; gas: number }> {
    const first = ((await read('lastCohort')) as bigint) + 1n
    const openings = Array.from({ length: count }, () => ({ tier, firstDue: dueFrom(0), interval: INTERVAL_SEC }))
    const gas = await gasOf(minter, 'openCohorts', [first, openings, NEVER])
    return { cohorts: openings.map((_, index) => first + BigInt(index)), gas }
  }

  const openOne = async () => (await open(1)).cohorts[0] as bigint

  /** Mints a node to each recipient: half of them in `other`, in turn or, as the service sends them, cohort by cohort. */
  async function mint(cohort: bigint, recipients: Address[], salt: string, other = cohort, inTurn = false) {
    const cohortOf = (index: number) => ((inTurn ? index % 2 === 0 : index < recipients.length / 2) ? cohort : other)
    const orders = recipients.map((to, index) => ({ to, cohort: cohortOf(index), ref: ref(`${salt}${index}`) }))
    return gasOf(minter, 'mint', [orders, ...(await guard()), NEVER])
  }

  async function round(cohorts: bigint[], nodes: bigint, turns = { skipped: 0n, paid: 1n }, surplus = false) {
    const credits = []
    let latest = 0n
    for (const cohort of cohorts) {
      const [, , firstDue] = (await read('cohort', [cohort])) as [bigint, bigint, bigint]
      credits.push({ cohort, firstDue, ...turns, amountPerNode: AMOUNT_WEI * turns.paid })
      const last = firstDue + (turns.skipped + turns.paid - 1n) * INTERVAL_SEC
      if (last > latest) latest = last
    }
    const { timestamp } = await chain.getBlock()
    if (timestamp < latest) await chain.setNextBlockTimestamp({ timestamp: latest })
    await chain.mine({ blocks: 1 })
    const next = ((await read('round')) as bigint) + 1n
    const value = surplus ? 0n : AMOUNT_WEI * turns.paid * nodes
    return gasOf(distributor, 'credit', [next, ...(await guard()), NEVER, credits], value)
  }

  before(async () => {
    anvil = spawn(anvilPath(), ['--port', '0', '--mnemonic', MNEMONIC, '--timestamp', String(dueFrom(-1))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    process.once('exit', () => anvil.kill('SIGKILL'))
    chain = connect(await listening(anvil))
    await chain.setBlockTimestampInterval({ interval: 1 })
    const setup = {
      owner: owner.address,
      minter: minter.address,
      nodes: 100_000n,
      cohorts: 1_000n,
      distributor: distributor.address,
      floorGwei: 1n,
      ceilingGwei: 2n ** 48n - 1n,
      maxPerWallet: CAP,
      leastInterval: 3_600n,
      expulsionPeriod: 7n * 86_400n,
    }
    const hash = await chain.deployContract({ account: owner, abi, bytecode: factoryBytecode, args: [setup] })
    const { contractAddress } = await untilMined(chain, hash)
    assert.ok(contractAddress)
    factory = contractAddress
    // Guards have numbers of two bytes from here on.
    await chain.mine({ blocks: 300 })
  })

  after(() => {
    anvil.kill('SIGKILL')
    console.log(table())
  })

  it('opening a cohort', async () => {
    await open(1)
    record('open a cohort', (await open(1)).gas)
    record('open a cohort, per cohort of 24', (await open(24)).gas / 24)
  })

  it('minting', async () => {
    const cohort = await openOne()
    const recipients = Array.from({ length: BATCH }, (_, index) => fresh(`buyer${index}`))
    record('mint to new owners, per node of 50', (await mint(cohort, recipients, 'new')) / BATCH)
    record('mint to existing owners, per node of 50', (await mint(cohort, recipients, 'more')) / BATCH)
    const [other = 0n] = (await open(1, 2n)).cohorts
    await mint(other, [fresh('first of its tier')], 'first of its tier')
    const together = await mint(cohort, recipients, 'together', other)
    record('mint to existing owners, two tiers, per node of 50', together / BATCH)
    const inTurn = await mint(cohort, recipients, 'in turn', other, true)
    record('mint to existing owners, two tiers in turn, per node of 50', inTurn / BATCH)
    for (let node = 5; node <= 7; node++) await mint(cohort, recipients, `fill${node}`)
    record('mint of a wallet\u2019s eighth node, per node of 50', (await mint(cohort, recipients, 'eighth')) / BATCH)
    record('mint of a wallet\u2019s ninth node, per node of 50', (await mint(cohort, recipients, 'ninth')) / BATCH)
    record('mint of used refs, per order of 50', (await mint(cohort, recipients, 'ninth')) / BATCH)
  })

  it('crediting costs the same for any number of nodes, and little for each further cohort', async () => {
    const big = await openOne()
    const small = await openOne()
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

    const { cohorts } = await open(10)
    for (const cohort of cohorts) await mint(cohort, [fresh(`many${cohort}`)], `many${cohort}`)
    await round(cohorts, 10n)
    const ten = await round(cohorts, 10n)
    const one = await round(cohorts.slice(0, 1), 1n)
    record('each further cohort in a round', (ten - one) / 9)
    record('round of one cohort, 365 turns', await round([small], 1n, { skipped: 0n, paid: 365n }))
  })

  it('spending surplus and skipping', async () => {
    const cohort = await openOne()
    await mint(cohort, [fresh('late')], 'late')
    await round([cohort], 1n)
    await chain.sendTransaction({ account: owner, to: factory, value: AMOUNT_WEI * 10n })
    await send(owner, 'setSwapsAllowance', [distributor.address, AMOUNT_WEI * 10n, 0n])
    record('round of one cohort, from surplus', await round([cohort], 1n, { skipped: 0n, paid: 1n }, true))
    await send(owner, 'addNotOwed', [1n, 0n, 2n ** 40n - 1n])
    record('round that skips 365 turns and pays none', await round([cohort], 1n, { skipped: 365n, paid: 0n }))
    record('round that skips 365 turns and pays one', await round([cohort], 1n, { skipped: 365n, paid: 1n }))
  })

  it('withdrawing', async () => {
    const cohort = await openOne()
    const first = Number(await read('lastId')) + 1
    // Totals lie three to a slot: a node of a slot that is still empty, then ten that begin in the next one.
    const alone = first + ((3 - (first % 3)) % 3)
    await mint(
      cohort,
      Array.from({ length: 16 }, () => alice.address),
      'alice',
    )
    await round([cohort], 16n)
    const ten = Array.from({ length: 10 }, (_, index) => BigInt(alone + 3 + index))
    const part = AMOUNT_WEI / 3n
    record('withdraw, first of three nodes', await gasOf(alice, 'withdraw', [BigInt(alone), alice.address, part]))
    record('withdraw, later', await gasOf(alice, 'withdraw', [BigInt(alone), alice.address, part]))
    record('withdrawAll of ten, first time', await gasOf(alice, 'withdrawAll', [ten, alice.address]))
    await round([cohort], 16n)
    record('withdrawAll of ten, later', await gasOf(alice, 'withdrawAll', [ten, alice.address]))
    await round([cohort], 16n)
    record('withdrawAll of seven, later', await gasOf(alice, 'withdrawAll', [ten.slice(0, 7), alice.address]))
  })

  it('transferring', async () => {
    const cohort = await openOne()
    const base = (await read('lastId')) as bigint
    for (const count of [50, 50, 50, 50, 50, 6]) {
      await mint(
        cohort,
        Array.from({ length: count }, () => carol.address),
        `carol${await read('lastId')}`,
      )
    }
    const transfer = (from: Account, to: Address, id: bigint) => gasOf(from, 'transferFrom', [from.address, to, id])
    // The last but one is found last, and the last takes its place.
    record('transfer from a list of 256, worst case', await transfer(carol, bob.address, base + 255n))
    record('transfer to a new owner', await transfer(bob, fresh('heir'), base + 255n))
    await mint(cohort, [bob.address, bob.address], 'bob')
    record('transfer to an existing owner', await transfer(bob, alice.address, base + 257n))
  })

  it('guarding a mint by a block that BLOCKHASH no longer knows', async () => {
    const cohort = await openOne()
    await chain.mine({ blocks: 300 })
    const order = (salt: string) => [{ to: fresh(salt), cohort, ref: ref(salt) }]
    await mint(cohort, [fresh('before')], 'before')
    const recent = await gasOf(minter, 'mint', [order('recent'), ...(await guard(1n)), NEVER])
    const [number, hash] = await guard(257n)
    assert.equal(await read('hashOf', [number]), hash, 'the chain fills its history contract')
    record(
      'a guard beyond 256 blocks, more',
      (await gasOf(minter, 'mint', [order('oldest'), number, hash, NEVER])) - recent,
    )
  })

  it('what the owner of a wallet and of the contract do', async () => {
    const cohort = await openOne()
    await mint(cohort, [fresh('rogue0'), fresh('rogue1'), fresh('rogue2')], 'rogue')
    record('expel one node', await gasOf(owner, 'expel', [[ref('rogue0')]]))
    record('expel two nodes', await gasOf(owner, 'expel', [[ref('rogue1'), ref('rogue2')]]))
    await mint(cohort, [fresh('rogue3')], 'credited')
    await round([cohort], 1n)
    record('expel a node that was credited', await gasOf(owner, 'expel', [[ref('credited0')]]))
    record('cap a tier', await gasOf(owner, 'capTier', [1n, 10_000n]))
    const { gasUsed } = await untilMined(
      chain,
      await chain.sendTransaction({ account: alice, to: factory, value: AMOUNT_WEI }),
    )
    record('plain ether', Number(gasUsed))
    record('refill the minter', await gasOf(owner, 'refillMinter', [minter.address, 500n, 100_500n, 24n, 1_024n]))
    record('decline gifts', await gasOf(alice, 'declineGifts', [true]))
  })
})

/** 32 bytes without a zero byte, from a word. */
function ref(salt: string): Hex {
  for (let tries = 0; ; tries++) {
    const hash = keccak256(`0x${Buffer.from(`${salt}:${tries}`).toString('hex')}`)
    if (isDense(hash)) return hash
  }
}

const isDense = (hex: Hex) => !/^0x(..)*00/.test(hex)

/** A time of four bytes without a zero byte, `days` intervals after the first turn. */
function dueFrom(days: number): bigint {
  return 1_800_000_000n + 12_345n + BigInt(days) * INTERVAL_SEC
}

function connect(port: number) {
  const chain = defineChain({
    id: 31_337,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [`http://127.0.0.1:${port}`] } },
  })
  const transport = http(undefined, { timeout: HANGING_MS })
  const wallet = createWalletClient({ chain, transport })
  const options = { chain, transport, mode: 'anvil', pollingInterval: 20, cacheTime: 0 } as const
  return createTestClient(options)
    .extend(publicActions)
    .extend(() => ({
      writeContract: wallet.writeContract,
      deployContract: wallet.deployContract,
      sendTransaction: wallet.sendTransaction,
    }))
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
  return [...measured].map(([what, gas]) => `${what.padEnd(52)}|${String(gas).padStart(9)}`).join('\n')
}
