// A rebuild from providers that answer a limited number of calls per second, for a chain of millions of mostly empty
// blocks, served from memory. For comparison, the calls needed to read every block, counted on some of them.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRpc } from '../src/chain/rpc/rpc.ts'
import { connect, type Pool } from '../src/db/core/sql.ts'
import { follow } from '../src/follower/follow.ts'
import { HEADERS_KEPT } from '../src/follower/store.ts'
import { silentLog } from '../src/lib/log.ts'
import { rebuild } from '../src/mending/rebuild/rebuild.ts'
import { Provider } from '../test/sim/provider.ts'
import { DAY_SEC, playSparseBusiness, type SparseBusiness } from '../test/sim/stretched/business.ts'
import { FINAL_AFTER } from '../test/sim/stretched/chain.ts'
import type { TestChain } from '../test/support/anvil.ts'
import type { SendRules } from '../test/support/faults/send-rules.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { contextOf, enterTerms } from '../test/support/world.ts'
import type { Bench, BenchOptions } from './lib/bench.ts'
import { seconds } from './lib/numbers.ts'
import { asIs, type Row } from './lib/report.ts'

const SIZES = {
  quick: { blocks: 60_000, payments: 24 },
  usual: { blocks: 500_000, payments: 200 },
  full: { blocks: 5_000_000, payments: 2_000 },
}
const CALLS_PER_SEC = 50
/** How much faster the providers are than real ones. The full run uses the real pace. */
const FASTER = 40
/** How many blocks we read one by one to count the calls. */
const READ = 2_000
const SHARE_GOAL = 0.01
const TIME_GOAL_SEC = 600
/** How long a call may wait for its turn at the provider. */
const PATIENCE_MS = 600_000

export const sparse: Bench = {
  name: 'sparse',
  about: `A rebuild of a sale with 2,000 payments in 5 million blocks, a round a day, by way of two providers that answer ${CALLS_PER_SEC} calls/s each, every call of a batch counted; a tenth of it, from providers ${FASTER} times as fast, but with --full. All blooms say "perhaps".`,
  isTimed: false,
  async run({ quick, full, progress }: BenchOptions): Promise<Row[]> {
    const { blocks, payments } = SIZES[quick ? 'quick' : full ? 'full' : 'usual']
    const business = await playSparseBusiness(blocks, payments)
    progress(`${payments} payments in ${blocks.toLocaleString('en')} blocks are there`)
    const rebuilt = await measure(business, full ? 1 : FASTER, (ctx) => rebuild(ctx, null, progress), expectAll)
    progress(`rebuilt in ${seconds(rebuilt.tookMs)}: ${spelled(rebuilt.calls)}`)
    const upTo = Math.min(READ, blocks)
    const never = { behind: Number.POSITIVE_INFINITY, blocksMin: 1 }
    const run = { checkLock: () => {}, outOfTime: () => false }
    const read = await measure(business, Number.POSITIVE_INFINITY, (ctx) =>
      follow({ ...ctx, rules: { ...ctx.rules, survey: never } }, run, { upTo }),
    )
    return rowsOf(business, { rebuilt, read, upTo, isWhole: full })
  },
}

interface Measured {
  tookMs: number
  /** Of the provider with the most calls, by method. Full blocks are counted apart. */
  calls: Map<string, number>
  /** How many of them came before the blocks near the head. The number of the rest does not grow with the chain. */
  before: number
  /** How many blocks were read with their transactions. */
  blocks: number
}

type Context = ReturnType<typeof contextOf>

