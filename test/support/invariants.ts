// Invariants of a ledger at rest, whatever happened before. Reads the chain's own blocks and logs, and the database, by
// means other than the service's. Named as in the tests' messages: I1 to I11.
import assert from 'node:assert/strict'
import { decodeEventLog, encodeAbiParameters, keccak256, parseAbi } from 'viem'
import type { Address, Hash } from '../../src/domain/units.ts'
import { digestsOf } from './postgres.ts'
import type { World } from './world.ts'

const eventsAbi = parseAbi([
  'event NodeMinted(uint256 indexed nodeId, address indexed owner, bytes32 indexed ref, uint256 cohort)',
  'event Credited(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns, uint256 amountPerNode, uint256 nodeCount)',
  'event TurnsSkipped(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns)',
  'event SurplusSpent(uint256 indexed round, uint256 amount, uint256 allowance)',
  'event NodeExpelled(uint256 indexed nodeId, bytes32 indexed ref, uint256 indexed cohort, uint256 credited)',
  'event Withdrawn(uint256 indexed nodeId, address indexed owner, address to, uint256 amount, uint256 withdrawnTotal)',
])

interface WireTx {
  hash: Hash
  from: string
  to: string | null
  value: string
}
interface WireBlock {
  number: string
  hash: Hash
  timestamp: string
  mixHash: Hash
  transactions: WireTx[]
}
interface Minted {
  nodeId: bigint
  owner: Address
  ref: Hash
  cohort: bigint
}
interface Turn {
  round: number
  cohort: number
  due: number
  turns: number
  amount_wei: bigint
  node_count: number
  seed: Hash
  seed_block: number
  min_wei: bigint
  max_wei: bigint
  payout_bps: number
}
interface Skipped {
  round: bigint
  cohort: bigint
  due: bigint
  turns: bigint
}
/** A cohort's part of a round, according to the contract's event. */
export interface Credited extends Skipped {
  amountPerNode: bigint
  nodeCount: bigint
}

/** Acts of the test that would otherwise count as breaches. */
export interface OnPurpose {
  /** Nodes minted with the minter's key and without a payment. */
  unpaidRefs?: readonly Hash[]
  /** Transactions sent with our senders' keys outside the outbox. */
  foreign?: readonly Hash[]
  /** Rounds that a stolen distributor paid, with its own amounts. */
  stolenRounds?: readonly number[]
}

/** Brings the world to rest and checks it. If an invariant does not hold, throws an assertion that names it. */
export async function checkInvariants(world: World, onPurpose: OnPurpose = {}): Promise<void> {
  await world.rest()
  const blocks = await readBlocks(world)
  const { minted, ...events } = await readEvents(world)
  await checkPayments(world, blocks, minted, onPurpose)
  await checkNodes(world, minted)
  await checkRounds(world, blocks, { ...events, stolenRounds: onPurpose.stolenRounds ?? [] })
  await checkBooks(world)
  await checkVerdicts(world)
  await checkSent(world, blocks, onPurpose)
  await checkCursor(world, blocks)
  await checkIdle(world)
}

/** Every block of the chain, with its transactions. */
export async function readBlocks(world: World): Promise<WireBlock[]> {
  const head = Number((await world.chain.block()).number)
  const blocks: WireBlock[] = []
  for (let number = 0; number <= head; number++)
    blocks.push(await world.chain.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true]))
  return blocks
}

/** The contract's events about rounds. */
interface RoundEvents {
  credited: Credited[]
  skipped: Skipped[]
  /** Rounds paid from surplus. */
  fromSurplus: bigint[]
}

/** The contract's events. */
export async function readEvents(world: World): Promise<{ minted: Minted[] } & RoundEvents> {
  const logs = await world.chain.rpc<{ topics: [Hash]; data: Hash }[]>('eth_getLogs', [
    { address: world.factory, fromBlock: '0x0', toBlock: 'latest' },
  ])
  const known = new Set(
    eventsAbi.map((event) => keccak256(Buffer.from(`${event.name}(${event.inputs.map((i) => i.type).join(',')})`))),
  )
  const events = logs.filter((log) => known.has(log.topics[0])).map((log) => decodeEventLog({ abi: eventsAbi, ...log }))
  return {
    minted: events.flatMap((event) => (event.eventName === 'NodeMinted' ? [event.args as Minted] : [])),
    credited: events.flatMap((event) => (event.eventName === 'Credited' ? [event.args as Credited] : [])),
    skipped: events.flatMap((event) => (event.eventName === 'TurnsSkipped' ? [event.args as Skipped] : [])),
    fromSurplus: events.flatMap((event) =>
      event.eventName === 'SurplusSpent' ? [(event.args as { round: bigint }).round] : [],
    ),
  }
}

