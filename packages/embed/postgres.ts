// The embedded PostgreSQL: creates its data directory once, starts the server, stops it. Clients connect over the
// loopback interface with a generated password. Owns DATA_DIR/postgres; knows nothing about what the database stores.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PRIVATE_DIR_MODE, readIfExists, syncDirectory, writeFileAtomic } from '../../src/lib/files.ts'
import type { Log } from '../../src/lib/log.ts'
import { type Child, type Exit, type Guard, startChild } from './child.ts'
import { EmbedError } from './errors.ts'
import { findFreePort, LOOPBACK } from './port.ts'
import { commandLineOf, endProcess, isAlive, processesIn } from './process.ts'
import { findPostgres, type PostgresPrograms } from './programs.ts'
import { chooseRunAs, handOver, type RunAs } from './runas.ts'

/** The superuser and the database that a new cluster has. */
const USER = 'postgres'
/** How long the server may take until it accepts connections. After a crash it first replays its log. */
const READY_WAIT_MS = 120_000
const READY_POLL_MS = 10
/**
 * How often we try to get a port. The last start's port may be in use now, or another process may take a free port
 * first.
 */
const PORT_ATTEMPTS_MAX = 5
/**
 * How often we try while an earlier server ends. If its main process was killed, its other processes need a moment to
 * notice.
 */
const LEFTOVER_ATTEMPTS_MAX = 20
const LEFTOVER_RETRY_MS = 250
/** First a fast shutdown, then a shutdown without a checkpoint (nothing committed is lost), then by force. */
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const
/** The line of postmaster.pid that shows the progress of the start, counted from 0. */
const STATUS_LINE = 7

export interface PostgresOptions {
  readonly dataDir: string
  readonly log: Log
  /** Called with a few words if a step takes long. */
  readonly onProgress?: (text: string) => void
  /** False trades all crash safety for speed; for tests only. */
  readonly durable?: boolean
  /** Further settings of the server, by PostgreSQL's names. For benches. */
  readonly settings?: Readonly<Record<string, string>>
  /** For tests: how to tie the server to this process, and how to run it under root. */
  readonly guard?: Guard
  readonly runAs?: RunAs['how']
}

export interface Postgres {
  /** Connection string of the superuser, password included. */
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Stops the server. Its data stay on disk. Safe to call again. */
  stop(): Promise<void>
  /** Calls back once if the server ends without a call of `stop`. */
  onExit(listener: (exit: Exit) => void): void
  /** Lets this process exit while the server runs. */
  unref(): void
}

interface Place {
  readonly root: string
  /** PostgreSQL's own data directory: absolute, with links resolved. Also the server's working directory. */
  readonly data: string
  readonly passwordFile: string
  readonly portFile: string
}

/**
 * Starts the server on `dataDir`. Creates the directory if it is missing. First stops a server that a killed service
 * left running. Throws an EmbedError if the system offers no way to run it; if the server fails, throws an Error with
 * its last lines.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const place = preparePlace(options.dataDir)
  const programs = findPostgres(join(place.root, 'lib'))
  await stopLeftover(place.data, options.log)
  const runAs = chooseRunAs(place.data, options.runAs)
  if (!existsSync(place.data)) {
    options.onProgress?.('creating the database files')
    await initialise(place, programs, runAs, options)
  }
  const { child, port } = await startServer(place, programs, runAs, options)
  let stopping: Promise<void> | undefined
  return {
    url: urlOf(readIfExists(place.passwordFile), port),
    port,
    pid: child.pid,
    stop: () => {
      stopping ??= child.end(STOP_STEPS).then((exit) => options.log.debug({ exit }, 'embedded PostgreSQL stopped'))
      return stopping
    },
    onExit: (listener) => {
      child.exited.then((exit) => {
        if (stopping === undefined) listener(exit)
      })
    },
    unref: child.unref,
  }
}

/** Connection string of the server that runs on `dataDir`; null if none runs. */
export function runningPostgresUrl(dataDir: string): string | null {
  const { data, passwordFile, portFile } = placeIn(resolve(dataDir, 'postgres'))
  const [pid, ...lines] = (readIfExists(join(data, 'postmaster.pid')) ?? '').split('\n')
  if (!(Number(pid) > 0) || !isAlive(Number(pid)) || lines[STATUS_LINE - 1]?.trim() !== 'ready') return null
  return urlOf(readIfExists(passwordFile), Number(readIfExists(portFile)))
}

