// Enters an allowlist from its file into the ledger by the command, and measures the memory of both of its processes. Also times an answer with its
// proof, compared with that of a short list.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAllowlisted } from '../src/db/sale/allowlists.ts'
import { address, type Hash } from '../src/domain/units.ts'
import { worldEnv } from '../test/support/cli.ts'
import { startWorld, type World } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { residentMb } from './lib/memory.ts'
import { median, ms, quantile, seconds } from './lib/numbers.ts'
import { atMost, type Row } from './lib/report.ts'

const SHORT = 1_000
const LONG = 100_000
const FULL = 1_000_000
const ANSWERS = 500
/** A long list has a deeper tree, but its answers must not be much slower. */
const GOAL = 1.5
const LOOK_MS = 50

export const lists: Bench = {
  name: 'lists',
  about: 'An allowlist of 100,000 rows from its file to the ledger, and an answer with its proof.',
  isTimed: true,
  run: async (options) => {
    const world = await startWorld()
    try {
      return await measure(world, options)
    } finally {
      await world.close()
    }
  },
}

async function measure(world: World, { quick, full, progress }: BenchOptions): Promise<Row[]> {
  const short = await answersOf(world, (await enter(world, quick ? 10 : SHORT)).root, quick ? 10 : SHORT)
  const rows: Row[] = []
  for (const count of quick ? [100] : full ? [LONG, FULL] : [LONG]) {
    const { root, tookMs, mb } = await enter(world, count)
    const rowsInWords = `${count.toLocaleString('en')} rows`
    progress(`${rowsInWords} are entered`)
    const long = await answersOf(world, root, count)
    rows.push(
      {
        what: `${rowsInWords}: from the file to the ledger`,
        ours: seconds(tookMs),
        peer: `both processes: ${Math.round(mb)} MB at most`,
        ratio: null,
        goal: '',
        met: null,
      },
      atMost(
        `${rowsInWords}: an answer, median`,
        `${ms(median(long))}; p99 ${ms(quantile(long, 0.99))}`,
        `1,000 rows: ${ms(median(short))}`,
        median(long) / median(short),
        GOAL,
      ),
    )
  }
  return rows
}

const walletOf = (count: number, n: number) =>
  address(`0x${(BigInt(count) * 2n ** 80n + BigInt(n) * 2n ** 20n + 1n).toString(16).padStart(40, '0')}`)

/** Enters a list by the command, the way an operator does. */
async function enter(world: World, count: number): Promise<{ root: Hash; tookMs: number; mb: number }> {
  const file = join(tmpdir(), `bench-list-${process.pid}.csv`)
  writeFileSync(file, Array.from({ length: count }, (_, n) => `${walletOf(count, n)},${(n % 9) + 1}\n`).join(''))
  const words = ['src/main.ts', 'allowlists', 'add', '--file', file, '--label', `${count}`, '--yes', '--json']
  const began = performance.now()
  const command = spawn(process.execPath, words, {
    env: { ...process.env, ...worldEnv(world) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let [mb, out] = [0, '']
  command.stdout.on('data', (part) => {
    out += part
  })
  const timer = setInterval(() => {
    mb = Math.max(mb, treeMb(command.pid ?? 0))
  }, LOOK_MS)
  const [code] = await once(command, 'close')
  clearInterval(timer)
  rmSync(file)
  if (code !== 0) throw new Error(`the command ended with ${code}: ${out}`)
  return { root: JSON.parse(out).root, tookMs: performance.now() - began, mb }
}

/** The resident memory of a process and its children. Processes that have ended count as none. */
function treeMb(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return residentMb(pid) + children.reduce((sum, child) => sum + treeMb(Number(child)), 0)
  } catch {
    return 0
  }
}

async function answersOf({ pool }: World, root: Hash, count: number): Promise<number[]> {
  const took: number[] = []
  for (let n = 0; n < ANSWERS; n++) {
    const began = performance.now()
    const found = await readAllowlisted(pool, root, walletOf(count, (n * 7_919) % count))
    took.push(performance.now() - began)
    if (!found?.proof) throw new Error(`wallet ${n} is not on its list`)
  }
  return took
}
