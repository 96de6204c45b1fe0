// What the chain itself says of a line's business, read beside the service, and how the ledger's rows differ from it. It
// reads the chain without any provider between, and never with the service's code. Each block must be proven by the second reading, too, so what
// stands in a line is judged by two provers.
import { decodeEventLog, encodeAbiParameters, keccak256, parseAbi } from 'viem'
import type { Address, Hash } from '../../src/domain/units.ts'
import { unprovenParts } from '../models/proofs/whole.ts'
import type { TestChain } from '../support/anvil.ts'
import { ETHER, type World } from '../support/world.ts'

const eventsAbi = parseAbi([
  'event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort)',
  'event Credited(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns, uint256 amountPerNode, uint256 nodeCount)',
  'event CohortOpened(uint256 indexed cohort, uint256 tier, uint256 firstDue, uint256 interval)',
])
/** The terms that the stage enters. */
const [MIN_WEI, MAX_WEI] = [ETHER / 2000n, (ETHER * 3n) / 2000n]

/** Beside a fork no rule can tell which blocks are the chain's, so these may stand while nothing comes of them. */
const [FOLLOWS_MADE_UP, WAITS_MADE_UP] = [
  'it follows a block that the chain does not have',
  'a payment waits that does not exist',
]
export const BESIDE_A_FORK: readonly string[] = [FOLLOWS_MADE_UP, WAITS_MADE_UP]
const DUST_MADE_UP = 'dust or a transfer of nothing is stored that does not exist'
const FALSE_OUTFLOW = 'an outflow is stored that does not exist, or with a false fee'
const [PAYMENT_MADE_UP, NODE_MADE_UP, FALSE_SIZE, CREDIT_MADE_UP] = [
  'a payment is stored that does not exist',
  'a node is stored that does not exist',
  'a cohort has a false size',
  'a credit is stored that does not exist',
]
/** In a fork by the only provider nothing contradicts these. The real chain must still have no mint and no credit of them. */
export const IN_A_FORK: readonly string[] = [
  ...BESIDE_A_FORK,
  PAYMENT_MADE_UP,
  NODE_MADE_UP,
  FALSE_SIZE,
  CREDIT_MADE_UP,
]

interface WireTx {
  hash: Hash
  from: Address
  to: Address | null
  value: string
}
interface WireBlock {
  number: string
  hash: Hash
  parentHash: Hash
  timestamp: string
  mixHash: Hash
  transactions: WireTx[]
}
interface WireReceipt {
  transactionHash: Hash
  status: string
  gasUsed: string
  effectiveGasPrice: string
  logs: { address: Address; topics: [Hash]; data: Hash }[]
}
interface Read {
  block: WireBlock
  receipts: WireReceipt[]
}

/** A transfer to the payments wallet. */
interface Paid {
  from: Address
  value: bigint
  succeeded: boolean
  blockHash: Hash
}
interface Minted {
  nodeId: bigint
  owner: Address
  ref: Hash
  cohort: bigint
}
interface Credited {
  round: bigint
  cohort: bigint
  due: bigint
  turns: bigint
  amountPerNode: bigint
}

interface Truth {
  blocks: readonly WireBlock[]
  paid: ReadonlyMap<Hash, Paid>
  minted: readonly Minted[]
  credited: readonly Credited[]
  /** What the payments wallet's own transactions cost it, value and fee. */
  spent: ReadonlyMap<Hash, bigint>
  /** The tier of each cohort. */
  tiers: ReadonlyMap<bigint, bigint>
}

/**
 * If nothing proves a block, these may rest on one provider's word while it lies. The service does not act on them until two providers agree.
 */
