// Rounds: when none is sent and why, what one holds, what each turn pays, and that a missed turn is still owed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inTransaction } from '../../src/db/core/sql.ts'
import { insertTerms } from '../../src/db/sale/terms.ts'
import { type Hash, hash, wei } from '../../src/domain/units.ts'
import { creditPass } from '../../src/passes/credit.ts'
import { FOREVER } from '../support/factory.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, enterTier, INTERVAL_SEC, paymentOf, SLOT_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
  await world.pay(5, BASIC)
  await world.settle()
})
after(() => world.close())

const intervalLater = async (times = 1) => {
  await world.chain.increaseTime(INTERVAL_SEC * times)
  await world.chain.mine()
}
const sentRounds = async () => (await world.pool`SELECT FROM outbox WHERE kind = 'credit'`).length
const lastTurns = () => world.pool<{ cohort: number; due: number; nodes: number; amount: bigint; bps: number }[]>`
  SELECT cohort, due, node_count AS nodes, amount_wei AS amount, payout_bps AS bps FROM turns
  WHERE round = (SELECT max(round) FROM rounds) ORDER BY cohort`

test('right after a payments pass there are no reads, unless it was behind or a turn is due', async () => {
  const unasked = new Proxy({}, { get: () => assert.fail('the provider was asked') }) as never
  const credit = creditPass({ ...world.ctx, chain: unasked, contract: unasked })
  const followed = await world.payments()
  const { reason, dueNodes, totalWei } = await credit(followed)
  assert.deepEqual([reason, dueNodes, totalWei], ['nothingDue', 0, 0n])
  await assert.rejects(credit({ ...followed, headBlock: (followed.headBlock ?? 0) + 1 }), /was asked/)
  await intervalLater()
  await assert.rejects(credit(await world.payments()), /was asked/)
})

test('without a key nothing is sent, but what is due is still reported, and the tick noted', async () => {
  const outcome = await world.instance({ distributor: null }).credit()
  assert.deepEqual([outcome.reason, outcome.dueNodes, outcome.txHash], ['disabled', 1, null])
  assert.equal(await sentRounds(), 0)
  const [tick] =
    await world.pool`SELECT finished_at >= started_at AS ended, outcome, error FROM passes WHERE name = 'credit'`
  assert.deepEqual([tick?.ended, tick?.outcome.reason, tick?.error], [true, 'disabled', null])
})

test('a sent round is pending, is not sent twice, and is reported with number and transaction', async () => {
  const sent = await world.credit()
  assert.deepEqual([sent.reason, sent.distributionId, sent.nodeCount, sent.dueNodes], [null, 1, 1, 1])
  const again = await world.credit()
  assert.deepEqual(
    [again.reason, again.distributionId, again.txHash, again.totalWei],
    ['pending', 1, sent.txHash, sent.totalWei],
  )
  assert.equal((await world.pool`SELECT FROM rounds`).length, 0, 'not shown before it is in a block')
  await world.rest()
  assert.equal(await sentRounds(), 1)
  assert.equal((await world.pool`SELECT FROM rounds`).length, 1)
})

test('one round pays every cohort that is due, each at the payout of its tier', async () => {
  await world.chain.increaseTime(SLOT_SEC)
  for (const [account, price] of [
    [6, BASIC],
    [6, BASIC],
    [7, PLUS],
  ] as const)
    await world.pay(account, price)
  await world.settle()
  await intervalLater()
  const outcome = await world.credit()
  await world.rest()
  assert.equal(outcome.nodeCount, 4)
  const turns = await lastTurns()
  assert.deepEqual(turns.map((turn) => [turn.nodes, turn.bps]).sort(), [
    [1, 10_000],
    [1, 15_000],
    [2, 10_000],
  ])
  assert.equal(
    outcome.totalWei,
    turns.reduce((sum, turn) => sum + turn.amount * BigInt(turn.nodes), 0n),
  )
})

