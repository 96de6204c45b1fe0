// A stolen distributor, alone or with the minter: each attack of docs/THREATS.md from outside with the key in hand. The
// doctor and an alert see it, its damage is bounded as the table says, and recovery works as the runbook says.
import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { hash, wei } from '../../src/domain/units.ts'
import { previewBounds, previewDistributor, previewExpel } from '../../src/operator/acts/owner.ts'
import type { CohortCredit } from '../../src/ports/sending.ts'
import { oneTurn } from '../support/factory.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'
import { attack, balanceOf, type Stage } from './stage.ts'

const BASIC = ETHER / 100n
const GWEI = 10n ** 9n
const ROGUE = hash(`0x${'5a'.repeat(32)}`)

interface Cohort {
  cohort: number
  due: number
}

/** The cohorts that have nodes, with their pending turns. */
async function cohorts({ world }: Stage): Promise<Cohort[]> {
  return await world.pool<Cohort[]>`SELECT cohort, next_due AS due FROM cohorts WHERE size > 0 ORDER BY cohort`
}

const WIDE = { floorGwei: '0', ceilingGwei: '1000000000' }

/** Moves the distributor's role to another key, as the runbook says; the thief's is worth nothing from then on. */
async function rotate({ world, thief, desk, sign }: Stage, credit: CohortCredit): Promise<void> {
  await sign(await previewDistributor(desk, { address: world.at(11), ...WIDE }))
  assert.equal(await thief.credit(2, [credit], 0n), false)
  // The stage's passes continue with the key they have.
  await sign(await previewDistributor(desk, { address: world.at(2), ...WIDE }))
}

/** The owner makes a cohort's interval a month; true if the contract does. */
async function lengthen(world: World, cohort: number): Promise<boolean> {
  const call = { abi: factoryFullAbi, functionName: 'setInterval', args: [BigInt(cohort), 30n * 86_400n] } as const
  return (await world.succeeded(await world.call(0, world.factory, encodeFunctionData(call)))) === true
}

/** A cohort's next turn, for nothing. */
const nextTurn = (cohort: number, firstDue: number): CohortCredit => oneTurn(cohort, firstDue, wei(0n))

attack('T6: a year of turns burned at the floor costs owners only what lies above the floor', async (stage) => {
  const { world, thief, desk, sign } = stage
  const floorGwei = 100_000n
  await sign(await previewBounds(desk, { floorGwei: String(floorGwei), ceilingGwei: '1000000000' }))
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort, due } = assert.fail()] = await cohorts(stage)
  await world.chain.increaseTime(365 * INTERVAL_SEC)
  await world.chain.mine()
  const turns = Math.floor((Number((await world.chain.block()).timestamp) - due) / INTERVAL_SEC) + 1
  assert.ok(turns >= 364)
  const entry = (amountWei: bigint) => [
    { cohort, firstDue: due, skipped: 0, paid: turns, amountPerNodeWei: wei(amountWei) },
  ]
  const least = floorGwei * GWEI * BigInt(turns)
  assert.equal(await thief.credit(1, entry(least - 1n), least - 1n), false, 'not below the floor')
  assert.equal(await thief.credit(1, entry(0n), 0n), false)
  const skips = [{ cohort, firstDue: due, skipped: turns, paid: 0, amountPerNodeWei: wei(0n) }]
  assert.equal(await thief.credit(1, skips, 0n), false, 'what is owed is never skipped')
  assert.ok(await thief.credit(1, entry(least), least))
  await world.payments()
  assert.equal(await balanceOf(world, 1), least)
  assert.ok((await stage.doctor()).includes('keys.foreign'))
  assert.ok((await stage.alerts()).includes('NodeLedgerForeignTransaction'))
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await rotate(stage, nextTurn(cohort, due + turns * INTERVAL_SEC))
  const round = await world.credit()
  assert.deepEqual([round.reason, round.nodeCount], [null, 1])
  await world.chain.mine()
  await world.payments()
  const [burned] = await world.pool<{ amount: bigint; turns: number }[]>`
    SELECT amount_wei AS amount, turns FROM turns WHERE round = 1`
  assert.deepEqual({ ...burned }, { amount: least, turns }, 'the books say which turns, and what they were paid')
})