/** A transfer to the payments wallet, and its position. `time` is in seconds since 1970. */
interface Arrived {
  txHash: Hash
  from: string
  value: bigint
  blockHash: Hash
  place: number
  time: number
}
const placeOf = ({ hash, timestamp }: WireBlock, place: number) => ({
  blockHash: hash,
  place,
  time: Number(timestamp),
})

/** I1, I2, I3: each arrival is in the ledger; each accepted payment is one node of its sender and tier; there are no other nodes. */
async function checkPayments(world: World, blocks: WireBlock[], minted: Minted[], onPurpose: OnPurpose): Promise<void> {
  const rows = await world.pool<(Arrived & { ref: Hash; inner: number; state: string; tierNo: number | null })[]>`
    SELECT p.tx_hash AS "txHash", p.ref, p.inner_index AS inner, p.from_address AS "from", p.value_wei AS value, p.state, t.tier_no AS "tierNo",
      p.block_hash AS "blockHash", p.tx_index AS place, extract(epoch FROM p.block_time)::bigint AS time
    FROM payments p LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version WHERE p.state <> 'orphaned' AND p.tx_hash IS NOT NULL`
  const wallet = world.at(3)
  const arrived = blocks.flatMap((block) =>
    block.transactions.flatMap((tx, place): Arrived[] =>
      tx.to === wallet ? [{ txHash: tx.hash, from: tx.from, value: BigInt(tx.value), ...placeOf(block, place) }] : [],
    ),
  )
  const dust = await readDust(world, blocks)
  const known = new Set([...rows, ...dust].map(({ txHash }) => txHash))
  const inVain = await findDustInVain(
    world,
    arrived.filter(({ txHash, value }) => value > 0n && !known.has(txHash)),
  )
  const zero = arrived.filter(({ txHash, value }) => value === 0n || inVain.has(txHash))
  const counted = await world.pool<{ block: number; transfers: number }[]>`
    SELECT block_number AS block, transfers FROM zero_transfers ORDER BY block_number`
  assert.deepEqual(
    counted.map(({ block, transfers }) => [blocks[block]?.hash, transfers]),
    [...Map.groupBy(zero, ({ blockHash }) => blockHash)].map(([hash, ofBlock]) => [hash, ofBlock.length]),
    'I1: the ledger has counted the transfers of nothing of the canonical chain',
  )
  const byHash = (a: { txHash: Hash }, b: { txHash: Hash }) => (a.txHash < b.txHash ? -1 : 1)
  assert.deepEqual(
    [...rows.filter(({ inner }) => inner === 0), ...dust]
      .map(({ txHash, from, value, blockHash, place, time }) => ({ txHash, from, value, blockHash, place, time }))
      .sort(byHash),
    arrived.filter(({ txHash, value }) => value > 0n && !inVain.has(txHash)).sort(byHash),
    'I1: the ledger has exactly the transfers of the canonical chain',
  )
  const cohortTiers = new Map(
    (await world.pool<{ cohort: number; tier: number }[]>`SELECT cohort, tier_no AS tier FROM cohorts`).map((c) => [
      BigInt(c.cohort),
      c.tier,
    ]),
  )
  const sold = rows.filter((row) => row.state === 'minted')
  assert.deepEqual(
    sold.map((row) => [row.ref, row.from, row.tierNo]).sort(),
    minted
      .filter((event) => !onPurpose.unpaidRefs?.includes(event.ref))
      .map((event) => [event.ref, event.owner.toLowerCase(), cohortTiers.get(event.cohort)])
      .sort(),
    'I1, I2: each minted payment is one node of its sender in its tier, and each node one payment',
  )
  const open = rows.filter((row) => ['seen', 'accepted', 'minting'].includes(row.state))
  assert.deepEqual(open, [], 'I1: nothing accepted is left unminted at rest')

  const [ledger] = await world.pool<{ wei: bigint }[]>`
    SELECT (SELECT coalesce(sum(value_wei), 0) FROM payments WHERE succeeded AND state <> 'orphaned' AND reason IS DISTINCT FROM 'self')
      + (SELECT coalesce(sum(value_wei), 0) FROM dust WHERE '0x' || encode(from_address, 'hex') <> ${wallet})
      - (SELECT coalesce(sum(value_wei + fee_wei), 0) FROM wallet_outflows WHERE to_address IS DISTINCT FROM ${wallet})
      - (SELECT coalesce(sum(fee_wei), 0) FROM wallet_outflows WHERE to_address = ${wallet}) AS wei`
  const first = await firstBalance(world)
  assert.equal(ledger?.wei, (await balanceOf(world, wallet, 'latest')) - first, 'I3: the payments wallet adds up')
}