test('a node bought while its phase has an unpaid turn joins another cohort, and waits in full', async () => {
  await intervalLater()
  const paid = await world.pay(8, BASIC)
  await world.settle()
  const [row] = await world.pool`
    SELECT c.next_due - extract(epoch FROM n.minted_at)::bigint AS wait, c.size FROM nodes n JOIN cohorts c USING (cohort)
    WHERE n.ref = ${paid}`
  // The service chooses at the followed head; the mint's block comes later by as long as the test takes.
  assert.ok(row?.wait > INTERVAL_SEC - SLOT_SEC - 30 && row?.wait <= INTERVAL_SEC, `waits ${row?.wait} s`)
  assert.equal(row?.size, 1)
  await world.rest()
  assert.equal((await world.read<bigint[]>('nodeInfo', [await nodeOf(paid)]))[2], 0n)
})

test('one round pays missed turns by the terms of their time, and later buyers get none of them', async () => {
  await world.rest()
  const [{ next } = assert.fail()] = await world.pool<{ next: number }[]>`
    SELECT next_due AS next FROM cohorts JOIN nodes USING (cohort) WHERE node_id = 1`
  // The range changes after the first missed turn, and again before the third.
  const range = (amount: bigint) => ({
    payouts: true,
    minWei: wei(amount),
    maxWei: wei(amount),
    intervalSec: INTERVAL_SEC,
    slotSec: SLOT_SEC,
  })
  await inTransaction(world.pool, async (sql) => {
    await insertTerms(sql, { fromTime: next + 1, ...range(7_000n) }, 'test')
    await insertTerms(sql, { fromTime: next + 2 * INTERVAL_SEC, ...range(9_000n) }, 'test')
  })
  // Long before the fourth, however slowly the test runs.
  await world.chain.setNextTime(next + 2 * INTERVAL_SEC + 1)
  await world.chain.mine()
  const late = await world.pay(9, BASIC)
  await world.settle()
  const before = await creditedOf(1n)
  const outcome = await world.credit()
  assert.equal(outcome.reason, null)
  await world.chain.mine()
  await world.payments()
  assert.equal((await world.credit()).reason, 'nothingDue')
  const [turn] = await world.pool`
    SELECT t.due, t.turns, t.seed, t.amount_wei AS amount FROM turns t
    WHERE round = ${outcome.distributionId} AND cohort = (SELECT cohort FROM nodes WHERE node_id = 1)`
  assert.deepEqual([turn?.due, turn?.turns, turn?.seed], [next, 3, null])
  assert.equal((await creditedOf(1n)) - before, turn?.amount)
  const singles = await world.pool<{ due: number; amount: bigint; max: bigint; seed: string }[]>`
    SELECT due, amount_wei AS amount, max_wei AS max, seed FROM single_turns
    WHERE round = ${outcome.distributionId} AND cohort = (SELECT cohort FROM nodes WHERE node_id = 1) ORDER BY due`
  assert.deepEqual(
    singles.map(({ due }) => due),
    [next, next + INTERVAL_SEC, next + 2 * INTERVAL_SEC],
  )
  assert.ok((singles[0]?.amount ?? 0n) >= ETHER / 2000n)
  assert.deepEqual(
    singles.slice(1).map(({ amount, max }) => [amount, max]),
    [
      [7_000n, 7_000n],
      [9_000n, 9_000n],
    ],
  )
  assert.equal(
    singles.reduce((sum, { amount }) => sum + amount, 0n),
    turn?.amount,
  )
  assert.equal(await creditedOf(await nodeOf(late)), 0n)
})

test('a turn pays by its own time’s payout, not by the payout at its payment', async () => {
  await enterTier(world, { tierId: 'shrinks', tierNo: 20, priceWei: wei(ETHER / 50n), payoutBps: 20_000 })
  const paid = await world.pay(10, ETHER / 50n)
  await world.rest()
  await intervalLater()
  await enterTier(world, { tierId: 'shrinks', tierNo: 20, priceWei: wei(ETHER / 50n), payoutBps: 1 })
  await world.rest()
  assert.equal(await creditedOf(await nodeOf(paid)), 18_000n)
  await intervalLater()
  await world.rest()
  assert.equal(await creditedOf(await nodeOf(paid)), 18_000n)
})