export const ON_ONE_WORD: readonly string[] = [
  WAITS_MADE_UP,
  PAYMENT_MADE_UP,
  'a residue is stored that does not exist',
  'a payment has a false sender',
  'a payment has a false value',
  'a payment has a false outcome',
  'a block has a false time',
  'a block has a false seed',
  DUST_MADE_UP,
  FALSE_OUTFLOW,
]
/** These stay. Prices, terms and seeds need two that agree on the block. The wallet's balance, on which two must agree, corrects the sum of dust. */
export const STAYS_ON_ONE_WORD: readonly string[] = [
  'a block has a false time',
  'a block has a false seed',
  DUST_MADE_UP,
  FALSE_OUTFLOW,
]

/** Blocks that we have read, because all lines share those of the template. */
const kept = new Map<Hash, Read>()

/** Reads all of the chain. */
export async function readTruth({ chain, factory, at }: World): Promise<Truth> {
  const reads = await readBlocks(chain)
  const paid = new Map<Hash, Paid>()
  const spent = new Map<Hash, bigint>()
  const events: ReturnType<typeof decode>[] = []
  for (const { block, receipts } of reads) {
    const succeeded = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt.status === '0x1']))
    for (const { hash, from, to, value } of block.transactions)
      if (to === at(3))
        paid.set(hash, { from, value: BigInt(value), succeeded: succeeded.get(hash) ?? false, blockHash: block.hash })
    for (const { hash, from, value } of block.transactions) {
      const receipt = receipts.find(({ transactionHash }) => transactionHash === hash)
      if (from === at(3) && receipt)
        spent.set(hash, BigInt(value) + BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice))
    }
    events.push(...receipts.flatMap((receipt) => receipt.logs.filter(({ address }) => address === factory).map(decode)))
  }
  const named = <T>(name: string) => events.flatMap((event) => (event?.eventName === name ? [event.args as T] : []))
  return {
    blocks: reads.map(({ block }) => block),
    paid,
    spent,
    minted: named<Minted>('NodeMinted').map((event) => ({ ...event, owner: event.owner.toLowerCase() as Address })),
    credited: named<Credited>('Credited'),
    tiers: new Map(named<{ cohort: bigint; tier: bigint }>('CohortOpened').map(({ cohort, tier }) => [cohort, tier])),
  }
}

async function readBlocks(chain: TestChain): Promise<Read[]> {
  const head = Number((await chain.block()).number)
  const reads: Read[] = []
  for (let number = head; number > 0; number--) {
    const hash = reads.at(-1)?.block.parentHash
    reads.push((hash && kept.get(hash)) || (await readBlock(chain, number)))
  }
  return reads.reverse()
}

