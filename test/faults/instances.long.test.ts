// Two and three instances of the service at once, as processes, on one database and one chain: killed, stopped in the
// middle, robbed of their locks. The remaining instances do the work, and none does it twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hash } from '../../src/domain/units.ts'
import { SEND } from '../support/fault-proxy.ts'
import { INTERVAL_SEC } from '../support/world.ts'
import { type Outside, startOutside } from './outside.ts'
import { attemptsOf, endWell, isOneNode, locksAreFree, openStage, paid, type Stage, stateOf } from './stage.ts'

let stage: Stage
let instances: Outside[]
before(async () => {
  stage = await openStage()
  await stage.world.settle()
  instances = await Promise.all([0, 1, 2].map(() => startOutside(stage)))
})
after(async () => {
  // A stopped process receives no other signal.
  for (const { service } of instances ?? []) service.kill('SIGCONT')
  for (const { service } of instances ?? []) await service.stop()
  await endWell(stage).finally(() => stage.world.close())
})
const [first, second, third] = [0, 1, 2].map((i) => () => instances[i] ?? assert.fail()) as [
  () => Outside,
  () => Outside,
  () => Outside,
]

/** The test's action at the next send on its way to the chain. */
function onNextSend(react: () => Promise<void> | void): Promise<void> {
  return new Promise((resolve) => {
    stage.proxy.onCall = async ({ method }) => {
      if (method !== SEND) return
      stage.proxy.onCall = () => {}
      await react()
      resolve()
    }
  })
}

async function runUntilMinted(instance: Outside, payment: Hash): Promise<void> {
  for (let i = 0; i < 4 && (await stateOf(stage.world, payment)) !== 'minted'; i++) {
    assert.equal((await instance.pass('payments'))?.status, 200)
    await stage.world.chain.mine()
  }
  await isOneNode(stage.world, payment)
}

test('three instances run their passes together: each payment one node, each turn paid once', async () => {
  const { world } = stage
  const payments: Hash[] = []
  for (let tick = 0; tick < 4; tick++) {
    payments.push(await paid(world))
    if (tick === 2) await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    await Promise.all(instances.flatMap((instance) => [instance.pass('payments'), instance.pass('credit')]))
  }
  await world.rest()
  for (const payment of payments) await isOneNode(world, payment)
  const turns = await world.pool`SELECT FROM turns`
  assert.ok(turns.count > 0)
})

/** More checks, one a second, than the server takes to notice a silent client. */
const LOOKS_MAX = 40

test('if the lock’s holder stops, the others wait, and continue once the server misses it', async () => {
  const { world } = stage
  const payment = await paid(world)
  const stopped = onNextSend(() => first().service.kill('SIGSTOP'))
  const asked = first().pass('payments')
  await stopped
  assert.equal((await second().pass('payments'))?.body.ran, false)
  const before = (await attemptsOf(world)).length
  for (let look = 0; look < LOOKS_MAX && (await second().pass('payments'))?.body.ran === false; look++)
    await sleep(1_000)
  await runUntilMinted(second(), payment)
  first().service.kill('SIGCONT')
  await asked
  assert.equal((await attemptsOf(world)).length, before)
  assert.equal((await first().pass('payments'))?.status, 200, 'it is well again')
})

test('an instance that loses its lock while signing stores no second intent for a minted order', async () => {
  const { world, proxy } = stage
  const payment = await paid(world)
  let robbed = false
  proxy.onAnswered = async ({ method }) => {
    // Fees are the last call before signing.
    if (robbed || method !== 'eth_maxPriorityFeePerGas') return
    robbed = true
    await world.pool`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = 'node-ledger lock payments' AND datname = current_database()`
    await second().pass('payments')
  }
  await first().pass('payments')
  proxy.onAnswered = () => {}
  assert.ok(robbed)
  await world.settle()
  await isOneNode(world, payment)
  const intents = await world.pool`SELECT FROM outbox WHERE kind = 'mint' AND call::text LIKE ${`%${payment}%`}`
  assert.equal(intents.count, 1)
})

test('if an instance loses its lock while signing a round, only one signed nonce is stored', async () => {
  const { world, proxy } = stage
  await paid(world)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  let robbed = false
  proxy.onAnswered = async ({ method }) => {
    if (robbed || method !== 'eth_maxPriorityFeePerGas') return
    robbed = true
    await world.pool`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = 'node-ledger lock credit' AND datname = current_database()`
    // On another block, so the other one's bytes differ.
    await world.chain.mine()
    assert.equal((await second().pass('credit'))?.body.ran, true)
  }
  await first().pass('credit')
  proxy.onAnswered = () => {}
  assert.ok(robbed)
  const doubled = await world.pool`SELECT FROM outbox GROUP BY sender, nonce HAVING count(*) > 1`
  assert.equal(doubled.count, 0)
  const unsettled = await world.pool`SELECT FROM outbox WHERE state = 'pending'`
  assert.equal(unsettled.count, 1)
  await world.rest()
})

test('the instance that sends is killed, the next one as well, and the third finishes', async () => {
  const { world } = stage
  const payment = await paid(world)
  for (const instance of [first(), second()]) {
    const killed = onNextSend(() => instance.service.kill('SIGKILL'))
    await instance.pass('payments')
    await killed
    assert.equal((await instance.service.exited).signal, 'SIGKILL')
    await locksAreFree(world)
  }
  await runUntilMinted(third(), payment)
  const intents = await world.pool`SELECT FROM outbox WHERE kind = 'mint' AND call::text LIKE ${`%${payment}%`}`
  assert.equal(intents.count, 1)
})
