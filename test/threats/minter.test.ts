// A stolen minter: each attack of docs/THREATS.md from outside with the key in hand. The doctor and an alert see it,
// its damage is bounded as the table says, and recovery works as the runbook says.
import assert from 'node:assert/strict'
import { operatorDeps } from '../../src/boot/app.ts'
import { type Hash, hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { previewExpel, previewMinter, previewRefill } from '../../src/operator/acts/owner.ts'
import { refundPayment } from '../../src/operator/acts/refunds/record.ts'
import { ETHER, INTERVAL_SEC, paymentOf, standingOf } from '../support/world.ts'
import { attack, balanceOf, nodesOf, type Stage, senderAt } from './stage.ts'

const BASIC = ETHER / 100n
const ACTOR = { name: 'test', requestId: null }
const refOf = (n: number): Hash => hash(`0x${n.toString(16).padStart(64, 'f')}`)

/** A cohort of the tier that accepts nodes for a while yet. */
async function cohortOf({ world }: Stage): Promise<number> {
  const [row] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts JOIN tiers USING (tier_no) WHERE tier_id = 'basic' ORDER BY size DESC, next_due DESC LIMIT 1`
  return row?.cohort ?? assert.fail('no cohort')
}

/** Moves the minter's role to another key of the service, as the runbook says; the passes continue with it. */
async function rotate({ world, desk, sign }: Stage) {
  await sign(await previewMinter(desk, { address: world.at(10), nodes: '1000', cohorts: '1000' }))
  return world.instance({ minter: senderAt(world, 10) })
}

attack('T1: a squatted ref costs its buyer the node, not the ether: held, seen, and paid back', async (stage) => {
  const { world, thief, done, desk, sign } = stage
  const paid = await world.pay(5, BASIC)
  const honest = await world.pay(6, BASIC)
  await world.chain.mine()
  assert.ok(await thief.mint({ to: world.at(9), cohort: await cohortOf(stage), ref: paid }))
  done.unpaidRefs.push(paid)
  await world.settle()
  const payment = await paymentOf(world, paid)
  assert.deepEqual([payment?.state, payment?.reason], ['held', 'mintedElsewhere'])
  assert.equal((await paymentOf(world, honest))?.state, 'minted')
  const seen = await stage.doctor()
  for (const check of ['keys.foreign', 'payments.refs', 'nodes.unpaid', 'payments.held'])
    assert.ok(seen.includes(check), check)
  const alerts = await stage.alerts()
  for (const name of ['ForeignTransaction', 'NodesUnpaid', 'RefsTaken'])
    assert.ok(alerts.includes(`NodeLedger${name}`), name)
  // The runbook: another key, the nodes expelled, the buyers refunded.
  const service = await rotate(stage)
  await sign(await previewExpel(desk, { refs: paid, again: paid }))
  const released = await releasePayment(world.ctx, ACTOR, { payment: paid })
  assert.ok(isOperatorRefusal(released) && /refund or dismiss/.test(released.message))
  const refundTxHash = await world.pay(3, BASIC, world.at(5))
  await world.chain.mine()
  await service.payments()
  const refunded = await refundPayment(operatorDeps(world.ctx, world.pool), ACTOR, { payment: paid, refundTxHash })
  assert.ok(!isOperatorRefusal(refunded), JSON.stringify(refunded))
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  assert.equal((await world.credit()).nodeCount, 1, 'the honest buyer alone is credited')
  assert.ok(!(await stage.doctor()).includes('nodes.unpaid'))
})

attack('T2: a node of another tier or a thief’s cohort under a payment’s ref earns no credit', async (stage) => {
  const { world, thief, done, desk, sign } = stage
  const [paid, other] = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  const [dear = assert.fail()] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts JOIN tiers USING (tier_no) WHERE tier_id = 'founder' ORDER BY next_due DESC LIMIT 1`
  assert.ok(await thief.mint({ to: world.at(5), cohort: dear.cohort, ref: paid }))
  const own = Number(await world.read<bigint>('lastCohort')) + 1
  const firstDue = Number((await world.chain.block()).timestamp) + 30
  assert.ok(await thief.open(own, { tierNo: 1, firstDue, intervalSec: INTERVAL_SEC / 2 }))
  assert.ok(await thief.mint({ to: world.at(6), cohort: own, ref: other }))
  done.unpaidRefs.push(paid, other)
  await world.settle()
  for (const txHash of [paid, other]) assert.equal(await standingOf(world, txHash), 'held mintedElsewhere')
  const seen = await stage.doctor()
  for (const check of ['keys.foreign', 'payments.refs', 'nodes.unpaid', 'cohorts.intervals'])
    assert.ok(seen.includes(check), check)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  assert.equal((await world.credit()).txHash, null)
  const service = await rotate(stage)
  const refs = `${paid},${other}`
  await sign(await previewExpel(desk, { refs, again: refs }))
  await service.payments()
  assert.ok(!(await stage.doctor()).includes('nodes.unpaid'))
})