async function readBlock(chain: TestChain, number: number): Promise<Read> {
  const block = await chain.rpc<WireBlock>('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
  const receipts = await chain.rpc<WireReceipt[]>('eth_getBlockReceipts', [block.hash])
  const unproven = await unprovenParts({ ...block }, receipts)
  if (unproven.length > 0) throw new Error(`block ${number} of the real chain: ${unproven.join(', ')}`)
  const read = { block, receipts }
  kept.set(block.hash, read)
  return read
}

function decode(log: { topics: [Hash]; data: Hash }) {
  try {
    return decodeEventLog({ abi: eventsAbi, ...log })
  } catch {
    return null
  }
}

/** What stands in the ledger or on the chain, and must not. Each difference is a phrase; a phrase occurs once. */
export async function findWrong(world: World, truth: Truth): Promise<string[]> {
  const found = [
    ...(await wrongBlocks(world, truth)),
    ...(await wrongPayments(world, truth)),
    ...(await wrongNodes(world, truth)),
    ...(await wrongMints(world, truth)),
    ...(await wrongCohorts(world, truth)),
    ...(await wrongTurns(world, truth)),
    ...(await wrongRest(world, truth)),
  ]
  return [...new Set(found)]
}

async function wrongBlocks({ pool }: World, { blocks }: Truth): Promise<string[]> {
  const rows = await pool<{ number: number; hash: Hash; time: number; seed: Hash }[]>`
    SELECT number, hash, time, prevrandao AS seed FROM blocks`
  return rows.flatMap(({ number, hash, time, seed }) => {
    const block = blocks[number - 1]
    if (block?.hash !== hash) return [FOLLOWS_MADE_UP]
    if (Number(block.timestamp) !== time) return ['a block has a false time']
    return block.mixHash === seed ? [] : ['a block has a false seed']
  })
}

async function wrongPayments({ pool }: World, { paid }: Truth): Promise<string[]> {
  const rows = await pool<(Paid & { txHash: Hash | null; inner: number; state: string })[]>`
    SELECT tx_hash AS "txHash", inner_index AS inner, from_address AS "from", value_wei AS value, succeeded, block_hash AS "blockHash", state
    FROM payments WHERE state <> 'orphaned'`
  return rows.flatMap(({ txHash, inner, ...row }) => {
    if (txHash === null) return ['a residue is stored that does not exist']
    const true_ = inner === 0 ? paid.get(txHash) : undefined
    if (!true_) return [row.state === 'seen' ? WAITS_MADE_UP : PAYMENT_MADE_UP]
    return [
      ...(true_.from === row.from ? [] : ['a payment has a false sender']),
      ...(true_.value === row.value ? [] : ['a payment has a false value']),
      ...(true_.succeeded === row.succeeded ? [] : ['a payment has a false outcome']),
      ...(true_.blockHash === row.blockHash ? [] : ['a payment has a false block']),
    ]
  })
}

async function wrongNodes({ pool }: World, { minted }: Truth): Promise<string[]> {
  const rows = await pool<{ id: number; owner: Address; ref: Hash; cohort: number | null }[]>`
    SELECT node_id AS id, owner, ref, cohort FROM nodes`
  return rows.flatMap(({ id, owner, ref, cohort }) => {
    const event = minted.find(({ nodeId }) => nodeId === BigInt(id))
    if (!event) return [NODE_MADE_UP]
    const isSame = event.owner === owner && event.ref === ref && event.cohort === BigInt(cohort ?? 0)
    return isSame ? [] : ['a node has a false owner, ref or cohort']
  })
}

/** Compares the contract's nodes with the payments, by the refs that the ledger gave them. */
async function wrongMints({ pool }: World, { minted, paid, tiers }: Truth): Promise<string[]> {
  const rows = await pool<{ ref: Hash; txHash: Hash }[]>`SELECT ref, tx_hash AS "txHash" FROM payments`
  const prices = await pool<
    { tierNo: number; price: bigint }[]
  >`SELECT tier_no AS "tierNo", price_wei AS price FROM tiers`
  return minted.flatMap(({ ref, owner, cohort }) => {
    const payment = paid.get(rows.find((row) => row.ref === ref)?.txHash ?? '0x')
    if (!payment?.succeeded) return ['a node is minted that nobody paid for']
    if (payment.from !== owner) return ['a node is minted for another account']
    const isPrice = prices.some(({ tierNo, price }) => BigInt(tierNo) === tiers.get(cohort) && price === payment.value)
    return isPrice ? [] : ['a node is minted in another tier']
  })
}

/** A cohort's size may be behind the chain's, but not before it. */
async function wrongCohorts({ pool }: World, { minted, tiers }: Truth): Promise<string[]> {
  const rows = await pool<{ id: number; size: number; tier: number }[]>`
    SELECT cohort AS id, size, tier_no AS tier FROM cohorts`
  return rows.flatMap(({ id, size, tier }) => {
    const nodes = minted.filter(({ cohort }) => cohort === BigInt(id)).length
    const isTier = tiers.get(BigInt(id)) === BigInt(tier)
    return [...(size > nodes ? [FALSE_SIZE] : []), ...(isTier ? [] : ['a cohort has a false tier'])]
  })
}

async function wrongTurns({ pool }: World, truth: Truth): Promise<string[]> {
  const rows = await pool<{ round: number; cohort: number; due: number; amount: bigint }[]>`
    SELECT round, cohort, due, amount_wei AS amount FROM turns`
  const stored = rows.flatMap(({ round, cohort, due, amount }) => {
    const event = truth.credited.find((one) => one.round === BigInt(round) && one.cohort === BigInt(cohort))
    const isSame = event?.due === BigInt(due) && event.amountPerNode === amount
    return isSame ? [] : [CREDIT_MADE_UP]
  })
  return [...stored, ...truth.credited.flatMap((event) => wrongAmount(event, truth))]
}

/** The draw of a turn, by the seed of the first block that is not before it. The tier pays all of it. */
function wrongAmount({ cohort, due, turns, amountPerNode }: Credited, { blocks }: Truth): string[] {
  const block = blocks.find(({ timestamp }) => BigInt(timestamp) >= due)
  if (!block || turns !== 1n) return ['a turn is paid before its time, or twice']
  const types = [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }]
  const draw = BigInt(keccak256(encodeAbiParameters(types, [block.mixHash, cohort, due])))
  return MIN_WEI + (draw % (MAX_WEI - MIN_WEI + 1n)) === amountPerNode ? [] : ['a turn is paid by a false seed']
}