async function readDust(world: World, blocks: WireBlock[]): Promise<Arrived[]> {
  const rows = await world.pool<(Pick<Arrived, 'txHash' | 'from' | 'value'> & { block: number; place: number })[]>`
    SELECT '0x' || encode(tx_hash, 'hex') AS "txHash", '0x' || encode(from_address, 'hex') AS "from", value_wei AS value,
      block_number AS block, tx_index AS place FROM dust WHERE inner_index = 0`
  return rows.map(({ block, place, ...row }) => ({ ...row, ...placeOf(blocks[block] ?? assert.fail(), place) }))
}

const firstBalances = new WeakMap<object, bigint>()

/**
 * The payments wallet's balance in block 0. In a world that will have some hundred blocks, read it early, because anvil
 * forgets that state.
 */
export async function firstBalance(world: World): Promise<bigint> {
  const balance = firstBalances.get(world.chain) ?? (await balanceOf(world, world.at(3), '0x0'))
  firstBalances.set(world.chain, balance)
  return balance
}

async function balanceOf(world: World, account: Address | null, tag: string): Promise<bigint> {
  return BigInt(await world.chain.rpc<string>('eth_getBalance', [account, tag]))
}

/** I4: the counts, and every node and cohort, are as in the contract. */
async function checkNodes(world: World, minted: Minted[]): Promise<void> {
  const rows = await world.pool<
    { id: number; owner: string; credited: bigint; withdrawn: bigint; cohort: number; ref: Hash }[]
  >`
    SELECT n.node_id AS id, n.owner, coalesce(c.per_node_wei - n.per_node_at_mint_wei, e.credited_wei) AS credited,
      n.withdrawn_wei AS withdrawn, coalesce(n.cohort, 0) AS cohort, n.ref
    FROM nodes n LEFT JOIN cohorts c USING (cohort) LEFT JOIN expulsions e USING (node_id) ORDER BY n.node_id`
  assert.equal(await world.read<bigint>('lastId'), BigInt(rows.length), 'I4: as many nodes as the contract counts')
  assert.deepEqual(
    rows.map((row) => [BigInt(row.id), row.ref]),
    minted.map((event) => [event.nodeId, event.ref]),
    'I4: as many nodes as NodeMinted events',
  )
  for (const row of rows) {
    const [owner, balance, credited, withdrawn, cohort] = await world.read<[string, bigint, bigint, bigint, bigint]>(
      'nodeInfo',
      [BigInt(row.id)],
    )
    assert.deepEqual(
      [row.owner, row.credited - row.withdrawn, row.credited, row.withdrawn, BigInt(row.cohort)],
      [owner.toLowerCase(), balance, credited, withdrawn, cohort],
      `I4: node ${row.id} is what nodeInfo says`,
    )
  }
  const cohorts = await world.pool`
    SELECT cohort, per_node_wei, size, next_due, interval_sec, tier_no FROM cohorts ORDER BY cohort`
  for (const row of cohorts) {
    const onChain = await world.read<bigint[]>('cohort', [BigInt(row.cohort)])
    assert.deepEqual(
      [row.per_node_wei, BigInt(row.size), BigInt(row.next_due), BigInt(row.interval_sec), BigInt(row.tier_no)],
      [...onChain],
      `I4: cohort ${row.cohort} is what the contract says`,
    )
  }
}

