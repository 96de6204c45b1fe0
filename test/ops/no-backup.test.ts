// The runbook's "No backup at all", rehearsed with its own commands: the database is gone, and with it the record of who paid by
// internal calls. The nodes of such payments stop their cohort, and the payments look refundable, until they are matched.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { payInside, putForwarder, traceNothing } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const SAFE = 18
const PAGE = readFileSync(new URL('../../docs/RUNBOOK.md', import.meta.url), 'utf8')
const SECTION = /### No backup at all\n([\s\S]*?)\n#/.exec(PAGE)?.[1] ?? ''
/** The section's commands, in their order, placeholders and all. */
const COMMANDS = [...SECTION.matchAll(/`ledger ([^`]+)`/g)].map(([, words = '']) => words)

let desk: Desk
let world: World
let fresh: TestDatabase
let untracing: FalseProvider
let env: Record<string, string>
before(async () => {
  ;[desk, fresh] = await Promise.all([startDesk(), createEmptyDatabase()])
  world = desk.world
  // With a provider that traces blocks there would be nothing to name.
  traceNothing(world)
  untracing = await startFalseProvider(world.chain.rpcUrl)
  untracing.rule = ({ method }) =>
    method === 'debug_traceBlockByHash' ? { error: { code: -32601, message: 'no' } } : undefined
  env = { ...worldEnv(world), RPC_URL: untracing.url, DATABASE_URL: fresh.url }
  await putForwarder(world, world.at(SAFE))
  await world.settle()
})
after(async () => {
  await desk.close()
  await untracing.close()
  await fresh.drop()
})

/** Runs the section's next command that begins with these words, with its placeholders filled in. */
async function step(begins: string, values: Record<string, string> = {}, more: string[] = [], asJson = true) {
  const at = COMMANDS.findIndex((words) => words.startsWith(begins))
  assert.ok(at >= 0, `the page has no "${begins}" where it is due: ${COMMANDS.join(' | ')}`)
  const [words = ''] = COMMANDS.splice(0, at + 1).slice(-1)
  const argv = words.split(' ').map((word) => {
    const name = /^<(.+)>$/.exec(word)?.[1]
    return name === undefined ? word.replaceAll('"', '') : (values[name] ?? assert.fail(`nothing for ${word}`))
  })
  const { code, out, err } = await runHere([...argv, ...more, ...(asJson ? ['--json'] : [])], env)
  return { code, out, err, json: asJson ? JSON.parse(out) : null }
}

test('attributed payments find their nodes again, and the operator decides on those without one', async () => {
  const { txHash } = await payInside(world, BASIC, { by: world.at(SAFE) })
  await world.settle()
  const [first] = (await desk.get('payments?reason=unattributed&status=held')).json.payments
  await desk.post(`payments/${first.id}/attribute`, { txHash })
  await desk.post(`payments/${txHash}/release`, { tierId: 'basic' })
  await world.pay(5, BASIC)
  await world.settle()
  const waits = await payInside(world, BASIC * 3n, { by: world.at(SAFE) })
  await world.settle()
  assert.equal((await world.read<readonly bigint[]>('nodesOf', [world.at(SAFE)])).length, 1)

  // If the first terms are entered in the second in which a cohort opens, the ledger holds the cohort to them. An operator
  // takes longer than that.
  const { timestamp } = await world.chain.block()
  await until('the second of the last block is over', () => Date.now() / 1_000 >= Number(timestamp) + 1)

  assert.equal((await step('migrate')).code, 0)
  const range = { wei: String(BASIC / 10n), s: String(INTERVAL_SEC) }
  assert.equal((await step('terms set', range, ['--yes'])).code, 0)
  const terms = { tier: 'basic', label: 'Basic', wei: String(BASIC) }
  assert.equal((await step('tiers create', { ...terms, n: '1', bps: '10000' }, ['--yes'])).code, 0)
  // The page's deny list has no options in its text, because it is empty here.
  const service = await startService(temporaryDirectory(), { ...env, SCHEDULER: 'off' })
  await service.stop()
  const pass = async (name: string) => JSON.parse((await runHere(['pass', name, '--json'], env)).out)
  await world.chain.mine()
  await pass('payments')

  // Before anything is named: a cohort that stands still, and two payments that look alike.
  await world.chain.mine(2, INTERVAL_SEC)
  await pass('payments')
  const stopped = await pass('credit')
  assert.deepEqual([stopped.reason, stopped.dueNodes], ['unpaidNodes', 2])
  const unpaid = await step('nodes unpaid --open')
  assert.deepEqual(
    unpaid.json.nodes.map(({ owner }: { owner: string }) => owner),
    [world.at(SAFE)],
  )
  const held = await step('payments list --status held --reason unattributed')
  const ids = held.json.payments.map(({ id }: { id: number }) => String(id)).reverse()
  assert.equal(ids.length, 2)

  // Exactly the words that the page quotes, because a person reads them.
  const named = COMMANDS[0] ?? ''
  const quoted = /"(Its node is on chain already)"/.exec(SECTION)?.[1] ?? assert.fail('the page quotes no answer')
  const found = await step('payments attribute', { id: ids[0], hash: txHash }, ['--yes'], false)
  assert.match(
    found.out,
    new RegExp(`came from ${world.at(SAFE)}.*${quoted}: node ${unpaid.json.nodes[0].nodeId}\\. Do not pay it back`),
  )
  const [shown] = JSON.parse((await runHere(['payments', 'show', txHash, '--json'], env)).out).payments
  assert.deepEqual([shown.status, shown.nodeId], ['minted', unpaid.json.nodes[0].nodeId])
  COMMANDS.unshift(named)
  const other = await step('payments attribute', { id: ids[1], hash: waits.txHash }, ['--yes'])
  assert.deepEqual([other.json.status, other.json.nodeId], ['held', null])

  assert.deepEqual((await step('nodes unpaid --open')).json.nodes, [])
  const credited = await pass('credit')
  assert.deepEqual([credited.reason, credited.nodeCount], [null, 2])
  await world.chain.mine()
  await pass('payments')
  assert.equal((await step('verify')).code, 0)
})
