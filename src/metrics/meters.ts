// The counters: requests, calls to providers, runs of the passes, memoised answers, deliveries. Owns the names and the labels. Every label has few
// values, whatever clients send. Counting never throws.
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'

/** Any other method counts as `other`, because a client can send whatever it likes. */
const METHODS = new Map([
  ['GET', 'GET'],
  // HEAD is answered like GET.
  ['HEAD', 'GET'],
  ['POST', 'POST'],
])
const HTTP_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const RPC_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
const PASS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]

export interface Meters {
  /** An answered request. `route` is the route's pattern; null if none matched. */
  request(seen: { method: string; route: string | null; status: number; seconds: number }): void
  memo(result: 'hit' | 'miss' | 'joined'): void
  dropped(why: 'idle' | 'refused' | 'flooding' | 'stalled'): void
  /** Sets the number of open event streams. */
  streams(open: number): void
  /** A request to /api/admin with a wrong key. */
  wrongAdminKey(): void
  /** A call to a provider, or a batch of them. */
  rpc(seen: { host: string; method: string; outcome: string; seconds: number | null }): void
  pass(seen: { pass: string; outcome: PassResult; seconds: number }): void
  delivery(result: 'delivered' | 'retried' | 'failed'): void
}

/**
 * `notSigned`: the signer did not sign for the run. `roleLost`: another account has the role in the contract. `budgetSpent`: the minter's budget was
 * used up. `overlap`: another run held the lock.
 */
export type PassResult = (typeof PASS_RESULTS)[number]

const PASS_RESULTS = ['ok', 'notSigned', 'roleLost', 'budgetSpent', 'fault', 'overlap'] as const

/** Makes counters and histograms. If all label values of a series are known, it starts at zero, so its first event shows as an increase. */
function seriesIn(registers: Registry[]) {
  return {
    counter: (
      name: string,
      help: string,
      labelNames: readonly string[],
      labelSets: readonly Readonly<Record<string, string>>[] = [],
    ) => {
      const counter = new Counter({ name, help, labelNames, registers })
      for (const labels of labelSets) counter.inc(labels, 0)
      return counter
    },
    histogram: (name: string, help: string, labelNames: readonly string[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
    gauge: (name: string, help: string, labelNames: readonly string[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
  }
}

/** Registers all counters, and Node's default metrics. */
export function createMeters(registry: Registry, version: string): Meters {
  const { counter, histogram, gauge } = seriesIn([registry])
  collectDefaultMetrics({ register: registry })
  const build = gauge('node_ledger_build_info', 'What runs; always 1.', ['version', 'node'])
  build.set({ version, node: process.version }, 1)
  const answers = histogram(
    'http_request_duration_seconds',
    'Time to answer a request, by route pattern.',
    ['method', 'route', 'code'],
    HTTP_BUCKETS,
  )
  const limits = counter('node_ledger_http_rate_limited_total', 'Requests refused by a rate limit (429).', ['route'])
  const drops = counter(
    'node_ledger_http_connections_dropped_total',
    'Connections dropped: idle (made room for a new one), refused (no room), flooding (pipelined too much), stalled (read nothing).',
    ['why'],
    ['idle', 'refused', 'flooding', 'stalled'].map((why) => ({ why })),
  )
  const rpc = histogram(
    'node_ledger_rpc_request_duration_seconds',
    'Time a JSON-RPC call took, by outcome: ok, error (a JSON-RPC error), or the kind of fault.',
    ['provider', 'method', 'outcome'],
    RPC_BUCKETS,
  )
  const faults = counter('node_ledger_rpc_faults_total', 'Calls to a JSON-RPC provider that got no usable answer.', [
    'provider',
    'kind',
  ])
  const runs = counter(
    'node_ledger_pass_runs_total',
    'Runs of a pass on this instance: ok, notSigned (its signer did not sign), roleLost (another account has its role on the contract), budgetSpent (the minter’s budget is used up), fault (stopped; the next run continues), overlap (another run held the lock).',
    ['pass', 'outcome'],
    ['payments', 'credit'].flatMap((pass) => PASS_RESULTS.map((outcome) => ({ pass, outcome }))),
  )
  const durations = histogram(
    'node_ledger_pass_duration_seconds',
    'Time a run of a pass took on this instance, overlaps left out.',
    ['pass'],
    PASS_BUCKETS,
  )
  for (const pass of ['payments', 'credit']) durations.zero({ pass })
  const deliveries = counter(
    'node_ledger_webhook_deliveries_total',
    'Attempts to deliver an event: delivered, retried (the service tries again), failed (it stops).',
    ['result'],
    ['delivered', 'retried', 'failed'].map((result) => ({ result })),
  )
  const memo = counter(
    'node_ledger_memo_requests_total',
    'Reads of memoised answers: hit, miss (read again), joined (shared the read of another caller).',
    ['result'],
    ['hit', 'miss', 'joined'].map((result) => ({ result })),
  )
  const streams = gauge('node_ledger_http_event_streams', 'Event streams that are open.')
  const wrongKeys = counter('node_ledger_admin_keys_wrong_total', 'Requests under /api/admin with a wrong key.', [])
  return {
    request({ method, route, status, seconds }) {
      const where = route ?? 'unknown'
      answers.observe({ method: METHODS.get(method) ?? 'other', route: where, code: String(status) }, seconds)
      if (status === 429) limits.inc({ route: where })
    },
    dropped: (why) => drops.inc({ why }),
    memo: (result) => memo.inc({ result }),
    streams: (open) => streams.set(open),
    wrongAdminKey: () => wrongKeys.inc(),
    rpc({ host, method, outcome, seconds }) {
      if (seconds !== null) rpc.observe({ provider: host, method, outcome }, seconds)
      if (outcome !== 'ok' && outcome !== 'error') faults.inc({ provider: host, kind: outcome })
    },
    pass({ pass, outcome, seconds }) {
      runs.inc({ pass, outcome })
      if (outcome !== 'overlap') durations.observe({ pass }, seconds)
    },
    delivery: (result) => deliveries.inc({ result }),
  }
}

/** Counts a pass, with its outcome. */
export function metered<
  Args extends unknown[],
  T extends { ran: boolean; signer: string | null; budgetSpent?: string | null },
>(pass: string, meters: Pick<Meters, 'pass'>, run: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  return async (...args) => {
    const startedAt = performance.now()
    let outcome: PassResult = 'fault'
    try {
      const result = await run(...args)
      outcome = resultOf(result)
      return result
    } finally {
      meters.pass({ pass, outcome, seconds: (performance.now() - startedAt) / 1000 })
    }
  }
}

function resultOf({ ran, signer, budgetSpent }: { ran: boolean; signer: string | null; budgetSpent?: string | null }) {
  if (!ran) return 'overlap'
  if (signer === 'notSigned') return 'notSigned'
  if (signer === 'roleLost') return 'roleLost'
  return budgetSpent ? 'budgetSpent' : 'ok'
}