attack('T3: an opening at the top, or as many as there are, keeps no buyer from a node', async (stage) => {
  const { world, thief, desk, sign } = stage
  await sign(await previewMinter(desk, { address: world.at(1), nodes: '100', cohorts: '3' }))
  const last = Number(await world.read<bigint>('lastCohort'))
  const opening = { tierNo: 1, firstDue: 2_000_000_000, intervalSec: 1 }
  assert.equal(await thief.open(65_535, opening), false, 'no number is taken ahead')
  assert.equal(await thief.open(last + 1, opening, opening, opening, opening), false, 'no more than the budget')
  assert.ok(await thief.open(last + 1, opening, opening, opening))
  const paid = await world.pay(5, BASIC)
  await world.settle()
  // Openings that the ledger never stored may be those of a restored ledger, so earlier payments wait for the operator's review.
  assert.equal((await paymentOf(world, paid))?.reason, 'recheck')
  const later = await world.pay(6, BASIC)
  await world.settle()
  assert.equal((await paymentOf(world, later))?.state, 'minted')
  const seen = await stage.doctor()
  for (const check of ['owner.budget', 'keys.foreign', 'cohorts.intervals']) assert.ok(seen.includes(check), check)
  const alerts = await stage.alerts()
  for (const name of ['BudgetLow', 'ForeignTransaction']) assert.ok(alerts.includes(`NodeLedger${name}`), name)
  await rotate(stage)
  assert.ok(!(await stage.doctor()).includes('owner.budget'))
  await sign(await previewMinter(desk, { address: world.at(1), nodes: '1000', cohorts: '1000' }))
})

attack('T4: rogue nodes in each cohort end at the budget, are credited nothing, and leave', async (stage) => {
  const { world, thief, done, desk, sign } = stage
  const paid = [await world.pay(5, BASIC), await world.pay(6, ETHER / 40n)]
  await world.settle()
  await sign(await previewMinter(desk, { address: world.at(1), nodes: '4', cohorts: '0' }))
  const held = (await nodesOf(world)).flatMap(({ cohort }) => (cohort === null ? [] : [cohort]))
  assert.equal(held.length, 2)
  const orders = [1, 2, 3, 4, 5, 6].map((n) => ({ to: world.at(9), cohort: held[n % 2] ?? 0, ref: refOf(n) }))
  assert.ok(await thief.mint(...orders))
  const rogue = orders.slice(0, 4).map(({ ref }) => ref)
  done.unpaidRefs.push(...rogue)
  await world.payments()
  assert.equal((await nodesOf(world)).length, 6, 'two that were paid for, and four of the budget')
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  assert.equal((await world.credit()).txHash, null, 'nothing is paid to a cohort with such a node')
  const seen = await stage.doctor()
  for (const check of ['nodes.unpaid', 'keys.foreign', 'owner.budget']) assert.ok(seen.includes(check), check)
  const alerts = await stage.alerts()
  for (const name of ['NodesUnpaid', 'ForeignTransaction', 'BudgetLow'])
    assert.ok(alerts.includes(`NodeLedger${name}`), name)
  const service = await rotate(stage)
  await sign(await previewExpel(desk, { refs: rogue.join(',') }))
  await service.payments()
  const round = await service.credit()
  assert.equal(round.nodeCount, paid.length, 'those that were paid for, and no others')
  await world.chain.mine()
  await service.payments()
  for (const id of [3, 4, 5, 6]) assert.equal(await balanceOf(world, id), 0n)
  assert.ok((await balanceOf(world, 1)) > 0n)
  assert.ok(!(await stage.doctor()).includes('nodes.unpaid'))
})

attack('a budget that is spent is distinguished from one that runs low, and a refill ends both', async (stage) => {
  const { world, desk, sign } = stage
  await sign(await previewMinter(desk, { address: world.at(1), nodes: '1', cohorts: '100' }))
  const paid = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'nodes')
  // The only node is pending and no mint is planned, so the service learns nothing new about the budget.
  assert.equal((await world.payments()).budgetSpent, null)
  const [kept] = await world.pool<{ spent: string }[]>`SELECT budget ->> 'spent' AS spent FROM ledger_state`
  assert.equal(kept?.spent, 'nodes')
  await world.chain.mine()
  assert.ok((await stage.alerts()).includes('NodeLedgerBudgetSpent'))
  assert.ok((await stage.doctor()).includes('owner.budget'))
  await sign(await previewRefill(desk, { nodes: '1000' }))
  await world.settle()
  for (const txHash of paid) assert.equal((await paymentOf(world, txHash))?.state, 'minted')
  assert.ok(!(await stage.alerts()).some((name) => name.startsWith('NodeLedgerBudget')))
  assert.ok(!(await stage.doctor()).includes('owner.budget'))
  const told = await world.pool<{ action: string }[]>`SELECT action FROM audit WHERE action LIKE 'budget%' ORDER BY id`
  assert.deepEqual(
    told.map(({ action }) => action),
    ['budgetSpent', 'budgetLow', 'budgetRestored'],
  )
})
