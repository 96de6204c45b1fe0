// A block that stops run after run while its provider answers. The service reports it once, by its number, rule and
// host, in every place that people look, and resumes as soon as the provider returns the block.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { readStuck } from '../../../src/db/blocks/stuck.ts'
import { readHealth } from '../../../src/db/reads/public-api.ts'
import { addEndpoint } from '../../../src/db/webhooks.ts'
import { refusalOfFault } from '../../../src/http/refusals.ts'
import { type Call, type FalseProvider, type Rule, startFalseProvider } from '../../chain/false-provider.ts'
import { readFigure } from '../../metrics/figure.ts'
import { runHere, worldEnv } from '../../support/cli.ts'
import { beWellFor } from '../../support/in-world.ts'
import { ETHER, paymentOf, startWorld, type World } from '../../support/world.ts'
import { SECRET } from '../../webhooks/receiver.ts'

const BASIC = ETHER / 100n

let world: World
let provider: FalseProvider
before(async () => {
  world = await startWorld(
    {},
    {
      between: async (chainUrl) => {
        provider = await startFalseProvider(chainUrl)
        return { urls: [provider.url], close: () => provider.close() }
      },
    },
  )
  await addEndpoint(world.pool, { url: 'https://hooks.example/a', secrets: [SECRET] }, 'test')
  await world.settle()
})
after(() => world.close())

/** Errs on a call, as for one block whose data is broken. */
const erringOn =
  (isBroken: (call: Call) => boolean): Rule =>
  (call) =>
    isBroken(call) ? { error: { code: -32603, message: 'internal error' } } : undefined
/** As if the first of those runs was longer ago than a brief fault lasts. */
const longAgo = () =>
  world.pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'stuck'`
const told = async () => {
  const rows = await world.pool<{ body: string }[]>`SELECT body FROM webhook_events ORDER BY seq`
  return rows.map(({ body }) => JSON.parse(body)).filter(({ type }) => type.startsWith('passes.'))
}
const run = () => world.payments().catch((error: unknown) => error)
const doctor = async () => {
  const { out } = await runHere(['doctor', '--json'], worldEnv(world))
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string; todo: string }[] }
  return findings.find(({ check }) => check === 'passes.stuck')
}

test('a block that stops each run is reported once, with number, rule and host, until it is read', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  const block = Number((await world.chain.block()).number)
  provider.rule = erringOn(({ method }) => /Receipts?$/.test(method))
  const fault = await run()
  // The chain answered, so the service does not report it as unreachable.
  assert.equal(refusalOfFault(fault).refused, 'chainUnclear')
  await run()
  assert.equal(await readStuck(world.pool), null, 'two runs may be two passing faults')
  await run()
  assert.equal(await readStuck(world.pool), null, 'a provider may have no block yet for so long')
  await longAgo()
  await run()
  await run()
  const { host } = new URL(provider.url)
  const stuck = await readStuck(world.pool)
  assert.deepEqual([stuck?.block, stuck?.host, stuck?.runs], [block, host, 5])
  assert.match(stuck?.rule ?? '', /internal error/)
  const [event, ...more] = await told()
  assert.equal(more.length, 0, 'it is told once')
  assert.deepEqual([event.type, event.data.block, event.data.host], ['passes.stuck', block, host])
  assert.match(event.data.rule, /internal error/)
  assert.equal(await readFigure(world.pool, 'node_ledger_passes_stuck'), 1)
  assert.equal((await readHealth(world.pool)).stuck?.block, block)
  const finding = await doctor()
  assert.equal(finding?.verdict, 'fail')
  assert.ok(finding?.says.includes(`block ${block}`) && finding.says.includes(host), finding?.says)

  provider.rule = () => undefined
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  assert.deepEqual([await readStuck(world.pool), (await readHealth(world.pool)).stuck], [null, null])
  assert.equal(await readFigure(world.pool, 'node_ledger_passes_stuck'), 0)
  assert.equal(await doctor(), undefined)
  assert.equal((await told()).length, 1, 'it may come back within minutes')
  await beWellFor(world, 'stuck')
  await world.payments()
  assert.deepEqual(
    (await told()).map(({ type }) => type),
    ['passes.stuck', 'passes.resumed'],
  )
})

test('a chain that is away is no block that stops the passes', async () => {
  provider.http = () => ({ status: 503, body: '' })
  const fault = await run()
  assert.equal(refusalOfFault(fault).refused, 'noChain')
  const rows = await world.pool`SELECT FROM troubles WHERE name = 'stuck'`
  assert.equal(rows.count, 0)
  provider.http = () => undefined
})

test('the blocks before the one that stops the passes are followed', async () => {
  const paid = await world.pay(6, BASIC)
  await world.chain.mine()
  await world.chain.mine(6)
  await world.pay(7, BASIC)
  await world.chain.mine()
  const last = Number((await world.chain.block()).number)
  await world.chain.mine()
  provider.rule = erringOn(({ method, params }) => method === 'eth_getBlockByNumber' && Number(params[0]) === last)
  for (let i = 0; i < 8; i++) await run()
  assert.ok(await paymentOf(world, paid), 'the payment before it is on record')
  await longAgo()
  await run()
  assert.equal((await readStuck(world.pool))?.block, last)
  provider.rule = () => undefined
  await world.settle()
})

test('each alert that follows from it is left out while it lasts', () => {
  const { groups } = parse(readFileSync(new URL('../../../ops/prometheus/alerts.yaml', import.meta.url), 'utf8'))
  const rules = groups.flatMap(({ rules }: { rules: { alert: string; expr: string }[] }) => rules)
  for (const name of ['NodeLedgerPaymentsPassStale', 'NodeLedgerCreditPassStale', 'NodeLedgerPaymentsWaiting'])
    assert.match(rules.find(({ alert }: { alert: string }) => alert === name)?.expr, /node_ledger_passes_stuck/, name)
})
