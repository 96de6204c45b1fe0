// GET /api/deploy-quote: what to pay, and to which address. Both come from the ledger, never from the contract. A quote needs a payments wallet in
// force, credit terms, an open tier with a place left, a node left in the minter's budget, and providers that agree on the chain.
import { readCursor } from '../../db/blocks/blocks.ts'
import { readMending } from '../../db/blocks/mending.ts'
import { isSaleParted } from '../../db/blocks/parted.ts'
import type { Sql } from '../../db/core/sql.ts'
import { type QuotedTier, readQuote } from '../../db/reads/public-api.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { hasTerms } from '../../db/sale/terms.ts'
import { tracesCount } from '../../domain/finality.ts'
import { type ContractWalletMode, modeAt } from '../../domain/payers/payer.ts'
import { TIER_ID_FORM } from '../../domain/tiers.ts'
import type { HttpDeps } from '../deps.ts'
import type { Query } from '../edge/guards.ts'
import { isRefusal, type Refusal, refuse, refuseUnopened } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const deployQuote = ({ deps, queryReplica, cached }: Tools): Route => ({
  path: '/api/deploy-quote',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=30, stale-while-revalidate=90',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: async ({ query }) => {
    const { quoteTier } = deps.settings
    const requestedTier = parseTier(query)
    if (isRefusal(requestedTier)) return requestedTier
    const tierId = requestedTier ?? quoteTier
    const quote = await cached(`quote ${tierId ?? ''}`, 30, () =>
      queryReplica((sql) => readQuoteNow(sql, tierId, deps)),
    )
    return quote ?? whyNone(queryReplica, { asked: requestedTier, quoteTier })
  },
})

/** Why there is no quote: of the named tier, else of the default one. */
async function whyNone(
  queryReplica: Tools['queryReplica'],
  { asked, quoteTier }: { asked: string | null; quoteTier: string | null },
): Promise<Refusal> {
  if ((await queryReplica(readWalletInForce)) === null) return refuse('noPaymentAddress')
  if (!(await queryReplica(hasTerms))) return refuse('noTerms')
  const offer = await queryReplica((sql) => readOffer(sql, asked ?? quoteTier))
  const why = offer && whyNotNow(offer)
  if (why === 'tierNotOpen') return refuseUnopened(offer?.awaits ?? null)
  if (why && why !== 'closed') return refuse(why)
  if (asked !== null) return refuse('unknownTier')
  return refuse(quoteTier === null ? 'nothingOnSale' : 'quotedTierOffSale')
}

/** The quote for a tier, or for the first on sale; null if there is none now. */
export async function readQuoteNow(
  sql: Sql,
  requestedTier: string | null,
  deps: Pick<HttpDeps, 'operator' | 'settings'>,
) {
  const offer = await readOffer(sql, requestedTier)
  const nextBlock = ((await readCursor(sql))?.number ?? -1) + 1
  const contractWallets = await modeIn(sql, nextBlock, deps)
  if (offer === null || whyNotNow(offer) !== null) return null
  const { priceWei, paymentAddress, tierId } = offer
  return { priceWei, paymentAddress, chainId: deps.settings.chainId, tierId, contractWallets }
}

/** Who may buy by an inner call in a future block. If only one provider could report the call and the operator does not trust it, no contract may. */
export async function modeIn(sql: Sql, block: number, deps: Pick<HttpDeps, 'operator'>): Promise<ContractWalletMode> {
  return doTracesCount(deps) ? modeAt(await readModes(sql), block) : 'hold'
}

/** True if we may believe what traces say about senders. */
export const doTracesCount = ({ operator }: Pick<HttpDeps, 'operator'>): boolean =>
  tracesCount(operator.chain, operator.rules)

/** Why the offered tier is not on sale now; null if it is. A closed tier counts as off sale. */
function whyNotNow({ state, soldOut, waits }: Pick<QuotedTier, 'state' | 'soldOut'> & { waits: Wait | null }) {
  if (state === 'closed') return state
  if (waits) return waits
  if (state === 'upcoming') return 'tierNotOpen'
  if (state === 'soldOut') return 'tierSoldOut'
  return soldOut ? 'soldOut' : null
}

/** Why nothing is sold, whatever the tier. */
type Wait = 'historiesDiffer' | 'mending'

async function whyWait(sql: Sql): Promise<Wait | null> {
  if (await isSaleParted(sql)) return 'historiesDiffer'
  return (await readMending(sql)) ? 'mending' : null
}

/** The offer to quote: the named tier. If none is named, the first tier on sale. Null if there is none. */
export async function readOffer(sql: Sql, tierId: string | null) {
  const paymentAddress = await readWalletInForce(sql)
  if (paymentAddress === null || !(await hasTerms(sql))) return null
  const offer = await readQuote(sql, tierId)
  return offer && { ...offer, paymentAddress, waits: await whyWait(sql) }
}

/** `tier` of the query, in the syntax of tier ids; null if absent. */
export function parseTier(query: Query): string | null | Refusal {
  const value = query.tier
  if (value === undefined) return null
  return typeof value === 'string' && TIER_ID_FORM.test(value) ? value : refuse('unknownTier')
}
