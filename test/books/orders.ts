// Acts on residues in any order: several contract wallets pay in one block; passes with and without traces, the
// operator's acts, kills in the middle of an act, and reorganisations come as the dice fall. Whatever the order, each
// transfer is in the books once, and becomes at most one node or one refund.
import assert from 'node:assert/strict'
import { operatorDeps } from '../../src/boot/app.ts'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import type { Pool } from '../../src/db/core/sql.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { isOperatorRefusal, type OperatorRefusal } from '../../src/operator/act.ts'
import { attributePayment } from '../../src/operator/acts/attribute.ts'
import { dismissPayment, releasePayment } from '../../src/operator/acts/decide.ts'
import { prepareRefund } from '../../src/operator/acts/refunds/prepare.ts'
import { refundPayment } from '../../src/operator/acts/refunds/record.ts'
import type { BlockTransfer } from '../../src/ports/chain.ts'
import type { PassContext } from '../../src/ports/contexts.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { forwardTo, putForwarder } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { randomBelow } from '../support/property.ts'
import { ETHER, startWorld, type World } from '../support/world.ts'

const SAFES = [16, 17, 18]
const VALUES = [ETHER / 100n, ETHER / 40n, 7n]
const ACTOR = { name: 'ada', requestId: null }

interface Play {
  world: World
  pick: <T>(of: readonly T[]) => T
  dice: (bound: number) => number
  /** Blocks with payments by contracts, oldest first; a real reorganisation changes them. */
  blocks: number[]
  done: string[]
}

