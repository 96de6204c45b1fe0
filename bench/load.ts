// The service under a constant load, while its passes run, its provider fails and blocks with payments arrive: how long
// answers take, their statuses, and how much memory the process takes. For scale, a bare node:http server at the same
// rate, with nothing else going on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { type Business, openBusiness } from './lib/business.ts'
import { type Figures, loadAt } from './lib/constant-rate.ts'
import { growthPerMinute, type MemorySample, watchMemory } from './lib/memory.ts'
import { ms } from './lib/numbers.ts'
import { serve } from './lib/process.ts'
import type { Row } from './lib/report.ts'

const PER_SECOND = { quick: 200, real: 2_000 }
const SEC = { quick: 5, real: 120, full: 1_200 }
/** Not counted, because code is loaded and compiled on first use. */
const WARM_UP_SEC = { quick: 1, real: 10 }
const BARE_SEC = { quick: 2, real: 30 }
const BLOCK_MS = 2_000
/** An answer has at most fifty of a node's credits. We start with that many, or memory would grow with the answers. */
const ROUNDS = { quick: 5, real: 50 }
/** After this time memory must stay level. Until then code is compiled, and heaps and tables grow to their size. */
const WARM_SEC = 600
const P99_MS_GOAL = 20
const MEMORY_MB_GOAL = 150
/** Growth up to this still counts as none. */
const GROWTH_MB_GOAL = 1

export const load: Bench = {
  name: 'load',
  about: `Public reads at a constant rate, each measured from when it was due, with a block every ${BLOCK_MS / 1000} s, payments in each, passes running, and every tenth RPC request failing.`,
  isTimed: true,
  run: async (options) => {
    const business = await openBusiness(options.quick ? ROUNDS.quick : ROUNDS.real)
    try {
      return await measure(options, business)
    } finally {
      await business.close()
    }
  },
}

async function measure(options: BenchOptions, business: Business): Promise<Row[]> {
  const { quick, full, progress } = options
  const perSecond = quick ? PER_SECOND.quick : PER_SECOND.real
  const sec = quick ? SEC.quick : full ? SEC.full : SEC.real
  const { service, sorts } = business
  progress(`${perSecond} requests/s for ${sec} s`)
  const calledOff = new AbortController()
  const goingOn = business.goOn(BLOCK_MS, calledOff.signal)
  const memory = watchMemory(service.pid())
  const at = { origin: service.url, perSecond, sorts }
  await loadAt({ ...at, sec: quick ? WARM_UP_SEC.quick : WARM_UP_SEC.real })
  const figures = await loadAt({ ...at, sec }).finally(() => calledOff.abort())
  const samples = memory.stop()
  const meanwhile = await goingOn
  await business.comeToRest()
  for (const [name, p99] of figures.p99Of) progress(`${name}: p99 ${ms(p99)}`)
  progress(`the generator was behind its timetable by ${ms(figures.behindP99)} (p99)`)
  const bare = await measureBare(options, business, perSecond)
  const { blocks, payments, faults } = meanwhile
  const about = `${blocks} blocks, ${payments} payments, ${faults} RPC faults meanwhile`
  return [...answersRows(figures, { perSecond, sec, about, bareP99: bare.p99 }), ...memoryRows(samples, bare.mb)]
}

function answersRows(
  { requests, statuses, failures, p50, p99, max }: Figures,
  { perSecond, sec, about, bareP99 }: { perSecond: number; sec: number; about: string; bareP99: number },
): Row[] {
  const good = statuses.get(200) ?? 0
  const others = [...statuses].filter(([status]) => status !== 200).map(([status, count]) => `${count} × ${status}`)
  return [
    {
      what: `${perSecond} requests/s for ${sec} s: p99`,
      ours: `${ms(p99)}; p50 ${ms(p50)}, longest ${ms(max)}`,
      peer: `bare node:http, same load: ${ms(bareP99)}`,
      ratio: p99 / bareP99,
      goal: `below ${P99_MS_GOAL} ms`,
      met: p99 < P99_MS_GOAL,
    },
    {
      what: 'answers other than 200',
      ours: [`${requests - good} of ${requests}`, ...others, ...failures].join(', '),
      peer: about,
      ratio: null,
      goal: '0',
      met: good === requests,
    },
  ]
}

function memoryRows(samples: readonly MemorySample[], bare: number): Row[] {
  const most = Math.max(...samples.map(({ mb }) => mb))
  const rows: Row[] = [
    {
      what: 'resident set, at most',
      ours: `${Math.round(most)} MB`,
      peer: `bare node:http, same load: ${Math.round(bare)} MB`,
      ratio: most / bare,
      goal: `at most ${MEMORY_MB_GOAL} MB`,
      met: most <= MEMORY_MB_GOAL,
    },
  ]
  const warm = samples.filter(({ sec }) => sec >= WARM_SEC)
  // A line through a few minutes only shows when garbage collections happened to run.
  if (warm.length < WARM_SEC / 2) return rows
  const growth = growthPerMinute(warm)
  const before = growthPerMinute(samples.filter(({ sec }) => sec < WARM_SEC))
  rows.push({
    what: `its growth after ${WARM_SEC / 60} minutes`,
    ours: `${growth.toFixed(2)} MB a minute`,
    peer: `until then: ${before.toFixed(2)} MB a minute`,
    ratio: null,
    goal: `below ${GROWTH_MB_GOAL} MB a minute`,
    met: growth < GROWTH_MB_GOAL,
  })
  return rows
}

/** A bare server that sends the same bytes at the same rate: its p99, and its peak memory. */
async function measureBare(
  { quick }: BenchOptions,
  { service, sorts }: Business,
  perSecond: number,
): Promise<{ p99: number; mb: number }> {
  const bare = await serve('bare.ts', [service.url, ...sorts.flatMap(({ paths }) => paths)])
  try {
    const memory = watchMemory(bare.pid)
    const load = { origin: bare.origin, perSecond, sorts }
    await loadAt({ ...load, sec: quick ? WARM_UP_SEC.quick : WARM_UP_SEC.real })
    const { p99 } = await loadAt({ ...load, sec: quick ? BARE_SEC.quick : BARE_SEC.real })
    await sleep(1_000)
    return { p99, mb: Math.max(...memory.stop().map(({ mb }) => mb)) }
  } finally {
    await bare.stop()
  }
}
