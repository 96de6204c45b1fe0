// What a pass does not send, run after run, by the word of the contract or of the only provider. The service reports it once, with the reason, and is
// quiet again as soon as it is sent.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readUnsent } from '../../../src/db/blocks/stuck.ts'
import { addEndpoint } from '../../../src/db/webhooks.ts'
import { type FalseProvider, type Rule, startFalseProvider } from '../../chain/false-provider.ts'
import { runHere, worldEnv } from '../../support/cli.ts'
import { beWellFor } from '../../support/in-world.ts'
import { ETHER, paymentOf, startWorld, type World } from '../../support/world.ts'
import { SECRET } from '../../webhooks/receiver.ts'

const BASIC = ETHER / 100n
const HONEST: Rule = () => undefined
const REVERTS: Rule = ({ method }) =>
  method === 'eth_estimateGas' ? { error: { code: 3, message: 'execution reverted' } } : undefined

let world: World
let provider: FalseProvider
before(async () => {
  const between = async (chainUrl: string) => {
    provider = await startFalseProvider(chainUrl)
    return { urls: [provider.url], close: () => provider.close() }
  }
  world = await startWorld({}, { between })
  await addEndpoint(world.pool, { url: 'https://hooks.example/a', secrets: [SECRET] }, 'test')
  await world.settle()
})
after(() => world.close())

const longAgo = () =>
  world.pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name LIKE 'unsent %'`
const events = async () => {
  const rows = await world.pool<{ body: string }[]>`SELECT body FROM webhook_events ORDER BY seq`
  return rows.map(({ body }) => JSON.parse(body)).filter(({ type }) => type.startsWith('passes.'))
}
const findings = async () => {
  const { out } = await runHere(['doctor', '--json'], worldEnv(world))
  return (JSON.parse(out) as { findings: { check: string; verdict: string; says: string }[] }).findings.filter(
    ({ check }) => check === 'passes.waiting',
  )
}
const unsent = async () => (await readUnsent(world.pool)).map(({ pass, why, runs }) => ({ pass, why, runs }))

test('T46: a mint that reverts by the only provider’s word waits, with one report and reason', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  provider.rule = REVERTS
  await world.payments()
  await longAgo()
  await world.payments()
  assert.deepEqual(await unsent(), [], 'two runs may be two passing faults')
  await world.pool`UPDATE troubles SET value = value || jsonb_build_object('since', iso(now())) WHERE name = 'unsent payments'`
  await world.payments()
  assert.deepEqual([await unsent(), await events()], [[], []], 'it may be a passing fault for so long')
  await longAgo()
  await world.payments()
  await world.payments()
  assert.deepEqual(
    (await unsent()).map(({ pass, runs }) => [pass, runs]),
    [['payments', 5]],
  )
  const [event, ...more] = await events()
  assert.equal(more.length, 0)
  assert.deepEqual([event.type, event.data.pass, event.data.runs], ['passes.waiting', 'payments', 4])
  assert.match(event.data.why, /^reverts/)
  const [finding] = await findings()
  assert.equal(finding?.verdict, 'fail')
  assert.match(finding?.says ?? '', /sending for payments has failed in 5 runs since 2020.*reverts/)

  provider.rule = HONEST
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  assert.deepEqual([await unsent(), await findings()], [[], []])
  assert.equal((await events()).length, 1, 'it may come back within minutes')
  await beWellFor(world, 'unsent payments')
  await world.payments()
  assert.deepEqual(
    (await events()).map(({ type }) => type),
    ['passes.waiting', 'passes.resumed'],
  )
})
