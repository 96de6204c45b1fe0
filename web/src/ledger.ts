// The pages' queries to the service: one hook for each reading, refreshed as often as the service's own caches.
import {
  createClient,
  type Deployment,
  type Distribution,
  type LedgerClient,
  LedgerError,
  type Tier,
} from '@node-ledger/client'
import { type Query, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query'

/** The longest wait that the page does not mention. If the service asks for a longer wait, the page shows that. */
const SILENT_MS = 3_000

export const ledger = createClient({
  baseUrl: window.location.origin,
  retry: { attempts: 2, maxMs: SILENT_MS },
})

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The client has already retried, if a retry could help.
      retry: false,
      staleTime: 2_000,
      refetchIntervalInBackground: false,
      networkMode: 'always',
    },
    // Otherwise a request would wait silently while the browser reports no network. The service may be on this machine, and a failure is shown.
    mutations: { networkMode: 'always' },
  },
})

/** How many rounds the service lists at most. */
export const ROUNDS_MAX = 200

/** Begins with the answers that the service wrote into the page, so that nothing moves at the first paint. We fetch them again immediately. */
function beginWith(answers: Readonly<Record<string, unknown>>): void {
  const begin = async (key: readonly unknown[], answer: unknown, read: (from: LedgerClient) => Promise<unknown>) => {
    if (!answer) return
    const from = createClient({
      baseUrl: window.location.origin,
      fetch: async () => new Response(JSON.stringify(answer)),
    })
    queries.setQueryData(key, await read(from), { updatedAt: 0 })
    await queries.invalidateQueries({ queryKey: key, refetchType: 'none' })
  }
  const { tiers, rounds, stats, deployment, quote } = answers
  void begin(['tiers'], tiers && { tiers }, (from) => from.getTiers())
  // A page leaves out rounds that are too large for it. Then the script asks for them.
  const { totalDistributions } = (stats ?? {}) as { totalDistributions?: number }
  const hasRounds = totalDistributions === 0 || (Array.isArray(rounds) && rounds.length > 0)
  void begin(['rounds', ROUNDS_MAX], hasRounds && rounds, (from) => from.getDistributions())
  void begin(['stats'], stats, (from) => from.getStats())
  void begin(['deployment'], deployment, (from) => from.getWellKnown())
  const { tierId } = (quote ?? {}) as { tierId?: string }
  void begin(['quote', tierId, 'open'], quote, (from) => from.getDeployQuote(tierId))
}
const answersInPage = document.querySelector<HTMLMetaElement>('meta[name="node-ledger:served"]')?.content
if (answersInPage) beginWith(JSON.parse(answersInPage))

export type Reading<T> = UseQueryResult<T, LedgerError | Error>

/** How long the service caches each answer, in seconds. Polling more often brings nothing new. */
const EVERY_SEC = {
  stats: 10,
  tiers: 30,
  cover: 10,
  node: 5,
  rounds: 10,
  quote: 30,
  price: 60,
  health: 10,
} as const

function useReading<T>(
  key: readonly unknown[],
  everySec: number,
  read: (signal: AbortSignal) => Promise<T>,
): Reading<T> {
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(signal),
    refetchInterval: notBefore(() => everySec * 1000),
  })
}

/** A reading's polling interval, but never less than the wait that the service asks for. */
export const notBefore =
  (everyMs: () => number) =>
  ({ state: { error } }: Pick<Query<unknown, Error>, 'state'>): number =>
    Math.max(everyMs(), error instanceof LedgerError ? (error.retryAfter ?? 0) * 1000 : 0)

export const useStats = () => useReading(['stats'], EVERY_SEC.stats, (signal) => ledger.getStats({ signal }))
/** If a tier can open, close or sell out, we poll more often, so a change shows within a block or two. */
export const useTiers = () =>
  useQuery({
    queryKey: ['tiers'],
    queryFn: ({ signal }) => ledger.getTiers({ signal }),
    refetchInterval: (query) =>
      notBefore(() => (query.state.data?.some(isBounded) ? BOUNDED_EVERY_MS : EVERY_SEC.tiers * 1000))(query),
  })
const isBounded = ({ supply, opensAt, closesAt }: Tier) => (supply ?? opensAt ?? closesAt) !== null
const BOUNDED_EVERY_MS = 3_000
export const useCover = () => useReading(['cover'], EVERY_SEC.cover, (signal) => ledger.getCover({ signal }))
export const useHealth = () => useReading(['health'], EVERY_SEC.health, (signal) => ledger.getHealth({ signal }))
export const useRounds = () =>
  useReading(['rounds', ROUNDS_MAX], EVERY_SEC.rounds, (signal) =>
    ledger.getDistributions({ limit: ROUNDS_MAX, signal }),
  )
export const useNode = (id: string, limit = 200) =>
  useReading(['node', id, limit], EVERY_SEC.node, (signal) => ledger.getNode(id, { limit, signal }))
/** `state` is the state of the tier's sale. When it changes, we fetch a new quote. */
export const useQuote = (tierId: string | undefined, state?: Tier['state']) =>
  useReading(['quote', tierId, state], EVERY_SEC.quote, (signal) =>
    ledger.getDeployQuote(tierId, { signal, fresh: true }),
  )
export const usePrice = () => useReading(['price'], EVERY_SEC.price, (signal) => ledger.getPrice({ signal }))

/** The service's last answer about the contract, so that a withdrawal works while the service is down. */
export const directory = {
  getWellKnown: async () => queries.getQueryData<Deployment>(['deployment']) ?? ledger.getWellKnown(),
}

/** Names a round as it is in its block, because after a reorg another may have its number. */
export const nameOf = ({ id, txHash, blockNumber, totalWei }: Distribution): string =>
  [id, txHash, blockNumber, totalWei].join(' ')

/** The deployment. It does not change while a page is open. */
export const useDeployment = () =>
  useQuery({ queryKey: ['deployment'], queryFn: () => ledger.getWellKnown(), staleTime: Number.POSITIVE_INFINITY })
