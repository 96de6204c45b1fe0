// Measures the time of a start: the service's process on a ready database until its first answer, and `npm start` from nothing until the
// banner. The first is set beside a bare Node printing a line, for scale; the second beside the very parts started bare.
import { spawn } from 'node:child_process'
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
const NOTHING_MS_MAX = 10_000

export const start: Bench = {
  name: 'start',
  about:
    'Process to first answer on a ready database and chain; `npm start` from nothing, as installed, to the banner.',
  run: async (options) => [...(await onReadyParts(options)), await fromNothing(options)],
}

/** If nothing can be written beside the code, every start compiles it again. */
const COMPILING = { NODE_DISABLE_COMPILE_CACHE: '1' }

async function onReadyParts({ quick, progress }: BenchOptions): Promise<Row[]> {
  const world = await startWorld()
  try {
    await world.chain.mine(3)
    const settings = settingsOn(world)
    const ours: number[] = []
    const compiling: number[] = []
    const bare: number[] = []
    // The first run does the work of a ledger's first start, and compiles; it is not counted.
    for (let run = 0; run <= (quick ? 1 : 10); run++) {
      const service = await timed(() => firstAnswer(settings))
      if (run === 0) continue
      ours.push(service)
      compiling.push(await timed(() => firstAnswer({ ...settings, ...COMPILING })))
      bare.push(await timed(bareLine))
    }
    progress('on a ready database: done')
    const peer = 'bare Node printing a line'
    return [
      row('process to first answer', median(ours), peer, median(bare), READY_MS_MAX),
      row('the same, nothing compiled before', median(compiling), peer, median(bare), READY_MS_MAX),
    ]
  } finally {
    await world.close()
  }
}

async function fromNothing({ quick, progress }: BenchOptions): Promise<Row> {
  const ours: number[] = []
  const parts: number[] = []
  for (let run = 0; run < (quick ? 1 : 5); run++) {
    ours.push(await timed(async () => (await startService(['npm', 'start'], {})).stop))
    parts.push(await timed(bareParts))
    progress(`from nothing: run ${run + 1}`)
  }
  return row(
    'npm start from nothing',
    median(ours),
    'PostgreSQL and chain with contract',
    median(parts),
    NOTHING_MS_MAX,
  )
}

/** The goal is a time; the peer is there for scale. */
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

/** Milliseconds until a start resolves; what it resolves with stops it, untimed. */
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

async function bareLine() {
  const child = spawn(process.execPath, ['-e', 'console.log("a line")'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await firstMatch(child, /a (line)/)
  return () => ended
}

/** Side by side, as the service starts them. */
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
