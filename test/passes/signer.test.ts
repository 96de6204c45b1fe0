// A remote signer that does not sign: a payment waits, and every report of the service's state says so, each in its own words:
// the passes, the command line, metrics, health, the doctor, the preview. When it signs again, all of them say that.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Registry } from 'prom-client'
import { remoteSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import { readAudit } from '../../src/db/core/audit.ts'
import { readHealth } from '../../src/db/reads/public-api.ts'
import { createMeters, metered } from '../../src/metrics/meters.ts'
import { createMetricsReader } from '../../src/metrics/readings.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { beWellFor } from '../support/in-world.ts'
import { ETHER, INTERVAL_SEC, type Instance, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const DOWN = { error: { code: -32000, message: 'authentication needed: password or unlock' } }

let world: World
let signer: FalseProvider
let instance: Instance
let env: Record<string, string>
before(async () => {
  world = await startWorld()
  // Signs with anvil's unlocked accounts while no rule says otherwise.
  signer = await startFalseProvider(world.chain.rpcUrl)
  const { rpc, chain, factory } = world
  const senderOf = (account: number) => {
    const remote = remoteSigner({ url: signer.url, address: world.at(account), timeoutMs: 2_000 })
    return createSignerAccount({ rpc, signer: remote, chainId: chain.chainId, factory })
  }
  instance = world.instance({ minter: senderOf(1), distributor: senderOf(2) })
  env = {
    ...worldEnv(world),
    MINTER_PRIVATE_KEY: '',
    MINTER_SIGNER_URL: `${signer.url}/secret-path`,
    MINTER_ADDRESS: world.at(1),
    DISTRIBUTOR_PRIVATE_KEY: '',
    DISTRIBUTOR_SIGNER_URL: signer.url,
    DISTRIBUTOR_ADDRESS: world.at(2),
  }
  await world.rest()
})
beforeEach(async () => {
  signer.rule = () => undefined
  await instance.payments()
  await instance.credit()
  await world.rest()
})
after(async () => {
  await signer.close()
  await world.close()
})

const signatures = () => signer.seen.filter(({ method }) => method === 'eth_signTransaction').length
const intents = async () => (await world.pool`SELECT FROM outbox`).count
const acts = async () => {
  const filter = { actor: 'pass', subject: null, before: null, limit: 50 }
  const rows = await Promise.all(
    ['signerDown', 'signerRestored'].map((action) => readAudit(world.pool, { ...filter, action })),
  )
  return rows.map((found) => found.length)
}
const down = async (role: string) => {
  const { pool, ctx } = world
  const readings = { cover: async () => null } as never
  const read = createMetricsReader({
    pool,
    chain: ctx.chain,
    readings,
    minter: ctx.minter,
    distributor: ctx.distributor,
  })
  return (await read()).find(({ name, labels }) => name === 'node_ledger_signer_down' && labels?.sender === role)?.value
}
const doctor = async () => {
  const { code, out, err } = await runHere(['doctor', '--json'], env)
  assert.ok(!(out + err).includes('secret-path'))
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string; todo: string }[] }
  return { code, of: (check: string) => findings.filter((finding) => finding.check === check) }
}
const pass = async (name: string) => {
  const { code, out, err } = await runHere(['pass', name, '--json'], env)
  return { code, err, ...(JSON.parse(out) as { signer: string; reason?: string }) }
}

