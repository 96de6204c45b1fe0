// Events of the acts and of the passes' records, from the audit log; and the messages to chats.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { writeAudit } from '../../src/db/core/state.ts'
import { addEndpoint } from '../../src/db/webhooks.ts'
import { KINDS } from '../../src/domain/webhooks/kinds.ts'
import { bodyFor } from '../../src/webhooks/chat.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER } from '../support/world.ts'
import { SECRET } from './receiver.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const SLACK = 'https://hooks.slack.com/services/T/B/x'
let desk: Desk
before(async () => {
  desk = await startDesk()
  await addEndpoint(desk.world.pool, { url: 'https://hooks.example/a', secrets: [SECRET] }, 'test')
})
after(() => desk.close())

/** Events since the last call, as delivered. */
async function told(): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await desk.world.pool<{ body: string }[]>`SELECT body FROM webhook_events ORDER BY seq`
  await desk.world.pool`DELETE FROM webhook_events`
  return rows.map(({ body }) => JSON.parse(body))
}

test('a decision is an event with its actor and subject, and nothing else of the row', async () => {
  const hash = await desk.world.pay(14, ETHER / 100n - 9n)
  await desk.world.settle()
  await told()
  await desk.post(`payments/${hash}/dismiss`, { reason: 'confidential' })
  const [event, ...more] = await told()
  assert.equal(more.length, 0)
  assert.equal(event?.type, 'payment.decided')
  assert.deepEqual(Object.keys(event?.data ?? {}).sort(), ['action', 'actor', 'auditId', 'subject'])
  assert.deepEqual([event?.data.action, event?.data.subject], ['dismissed', hash])
  await desk.post('pause', {})
  await desk.post('resume', {})
  assert.deepEqual(
    (await told()).map(({ type }) => type),
    ['rounds.paused', 'rounds.resumed'],
  )
})

test('passes’ rows for a person are events, and their rows for the record are not', async () => {
  const { pool } = desk.world
  for (const action of [
    'halted',
    'haltWithdrawn',
    'signerDown',
    'signerRestored',
    'foreignTransaction',
    'guardRefused',
    'paidNodeExpelled',
    'restored',
    'proofFailed',
    'wrongAdminKeys',
    'keyRevoked',
    'passkeyCopied',
    'passkeyInvited',
    'signedIn',
    'reconciled',
  ])
    await writeAudit(pool, { actor: 'pass', action, detail: {} })
  assert.deepEqual(
    (await told()).map(({ type }) => type),
    [
      'passes.halted',
      'passes.resumed',
      'signer.down',
      'signer.restored',
      'key.used',
      'guard.refused',
      'node.expelled',
      'ledger.restored',
      'proof.failed',
      'keys.wrong',
      'keys.changed',
      'keys.wrong',
      'keys.changed',
    ],
  )
})

test('an act that is undone is no event', async () => {
  const { pool } = desk.world
  await pool
    .begin(async (sql) => {
      await writeAudit(sql as never, { actor: 'pass', action: 'halted', detail: {} })
      throw new Error('undone')
    })
    .catch(() => {})
  assert.deepEqual(await told(), [])
})

test('a chat gets a sentence in its field, others the event, both with links and steps', () => {
  const origin = 'https://nodes.example'
  const txHash = `0x${'ab'.repeat(32)}`
  const data = { txHash, from: '0xcd', valueWei: '10000000000000123', tierId: null, reason: 'wrongAmount' }
  const event = JSON.stringify({ type: 'payment.held', timestamp: '2026-01-01T00:00:00.000Z', data })
  const consoleUrl = `${origin}/console/payments/${txHash}`
  const runbookUrl = `${origin}/runbook.html#paymentheld`
  assert.deepEqual(JSON.parse(bodyFor('https://hooks.example/slack.com', event, origin)), {
    ...JSON.parse(event),
    data: { ...data, consoleUrl, runbookUrl },
  })
  const text = `A payment is held and needs your decision: reason wrongAmount, 0.010000000000000123 ETH, from 0xcd, txHash ${txHash}.
What to do: ${runbookUrl}
Where: ${consoleUrl}`
  assert.deepEqual(JSON.parse(bodyFor(SLACK, event, origin)), { text })
  assert.deepEqual(JSON.parse(bodyFor('https://discord.com/api/webhooks/1/x', event, origin)), { content: text })
  assert.deepEqual(JSON.parse(bodyFor('https://api.telegram.org/bot1:x/sendMessage?chat_id=2', event, origin)), {
    text,
  })
  const acted = {
    type: 'terms.changed',
    data: { action: 'termsEntered', actor: '<!channel> @everyone `x`', subject: null },
  }
  assert.deepEqual(JSON.parse(bodyFor(SLACK, JSON.stringify(acted), origin)), {
    text: `The credit terms were changed: action termsEntered, actor !channel everyone x.\nWhere: ${origin}/console/terms`,
  })
})

test('each kind of event comes from an audit row or a trigger, and is in the documents', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const byTriggers = new Set(
    [...read('migrations/0001_schema.sql').matchAll(/'([a-z]+\.[a-z]+)'/g)].map(([, type]) => type ?? ''),
  )
  const kinds = Object.entries(KINDS)
  assert.deepEqual([...byTriggers].sort(), kinds.flatMap(([type, { acts }]) => (acts ? [] : [type])).sort())
  const acts = kinds.flatMap(([, { acts = [] }]) => acts)
  assert.equal(new Set(acts).size, acts.length, 'a row is one event')
  const page = read('docs/WEBHOOKS.md')
  for (const [type] of kinds) assert.ok(page.includes(`\`${type}\``), type)
})

test('each row of a kind is written somewhere', () => {
  const source = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('webhooks/kinds.ts'))
  const text = source.map((path) => readFileSync(`${ROOT}/${path}`, 'utf8')).join('\n')
  for (const { acts = [] } of Object.values(KINDS))
    for (const act of acts) assert.ok(text.includes(`'${act}'`), `nothing writes ${act}`)
})

test('each row of a kind is its event', async () => {
  for (const [type, { acts = [] }] of Object.entries(KINDS)) {
    for (const action of acts) {
      const detail = { count: 1, drifts: [{}], low: ['nodes'], spent: 'nodes' }
      await writeAudit(desk.world.pool, { actor: 'pass', action, subject: 'it', detail })
      const [event, ...more] = await told()
      assert.deepEqual([event?.type, more.length], [type, 0], action)
      assert.match(String(event?.data.auditId), /^[1-9][0-9]*$/, action)
    }
  }
})