test('an interval changed by the owner counts from the turn after the pending one', async () => {
  const [{ cohort, due } = assert.fail()] = await world.pool<{ cohort: number; due: number }[]>`
    SELECT cohort, next_due AS due FROM cohorts JOIN nodes USING (cohort) WHERE node_id = 1`
  await world.act(0, 'setInterval', [BigInt(cohort), BigInt(INTERVAL_SEC / 2)])
  await world.chain.setNextTime(due)
  await world.chain.mine()
  await world.rest()
  const [row] = await world.pool`SELECT next_due, interval_sec FROM cohorts WHERE cohort = ${cohort}`
  assert.deepEqual(row, { next_due: due + INTERVAL_SEC / 2, interval_sec: INTERVAL_SEC / 2 })
})

test('in swaps mode a round spends surplus within the owner’s limit, and carries no value', async () => {
  await intervalLater()
  const swaps = world.instance({ rules: { distMode: 'swaps' } })
  const before = await sentRounds()
  assert.equal((await swaps.credit()).reason, 'underfunded', 'no surplus and no leave')
  await world.act(0, 'setSwapsAllowance', [ETHER])
  assert.equal((await swaps.credit()).reason, 'underfunded', 'leave without a surplus')
  await world.act(0, 'setSwapsAllowance', [0n])
  await world.call(0, world.factory, '0x', ETHER)
  assert.equal((await swaps.credit()).reason, 'underfunded', 'a surplus without leave')
  await world.act(0, 'setSwapsAllowance', [1n])
  assert.equal((await swaps.credit()).reason, 'underfunded', 'an allowance that does not suffice')
  assert.equal(await sentRounds(), before)
  await world.act(0, 'setSwapsAllowance', [ETHER])
  const holds = await world.chain.rpc<string>('eth_getBalance', [world.factory, 'latest'])
  const outcome = await swaps.credit()
  assert.equal(outcome.reason, null)
  await world.chain.mine()
  await world.payments()
  const [round] = await world.pool`SELECT mode, total_wei FROM rounds WHERE round = ${outcome.distributionId}`
  assert.deepEqual(round, { mode: 'swaps', total_wei: outcome.totalWei })
  assert.equal(await world.chain.rpc('eth_getBalance', [world.factory, 'latest']), holds)
  assert.equal(await world.read('swapsAllowance'), ETHER - (outcome.totalWei ?? 0n))
  await world.rest()
})

test('a cohort with an unpaid node waits alone, until the operator grants that node', async () => {
  await world.rest()
  const stolen = await mintUnpaid(11)
  const [{ cohort } = assert.fail()] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM nodes WHERE ref = ${stolen.ref}`
  await intervalLater()
  const outcome = await world.credit()
  assert.equal(outcome.reason, null)
  await world.chain.mine()
  await world.payments()
  assert.ok((await lastTurns()).every((turn) => turn.cohort !== cohort))
  await world.pool`
    INSERT INTO grants (ref, reason, granted_by) SELECT ref, 'a gift', 'test' FROM nodes WHERE ref = ${stolen.ref}`
  await world.rest()
  const [turns] = await world.pool`SELECT count(*) AS paid FROM turns WHERE cohort = ${cohort}`
  assert.equal(turns?.paid, 1)
  await checkInvariants(world, { unpaidRefs: [stolen.ref], foreign: [stolen.txHash] })
})

async function nodeOf(paid: Hash): Promise<bigint> {
  return BigInt((await paymentOf(world, paid))?.nodeId ?? assert.fail('no node'))
}
async function creditedOf(nodeId: bigint): Promise<bigint> {
  return (await world.read<bigint[]>('nodeInfo', [nodeId]))[2] ?? assert.fail()
}

/** A node that the minter's key minted without a payment, into a cohort that has no other. */
async function mintUnpaid(account: number): Promise<{ ref: Hash; txHash: Hash }> {
  const minter = world.ctx.minter ?? assert.fail()
  const ref = hash(`0x${'5a'.repeat(32)}`)
  const [{ cohort } = assert.fail()] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts WHERE tier_no = 2 AND size = 0 LIMIT 1`
  const call = {
    kind: 'mint' as const,
    orders: [{ to: world.at(account), cohort, ref }],
    guard: null,
    validUntil: FOREVER,
  }
  const signed = await minter.sign(call, { nonce: await minter.nonce(), gasLimit: 500_000n, fees: await minter.fees() })
  await world.chain.rpc('eth_sendRawTransaction', [signed.raw])
  await world.chain.mine()
  await world.payments()
  return { ref, txHash: signed.txHash }
}
