// The seeded simulation: payments, faults, crashes and reorganisations drawn from a seed. Then checks all invariants.
//   npm run sim -- --seed 7               plays one seed and shows what happened in it; --steps K ends its business early
//   npm run sim -- --seeds 1..2000        plays many (or --from 1 --count 2000) and prints what really happened
//   --real                                plays on a real chain with the real contract instead of the model
//   --workers 2                           plays in this many processes
// If interrupted, it ends after the current seeds, and prints what happened until then.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { playSeed, type RunCounts, report, runSeeds, tellFailure } from '../test/sim/run.ts'
import { type Backend, openStage } from '../test/sim/stage.ts'
import { addTo } from '../test/sim/tally.ts'
import { withTestServer } from './tests/server.ts'

const USAGE = 'Usage: npm run sim -- (--seed N [--steps K] | --seeds A..B | --from A --count N) [--real] [--workers W]'
/** Interval of progress reports. */
const TELL_MS = 10_000
const WORKERS_MAX = 64
/** The message that makes a worker end after its current seed. */
const STOP = 'stop'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    count: { type: 'string' },
    workers: { type: 'string', default: '1' },
    real: { type: 'boolean', default: false },
  },
})
const backend: Backend = values.real ? 'real' : 'model'

if (process.send) await work()
else process.exit(await withTestServer((signal) => main(signal)))

async function main(signal: AbortSignal): Promise<number> {
  if (values.seed !== undefined) return replay(whole(values.seed), values.steps)
  const { from, count } = range()
  const workers = Math.min(whole(values.workers), WORKERS_MAX, count)
  const counts = await (workers > 1 ? spread(from, count, workers, signal) : runHere(from, count, signal))
  console.log(report(counts).join('\n'))
  return counts.failed.length === 0 ? 0 : 1
}

/** Plays one seed, and shows what happened. */
async function replay(seed: number, steps: string | undefined): Promise<number> {
  const alive = setInterval(() => {}, 60_000)
  const stage = await openStage(backend)
  const outcome = await playSeed(stage, seed, steps === undefined ? {} : { stepsMax: whole(steps) })
  await stage.close()
  clearInterval(alive)
  console.log(outcome.log.join('\n'))
  if (!outcome.failure) {
    console.log(`seed ${seed}: all invariants hold after ${outcome.steps} steps`)
    return 0
  }
  console.error(outcome.failure)
  console.error(tellFailure(outcome, backend, outcome.steps))
  return 1
}

function runHere(from: number, count: number, signal: AbortSignal): Promise<RunCounts> {
  let told = Date.now()
  const onSeed = ({ seeds, failed }: RunCounts) => {
    if (Date.now() - told < TELL_MS) return
    told = Date.now()
    console.log(`${seeds} of ${count} seeds, ${failed.length} broke`)
  }
  return runSeeds({ from, count, backend, say: (line) => console.log(line), onSeed, signal })
}

/** Splits the seeds over several processes, because one process fills one core. */
async function spread(from: number, count: number, workers: number, signal: AbortSignal): Promise<RunCounts> {
  const total: RunCounts = { seeds: 0, failed: [], tally: new Map() }
  const share = Math.ceil(count / workers)
  const shares = Array.from({ length: workers }, (_, i) => ({
    first: from + i * share,
    seeds: Math.max(0, Math.min(share, count - i * share)),
  }))
  await Promise.all(
    shares.map(async ({ first, seeds }) => {
      const args = ['--from', String(first), '--count', String(seeds), ...(values.real ? ['--real'] : [])]
      const child = fork(fileURLToPath(import.meta.url), args)
      signal.addEventListener('abort', () => child.send(STOP, () => {}))
      child.on('message', (message) => {
        const counts = message as { seeds: number; failed: number[]; tally: [string, number][] }
        total.seeds += counts.seeds
        total.failed.push(...counts.failed)
        addTo(total.tally, counts.tally)
      })
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('exit', resolve)
        child.once('error', reject)
      })
      if (code !== 0) throw new Error(`the process for seeds from ${first} ended with ${code}`)
    }),
  )
  return total
}

/** Plays a share of the seeds, in a process that another one started. */
async function work(): Promise<void> {
  const { from, count } = range()
  const stop = new AbortController()
  process.once('disconnect', () => stop.abort())
  process.on('message', (message) => message === STOP && stop.abort())
  // A terminal also interrupts this process, not only its parent. The parent says when to stop, so we ignore the
  // signal.
  process.on('SIGINT', () => {})
  const counts = await runHere(from, count, stop.signal)
  process.send?.({ ...counts, tally: [...counts.tally] })
  process.disconnect?.()
  process.exitCode = 0
}

function range(): { from: number; count: number } {
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(values.seeds ?? '') ?? []
  if (first !== undefined && last !== undefined) return { from: whole(first), count: whole(last) - whole(first) + 1 }
  if (values.seeds !== undefined || values.count === undefined) fail()
  return { from: whole(values.from), count: whole(values.count) }
}

function whole(text: string): number {
  const number = Number(text)
  return Number.isSafeInteger(number) && number >= 0 ? number : fail()
}

function fail(): never {
  console.error(USAGE)
  process.exit(2)
}