/** No line has dust, transfers of nothing or refunds. Each has one transaction of the wallet, and one failed withdrawal, by the node's owner. */
async function wrongRest({ pool, at }: World, { blocks, spent }: Truth): Promise<string[]> {
  const [rows] = await pool<{ small: number; refunds: number; foreign: number }[]>`
    SELECT (SELECT count(*) FROM dust)::int + (SELECT count(*) FROM zero_transfers)::int AS small,
      (SELECT count(*) FROM refunds)::int AS refunds,
      (SELECT count(*) FROM audit WHERE action = 'foreignTransaction')::int AS foreign`
  const failed = await pool<{ txHash: Hash; status: string }[]>`SELECT tx_hash AS "txHash", status FROM withdrawals`
  const outflows = await pool<{ txHash: Hash | null; wei: bigint }[]>`
    SELECT tx_hash AS "txHash", value_wei + fee_wei AS wei FROM wallet_outflows`
  const sentBy = new Map(
    blocks.flatMap(({ transactions }) => transactions.map(({ hash, from }) => [hash, from] as const)),
  )
  return [
    ...(rows?.small ? [DUST_MADE_UP] : []),
    ...(outflows.every(({ txHash, wei }) => txHash && spent.get(txHash) === wei) ? [] : [FALSE_OUTFLOW]),
    ...(rows?.refunds ? ['a refund is made that nobody asked for'] : []),
    ...(rows?.foreign ? ['a transaction of ours counts as a stranger’s'] : []),
    ...(failed.every(({ txHash, status }) => sentBy.get(txHash) === at(5) && status === 'failed')
      ? []
      : ['a withdrawal is stored that does not exist']),
  ]
}

/** What the business of a line must leave in the ledger, and has not left yet. */
export async function findMissing({ pool, at }: World, { txHashes, truth }: { txHashes: Business; truth: Truth }) {
  const states = new Map(
    (await pool<{ txHash: Hash; state: string }[]>`SELECT tx_hash AS "txHash", state FROM payments`).map((row) => [
      row.txHash,
      row.state,
    ]),
  )
  const [rows] = await pool<{ turns: number; failed: number }[]>`
    SELECT (SELECT count(*) FROM turns)::int AS turns, (SELECT count(*) FROM withdrawals)::int AS failed`
  const owners = truth.minted.filter(({ owner }) => owner === at(5))
  return [
    ...(states.get(txHashes.exact) === 'minted' && owners.length === 2 ? [] : ['the purchase is not minted']),
    ...(states.get(txHashes.wrong) === 'held' ? [] : ['the wrong amount is not held']),
    ...(rows?.failed ? [] : ['the failed call is not stored']),
    ...(rows?.turns ? [] : ['the turn is not credited']),
  ]
}

/** The transactions of a line: a purchase at a price, a wrong amount, a withdrawal that fails. */
export interface Business {
  exact: Hash
  wrong: Hash
}
