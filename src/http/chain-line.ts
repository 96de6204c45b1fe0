// The only queue for requests that make us read the chain for a caller: claims and syncs. It limits how many chain requests callers can trigger at
// once, and no caller can crowd out the others.
import type { HttpDeps } from './deps.ts'
import { SingleFlight } from './edge/single-flight.ts'
import { isRefusal, type RefusalName } from './refusals.ts'
import type { Outcome } from './route.ts'

/** How many requests may ask the chain at once, and how many may wait behind them. Further requests get 503. */
const CONCURRENCY_MAX = 8
const WAITING_MAX = 64
/** The same limits per caller. A page polls for a single transaction, so its requests share the answer. */
const OF_CALLER = { concurrencyMax: 2, waitingMax: 6 }
/** How long we wait before we ask again for a hash or an id that the chain did not know. */
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
