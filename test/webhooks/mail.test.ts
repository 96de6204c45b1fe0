// Mail, by a real SMTP server: what the service mails and what not, several events as one, and how it handles a password.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { runChecks } from '../../src/checks/check.ts'
import { WEBHOOK_CHECKS } from '../../src/checks/webhooks.ts'
import { migrate } from '../../src/db/core/migrate.ts'
import { jsonRows, type Pool } from '../../src/db/core/sql.ts'
import {
  addEndpoint,
  chooseEvents,
  endpointName,
  listEndpoints,
  readTargets,
  removeEndpoint,
} from '../../src/db/webhooks.ts'
import { KINDS } from '../../src/domain/webhooks/kinds.ts'
import { mailTargetOf } from '../../src/domain/webhooks/receiver.ts'
import { silentLog } from '../../src/lib/log.ts'
import { addWebhook } from '../../src/operator/acts/webhooks.ts'
import { sendMail } from '../../src/webhooks/mail.ts'
import { adoptEndpoints, startWebhooks, type Webhooks } from '../../src/webhooks/worker.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'

const PASSWORD = 'p@ss:w/rd+1'
const PLAIN = { disabledCommands: ['STARTTLS'], allowInsecureAuth: true } satisfies SMTPServerOptions

let database: OpenDatabase
let pool: Pool
let server: SMTPServer
let port: number
let signIns: string[]
/** Whether each mail came by TLS. */
let ciphered: boolean[]
let mails: { from: string; to: string[]; text: string }[]
const running: Webhooks[] = []

before(async () => {
  database = await openDatabase(4)
  pool = database.pool
  await migrate(database.url)
})
beforeEach(async () => {
  await pool`TRUNCATE webhook_events, webhook_endpoints CASCADE`
  await listen(PLAIN)
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop()))
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
after(() => database.close())

/** A mail server that keeps what it takes. */
async function listen(options: SMTPServerOptions): Promise<void> {
  signIns = []
  ciphered = []
  mails = []
  server = new SMTPServer({
    ...options,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      signIns.push(`${username} ${password}`)
      if (password === PASSWORD) done(null, { user: username })
      else done(new Error('535 no such user or password'))
    },
    async onData(stream, { envelope, secure }, done) {
      ciphered.push(secure)
      const parts: Buffer[] = []
      for await (const part of stream) parts.push(part as Buffer)
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text: unfolded(Buffer.concat(parts)) })
      done()
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.server.address() as AddressInfo).port
}

