// The limits that the contract's owner sets for the service's keys, and payments and turns beyond them: the minter's
// budget, the distributor's bounds, a call's expiry. Each test has its own world.
import assert from 'node:assert/strict'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { readQuote } from '../../src/db/reads/public-api.ts'
import type { Hash } from '../../src/domain/units.ts'
import { planDueRound } from '../../src/passes/steps/plan-round.ts'
import type { SignerAccount } from '../../src/ports/sending.ts'
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
const swallow = (sender: SignerAccount): SignerAccount => ({ ...sender, broadcast: async () => ({ kind: 'accepted' }) })
const minterOf = (world: World) => world.ctx.minter ?? assert.fail('no minter')

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

inWorld('once a pass mints the last node, nothing is quoted until a refill', async (world) => {
  const isSoldOut = async () => (await readQuote(world.pool, 'basic'))?.soldOut
  await setBudget(world, 2, 0)
  await world.chain.mine()
  await world.payments()
  assert.equal(await isSoldOut(), false)
  await world.pay(5, BASIC)
  await world.settle()
  assert.equal(await isSoldOut(), false)
  await world.pay(6, BASIC)
  await world.settle()
  assert.equal(await isSoldOut(), true)
  await refill(world)
  await world.settle()
  assert.equal(await isSoldOut(), false)
})

inWorld('an order that the contract skips for lack of budget goes back, and a refill mints it', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.instance({ minter: swallow(minterOf(world)) }).payments()
  assert.equal(await stateOf(world, paid), 'minting')
  await setBudget(world, 0, 0)
  await world.payments()
  await world.chain.mine()
  await world.payments()
  assert.deepEqual([await stateOf(world, paid), await world.read('lastId')], ['accepted', 0n])
  assert.equal((await world.pool`SELECT FROM audit WHERE action = 'mintSkipped'`).length, 0)
  await refill(world)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
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

inWorld('a mint whose time is over yields to an empty call, and the payment is minted again', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.instance({ minter: swallow(minterOf(world)) }).payments()
  const [intent] = await world.pool<{ id: number; until: number; raw: Hash }[]>`
    SELECT o.id, o.valid_until AS until, a.raw FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id
    WHERE o.kind = 'mint'`
  assert.ok(intent)
  await world.chain.increaseTime(1_000)
  await world.chain.mine(12)
  assert.ok(Number((await world.chain.block()).timestamp) > intent.until)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  const attempts = await world.pool`SELECT FROM outbox_attempts WHERE outbox_id = ${intent.id}`
  assert.equal(attempts.length, 2, 'the same nonce, for a call that does nothing')
  const rows = await world.pool`SELECT state FROM outbox WHERE kind = 'mint' ORDER BY id`
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['mined', 'mined'],
  )
})

inWorld('a mint that is mined after its time reverts, does not tire the minter, and is made again', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  for (let i = 0; i < 4; i++) {
    await world.payments()
    await world.chain.increaseTime(1_000)
    await world.chain.mine()
    await world.payments()
    assert.equal(await stateOf(world, paid), 'minting')
  }
  assert.equal((await world.pool`SELECT FROM outbox WHERE state = 'reverted'`).length, 4)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal((await world.pool`SELECT FROM audit WHERE action = 'senderRests'`).length, 0)
})
