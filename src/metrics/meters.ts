// The counters: requests, calls to providers, runs of the passes, memoised answers, deliveries. Owns the names and the labels; every label
// has few values, whatever comes from outside. Counting never throws.
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client'

/** Everything else is `other`: a client chooses its method. */
const METHODS = new Map([
  ['GET', 'GET'],
  // Answered like GET.
  ['HEAD', 'GET'],
  ['POST', 'POST'],
])
const HTTP_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const RPC_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
const PASS_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]

export interface Meters {
  /** An answered request. `route` is the route's pattern, null where none was reached. */
  request(seen: { method: string; route: string | null; status: number; seconds: number }): void
  memo(result: 'hit' | 'miss' | 'joined'): void
  dropped(why: 'idle' | 'refused' | 'flooding' | 'stalled'): void
  /** The event streams that are open now. */
  streams(open: number): void
  /** A request under /api/admin with a key that is not right. */
  wrongAdminKey(): void
  /** A call to a provider, or a batch of them. */
  rpc(seen: { host: string; method: string; outcome: string; seconds: number }): void
  pass(seen: { pass: string; outcome: PassResult; seconds: number }): void
  delivery(result: 'delivered' | 'retried' | 'failed'): void
}

/**
 * `notSigned`: the signer did not sign for the run. `budgetSpent`: the minter's budget was used up. `overlap`: another run held the lock.
 */
export type PassResult = 'ok' | 'notSigned' | 'budgetSpent' | 'fault' | 'overlap'

/** Registers all of it, and Node's default metrics. */
export function createMeters(registry: Registry, version: string): Meters {
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const build = new Gauge({
    name: 'node_ledger_build_info',
    help: 'What runs; always 1.',
    labelNames: ['version', 'node'],
    registers,
  })
  build.set({ version, node: process.version }, 1)
  const answers = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, by route pattern.',
    labelNames: ['method', 'route', 'code'],
    buckets: HTTP_BUCKETS,
    registers,
  })
  const limited = new Counter({
    name: 'node_ledger_http_rate_limited_total',
    help: 'Requests refused for their number (429).',
    labelNames: ['route'],
    registers,
  })
  const dropped = new Counter({
    name: 'node_ledger_http_connections_dropped_total',
    help: 'Connections dropped: idle (made room for a new one), refused (no room), flooding (pipelined too much), stalled (read nothing).',
    labelNames: ['why'],
    registers,
  })
  const rpc = new Histogram({
    name: 'node_ledger_rpc_request_duration_seconds',
    help: 'Time a JSON-RPC provider took, by what came of it: ok, error (a JSON-RPC error), or the kind of fault.',
    labelNames: ['provider', 'method', 'outcome'],
    buckets: RPC_BUCKETS,
    registers,
  })
  const faults = new Counter({
    name: 'node_ledger_rpc_faults_total',
    help: 'Calls to a JSON-RPC provider that got no answer of use.',
    labelNames: ['provider', 'kind'],
    registers,
  })
  const runs = new Counter({
    name: 'node_ledger_pass_runs_total',
    help: 'Runs of a pass on this instance: ok, notSigned (its signer did not sign), budgetSpent (the minter may mint or open no more), fault (stopped; the next goes on), overlap (another run held the lock).',
    labelNames: ['pass', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'node_ledger_pass_duration_seconds',
    help: 'Time a run of a pass took on this instance, overlaps left out.',
    labelNames: ['pass'],
    buckets: PASS_BUCKETS,
    registers,
  })
  const deliveries = new Counter({
    name: 'node_ledger_webhook_deliveries_total',
    help: 'Attempts to deliver an event: delivered, retried (to be tried again), failed (given up).',
    labelNames: ['result'],
    registers,
  })
  startAtZero(runs, durations, deliveries, dropped)
  return {
    request({ method, route, status, seconds }) {
      const where = route ?? 'unknown'
      answers.observe({ method: METHODS.get(method) ?? 'other', route: where, code: String(status) }, seconds)
      if (status === 429) limited.inc({ route: where })
    },
    dropped: (why) => dropped.inc({ why }),
    ...edgeMeters(registers),
    rpc({ host, method, outcome, seconds }) {
      rpc.observe({ provider: host, method, outcome }, seconds)
      if (outcome !== 'ok' && outcome !== 'error') faults.inc({ provider: host, kind: outcome })
    },
    pass({ pass, outcome, seconds }) {
      runs.inc({ pass, outcome })
      if (outcome !== 'overlap') durations.observe({ pass }, seconds)
    },
    delivery: (result) => deliveries.inc({ result }),
  }
}

/** A counter that appears with its first event has no increase that an alert could see. */
function startAtZero(
  runs: Counter<'pass' | 'outcome'>,
  durations: Histogram<'pass'>,
  deliveries: Counter<'result'>,
  dropped: Counter<'why'>,
): void {
  for (const pass of ['payments', 'credit']) {
    for (const outcome of ['ok', 'notSigned', 'budgetSpent', 'fault', 'overlap']) runs.inc({ pass, outcome }, 0)
    durations.zero({ pass })
  }
  for (const result of ['delivered', 'retried', 'failed']) deliveries.inc({ result }, 0)
  for (const why of ['idle', 'refused', 'flooding', 'stalled']) dropped.inc({ why }, 0)
}

function edgeMeters(registers: Registry[]): Pick<Meters, 'memo' | 'streams' | 'wrongAdminKey'> {
  const memo = new Counter({
    name: 'node_ledger_memo_requests_total',
    help: 'Reads of memoised answers: hit, miss (read again), joined (shared the read of another caller).',
    labelNames: ['result'],
    registers,
  })
  for (const result of ['hit', 'miss', 'joined']) memo.inc({ result }, 0)
  const gauge = new Gauge({ name: 'node_ledger_http_event_streams', help: 'Event streams that are open.', registers })
  const wrongKeys = new Counter({
    name: 'node_ledger_admin_keys_wrong_total',
    help: 'Requests under /api/admin with a key that is not right.',
    registers,
  })
  return {
    memo: (result) => memo.inc({ result }),
    streams: (open) => gauge.set(open),
    wrongAdminKey: () => wrongKeys.inc(),
  }
}

/** Counts a pass, with its outcome. */
export function metered<
  Given extends unknown[],
  T extends { ran: boolean; signer: string | null; budgetSpent?: string | null },
>(pass: string, meters: Pick<Meters, 'pass'>, run: (...given: Given) => Promise<T>): (...given: Given) => Promise<T> {
  return async (...given) => {
    const started = performance.now()
    let outcome: PassResult = 'fault'
    try {
      const result = await run(...given)
      outcome = resultOf(result)
      return result
    } finally {
      meters.pass({ pass, outcome, seconds: (performance.now() - started) / 1000 })
    }
  }
}

function resultOf({ ran, signer, budgetSpent }: { ran: boolean; signer: string | null; budgetSpent?: string | null }) {
  if (!ran) return 'overlap'
  if (signer === 'notSigned') return 'notSigned'
  return budgetSpent ? 'budgetSpent' : 'ok'
}