/** Plays `steps` by a seed's dice, then lets everything come to rest and checks. */
export async function playOrders(seed: number, steps: number): Promise<void> {
  const world = await startWorld()
  const dice = randomBelow(seed)
  const pick = <T>(of: readonly T[]): T => of[dice(of.length)] as T
  const play: Play = { world, pick, dice, blocks: [], done: [] }
  try {
    for (const safe of SAFES) await putForwarder(world, world.at(safe))
    await world.settle()
    await pay(play)
    for (let i = 0; i < steps; i++) await step(play)
    await world.pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`
    await world.settle()
    await world.settle()
    await checkInvariants(world)
    await checkTransfers(play)
  } catch (error) {
    throw new Error(`seed ${seed}, after ${play.done.join(', ')}`, { cause: error })
  } finally {
    await world.close()
  }
}

async function step(play: Play): Promise<void> {
  const act = play.pick([
    pay,
    pass,
    pass,
    pass,
    attribute,
    attribute,
    attribute,
    release,
    release,
    dismiss,
    refund,
    goBack,
    reorganise,
    atOnce,
  ])
  play.done.push(act.name)
  const said = await act(play)
  if (said) play.done.push(said)
}

async function pay({ world, pick, dice, blocks }: Play): Promise<void> {
  for (let i = 0; i <= 1 + dice(2); i++)
    await world.chain.send({
      from: world.at(9),
      to: world.at(pick(SAFES)),
      data: forwardTo(world.at(3)),
      gas: '0x200000',
      value: `0x${pick(VALUES).toString(16)}`,
    })
  await world.chain.mine()
  blocks.push(Number((await world.chain.block()).number))
}

/** The chain as shown by a provider that traces, or does not, or lies. */
function someChain({ world, pick }: Play): PassContext['chain'] {
  const { blockTransfers } = world.ctx.chain
  const lie = async (...asked: Parameters<typeof blockTransfers>): Promise<BlockTransfer[] | null> =>
    (await blockTransfers(...asked))?.map((transfer) => ({ ...transfer, valueWei: 1n as BlockTransfer['valueWei'] })) ??
    null
  return { ...world.ctx.chain, blockTransfers: pick([blockTransfers, async () => null, async () => null, lie]) }
}

async function pass(play: Play): Promise<void> {
  const { world } = play
  await world.pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`
  await world.instance({ chain: someChain(play) }).payments()
}

interface Row {
  id: number
  from: Address | null
  valueWei: bigint
  block: number
}
async function rows({ world }: Play, residues: boolean, states = ['held']): Promise<Row[]> {
  return await world.pool<Row[]>`
    SELECT id, from_address AS "from", value_wei AS "valueWei", block_number AS block FROM payments
    WHERE state = ANY(${states}) AND value_wei > 0 AND (tx_hash IS NULL) = ${residues} ORDER BY id`
}

const say = (done: object | OperatorRefusal) => (isOperatorRefusal(done) ? `(${done.message})` : '')

/** Names transfers of a residue's block, by the trace or by the operator's word, and now and then dies before the end. */
async function attribute(play: Play, pool = play.world.pool): Promise<string> {
  const { world, pick, dice } = play
  const residues = await rows(play, true)
  if (residues.length === 0) return '(none)'
  const { id, block } = pick(residues)
  const shown = (await transfersOf(world, block)).filter(() => dice(3) > 0)
  if (shown.length === 0) return '(none)'
  const transfers = shown.map(({ txHash, index, other, valueWei }) => ({
    txHash,
    innerIndex: index,
    from: other,
    valueWei: valueWei.toString(),
  }))
  const chain = { ...world.ctx.chain, ...(dice(2) === 0 && { innerTransfers: async () => null }) }
  if (dice(4) === 0)
    await assert.rejects(
      attributePayment({ pool: dying(pool), chain }, ACTOR, { payment: String(id), transfers }),
      /killed/,
    )
  return say(await attributePayment({ pool, chain }, ACTOR, { payment: String(id), transfers }))
}

/** A database that loses transactions just before their commit. */
function dying(pool: Pool): Pool {
  return new Proxy(pool, {
    get: (target, name, receiver) =>
      name === 'begin'
        ? (options: string, body: (sql: unknown) => Promise<unknown>) =>
            target.begin(options, async (sql) => {
              await body(sql)
              throw new Error('killed')
            })
        : Reflect.get(target, name, receiver),
  })
}

async function release(play: Play): Promise<string> {
  const payments = await rows(play, false)
  if (payments.length === 0) return '(none)'
  const payment = String(play.pick(payments).id)
  return say(await releasePayment(play.world.ctx, ACTOR, { payment, tierId: play.pick(['basic', 'plus']) }))
}

async function dismiss(play: Play): Promise<string> {
  const payments = [...(await rows(play, false)), ...(await rows(play, true))]
  if (payments.length === 0) return '(none)'
  return say(await dismissPayment(play.world.ctx, ACTOR, { payment: String(play.pick(payments).id) }))
}

async function refund(play: Play): Promise<string> {
  const { world, pick } = play
  const payments = [
    ...(await rows(play, false, ['held', 'dismissed'])),
    ...(await rows(play, true, ['held', 'dismissed'])),
  ]
  if (payments.length === 0) return '(none)'
  const { id, from, valueWei } = pick(payments)
  const deps = operatorDeps(world.ctx, world.pool)
  // Ether sent without preparation is recorded beside a node: that is an alarm, and not the subject of these plays.
  const prepared = await prepareRefund.unguarded(deps, ACTOR, { payment: String(id) })
  if (isOperatorRefusal(prepared) || prepared.mayStillMint) return say(prepared)
  const refundTxHash = await world.chain.send({
    from: world.at(4),
    to: from ?? world.at(9),
    value: `0x${valueWei.toString(16)}`,
    gas: '0x100000',
  })
  await world.chain.mine()
  return say(await refundPayment(deps, ACTOR, { payment: String(id), refundTxHash }))
}

/** The ledger rewinds, and the same blocks return; now and then at once, through a provider that does not trace. */
async function goBack({ world, pick, dice, blocks }: Play): Promise<void> {
  const [fork, cursor] = [await readBlock(world.pool, pick(blocks) - 1), await readCursor(world.pool)]
  if (fork && cursor && fork.number < cursor.number) await rewindTo(world.ctx, fork, cursor)
  if (dice(2) === 0)
    await world.instance({ chain: { ...world.ctx.chain, blockTransfers: async () => null } }).payments()
}

/** The last payments by contracts move to another block, or together into one. */
async function reorganise({ world, dice, blocks }: Play): Promise<void> {
  const from = blocks.at(-1)
  if (from === undefined) return
  const depth = Number((await world.chain.block()).number) - from + 1
  const [minter, distributor] = [world.at(1), world.at(2)]
  const raws: `0x${string}`[] = []
  for (let i = 0; i < depth; i++) {
    const asked = [`0x${(from + i).toString(16)}`, true] as const
    const block = await world.chain.rpc<{ transactions: { hash: Hash; from: Address }[] }>(
      'eth_getBlockByNumber',
      asked,
    )
    // The service sends ours again.
    for (const tx of block.transactions)
      if (tx.from !== minter && tx.from !== distributor) raws.push(await world.raw(tx.hash))
  }
  const place = dice(2) === 0 ? 0 : depth - 1
  await world.chain.reorg(
    depth,
    raws.map((raw) => [raw, place] as const),
  )
  blocks.pop()
  for (let number = from; number < from + depth; number++)
    if ((await transfersOf(world, number)).length > 0) blocks.push(number)
}

/** A pass, two acts and a rewind at once. */
async function atOnce(play: Play): Promise<string> {
  const outcomes = await Promise.allSettled([pass(play), attribute(play), attribute(play), goBack(play), release(play)])
  const faults = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  // If a run could not continue because the ledger was rewound under it, the next one does the work.
  for (const fault of faults)
    if (!/killed|the next run m/.test(String(fault)) && !(fault instanceof ChainFault && fault.retryable)) throw fault
  return ''
}

/** What really reached the wallet by internal calls in a block. */
async function transfersOf(world: World, number: number): Promise<BlockTransfer[]> {
  const block = await world.ctx.chain.block(number)
  const found = block && (await world.ctx.chain.blockTransfers(block, [world.at(3)]))
  return found ?? []
}

/** Compares the ledger with the chain, transfer by transfer. */
async function checkTransfers({ world }: Play): Promise<void> {
  const head = Number((await world.chain.block()).number)
  for (let number = 1; number <= head; number++) {
    const shown = await transfersOf(world, number)
    const ofBlock = await world.pool<{ txHash: Hash | null; place: number; from: Address | null; wei: bigint }[]>`
      SELECT tx_hash AS "txHash", inner_index AS place, from_address AS "from", value_wei AS wei FROM payments
      WHERE block_number = ${number} AND (inner_index > 0 OR tx_hash IS NULL)
      UNION ALL SELECT '0x' || encode(tx_hash, 'hex'), inner_index, '0x' || encode(from_address, 'hex'), value_wei FROM dust
      WHERE block_number = ${number} AND inner_index > 0`
    for (const { txHash, place, from, wei } of ofBlock.filter((row) => row.txHash !== null)) {
      const [transfer, ...others] = shown.filter((one) => one.txHash === txHash && one.index === place)
      assert.deepEqual([transfer?.other, transfer?.valueWei, others.length], [from, wei, 0], `block ${number}`)
    }
  }
  const unpaid = await world.pool`SELECT node_id FROM nodes WHERE payment_id IS NULL`
  assert.equal(unpaid.count, 0, 'each node is a payment’s')
  const both = await world.pool`
    SELECT p.id FROM payments p JOIN refunds r ON r.payment_ref = p.ref WHERE p.state IN ('minted', 'accepted', 'minting')`
  assert.equal(both.count, 0, 'what was paid back has no node')
  const [row] = await world.pool`
    SELECT (SELECT in_wei FROM wallet_books) AS kept, (SELECT sum(value_wei) FROM payments WHERE state <> 'orphaned' AND succeeded)
      + (SELECT coalesce(sum(value_wei), 0) FROM dust) AS counted`
  assert.equal(row?.kept, row?.counted, 'the books are the sum of what is in them')
}