/** I5: rounds add up, are numbered without gaps and pay each turn once, and every published turn can be recomputed. */
async function checkRounds(
  world: World,
  blocks: WireBlock[],
  { credited, skipped, fromSurplus, stolenRounds }: RoundEvents & { stolenRounds: readonly number[] },
): Promise<void> {
  const rounds = await world.pool<{ round: number; total: bigint; nodes: number; mode: string }[]>`
    SELECT round, total_wei AS total, node_count AS nodes, mode FROM rounds ORDER BY round`
  const turns = await world.pool<Turn[]>`
    SELECT round, cohort, due, turns, amount_wei, node_count, seed, seed_block, min_wei, max_wei, payout_bps FROM turns
    ORDER BY round, cohort`
  assert.deepEqual(
    turns.map((t) => [t.round, t.cohort, t.due, t.turns, t.amount_wei, t.node_count]),
    credited
      .map((c) => [...turnsOf(c), c.amountPerNode, Number(c.nodeCount)] as const)
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]),
    'I5: turns are the Credited events',
  )
  const skips = await world.pool<{ round: number; cohort: number; due: number; turns: number }[]>`
    SELECT round, cohort, due, turns FROM skips ORDER BY round, cohort`
  assert.deepEqual(
    skips.map((row) => [row.round, row.cohort, row.due, row.turns]),
    skipped.map(turnsOf).sort((a, b) => a[0] - b[0] || a[1] - b[1]),
    'I5: skips are the TurnsSkipped events',
  )
  assert.deepEqual(
    rounds.map((row) => row.round),
    Array.from({ length: Number(await world.read<bigint>('round')) }, (_, i) => i + 1),
    'I5: rounds are numbered without a gap, up to the contract',
  )
  for (const round of rounds) {
    const own = credited.filter((event) => event.round === BigInt(round.round))
    const total = own.reduce((sum, event) => sum + event.amountPerNode * event.nodeCount, 0n)
    const nodes = own.reduce((sum, event) => sum + event.nodeCount, 0n)
    const mode = fromSurplus.includes(BigInt(round.round)) ? 'swaps' : 'treasury'
    const found = [round.total, BigInt(round.nodes), round.mode]
    assert.deepEqual(found, [total, nodes, mode], `I5: round ${round.round} adds up`)
  }
  const paid = credited.map((event) => `${event.cohort} ${event.due}`)
  assert.equal(new Set(paid).size, paid.length, 'I5: no cohort is paid a turn twice')
  for (const t of turns.filter(({ round, turns: count }) => count === 1 && !stolenRounds.includes(round))) {
    const at = blocks.findIndex((block) => Number(block.timestamp) >= t.due)
    const block = blocks[at] ?? assert.fail('no seed block')
    assert.equal(t.seed_block, at, 'I5: the seed is of the first block not before the turn')
    const constant = !/^0x(?:(?!0{8}).{16}){4}$/.test(block.mixHash) || block.mixHash === blocks[at - 1]?.mixHash
    assert.equal(t.seed, constant ? block.hash : block.mixHash, 'I5: the seed is the one published')
    const words = encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
      [t.seed, BigInt(t.cohort), BigInt(t.due)],
    )
    const draw = t.min_wei + (BigInt(keccak256(words)) % (t.max_wei - t.min_wei + 1n))
    assert.equal(t.amount_wei, (draw * BigInt(t.payout_bps)) / 10_000n, 'I5: a published turn recomputes to its amount')
  }
}

const turnsOf = ({ round, cohort, due, turns }: Skipped) =>
  [Number(round), Number(cohort), Number(due), Number(turns)] as const

/** I6, and the stored totals compared with a recount. */
async function checkBooks(world: World): Promise<void> {
  const outstanding = await world.read<bigint>('outstanding')
  const [sums] = await world.pool<{ balances: bigint }[]>`
    SELECT coalesce(sum(coalesce(c.per_node_wei - n.per_node_at_mint_wei, e.credited_wei) - n.withdrawn_wei), 0) AS balances
    FROM nodes n LEFT JOIN cohorts c USING (cohort) LEFT JOIN expulsions e USING (node_id)`
  assert.equal(sums?.balances, outstanding, 'I6: what is owed is the sum of all balances')
  const holds = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.factory, 'latest']))
  assert.ok(outstanding <= holds && (await world.read<boolean>('isSolvent')), 'I6: what is owed is there')
  const [kept] = await world.pool`SELECT nodes, owners, rounds, distributed_wei, withdrawn_wei, sales_wei FROM totals`
  const [counted] = await world.pool`
    SELECT (SELECT count(*) FROM nodes) AS nodes, (SELECT count(DISTINCT owner) FROM nodes) AS owners,
      (SELECT count(*) FROM rounds WHERE node_count > 0) AS rounds, (SELECT coalesce(sum(total_wei), 0) FROM rounds) AS distributed_wei,
      (SELECT coalesce(sum(withdrawn_wei), 0) FROM nodes) AS withdrawn_wei, (SELECT coalesce(sum(value_wei), 0) FROM payments WHERE state = 'minted') AS sales_wei`
  assert.deepEqual(kept, counted, 'the kept totals equal a recount')
  assert.deepEqual(
    [...(await world.pool`SELECT owner, nodes FROM owners ORDER BY owner`)],
    [...(await world.pool`SELECT owner, count(*)::int AS nodes FROM nodes GROUP BY owner ORDER BY owner`)],
    'the kept owners equal a recount',
  )
}