/** A mail with its soft line breaks and encoded letters decoded. */
const unfolded = (bytes: Buffer) =>
  Buffer.from(
    bytes
      .toString()
      .replaceAll(/=\r\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

const urlOf = (query = '', password = PASSWORD) =>
  `smtp://ledger:${encodeURIComponent(password)}@127.0.0.1:${port}?from=ledger@nodes.example&to=ann+ops@nodes.example&to=bob@nodes.example${query}`

async function deliver(url: string, options: { allowPrivate?: boolean } = {}): Promise<string> {
  await addEndpoint(pool, { url, secrets: [] }, 'test')
  running.push(
    startWebhooks({ pool, allowPrivate: true, publicUrl: 'https://nodes.example', log: silentLog, ...options }),
  )
  return endpointName(url)
}
let facts = 0
async function tell(type: string, data: object): Promise<void> {
  await pool`SELECT webhook_emit(${type}, ${String(++facts)}, ${jsonRows([data])}::text::jsonb -> 0)`
  for (const worker of running) worker.wake()
}
const endpoint = async () => (await listEndpoints(pool))[0]
const left = async () =>
  (await pool<{ n: number }[]>`SELECT count(*) AS n FROM webhook_deliveries WHERE state = 'pending'`)[0]?.n
const HASH = `0x${'ab'.repeat(32)}`

test('what needs a person is mailed to each, with steps and links, and news is not', async () => {
  await deliver(urlOf())
  await tell('payment.minted', { txHash: HASH })
  await tell('payment.held', { txHash: HASH, reason: 'wrongAmount', valueWei: '1500000000000000000' })
  await until('the mail', () => mails.length === 1)
  const [{ from, to, text }] = mails as [(typeof mails)[0]]
  assert.deepEqual([from, to], ['ledger@nodes.example', ['ann+ops@nodes.example', 'bob@nodes.example']])
  assert.match(text, /^Subject: \[nodes\.example\] A payment is held and needs your decision\r$/m)
  assert.match(text, /^Message-ID: <evt_[0-9a-f]{32}\.1@nodes\.example>\r$/m)
  assert.match(text, /^Auto-Submitted: auto-generated\r$/m)
  assert.ok(text.includes('reason wrongAmount, 1.5 ETH'), text)
  assert.ok(text.includes('What to do: https://nodes.example/runbook.html#paymentheld'))
  assert.ok(text.includes(`Where: https://nodes.example/console/payments/${HASH}`))
  assert.doesNotMatch(text, /A node was sold/)
  assert.deepEqual(signIns, [`ledger ${PASSWORD}`])
  await until('both are settled', async () => (await left()) === 0)
  assert.equal((await endpoint())?.lastError, null)
})

test('waiting events are one mail, oldest first, and a mail has the kinds in its URL', async () => {
  await addEndpoint(pool, { url: urlOf('&events=payment.minted,funds.low'), secrets: [] }, 'test')
  for (let nodeId = 1; nodeId <= 20; nodeId++) await tell('payment.minted', { nodeId })
  await tell('payment.held', { txHash: HASH })
  await deliver(urlOf('&events=payment.minted,funds.low'))
  await until('all is settled', async () => mails.length > 0 && (await left()) === 0)
  assert.equal(mails.length, 1)
  assert.match(mails[0]?.text ?? '', /^Subject: \[nodes\.example\] A node was sold \(and 19 more\)\r$/m)
  const told = [...(mails[0]?.text ?? '').matchAll(/A node was sold: nodeId (\d+)/g)].map(([, id]) => Number(id))
  assert.deepEqual(
    told,
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
})

test('kinds that are chosen while it mails replace its usual ones from the next event on', async () => {
  const name = await deliver(urlOf())
  await chooseEvents(pool, name, ['payment.minted'])
  await tell('payment.minted', { nodeId: 7 })
  await until('it is mailed or dropped', async () => mails.length > 0 || (await left()) === 0)
  assert.match(mails[0]?.text ?? '', /A node was sold: nodeId 7/)
})

test('a password is the endpoint’s secret: it is in no URL, list or error, and can be replaced', async () => {
  const name = await deliver(urlOf('', 'wrong'))
  await tell('funds.low', { sender: 'minter' })
  await until('it is refused', async () => (await endpoint())?.lastError != null)
  assert.match((await endpoint())?.lastError ?? '', /535/)
  assert.deepEqual(mails, [])
  assert.equal(endpointName(urlOf()), name, 'a password makes no other endpoint')
  assert.equal(await addEndpoint(pool, { url: urlOf(), secrets: [] }, 'test'), false)
  const [target] = [...(await readTargets(pool)).values()]
  assert.deepEqual([target?.secrets, target?.url.includes('ss')], [[PASSWORD], false])
  await pool`UPDATE webhook_deliveries SET due_at = now()`
  await until('the mail', () => mails.length === 1)
  assert.doesNotMatch(JSON.stringify(await listEndpoints(pool)), /(?<!keys\.)wrong|p@ss|ann/)
})

test('neither password nor text goes to a server without a valid certificate', async () => {
  await new Promise<void>((resolve) => server.close(() => resolve()))
  // The server’s own, which it offers by STARTTLS.
  await listen({})
  await deliver(urlOf())
  await tell('funds.low', { sender: 'minter' })
  await until('it is refused', async () => /certificate/i.test((await endpoint())?.lastError ?? ''))
  assert.deepEqual([signIns, mails], [[], []])
})

const openssl = spawnSync('openssl', ['version']).status === 0
const skip = openssl ? false : 'openssl is not installed (Debian: apt-get install openssl)'

test('with a valid certificate it is mailed by TLS, from the first byte or by STARTTLS', {
  skip,
}, async () => {
  const folder = temporaryDirectory()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, readFileSync(cert, 'utf8')])
  try {
    for (const [scheme, secure] of [
      ['smtps', true],
      ['smtp', false],
    ] as const) {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await listen({ secure, key: readFileSync(key), cert: readFileSync(cert) })
      const name = await deliver(urlOf().replace('smtp:', `${scheme}:`).replace('127.0.0.1', 'localhost'))
      await tell('funds.low', { sender: 'minter' })
      await until(`the mail by ${scheme}`, () => mails.length === 1)
      assert.deepEqual(ciphered, [true], scheme)
      await removeEndpoint(pool, name)
    }
  } finally {
    setDefaultCACertificates(trusted)
  }
})

test('a private server is left to an instance that may reach it, and no attempt is counted', async () => {
  await deliver(urlOf(), { allowPrivate: false })
  await tell('funds.low', { sender: 'minter' })
  await until('it says why', async () => /not sent/.test((await endpoint())?.lastError ?? ''))
  assert.equal((await pool`SELECT FROM webhook_attempts`).count, 0)
  const target = mailTargetOf(`smtps://localhost:${port}?from=a@x.example&to=b@x.example`) ?? assert.fail()
  const events = [{ id: 'evt_1', notice: { type: 'funds.low', timestamp: '', data: {} } }]
  const mail = { target, password: '', events, publicUrl: 'https://nodes.example' }
  const byName = await sendMail(mail, { allowPrivate: false })
  assert.deepEqual([byName.isForbidden, byName.status], [true, null], 'nor is one behind a name')
  assert.deepEqual(mails, [])
  await deliver(urlOf())
  await until('another instance mails it', () => mails.length === 1)
})

test('a missing or silent server costs an attempt, and events for a removed one are not sent', async () => {
  const silent = new SMTPServer({ ...PLAIN, onConnect: () => {} })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port: silentPort } = silent.server.address() as AddressInfo
  const target = mailTargetOf(urlOf().replace(`:${port}?`, `:${silentPort}?`)) ?? assert.fail()
  const events = [{ id: 'evt_1', notice: { type: 'funds.low', timestamp: '', data: {} } }]
  const mail = { target, password: PASSWORD, events, publicUrl: 'https://nodes.example' }
  const slow = await sendMail(mail, { allowPrivate: true, timeoutMs: 300 })
  assert.deepEqual([slow.status, slow.error], [null, 'did not answer within 0.3 s'])
  await new Promise<void>((resolve) => silent.close(() => resolve()))
  const gone = await sendMail(mail, { allowPrivate: true })
  assert.match(gone.error ?? '', /ECONNREFUSED/)
  const name = await deliver(urlOf())
  await removeEndpoint(pool, name)
  await tell('funds.low', { sender: 'minter' })
  assert.equal(await left(), 0)
})