attack('T7: a thief’s own node gains at most the ceiling a turn, from the thief’s own ether', async (stage) => {
  const { world, thief, done, desk, sign } = stage
  await sign(await previewBounds(desk, { floorGwei: '0', ceilingGwei: '10000000' }))
  await world.pay(5, BASIC)
  await world.settle()
  const now = Number((await world.chain.block()).timestamp)
  const own = Number(await world.read<bigint>('lastCohort')) + 1
  assert.ok(await thief.open(own, { tierNo: 1, firstDue: now + 30, intervalSec: INTERVAL_SEC }))
  assert.ok(await thief.mint({ to: world.at(9), cohort: own, ref: ROGUE }))
  done.unpaidRefs.push(ROGUE)
  await world.chain.increaseTime(60)
  await world.chain.mine()
  const { due } = { due: now + 30 }
  const entry = (amountWei: bigint) => [
    { cohort: own, firstDue: due, skipped: 0, paid: 1, amountPerNodeWei: wei(amountWei) },
  ]
  const full = 2n ** 80n - 1n
  const ceiling = 10_000_000n * GWEI
  assert.equal(await thief.credit(1, entry(full), 0n), false, 'nothing from the contract')
  assert.equal(await thief.credit(1, entry(ceiling + 1n), ceiling + 1n), false, 'not above the ceiling')
  const before = await world.read<bigint>('outstanding')
  assert.ok(await thief.credit(1, entry(ceiling), ceiling))
  assert.equal((await world.read<bigint>('outstanding')) - before, ceiling, 'which the thief has paid in')
  await world.payments()
  const seen = await stage.doctor()
  for (const check of ['keys.foreign', 'nodes.unpaid']) assert.ok(seen.includes(check), check)
  const alerts = await stage.alerts()
  for (const name of ['ForeignTransaction', 'NodesUnpaid']) assert.ok(alerts.includes(`NodeLedger${name}`), name)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await rotate(stage, nextTurn(own, due + INTERVAL_SEC))
  const round = await world.credit()
  assert.deepEqual([round.reason, round.nodeCount], [null, 1], 'the buyer’s node, not the thief’s')
  await world.chain.mine()
  await world.payments()
  assert.equal(await balanceOf(world, 2), ceiling)
})

attack('T8: a rogue node leaves in its window although a thief paid its turn, and credit resumes', async (stage) => {
  const { world, thief, done, desk, sign } = stage
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort, due } = assert.fail()] = await cohorts(stage)
  // The thief mints shortly before the turn, so a turn and an interval later its window of two intervals is still open.
  await world.chain.increaseTime(Math.max(0, due - 60 - Number((await world.chain.block()).timestamp)))
  assert.ok(await thief.mint({ to: world.at(9), cohort, ref: ROGUE }))
  done.unpaidRefs.push(ROGUE)
  await world.chain.setNextTime(due)
  await world.chain.mine()
  assert.ok(await thief.credit(1, [oneTurn(cohort, due, wei(1n))], 2n), 'a wei for each of both')
  await world.payments()
  await world.chain.setNextTime(due + INTERVAL_SEC)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, 'unpaidNodes', 'the cohort waits')
  for (const check of ['keys.foreign', 'nodes.unpaid']) assert.ok((await stage.doctor()).includes(check), check)
  await rotate(stage, nextTurn(cohort, due + INTERVAL_SEC))
  await sign(await previewExpel(desk, { refs: ROGUE }))
  await world.payments()
  assert.equal(await balanceOf(world, 2), 1n, 'it keeps the wei')
  const round = await world.credit()
  assert.deepEqual([round.reason, round.nodeCount], [null, 1], 'and the buyer’s node is paid alone')
  await world.chain.mine()
  await world.payments()
  assert.ok((await balanceOf(world, 1)) > 1n)
})