/** I8: whenever a pass accepted a payment, its wallet had room: overall, and in the tier unless a release came back. */
async function checkVerdicts(world: World): Promise<void> {
  const verdicts = await world.pool<{ rule: string; evidence: Record<string, number> }[]>`
    SELECT evidence ->> 'rule' AS rule, evidence FROM payment_verdicts WHERE verdict = 'accepted' AND decided_by = 'pass'`
  for (const { rule, evidence } of verdicts) {
    const { allowance, nodesOfTier, inFlightOfTier, walletMax, walletNodes, walletInFlight } = evidence
    const room = (max = -1, held = 0, inFlight = 0) => held + inFlight < max
    assert.ok(rule === 'released' || room(allowance, nodesOfTier, inFlightOfTier), 'I8: within the allowance')
    assert.ok(room(walletMax, walletNodes, walletInFlight), "I8: accepted within the wallet's cap")
  }
}

/** I7: our senders' transactions on chain were stored before; the chain settles each intent. */
async function checkSent(world: World, blocks: WireBlock[], onPurpose: OnPurpose): Promise<void> {
  const ours = [world.at(1), world.at(2)]
  const onChain = blocks.flatMap((block) => block.transactions.filter((tx) => ours.includes(tx.from as Address)))
  const stored = new Set(
    (await world.pool<{ hash: Hash }[]>`SELECT tx_hash AS hash FROM outbox_attempts`).map((row) => row.hash),
  )
  for (const tx of onChain)
    assert.ok(stored.has(tx.hash) || onPurpose.foreign?.includes(tx.hash), `I7: ${tx.hash} was never stored`)
  const settled = await world.pool<{ hash: Hash }[]>`SELECT tx_hash AS hash FROM outbox WHERE state <> 'pending'`
  for (const { hash } of settled)
    assert.ok(
      onChain.some((tx) => tx.hash === hash),
      `I7: ${hash} is settled and on no canonical block`,
    )
}

/** Transfers whose value makes them dust and that failed on chain. */
async function findDustInVain(world: World, transfers: readonly Arrived[]): Promise<Set<Hash>> {
  const [tier] = await world.pool<{ price: bigint | null }[]>`SELECT min(price_wei)::numeric AS price FROM tiers`
  const found = new Set<Hash>()
  for (const { txHash, value } of transfers) {
    if (value * 1_000n >= BigInt(tier?.price ?? 0n)) continue
    const receipt = await world.chain.rpc<{ status: string } | null>('eth_getTransactionReceipt', [txHash])
    if (receipt?.status === '0x0') found.add(txHash)
  }
  return found
}

/** I9: the stored headers are canonical and without a gap, up to the cursor. */
async function checkCursor(world: World, blocks: WireBlock[]): Promise<void> {
  const stored = await world.pool<{ number: number; hash: Hash }[]>`SELECT number, hash FROM blocks ORDER BY number`
  const [cursor] = await world.pool`SELECT block_number AS number, block_hash AS hash FROM cursors`
  const first = stored[0]?.number ?? 0
  assert.deepEqual(
    stored.map((block) => block.hash),
    blocks.slice(first, (cursor?.number ?? 0) + 1).map((block) => block.hash),
    'I9: stored headers are canonical and without a gap',
  )
  assert.equal(cursor?.hash, stored.at(-1)?.hash, 'I9: the cursor is on the last stored block')
}

/** I11: another run of every pass sends nothing and changes nothing. */
async function checkIdle(world: World): Promise<void> {
  const before = await fingerprint(world)
  await world.payments()
  await world.credit()
  assert.deepEqual(await fingerprint(world), before, 'I11: one more run of every pass changes nothing')
}

const TABLES = [
  'cursors',
  'outbox',
  'outbox_attempts',
  'payments',
  'dust',
  'zero_transfers',
  'payment_verdicts',
  'wallet_outflows',
  'cohorts',
  'nodes',
  'expulsions',
  'node_transfers',
  'rounds',
  'turns',
  'skips',
  'owner_acts',
  'withdrawals',
  'totals',
  'audit',
]

/** Every row of the ledger's business, one digest per table. */
export const fingerprint = ({ pool }: World): Promise<Record<string, string>> => digestsOf(pool, TABLES)
