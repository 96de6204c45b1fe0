// Requests at a constant rate, whatever the server does: each is due at its time, sent then, and measured from then, so that a server that
// stalls is not excused from the requests it kept from being sent (coordinated omission). They are made on a thread of their own, which
// measures nothing else.
import { Worker } from 'node:worker_threads'
import { quantile } from './numbers.ts'

/** The generator's memory for what is new: with Node's own measure its collections stand still for longer than most answers take. */
const YOUNG_MB = 64

/** Requests of one sort: their share of all, and the paths that are asked for in turn. */
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

/** The thread's result by request: its sort, its status (0 where no whole answer came), its milliseconds. */
export interface Answers {
  sortOf: Uint8Array
  status: Uint16Array
  ms: Float64Array
  /** Milliseconds between the time a request was due and the time it was handed on. */
  behind: Float64Array
  /** Why an answer did not come, the first few. */
  failures: string[]
}

export interface Figures {
  requests: number
  /** Answers by status; 0 is no whole answer. */
  statuses: ReadonlyMap<number, number>
  failures: readonly string[]
  /** Milliseconds from the time a request was due to its whole answer. */
  p50: number
  p99: number
  max: number
  /** By sort. */
  p99Of: ReadonlyMap<string, number>
  /** The generator's worst delay behind its own timetable, in a hundredth of the requests: it is part of the times above. */
  behindP99: number
}

/** Makes the requests and resolves when the last one is answered, or has failed. */
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
    ...{ requests: ms.length, statuses, failures },
    ...{ p50: quantile(times, 0.5), p99: quantile(times, 0.99), max: quantile(times, 1) },
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