function urlOf(password: string | null, port: number): string {
  return `postgres://${USER}:${encodeURIComponent(password ?? '')}@${LOOPBACK}:${port}/postgres`
}

function preparePlace(dataDir: string): Place {
  const made = resolve(dataDir, 'postgres')
  mkdirSync(made, { recursive: true, mode: PRIVATE_DIR_MODE })
  return placeIn(realpathSync(made))
}

function placeIn(root: string): Place {
  return { root, data: join(root, 'data'), passwordFile: join(root, 'password'), portFile: join(root, 'port') }
}

/**
 * Creates the files under a temporary name first, so that a start killed half way leaves nothing that looks finished.
 */
async function initialise(
  place: Place,
  programs: PostgresPrograms,
  runAs: RunAs,
  options: PostgresOptions,
): Promise<void> {
  const unfinished = `${place.data}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { mode: PRIVATE_DIR_MODE })
  writeFileAtomic(place.passwordFile, randomBytes(24).toString('hex'))
  handOver(unfinished, runAs)
  handOver(place.passwordFile, runAs)
  const initdb = await startChild({
    command: programs.initdb,
    args: [
      ...['--pgdata', unfinished, '--username', USER, '--pwfile', place.passwordFile, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--no-instructions', ...(await versionArguments(programs))],
      ...(options.durable === false ? ['--no-sync'] : []),
    ],
    deathSignal: 'SIGTERM',
    ...running(programs, runAs, options),
  })
  const { code } = await initdb.exited
  if (code !== 0) throw failed(`The database files in ${place.root} could not be created`, initdb.tail())
  renameSync(unfinished, place.data)
  syncDirectory(place.root)
}

/**
 * Makes text sort the same on every system: by code point. Before version 17 only the locale "C" guarantees that.
 * Logins use one round of hashing: more rounds only protect passwords that people choose, and this password is random.
 */
async function versionArguments(programs: PostgresPrograms): Promise<string[]> {
  const major = await majorVersion(programs)
  return [
    ...(major >= 17 ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : ['--locale=C']),
    ...(major >= 16 ? ['--set', 'scram_iterations=1'] : []),
  ]
}

async function majorVersion(programs: PostgresPrograms): Promise<number> {
  let version = ''
  const child = await startChild({
    command: programs.postgres,
    args: ['--version'],
    env: programs.env,
    deathSignal: 'SIGTERM',
    onLine: (line) => {
      version = line
    },
  })
  await child.exited
  return Number(/\d+/.exec(version)?.[0] ?? 0)
}

async function startServer(
  place: Place,
  programs: PostgresPrograms,
  runAs: RunAs,
  options: PostgresOptions,
): Promise<{ child: Child; port: number }> {
  let portAttempts = 0
  let leftoverAttempts = 0
  for (let port = await rememberedPort(place); ; ) {
    const child = await startChild({
      command: programs.postgres,
      args: ['-D', place.data, ...serverSettings(port, options)],
      deathSignal: 'SIGINT',
      onLine: (line) => options.log.debug({ line }, 'embedded PostgreSQL'),
      ...running(programs, runAs, options),
    })
    if (await isReady(child, place.data, options)) {
      writeFileAtomic(place.portFile, String(port))
      return { child, port }
    }
    const reason = child.tail()
    if (/could not bind|Address already in use/.test(reason) && ++portAttempts < PORT_ATTEMPTS_MAX) {
      port = await findFreePort()
    } else if (/shared memory block .* still in use/.test(reason) && ++leftoverAttempts < LEFTOVER_ATTEMPTS_MAX) {
      await sleep(LEFTOVER_RETRY_MS)
    } else {
      throw failed(`The embedded PostgreSQL in ${place.root} did not start`, reason)
    }
  }
}

function running(programs: PostgresPrograms, runAs: RunAs, options: PostgresOptions) {
  return {
    prefix: runAs.prefix,
    env: programs.env,
    ...(runAs.id === null ? {} : { uid: runAs.id, gid: runAs.id }),
    ...(options.guard === undefined ? {} : { guard: options.guard }),
  }
}

/** Log lines that appear if the disk rejects writes. */
const OF_DISK = /^.*(?:No space left on device|Disk quota exceeded|Read-only file system|Permission denied).*$/m

/** The error for a program that ended, with its last lines. */
function failed(what: string, tail: string): Error {
  const [line] = OF_DISK.exec(tail) ?? []
  if (line === undefined) return new Error(`${what}:\n${tail}`)
  return new EmbedError(`${what}: ${line.trim()}. See to that disk, or set DATA_DIR to another directory.`)
}

/** The port of the last start, used again so that a connection string stays valid. */
async function rememberedPort(place: Place): Promise<number> {
  const remembered = Number(readIfExists(place.portFile) ?? 0)
  return Number.isInteger(remembered) && remembered > 0 ? remembered : findFreePort()
}

function serverSettings(port: number, { durable = true, settings: further }: PostgresOptions): string[] {
  const settings = {
    listen_addresses: LOOPBACK,
    port: String(port),
    // Switched off, because the socket's path would have to fit into 107 bytes, wherever the data directory is.
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_min_messages: 'warning',
    // Only a test run's server may lose all its data, and many processes share it.
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }),
    ...further,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** True once the server accepts connections; false if it ended instead. Throws if it does neither in time. */
async function isReady(child: Child, data: string, options: PostgresOptions): Promise<boolean> {
  const deadline = Date.now() + READY_WAIT_MS
  let told = false
  while (child.running()) {
    const lines = (readIfExists(join(data, 'postmaster.pid')) ?? '').split('\n')
    if (Number(lines[0]) === child.pid && lines[STATUS_LINE]?.trim() === 'ready') return true
    if (Date.now() > deadline) {
      await child.end(STOP_STEPS)
      throw new Error(`The embedded PostgreSQL was not ready within ${READY_WAIT_MS / 1000} s:\n${child.tail()}`)
    }
    if (!told && Date.now() > deadline - READY_WAIT_MS + 2000) {
      told = true
      options.onProgress?.('recovering the database')
    }
    await sleep(READY_POLL_MS)
  }
  await child.exited
  return false
}

/**
 * Ends the server that a killed service left on these files. If that server's main process was killed, ends the
 * processes that remain. Then deletes the lock file. A server refuses to start while the pid in it is in use, even by
 * an unrelated process (pids are reused) or by a zombie (in a container without an init, for example).
 */
async function stopLeftover(data: string, log: Log): Promise<void> {
  const lockFile = join(data, 'postmaster.pid')
  const pid = Number.parseInt(readIfExists(lockFile) ?? '', 10)
  if (pid > 0 && isAlive(pid) && isServerOf(pid, data)) {
    log.warn({ pid }, 'stopping the PostgreSQL that an earlier run left behind')
    await endOrRefuse(pid, STOP_STEPS)
  }
  for (const stray of processesIn(data)) await endOrRefuse(stray, STOP_STEPS.slice(1))
  rmSync(lockFile, { force: true })
}

async function endOrRefuse(pid: number, steps: Parameters<typeof endProcess>[1]): Promise<void> {
  if (await endProcess(pid, steps)) return
  throw new EmbedError(`PostgreSQL (process ${pid}) of an earlier run cannot be stopped. Stop it by hand.`)
}

function isServerOf(pid: number, data: string): boolean {
  return processesIn(data).includes(pid) || (commandLineOf(pid) ?? '').includes(data)
}