attack('T8: rogue nodes in 24 cohorts cost 1.5 million gas, a longer interval removes late ones', async (stage) => {
  const { world, thief, done, desk, sign } = stage
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort, due } = assert.fail()] = await cohorts(stage)
  // As many cohorts as a sale has, each open to a node.
  const first = Number(await world.read<bigint>('lastCohort')) + 1
  const opening = { tierNo: 1, firstDue: due + INTERVAL_SEC, intervalSec: INTERVAL_SEC }
  assert.ok(await thief.open(first, ...Array.from({ length: 23 }, () => opening)))
  const rogues = Array.from({ length: 24 }, (_, n) => hash(`0x${(n + 1).toString(16).padStart(64, 'f')}`))
  const orders = rogues.map((ref, n) => ({
    to: world.at(n < 12 ? 9 : 10),
    cohort: n === 0 ? cohort : first + n - 1,
    ref,
  }))
  await world.chain.increaseTime(Math.max(0, due - 60 - Number((await world.chain.block()).timestamp)))
  assert.ok(await thief.mint(...orders))
  done.unpaidRefs.push(...rogues)
  const mintTx = done.foreign.at(-1)
  const { gasUsed } = await world.chain.rpc<{ gasUsed: `0x${string}` }>('eth_getTransactionReceipt', [mintTx])
  assert.equal((Number(gasUsed) / 1e6).toFixed(1), '1.5')
  await world.chain.setNextTime(due)
  await world.chain.mine()
  assert.ok(await thief.credit(1, [oneTurn(cohort, due, wei(1n))], 2n))
  await world.payments()
  await world.chain.increaseTime(2 * INTERVAL_SEC)
  await world.chain.mine()
  await world.payments()
  const late = await previewExpel(desk, { refs: rogues[0] ?? '' })
  assert.match(JSON.stringify(late), /too old.*setInterval/, 'the preview says what opens the window again')
  assert.equal((await world.credit()).reason, 'unpaidNodes')
  assert.equal(await balanceOf(world, 1), 1n, 'the honest node gets no turn of that cohort')
  // The runbook: what is overdue is paid by hand, the interval made longer, and the node expelled.
  assert.equal(await lengthen(world, cohort), false, 'not over turns that are overdue')
  for (const turn of [1, 2]) {
    const credit = oneTurn(cohort, due + turn * INTERVAL_SEC, wei(1n))
    assert.ok(await thief.credit(1 + turn, [credit], 2n))
  }
  assert.ok(await lengthen(world, cohort))
  await world.payments()
  await sign(await previewExpel(desk, { refs: rogues[0] ?? '' }))
  await world.payments()
  assert.equal(await balanceOf(world, 1), 3n, 'what it was credited stays')
})

attack('T5: a cohort of the least interval that a thief of the minter opens is paid nothing', async (stage) => {
  const { world, thief, done } = stage
  await world.pay(5, BASIC)
  await world.settle()
  const own = Number(await world.read<bigint>('lastCohort')) + 1
  const firstDue = Number((await world.chain.block()).timestamp) + 30
  const least = Number(await world.read<bigint>('leastInterval'))
  assert.equal(await thief.open(own, { tierNo: 1, firstDue, intervalSec: least - 1 }), false, 'none below the least')
  assert.ok(await thief.open(own, { tierNo: 1, firstDue, intervalSec: least }))
  assert.ok(await thief.mint({ to: world.at(9), cohort: own, ref: ROGUE }))
  done.unpaidRefs.push(ROGUE)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await world.payments()
  assert.equal((await world.credit()).nodeCount, 1, 'the buyer’s node, not the thief’s')
  await world.chain.mine()
  await world.payments()
  assert.equal(await balanceOf(world, 2), 0n)
  assert.ok((await balanceOf(world, 1)) > 0n)
  const seen = await stage.doctor()
  for (const check of ['keys.foreign', 'nodes.unpaid', 'cohorts.intervals']) assert.ok(seen.includes(check), check)
})

attack('T9: ether that a thief takes from the distributor is gone, and every turn waits for more', async (stage) => {
  const { world, done } = stage
  await world.pay(5, BASIC)
  await world.settle()
  const held = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(2), 'latest']))
  done.foreign.push(await world.pay(2, held - ETHER / 10_000n, world.at(9)))
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await world.payments()
  assert.equal((await world.credit()).txHash, null)
  assert.equal(await balanceOf(world, 1), 0n)
  await world.pool`DELETE FROM passes WHERE name = 'funds'`
  await world.instance({ rules: { fundsWarnTransactions: 50 } }).payments()
  const [funds] = await world.pool<{ low: boolean }[]>`
    SELECT (value ->> 'low')::boolean AS low FROM troubles WHERE name = 'funds distributor'`
  assert.equal(funds?.low, true, 'for which NodeLedgerFundsLow fires')
  assert.ok((await stage.doctor()).includes('keys.foreign'))
  await world.pay(9, ETHER, world.at(2))
  await world.rest()
  assert.ok((await balanceOf(world, 1)) > 0n, 'once there is ether, the turn that was due is paid')
})

attack('an interval set by mistake is caught up with in one round', async (stage) => {
  const { world } = stage
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort } = assert.fail()] = await cohorts(stage)
  await world.act(0, 'setInterval', [BigInt(cohort), 5n])
  await world.payments()
  assert.ok((await stage.doctor()).includes('cohorts.intervals'))
  await world.chain.increaseTime(INTERVAL_SEC + 2_000)
  await world.rest()
  // Further turns become due while the test runs.
  const [{ most } = assert.fail()] = await world.pool<{ most: number }[]>`
    SELECT max(turns)::int AS most FROM (SELECT sum(turns) AS turns FROM turns GROUP BY round) AS rounds`
  assert.ok(most > 300, `at most ${most} turns in a round`)
  await world.act(0, 'setInterval', [BigInt(cohort), BigInt(INTERVAL_SEC)])
})