test('pass, command, metrics, health, audit log and doctor report a payment waiting for a signer', async () => {
  assert.deepEqual([await down('minter'), await down('distributor')], [0, 0])
  const [downBefore = 0, restoredBefore = 0] = await acts()
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  signer.rule = () => DOWN
  const stored = await intents()
  const asked = signatures()
  const first = await instance.payments()
  assert.deepEqual([first.ran, first.signer, first.pending], [true, 'notSigned', 1])
  assert.equal(signatures(), asked + 1)
  const again = await pass('payments')
  assert.deepEqual([again.code, again.signer], [1, 'notSigned'])
  assert.match(again.err, /signer did not sign/)
  assert.equal(await intents(), stored)
  assert.equal((await paymentOf(world, paid))?.state, 'accepted')
  assert.deepEqual([await down('minter'), await down('distributor')], [1, 0])
  assert.deepEqual((await readHealth(world.pool)).notSigning, ['minter'])
  // Reported once, however many reads there are.
  assert.deepEqual(await acts(), [downBefore + 1, restoredBefore])

  const { code, of } = await doctor()
  assert.equal(code, 1)
  const [asking] = of('signer.minter')
  assert.deepEqual([asking?.verdict, of('signer.distributor')[0]?.verdict], ['fail', 'fail'])
  assert.match(asking?.says ?? '', /refuses: authentication needed/)
  assert.match(asking?.todo ?? '', /MINTER_SIGNER_URL/)
  const [onRecord] = of('passes.signers')
  assert.equal(onRecord?.verdict, 'fail')
  assert.match(
    onRecord?.says ?? '',
    new RegExp(`the signer of the minter, ${world.at(1)}, has not signed since .*authentication needed`),
  )

  signer.rule = () => undefined
  const back = await pass('payments')
  assert.deepEqual([back.code, back.signer], [0, 'signed'])
  assert.equal(await down('minter'), 0)
  // It comes and goes, as one of two instances' signer would. That is one incident, which is over once the signer has worked for a while.
  signer.rule = () => DOWN
  await world.pay(5, BASIC)
  await world.chain.mine()
  await instance.payments()
  assert.equal(await down('minter'), 1)
  signer.rule = () => undefined
  await instance.payments()
  assert.deepEqual([await down('minter'), await acts()], [0, [downBefore + 1, restoredBefore]])
  await beWellFor(world, 'signer minter')
  await Promise.all([instance.payments(), world.payments()])
  await instance.payments()
  assert.deepEqual(await acts(), [downBefore + 1, restoredBefore + 1])
  assert.deepEqual((await readHealth(world.pool)).notSigning, [])
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

test('a round that waits for a signer is pending for the API, with its own field and exit code', async () => {
  await world.pay(6, BASIC)
  await world.settle()
  await world.chain.mine(2, INTERVAL_SEC)
  signer.rule = () => DOWN
  await instance.payments()
  const round = await pass('credit')
  assert.deepEqual([round.code, round.reason, round.signer], [1, 'pending', 'notSigned'])
  assert.deepEqual([await down('minter'), await down('distributor')], [0, 1])
  assert.deepEqual((await readHealth(world.pool)).notSigning, ['distributor'])
  const { out } = await runHere(['rounds', 'preview', '--json'], env)
  assert.ok((JSON.parse(out) as { stops: string[] }).stops.includes('notSigned'))
  signer.rule = () => undefined
  assert.equal((await instance.credit()).signer, 'signed')
  assert.equal(await down('distributor'), 0)
})

test('each run tries a signer that is recorded as down, even without work, and no other one', async () => {
  const paid = await world.pay(7, BASIC)
  await world.chain.mine()
  signer.rule = () => DOWN
  assert.equal((await instance.payments()).signer, 'notSigned')
  // Another instance, with the key itself, mints it, so nothing waits for the signer now.
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  await world.pool`INSERT INTO troubles (name, value)
    VALUES ('trouble signer minter', ${JSON.stringify({ address: world.at(1), detail: 'x' })}::text::jsonb)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  assert.equal((await instance.payments()).signer, 'notSigned')
  assert.equal(await down('minter'), 1)
  signer.rule = () => undefined
  const stored = await intents()
  assert.equal((await instance.payments()).signer, 'signed')
  assert.equal(await down('minter'), 0)
  const asked = signatures()
  assert.equal((await instance.payments()).signer, null)
  assert.deepEqual([signatures(), await intents()], [asked, stored])
})

test('the doctor’s signature can never be mined, and is handed to no provider', async () => {
  signer.seen.length = 0
  const { of } = await doctor()
  assert.deepEqual([of('signer.minter')[0]?.verdict, of('passes.signers')[0]?.verdict], ['ok', 'ok'])
  const asked = signer.seen.map(
    ({ method, params }) => [method, (params[0] as { gas: string; value: string }) ?? {}] as const,
  )
  assert.equal(asked.length, 2)
  for (const [method, { gas, value }] of asked)
    assert.deepEqual([method, BigInt(gas) < 21_000n, BigInt(value)], ['eth_signTransaction', true, 0n])
})

test('a run whose signer did not sign is counted apart from those that went well', async () => {
  const registry = new Registry()
  const meters = createMeters(registry, 'test')
  for (const signer of ['notSigned', 'signed', null])
    await metered('payments', meters, async () => ({ ran: true, signer }))()
  const text = await registry.metrics()
  const count = (outcome: string) =>
    Number(new RegExp(`node_ledger_pass_runs_total{pass="payments",outcome="${outcome}"} (\\d+)`).exec(text)?.[1])
  assert.deepEqual([count('ok'), count('notSigned'), count('fault')], [2, 1, 0])
})
