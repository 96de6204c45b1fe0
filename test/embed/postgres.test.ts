import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import sqlClient from 'postgres'
import { canSetDeathSignal, succeeds } from '../../packages/embed/child.ts'
import { type Postgres, type PostgresOptions, startPostgres } from '../../packages/embed/postgres.ts'
import { commandLineOf, isAlive, processesIn } from '../../packages/embed/process.ts'
import { chooseRunAs } from '../../packages/embed/runas.ts'
import { silentLog } from '../../src/lib/log.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { assertGone, SERVICE, startService } from './fixtures/start.ts'

const isRoot = process.getuid?.() === 0
const NORMAL_USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all']
const running: Postgres[] = []
after(() => Promise.all(running.map((server) => server.stop())))

async function start(dataDir: string, options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const server = await startPostgres({ dataDir, log: silentLog, ...options })
  running.push(server)
  return server
}

async function withSql<T>(url: string, run: (sql: sqlClient.Sql) => Promise<T>): Promise<T> {
  const sql = sqlClient(url, { max: 1, onnotice: () => undefined })
  try {
    return await run(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function countRows(url: string): Promise<number> {
  return withSql(url, async (sql) => {
    const [row] = await sql<{ count: string }[]>`select count(*) from kept`
    return Number(row?.count)
  })
}

async function addRow(url: string): Promise<void> {
  await withSql(url, async (sql) => {
    await sql`create table if not exists kept (at timestamptz default now())`
    await sql`insert into kept default values`
  })
}

const shared = temporaryDirectory()

test('rows, port and password are the same after a stop and a start', async () => {
  const first = await start(shared)
  await addRow(first.url)
  await first.stop()
  assert.equal(isAlive(first.pid), false)
  const second = await start(shared)
  assert.equal(second.url, first.url)
  assert.equal(await countRows(second.url), 1)
  await second.stop()
})

test('text sorts by code point and the time zone is UTC on any system', async () => {
  const server = await start(shared)
  const [row] = await withSql(server.url, (sql) => sql`select current_setting('TimeZone') as zone, 'Z' < 'a' as sorted`)
  assert.deepEqual({ ...row }, { zone: 'UTC', sorted: true })
  await server.stop()
})

test('only callers with the password connect, and only over the loopback interface', async () => {
  const server = await start(shared)
  const wrong = new URL(server.url)
  wrong.password = 'wrong'
  await assert.rejects(countRows(wrong.href), /password authentication failed/)
  const [row] = await withSql(server.url, (sql) => sql`select current_setting('listen_addresses') as addresses`)
  assert.deepEqual({ ...row }, { addresses: '127.0.0.1' })
  await server.stop()
})

test('a committed row survives kill -9 of the server, and the service hears of it', async () => {
  const server = await start(shared)
  const told = new Promise((resolve) => server.onExit(resolve))
  await addRow(server.url)
  process.kill(server.pid, 'SIGKILL')
  assert.deepEqual(await told, { code: null, signal: 'SIGKILL' })
  // At once, because its other processes may not have noticed yet.
  const next = await start(shared)
  assert.equal(await countRows(next.url), 2)
  await next.stop()
})

test('a stop is not reported as an exit', async () => {
  const server = await start(shared)
  let told = false
  server.onExit(() => {
    told = true
  })
  await server.stop()
  await server.stop()
  assert.equal(told, false)
})

for (const guard of ['pdeathsig', 'watcher'] as const) {
  const skip = guard === 'pdeathsig' && !canSetDeathSignal()
  test(`kill -9 of the service ends the server, and loses nothing (${guard})`, { skip }, async () => {
    const { report } = await startService({ dataDir: shared, postgres: { guard } })
    assert.ok(report.postgres)
    const { url, pid } = report.postgres
    const before = await countRows(url)
    await addRow(url)
    process.kill(report.pid, 'SIGKILL')
    await assertGone(report.pid, pid)
    assert.deepEqual(processesIn(join(shared, 'postgres', 'data')), [])
    const next = await start(shared)
    assert.equal(await countRows(next.url), before + 1)
    await next.stop()
  })
}

test('a server that an earlier run left behind is stopped, and its rows are there', async () => {
  const left = await start(shared)
  const before = await countRows(left.url)
  await addRow(left.url)
  const next = await start(shared)
  assert.notEqual(next.pid, left.pid)
  assert.equal(isAlive(left.pid), false)
  assert.equal(await countRows(next.url), before + 1)
  await next.stop()
})

test('a lock file whose process is now another program blocks nothing and harms no process', async () => {
  const data = join(shared, 'postgres', 'data')
  // Not this process, because the server recognises its own parent's pid as stale.
  const stranger = spawn('sleep', ['60'])
  assert.ok(stranger.pid)
  writeFileSync(join(data, 'postmaster.pid'), `${stranger.pid}\n${data}\n`, { mode: 0o600 })
  const server = await start(shared)
  assert.ok((await countRows(server.url)) > 0)
  assert.ok(isAlive(stranger.pid))
  stranger.kill()
  await server.stop()
})

test('a lock file of a dead but uncollected process does not block', async () => {
  const data = join(shared, 'postgres', 'data')
  // The shell becomes a program that reaps no children; only then does the signal end its child.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  const [line] = await once(parent.stdout, 'data')
  const dead = Number(String(line))
  writeFileSync(join(data, 'postmaster.pid'), `${dead}\n${data}\n`, { mode: 0o600 })
  while (!commandLineOf(parent.pid ?? 0)?.startsWith('sleep')) await sleep(20)
  process.kill(dead, 'SIGKILL')
  while (isAlive(dead)) await sleep(20)
  process.kill(dead, 0)
  const server = await start(shared)
  assert.ok((await countRows(server.url)) > 0)
  parent.kill()
  await server.stop()
})

test('another port is chosen if the last one is in use', async () => {
  const first = await start(shared)
  await first.stop()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(first.port, '127.0.0.1', resolve))
  const second = await start(shared)
  assert.notEqual(second.port, first.port)
  assert.ok((await countRows(second.url)) > 0)
  await second.stop()
  other.close()
})

test('a creation that was killed half way does not block the next start', async () => {
  const dataDir = temporaryDirectory()
  mkdirSync(join(dataDir, 'postgres', 'data.new', 'base'), { recursive: true })
  const server = await start(dataDir, { durable: false })
  await addRow(server.url)
  await server.stop()
})

/** Containers allow root one way and not the other. */
function cannotRunAs(how: 'namespace' | 'setpriv'): boolean {
  if (!isRoot) return true
  try {
    chooseRunAs(join(shared, 'nothing'), how)
    return false
  } catch {
    return true
  }
}

/** Another user cannot use a checkout below a home that only root can enter. */
function cannotBeNormalUser(): boolean {
  return !isRoot || !succeeds('setpriv', [...NORMAL_USER.slice(1), 'test', '-r', SERVICE])
}

test('root without namespaces runs it unprivileged, below directories that only root may enter', {
  skip: cannotRunAs('setpriv'),
}, async () => {
  const dataDir = temporaryDirectory()
  const first = await start(dataDir, { durable: false, runAs: 'setpriv' })
  await addRow(first.url)
  await first.stop()
  // The files are that user's now, so a start that may choose runs as their owner.
  const second = await start(dataDir, { durable: false })
  assert.equal(await countRows(second.url), 1)
  await second.stop()
})

test('files that root made are handed over when user namespaces are no longer allowed', {
  skip: cannotRunAs('namespace') || cannotRunAs('setpriv'),
}, async () => {
  const dataDir = temporaryDirectory()
  const first = await start(dataDir, { durable: false, runAs: 'namespace' })
  await addRow(first.url)
  await first.stop()
  const second = await start(dataDir, { durable: false, runAs: 'setpriv' })
  assert.equal(await countRows(second.url), 1)
  await second.stop()
})

test('a normal user can run it', { skip: cannotBeNormalUser() }, async () => {
  const dataDir = join(temporaryDirectory(), 'data')
  mkdirSync(dataDir)
  chmodSync(join(dataDir, '..'), 0o755)
  chownSync(dataDir, 65534, 65534)
  const { report } = await startService({ dataDir, postgres: { durable: false } }, { prefix: NORMAL_USER })
  assert.ok(report.postgres)
  await addRow(report.postgres.url)
  process.kill(report.pid, 'SIGTERM')
  await assertGone(report.pid, report.postgres.pid)
})
