// The limits that the contract's owner sets for the service's keys, and payments and turns beyond them: the minter's
// budget and the distributor's bounds. Each test has its own world.
import assert from 'node:assert/strict'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import type { Hash } from '../../src/domain/units.ts'
import { planDueRound } from '../../src/passes/steps/plan-round.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n

const inWorld = worldTest({ finish: (world) => checkInvariants(world) })

const setBudget = (world: World, nodes: number, cohorts: number) =>
  world.act(0, 'setMinter', [world.at(1), nodes, cohorts])
const refill = (world: World) => world.act(0, 'refillMinter', [world.at(1), 1_000n, 1_000n, 1_000n, 1_000n])
const stateOf = async (world: World, txHash: Hash) => (await paymentOf(world, txHash))?.state
const statesOf = (world: World, paid: readonly Hash[]) => Promise.all(paid.map((txHash) => stateOf(world, txHash)))
const intents = async (world: World) => (await world.pool`SELECT FROM outbox`).length

inWorld('a batch is cut to the nodes left, its remainder waits unsigned, and a refill mints it', async (world) => {
  await setBudget(world, 2, 0)
  const paid = [await world.pay(5, BASIC), await world.pay(6, BASIC), await world.pay(7, BASIC)]
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'nodes')
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await statesOf(world, paid), ['minted', 'minted', 'accepted'])
  const before = await intents(world)
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'nodes')
  assert.equal(await intents(world), before, 'nothing is signed at nothing left')
  await refill(world)
  await world.settle()
  assert.deepEqual(await statesOf(world, paid), ['minted', 'minted', 'minted'])
  assert.equal((await world.payments()).budgetSpent, null)
})

inWorld('a cohort owed more than the bounds allow waits alone, until the bounds have room', async (world) => {
  await world.pay(5, BASIC)
  await world.pay(6, PLUS)
  await world.settle()
  await world.act(0, 'setBounds', [world.at(2), 0n, 0n])
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const refused = await world.credit()
  assert.deepEqual([refused.reason, refused.txHash, refused.dueNodes], ['pending', null, 2])
  const cursor = (await readCursor(world.pool)) ?? assert.fail('no cursor')
  const basis = { cursor, bounds: null, upTo: cursor.time }
  const { plan } = await planDueRound(world.ctx, basis)
  const [low, high] = plan.credits.map(({ amountWei }) => amountWei).sort((a, b) => (a < b ? -1 : 1))
  assert.ok(low !== undefined && high !== undefined && low < high)
  await world.act(0, 'setBounds', [world.at(2), 0n, low / 10n ** 9n + 1n])
  const first = await world.credit()
  assert.deepEqual([first.reason, first.nodeCount, first.totalWei], [null, 1, low])
  await world.chain.mine()
  await world.act(0, 'setBounds', [world.at(2), 0n, 10n ** 9n])
  const second = await world.credit()
  assert.deepEqual([second.reason, second.nodeCount, second.totalWei], [null, 1, high])
})
