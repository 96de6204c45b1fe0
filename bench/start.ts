// Measures how long a start takes: the service's process on a ready database until its first answer, a CLI command, and
// `npm start` until the banner, the first time and again. For scale, the first two are compared with a bare Node that
// prints a line, the third with a bare start of the same parts. Also measures the size of what is installed.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbeddedChain } from '../packages/embed/chain.ts'
import { startPostgres } from '../packages/embed/postgres.ts'
import { silentLog } from '../src/lib/log.ts'
import { temporaryDirectory } from '../test/support/temporary.ts'
import { startWorld } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { median, ms, seconds } from './lib/numbers.ts'
import { firstMatch } from './lib/process.ts'
import type { Row } from './lib/report.ts'
import { settingsOn, startService } from './lib/service.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const READY_MS_MAX = 1_000
const LAUNCHER = fileURLToPath(new URL('../bin/node-ledger.mjs', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const NOTHING_MS_MAX = 5_000
const AGAIN_MS_MAX = 3_000
const COMMAND_MS_MAX = 300
const INSTALLED_MB_MAX = 60

export const start: Bench = {
  name: 'start',
  about:
    'Process to first answer on a ready database and chain; a command; `npm start`, as installed, to the banner; and megabytes that are installed.',
  isTimed: true,
  run: async (options) => [...(await onReadyParts(options)), ...(await asInstalled(options)), installed(options)],
}

/** A start that cannot write a cache beside the code compiles it again. */
const COMPILING = { NODE_DISABLE_COMPILE_CACHE: '1' }

async function onReadyParts({ quick, progress }: BenchOptions): Promise<Row[]> {
  const world = await startWorld()
  try {
    await world.chain.mine(3)
    const settings = settingsOn(world)
    const ours: number[] = []
    const compiling: number[] = []
    const commands: number[] = []
    const bare: number[] = []
    // Not counted, because the first run does the work of a ledger's first start, and compiles.
    for (let run = 0; run <= (quick ? 1 : 10); run++) {
      const service = await timed(() => firstAnswer(settings))
      if (run === 0) continue
      ours.push(service)
      compiling.push(await timed(() => firstAnswer({ ...settings, ...COMPILING })))
      commands.push(await timed(() => command(settings)))
      bare.push(await timed(bareLine))
    }
    progress('on a ready database: done')
    const peer = 'bare Node printing a line'
    return [
      row('process to first answer', median(ours), peer, median(bare), READY_MS_MAX),
      row('the same, nothing compiled before', median(compiling), peer, median(bare), READY_MS_MAX),
      row('node-ledger tiers list', median(commands), peer, median(bare), COMMAND_MS_MAX),
    ]
  } finally {
    await world.close()
  }
}

async function asInstalled({ quick, progress }: BenchOptions): Promise<Row[]> {
  const nothing: number[] = []
  const again: number[] = []
  const parts: number[] = []
  for (let run = 0; run < (quick ? 1 : 5); run++) {
    const DATA_DIR = join(temporaryDirectory(), 'data')
    const npmStart = async () => (await startService(['npm', 'start'], { DATA_DIR })).stop
    nothing.push(await timed(npmStart))
    again.push(await timed(npmStart))
    parts.push(await timed(bareParts))
    progress(`npm start: run ${run + 1}`)
  }
  const peer = 'PostgreSQL and chain with contract'
  return [
    row('npm start from nothing', median(nothing), peer, median(parts), NOTHING_MS_MAX),
    row('npm start where it ran before', median(again), peer, median(parts), AGAIN_MS_MAX),
  ]
}

/** Measures the image's packages, from the Dockerfile's own commands run in a folder, and the service's own share. */
function installed({ progress }: BenchOptions): Row {
  const folder = temporaryDirectory()
  for (const name of [
    'package.json',
    'package-lock.json',
    'toolchain/package.json',
    'client/package.json',
    'web/package.json',
  ]) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    cpSync(join(ROOT, name), join(folder, name))
  }
  const [, install = ''] =
    /^RUN (npm ci --omit=dev[\s\S]*?[^\\])\n\n/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  execFileSync('sh', ['-ec', install], { cwd: folder, stdio: 'ignore' })
  const packages = megabytesOf(join(folder, 'node_modules'))
  rmSync(folder, { recursive: true })
  const own = ['src', 'bin', 'migrations', 'api', 'web/dist'].reduce(
    (sum, name) => sum + megabytesOf(join(ROOT, name)),
    0,
  )
  progress('installed: done')
  return {
    what: 'installed in the image, beside Node',
    ours: `${Math.round(packages + own)} MB`,
    ratio: null,
    peer: `packages ${Math.round(packages)} MB`,
    goal: `at most ${INSTALLED_MB_MAX} MB`,
    met: packages + own <= INSTALLED_MB_MAX,
  }
}

const megabytesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6

/** The goal is a time. The peer is there for scale. */
function row(what: string, ours: number, peer: string, theirs: number, goalMs: number): Row {
  return {
    what,
    ours: ms(ours),
    peer: `${peer}: ${ms(theirs)}`,
    ratio: ours / theirs,
    goal: `at most ${seconds(goalMs)}`,
    met: ours <= goalMs,
  }
}

/** Milliseconds until a start resolves. Then calls the result, untimed, to stop it. */
async function timed(start: () => Promise<() => Promise<void>>): Promise<number> {
  const began = performance.now()
  const stop = await start()
  const took = performance.now() - began
  await stop()
  return took
}

async function firstAnswer(settings: Record<string, string>) {
  const service = await startService([process.execPath, MAIN, 'start'], settings)
  const answer = await fetch(`${service.url}/api/stats`)
  if (!answer.ok) throw new Error(`GET /api/stats: ${answer.status}`)
  return service.stop
}

/** Runs a command to its end. */
async function command(settings: Record<string, string>) {
  const env = { ...process.env, ...settings }
  const child = spawn(process.execPath, [LAUNCHER, 'tiers', 'list'], { env, stdio: 'ignore' })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`tiers list: exit ${code}`)
  return async () => {}
}

async function bareLine() {
  const child = spawn(process.execPath, ['-e', 'console.log("a line")'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await firstMatch(child, /a (line)/)
  return () => ended
}

/** Starts the parts side by side, as the service does. */
async function bareParts() {
  const dataDir = join(temporaryDirectory(), 'data')
  const options = { dataDir, log: silentLog }
  const [database, chain] = await Promise.all([
    startPostgres(options),
    startEmbeddedChain({ ...options, port: 0, onProgress: () => {} }),
  ])
  return async () => {
    await Promise.all([database.stop(), chain.anvil.stop()])
  }
}