test('settings or an act add it like any other, without a signing secret, and doctor checks it', async () => {
  const url = urlOf()
  for (const urls of [[url], [url, urlOf('&events=all')]]) await adoptEndpoints(pool, { urls, secrets: [] })
  const act = (fields: Record<string, string>) =>
    addWebhook({ pool } as never, { name: 'ann', requestId: null } as never, fields)
  assert.deepEqual(await act({ url: urlOf('', 'another') }), { endpoint: endpointName(url), added: false })
  assert.match(JSON.stringify(await act({ url: `smtp://127.0.0.1:${port}` })), /smtps:\/\/user:password@host/)
  assert.match(JSON.stringify(await act({ url: 'https://hooks.example/x' })), /"field":"secret","code":"malformed"/)
  assert.equal(((await act({ url: 'https://hooks.slack.com/services/T/B/x' })) as { added: boolean }).added, true)
  await removeEndpoint(pool, endpointName('https://hooks.slack.com/services/T/B/x'))
  const [finding] = await runChecks(WEBHOOK_CHECKS, { allowPrivate: true, pool })
  assert.equal(finding?.verdict, 'ok')
  const [strict] = await runChecks(WEBHOOK_CHECKS, { allowPrivate: false, pool })
  assert.match(strict?.says ?? '', /private address/)
  const audit = await pool`SELECT * FROM audit`
  assert.doesNotMatch(JSON.stringify([finding, strict, audit]), /another|ann\+ops|p@ss/)
})

test('an incomplete URL of a mail server is none', () => {
  const whole = 'smtps://u:p@mail.example?from=a@x.example&to=b@x.example'
  assert.deepEqual(mailTargetOf(whole), {
    host: 'mail.example',
    port: 465,
    tls: true,
    user: 'u',
    from: 'a@x.example',
    to: ['b@x.example'],
    events: mailTargetOf(whole)?.events,
  })
  assert.equal(mailTargetOf(whole.replace('smtps', 'smtp'))?.port, 587)
  assert.deepEqual(mailTargetOf(`${whole}&events=all`)?.events, Object.keys(KINDS))
  const wrong = [
    whole.replace('to=', 'cc='),
    whole.replace('b@x', 'b@x@y'),
    whole.replace('from=a@x.example', 'from='),
    `${whole}&from=c@x.example`,
    `${whole}&to=b%0d%0aBcc:c@x.example`,
    `${whole}&events=payment.lost`,
    `${whole}&subject=x`,
    whole.replace('?', '/path?'),
    whole.replace('u:p', 'u:%zz'),
    whole.replace('smtps', 'https'),
    `smtps://?from=a@x.example&to=b@x.example`,
    ...[`${whole}${'&to=b@x.example'.repeat(10)}`],
  ]
  for (const url of wrong) assert.equal(mailTargetOf(url), null, url)
})
