// Makes requests at a constant rate, whatever the server does. Each is sent at its due time and measured from that
// time. So a stalled server is also charged for the requests that it delayed (coordinated omission). They run on their
// own thread, which measures nothing else.
import { Worker } from 'node:worker_threads'
import { quantile } from './numbers.ts'

/** The generator's heap for young objects. With Node's default, one collection would pause longer than most answers take. */
const YOUNG_MB = 64

/** Requests of one sort: their share of all, and their paths, used in turn. */
export interface Sort {
  name: string
  share: number
  paths: readonly string[]
}

export interface Load {
  origin: string
  perSecond: number
  sec: number
  sorts: readonly Sort[]
}

/** The thread's results, by request: its sort, its status (0 without a complete answer), its milliseconds. */
export interface Answers {
  sortOf: Uint8Array
  status: Uint16Array
  ms: Float64Array
  /** Milliseconds from a request's due time until it was sent. */
  behind: Float64Array
  /** The first few errors of failed requests. */
  failures: string[]
}

export interface Figures {
  requests: number
  /** Answers by status; 0 means no complete answer. */
  statuses: ReadonlyMap<number, number>
  failures: readonly string[]
  /** Milliseconds from a request's due time to its complete answer. */
  p50: number
  p99: number
  max: number
  /** By sort. */
  p99Of: ReadonlyMap<string, number>
  /** How far the generator lags behind its own schedule at the 99th percentile. The times above include it. */
  behindP99: number
}

/** Makes the requests. Resolves once the last one is answered, or has failed. */
export async function loadAt(load: Load): Promise<Figures> {
  const { sortOf, status, ms, behind, failures } = await new Promise<Answers>((resolve, reject) => {
    const worker = new Worker(new URL('./constant-rate-worker.ts', import.meta.url), {
      workerData: load,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the generator ended')))
  })
  const statuses = new Map<number, number>()
  for (const one of status) statuses.set(one, (statuses.get(one) ?? 0) + 1)
  const times = [...ms]
  return {
    requests: ms.length,
    statuses,
    failures,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    max: quantile(times, 1),
    p99Of: new Map(
      load.sorts.map(({ name }, at) => [
        name,
        quantile(
          times.filter((_, request) => sortOf[request] === at),
          0.99,
        ),
      ]),
    ),
    behindP99: quantile([...behind], 0.99),
  }
}
