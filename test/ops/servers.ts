// PostgreSQL and PgBouncer from Debian's packages, for tests that need replicas, promotion, archives or poolers. The
// embedded server has neither the tools nor a pooler. If a package is absent, tests are skipped and say which.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../../packages/embed/child.ts'
import { findFreePort } from '../../packages/embed/port.ts'
import { chooseRunAs, handOver } from '../../packages/embed/runas.ts'
import { connect } from '../../src/db/core/sql.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const PACKAGED = '/usr/lib/postgresql'
const PGBOUNCER = '/usr/sbin/pgbouncer'
const START_MS = 60_000
const POLL_MS = 100
const STOP = [
  { signal: 'SIGINT', waitMs: 20_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/** Directory of the newest packaged PostgreSQL's programs; null if none is installed. */
const BIN = newestBin()
/** For `skip` of a test: false, or the missing package. */
export const withoutPostgres = BIN === null && 'needs Debian’s postgresql package'
export const withoutPooler = withoutPostgres || (!existsSync(PGBOUNCER) && 'needs Debian’s pgbouncer package')

function newestBin(): string | null {
  if (!existsSync(PACKAGED)) return null
  const versions = readdirSync(PACKAGED).filter((name) => existsSync(join(PACKAGED, name, 'bin/initdb')))
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1)
  return newest === undefined ? null : join(PACKAGED, newest, 'bin')
}

export interface Server {
  /** Its `postgres` database, as superuser. */
  url: string
  port: number
  directory: string
  /** Stops it at once, as if the machine died, or in order. */
  stop(how?: 'crash'): Promise<void>
}

/** A new server. `settings` are lines of postgresql.conf. */
export async function startServer(settings: readonly string[] = []): Promise<Server> {
  const directory = join(temporaryDirectory(), 'data')
  tool('initdb', ['-D', directory, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'])
  return serve(directory, settings)
}

/** A server on existing files: a copy, a restored archive, a stopped server's own. `at` is a port to reuse. */
export async function serve(directory: string, settings: readonly string[] = [], at?: number): Promise<Server> {
  const port = at ?? (await findFreePort())
  const flags = ['fsync=off', 'unix_socket_directories=', 'listen_addresses=127.0.0.1', `port=${port}`, ...settings]
  const runAs = chooseRunAs(directory)
  const child = await startChild({
    command: join(BIN ?? '', 'postgres'),
    args: ['-D', directory, ...flags.flatMap((flag) => ['-c', flag])],
    prefix: runAs.prefix,
    deathSignal: 'SIGINT',
    ...(runAs.id === null ? {} : { uid: runAs.id, gid: runAs.id }),
  })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  await answers(url, child)
  const stop = async (how?: 'crash') => {
    // The immediate stop: no checkpoint, no goodbye, recovery at the next start.
    if (how === 'crash') child.kill('SIGQUIT')
    await child.end(STOP)
  }
  return { url, port, directory, stop }
}

/** A streaming replica of a server. */
export async function startReplica(primary: Server): Promise<Server> {
  const directory = join(temporaryDirectory(), 'data')
  tool('pg_basebackup', ['-d', primary.url, '-D', directory, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'])
  return serve(directory)
}

/** Promotes a replica to primary. */
export async function promote(replica: Server): Promise<void> {
  await admin(replica.url, (sql) => sql`SELECT pg_promote(true, 60)`)
}

/** A pooler before a server's databases. */
export async function startPooler(
  server: Server,
  mode: 'transaction' | 'session' = 'transaction',
  poolSize = 3,
): Promise<{ port: number; stop(): Promise<void> }> {
  const directory = temporaryDirectory()
  const port = await findFreePort()
  const file = join(directory, 'pgbouncer.ini')
  const lines = [
    ...['[databases]', `* = host=127.0.0.1 port=${server.port}`, '[pgbouncer]', `listen_port = ${port}`],
    ...['listen_addr = 127.0.0.1', 'unix_socket_dir =', 'auth_type = any', `pool_mode = ${mode}`],
    // Fewer than the service's own connections, so they have to be shared.
    ...[`default_pool_size = ${poolSize}`, 'max_client_conn = 200'],
  ]
  // With auth_type any, only this name counts.
  lines[1] += ' user=postgres'
  writeFileSync(file, `${lines.join('\n')}\n`)
  const runAs = chooseRunAs(directory)
  const child = await startChild({ command: PGBOUNCER, args: [file], prefix: runAs.prefix, deathSignal: 'SIGINT' })
  await answers(`postgres://postgres@127.0.0.1:${port}/postgres`, child)
  return { port, stop: async () => void (await child.end(STOP)) }
}

/** Runs one of PostgreSQL's own programs. If it fails, throws with its output. */
export function tool(name: string, args: readonly string[]): void {
  const directory = args[args.indexOf('-D') + 1] ?? ''
  const needsUser = name === 'initdb' || name === 'pg_basebackup'
  if (needsUser) mkdirSync(dirname(directory), { recursive: true })
  const runAs = needsUser ? chooseRunAs(dirname(directory)) : null
  if (runAs) handOver(dirname(directory), runAs)
  const [command = '', ...rest] = [...(runAs?.prefix ?? []), join(BIN ?? '', name), ...args]
  const { status, stderr, error } = spawnSync(command, rest, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
  })
  if (error) throw error
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
}

/** Queries a server on a separate connection. */
export async function admin<T>(url: string, ask: (sql: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
  const sql = connect(url, { max: 1, prepare: false, applicationName: 'test' })
  try {
    return await ask(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** The same database at another port, or another database. */
export function elsewhere(url: string, { port, database }: { port?: number; database?: string }): string {
  const other = new URL(url)
  if (port !== undefined) other.port = String(port)
  if (database !== undefined) other.pathname = `/${database}`
  return other.href
}

async function answers(url: string, child: Child): Promise<void> {
  const deadline = Date.now() + START_MS
  for (;;) {
    try {
      await admin(url, (sql) => sql`SELECT 1`)
      return
    } catch (error) {
      if (!child.running() || Date.now() > deadline) throw new Error(`it does not answer: ${error}\n${child.tail()}`)
      await sleep(POLL_MS)
    }
  }
}

/** An address that can move from one server to another, as a virtual address or a name does at a fail-over. */
export async function startAddress(
  port: number,
): Promise<{ port: number; moveTo(port: number): void; close(): Promise<void> }> {
  let target = port
  const open = new Set<Socket>()
  const address = createServer((client) => {
    const server = createConnection(target, '127.0.0.1')
    for (const socket of [client, server]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket)).on('error', () => {})
    }
    client.pipe(server).on('close', () => client.destroy())
    server.pipe(client).on('close', () => server.destroy())
  })
  await new Promise<void>((done) => address.listen(0, '127.0.0.1', done))
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: (address.address() as AddressInfo).port,
    moveTo: (other) => {
      target = other
      cut()
    },
    close: async () => {
      cut()
      await new Promise((done) => address.close(done))
    },
  }
}
