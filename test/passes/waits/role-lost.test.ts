// The contract's owner takes a role from an account while the service runs. The service reports waiting work under its
// own name, not as a refused mint, a spent budget or a signer that is down, and resumes once the role is back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Registry } from 'prom-client'
import { readSenderTroubles } from '../../../src/db/sends/signers.ts'
import { addEndpoint } from '../../../src/db/webhooks.ts'
import { createMeters, metered } from '../../../src/metrics/meters.ts'
import { readFigure } from '../../metrics/figure.ts'
import { runHere, worldEnv } from '../../support/cli.ts'
import { beWellFor } from '../../support/in-world.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../../support/world.ts'
import { SECRET } from '../../webhooks/receiver.ts'

const BASIC = ETHER / 100n
const OTHER = 9

let world: World
before(async () => {
  world = await startWorld()
  await addEndpoint(world.pool, { url: 'https://hooks.example/a', secrets: [SECRET] }, 'test')
  await world.settle()
})
after(() => world.close())

const setMinter = (account: number, nodes = 1_000n) => world.act(0, 'setMinter', [world.at(account), nodes, nodes])
const setDistributor = (account: number) => world.act(0, 'setDistributor', [world.at(account), 0n, 2n ** 48n - 1n])
const lost = async () => (await readSenderTroubles(world.pool, 'role')).map(({ role }) => role)
const measured = () => readFigure(world.pool, 'node_ledger_role_lost', { sender: 'minter' }, { minter: world.at(1) })
const told = async () => {
  const rows = await world.pool<{ body: string }[]>`SELECT body FROM webhook_events ORDER BY seq`
  await world.pool`DELETE FROM webhook_events`
  return rows
    .map(({ body }) => JSON.parse(body) as { type: string; data: { subject: string } })
    .flatMap(({ type, data }) => (type.startsWith('role.') ? [[type, data.subject]] : []))
}
const doctor = async () => {
  const { out } = await runHere(['doctor', '--json'], worldEnv(world))
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string }[] }
  return findings.filter(({ check }) => check === 'passes.roles')
}

for (const [words, nodes] of [
  ['has a budget', 1_000n],
  ['has none', 0n],
] as const)
  test(`a mint that waits for a role which another account has, and that account ${words}`, async () => {
    await told()
    const paid = await world.pay(5, BASIC)
    await setMinter(OTHER, nodes)
    const sent = (await world.pool`SELECT FROM outbox`).count
    const outcome = await world.payments()
    assert.deepEqual([outcome.signer, outcome.budgetSpent], ['roleLost', null])
    await world.payments()
    assert.equal((await world.pool`SELECT FROM outbox`).count, sent, 'nothing was signed')
    assert.deepEqual([await lost(), await measured()], [['minter'], 1])
    assert.deepEqual(await told(), [['role.lost', world.at(1)]], 'it is told once')
    const [finding] = await doctor()
    assert.equal(finding?.verdict, 'fail')
    assert.ok(finding?.says.includes(world.at(1)), finding?.says)

    await setMinter(1)
    await world.settle()
    assert.equal((await paymentOf(world, paid))?.state, 'minted')
    assert.deepEqual([await lost(), await doctor()], [[], []])
    await beWellFor(world, 'role minter')
    await world.pay(6, BASIC)
    await world.settle()
    assert.deepEqual(await told(), [['role.restored', world.at(1)]])
  })

test('a round waits for the distributor’s role, and a role returns with nothing waiting', async () => {
  await world.rest()
  await told()
  await world.chain.mine(2, INTERVAL_SEC)
  await setDistributor(OTHER)
  await world.payments()
  const round = await world.credit()
  assert.deepEqual([round.reason, round.signer], ['pending', 'roleLost'])
  assert.deepEqual([await lost(), await told()], [['distributor'], [['role.lost', world.at(2)]]])
  const { out } = await runHere(['rounds', 'preview', '--json'], worldEnv(world))
  assert.ok(JSON.parse(out).stops.includes('roleLost'))

  await setDistributor(2)
  await world.rest()
  assert.deepEqual(await lost(), [])
  await setMinter(OTHER)
  await world.pay(7, BASIC)
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await lost(), ['minter'])
  await world.pool`UPDATE payments SET state = 'held', reason = 'senderDenied' WHERE state = 'accepted'`
  await world.payments()
  assert.deepEqual(await lost(), ['minter'], 'it is still another’s')
  await setMinter(1)
  await world.payments()
  assert.deepEqual(await lost(), [], 'it is asked, though nothing waits for it')
})

test('a run that found the role lost is counted separately', async () => {
  const registry = new Registry()
  await metered('payments', createMeters(registry, 'x'), async () => ({ ran: true, signer: 'roleLost' }))()
  assert.match(await registry.metrics(), /pass_runs_total\{pass="payments",outcome="roleLost"\} 1/)
})
