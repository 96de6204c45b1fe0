// What the routes share besides their dependencies, built once per server.
import { type DatabaseRead, databaseRead, replicaRead } from './database-read.ts'
import type { HttpDeps } from './deps.ts'
import { type ConnectionLimits, connectionLimits, openFilesMax } from './edge/connections.ts'
import { type CachedResponse, cachedResponseOf, createMemo } from './edge/memo.ts'
import { SingleFlight } from './edge/single-flight.ts'
import { streamLimits, Watches } from './events/watches.ts'
import { isRefusal, type RefusalName } from './refusals.ts'
import type { Outcome } from './route.ts'
import { LedgerKeys } from './routes/admin/ledger-keys.ts'
import { wrongKeyTeller } from './routes/admin/wrong-keys.ts'
import { Challenges } from './session/challenges.ts'
import { originCheck } from './session/origin.ts'
import { Sessions } from './session/session.ts'

export interface Tools {
  deps: HttpDeps
  sessions: Sessions
  challenges: Challenges
  /** Database access for the public reads. */
  queryReplica: DatabaseRead
  /** Access to the primary, for writes and for reads that must not lag. */
  queryPrimary: DatabaseRead
  /** The queue in which claims and syncs wait to ask the chain. */
  chainLine: ChainLine
  ledgerKeys: LedgerKeys
  /** Called for each wrong admin key. */
  tellWrongKey: () => void
  /** Limits of connections; derived from this process's open files limit if none are given. */
  connectionLimits: ConnectionLimits
  watches: Watches
  /** True if a request has no `Origin` or our own. */
  isOwnOrigin: (origin: string | undefined) => boolean
  /**
   * The answer of a public read, cached for at most `maxAgeSec` under `key`. The key must name the route and every parameter on which the answer
   * depends. `read` returns what becomes JSON, or a page's text; null if there is nothing.
   */
  cached<Found extends object | string | null>(
    key: string,
    maxAgeSec: number,
    read: () => Promise<Found>,
  ): Promise<CachedResponse | Extract<Found, null>>
}

export function buildTools(deps: HttpDeps): Tools {
  const memo = createMemo<CachedResponse | null>({
    clock: deps.monotonicClock,
    changes: deps.changes,
    // Counted twice, because we also keep the compressed forms: together, they are smaller than the answer.
    bytesOf: (response) => 2 * (response?.body.length ?? 0),
    observe: deps.meters?.memo,
  })
  const respondCached = async (key: string, maxAgeSec: number, read: () => Promise<object | string | null>) =>
    memo.get(key, maxAgeSec * 1000, async () => {
      const content = await read()
      return content === null ? null : cachedResponseOf(content)
    })
  const queryPrimary = databaseRead(deps.sql)
  const limits = { ...connectionLimits(openFilesMax()), ...deps.connections }
  return {
    deps,
    queryPrimary,
    queryReplica: deps.readSql === deps.sql ? queryPrimary : replicaRead(deps.readSql, queryPrimary, deps),
    ledgerKeys: new LedgerKeys(queryPrimary, deps),
    tellWrongKey: wrongKeyTeller(deps),
    sessions: new Sessions(deps.settings, deps.clock),
    challenges: new Challenges(deps.settings, deps.clock),
    connectionLimits: limits,
    watches: watchesOf(deps, limits.total),
    chainLine: createChainLine(deps),
    isOwnOrigin: originCheck(deps.settings.publicUrl),
    cached: respondCached as Tools['cached'],
  }
}

function watchesOf({ changes, monotonicClock, log, meters, streams }: HttpDeps, connectionsMax: number): Watches {
  return new Watches({
    limits: { ...streamLimits(connectionsMax), ...streams },
    changes,
    monotonicClock,
    log,
    observe: meters?.streams,
  })
}

/** The queue for requests that make us read the chain for a caller. How many may ask the chain at a time, and how many may wait behind them. Further requests get 503. */
const CONCURRENCY_MAX = 8
const WAITING_MAX = 64
/** The same limits per caller. A page polls for a single transaction, so its requests share the answer. */
const OF_CALLER = { concurrencyMax: 2, waitingMax: 6 }
/** How long we wait before we ask again for a hash or an id that the chain did not know. */
const UNKNOWN_KEPT_MS = 2_000

const UNKNOWN: readonly (RefusalName | string)[] = ['notYetKnown', 'mintNotConfirmed', 'nodeNotMinted']

export type ChainLine = SingleFlight<Outcome>

const createChainLine = ({ monotonicClock }: Pick<HttpDeps, 'monotonicClock'>): ChainLine =>
  new SingleFlight<Outcome>({
    clock: monotonicClock,
    concurrencyMax: CONCURRENCY_MAX,
    waitingMax: WAITING_MAX,
    ofCaller: OF_CALLER,
    keeps: (outcome) => isRefusal(outcome) && UNKNOWN.includes(outcome.refused),
    keptMs: UNKNOWN_KEPT_MS,
  })
