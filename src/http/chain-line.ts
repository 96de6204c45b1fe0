// The one queue for requests that read the chain on a caller's word: claims and syncs. It limits how much callers can make the service ask at a time,
// and one caller cannot keep the others out.
import type { HttpDeps } from './deps.ts'
import { SingleFlight } from './edge/single-flight.ts'
import { isRefusal, type RefusalName } from './refusals.ts'
import type { Outcome } from './route.ts'

/** Requests that may ask the chain at a time, and those that may wait behind them. Any more get 503. */
const CONCURRENCY_MAX = 8
const WAITING_MAX = 64
/** The same limits for one caller. Pages poll for one transaction, so their requests share the answer. */
const OF_CALLER = { concurrencyMax: 2, waitingMax: 6 }
/** How long we do not ask again for a hash or an id that the chain did not know. */
const UNKNOWN_KEPT_MS = 2_000

const UNKNOWN: readonly (RefusalName | string)[] = ['notYetKnown', 'mintNotConfirmed', 'nodeNotMinted']

export type ChainLine = SingleFlight<Outcome>

export const createChainLine = ({ monotonicClock }: Pick<HttpDeps, 'monotonicClock'>): ChainLine =>
  new SingleFlight<Outcome>({
    clock: monotonicClock,
    concurrencyMax: CONCURRENCY_MAX,
    waitingMax: WAITING_MAX,
    ofCaller: OF_CALLER,
    keeps: (outcome) => isRefusal(outcome) && UNKNOWN.includes(outcome.refused),
    keptMs: UNKNOWN_KEPT_MS,
  })