async function measure(
  business: SparseBusiness,
  faster: number,
  body: (ctx: Context) => Promise<unknown>,
  check: (pool: Pool, expected: SparseBusiness['expected']) => Promise<void> = async () => {},
): Promise<Measured> {
  const { stretched, factory, token } = business
  const database = await createDatabase()
  const pool = connect(database.url, { max: 5, prepare: true, applicationName: 'bench' })
  const providers = [createCountedProvider(business, faster), createCountedProvider(business, faster)]
  const byUrl = new Map(providers.map((counted, index) => [`http://provider-${index + 1}.invalid`, counted]))
  const dispatcherFor = (url: string) => byUrl.get(url)?.provider as Provider
  const rpc = createRpc({ urls: [...byUrl.keys()], log: silentLog, timeoutMs: PATIENCE_MS, dispatcherFor })
  try {
    await enterTerms(pool, stretched.model, token, { intervalSec: DAY_SEC, slotSec: DAY_SEC })
    await pool`UPDATE tiers SET from_block = 0, from_time = 0`
    const ctx = contextOf({ chain: stretched.model, rpc, pool, directUrl: database.url, factory })
    const began = performance.now()
    await body(ctx)
    const tookMs = performance.now() - began
    await check(pool, business.expected)
    const most = providers.reduce((a, b) => (total(a.calls) >= total(b.calls) ? a : b))
    const before = most.beforeNear() ?? total(most.calls)
    return {
      tookMs,
      calls: most.calls,
      before,
      blocks: providers.reduce((sum, { calls }) => sum + (calls.get(FULL) ?? 0), 0),
    }
  } finally {
    await rpc.close()
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

const FULL = 'full blocks'

/** A provider that counts its calls, and delays those that come too fast. */
function createCountedProvider({ stretched, head }: SparseBusiness, faster: number) {
  const calls = new Map<string, number>()
  const near = head - FINAL_AFTER - HEADERS_KEPT
  let before: number | null = null
  const began = performance.now()
  const provider = new Provider({
    chain: { ...stretched.model, rpc: stretched.rpc } as TestChain,
    rules: {} as SendRules,
    weather: null,
    onFault: () => {},
    async onRequest(batch) {
      for (const { method, params } of batch) {
        const name = method === 'eth_getBlockByNumber' && params[1] === true ? FULL : method
        if (name === FULL && Number(params[0]) > near) before ??= total(calls)
        calls.set(name, (calls.get(name) ?? 0) + 1)
      }
      const dueMs = (total(calls) / (CALLS_PER_SEC * faster)) * 1000
      const waitMs = began + dueMs - performance.now()
      if (waitMs > 0) await sleep(waitMs)
    },
  })
  return { provider, calls, beforeNear: () => before }
}

const total = (calls: ReadonlyMap<string, number>) => [...calls.values()].reduce((sum, count) => sum + count, 0)
const shown = (count: number) => Math.round(count).toLocaleString('en')
const spelled = (calls: ReadonlyMap<string, number>) =>
  [...calls].map(([name, count]) => `${name} ${shown(count)}`).join(', ')

/** Throws unless the ledger has found everything that happened. */
async function expectAll(pool: Pool, expected: SparseBusiness['expected']): Promise<void> {
  const [found] = await pool`
    SELECT (SELECT count(*) FROM nodes)::int AS nodes, (SELECT count(*) FROM payments)::int AS payments,
      (SELECT count(*) FROM rounds)::int AS rounds, (SELECT count(*) FROM withdrawals)::int AS withdrawals,
      (SELECT count(*) FROM turns WHERE seed IS NULL)::int AS unseeded`
  const [is, ought] = [JSON.stringify({ ...found }), JSON.stringify({ ...expected, unseeded: 0 })]
  if (is !== ought) throw new Error(`the ledger has ${is} where ${ought} happened`)
}

function rowsOf(
  { head }: SparseBusiness,
  { rebuilt, read, upTo, isWhole }: { rebuilt: Measured; read: Measured; upTo: number; isWhole: boolean },
): Row[] {
  const calls = total(rebuilt.calls)
  const readCalls = (total(read.calls) / upTo) * head
  const scale = SIZES.full.blocks / head
  const near = calls - rebuilt.before
  const sec = isWhole ? rebuilt.tookMs / 1000 : (near + rebuilt.before * scale) / CALLS_PER_SEC
  const share = (HEADERS_KEPT + (rebuilt.blocks - HEADERS_KEPT) * scale) / SIZES.full.blocks
  const counted = `${shown(readCalls)} to read every block, by ${shown(upTo)} of them`
  return [
    {
      what: 'blocks read, as a share of 5 million',
      ours: `${shown(rebuilt.blocks)} here`,
      peer: `${shown(head)} blocks here`,
      ratio: share,
      goal: `at most ${SHARE_GOAL}`,
      met: share <= SHARE_GOAL,
    },
    asIs('calls of the provider that is asked most', shown(calls), counted, calls / readCalls),
    {
      what: `5 million blocks at ${CALLS_PER_SEC} calls/s${isWhole ? '' : ', by calls'}`,
      ours: `${shown(sec)} s`,
      peer: `${shown((readCalls / CALLS_PER_SEC) * scale)} s to read every block`,
      ratio: sec / TIME_GOAL_SEC,
      goal: `at most ${TIME_GOAL_SEC} s`,
      met: sec <= TIME_GOAL_SEC,
    },
  ]
}
