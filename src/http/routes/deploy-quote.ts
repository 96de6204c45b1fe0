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
import { cachedResponseOf } from '../edge/memo.ts'
import { isRefusal, noneIfRefused, type Refusal, refuse, refuseUnopened } from '../refusals.ts'
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
    const requestedTier = parseTier(query)
    if (isRefusal(requestedTier)) return requestedTier
    const read = () => queryReplica((sql) => readQuoteNow(sql, requestedTier, deps))
    const key = `quote ${requestedTier ?? deps.settings.quoteTier ?? ''}`
    const quote = await cached(key, 30, async () => noneIfRefused(await read()))
    if (quote !== null) return quote
    // Read again, because we cache no refusal. A tier may have opened meanwhile: then this is its quote.
    const answer = await read()
    return isRefusal(answer) ? answer : cachedResponseOf(answer)
  },
})

/** The quote for a tier; if none is named, for the default one, else the first on sale. A refusal with the reason if there is none now. */
export async function readQuoteNow(
  sql: Sql,
  requestedTier: string | null,
  deps: Pick<HttpDeps, 'operator' | 'settings'>,
) {
  const { quoteTier, chainId } = deps.settings
  const nextBlock = ((await readCursor(sql))?.number ?? -1) + 1
  const contractWallets = await modeIn(sql, nextBlock, deps)
  const offer = await readOffer(sql, requestedTier ?? quoteTier)
  if (isRefusal(offer)) return offer
  const why = offer && whyNotNow(offer)
  if (why === 'tierNotOpen') return refuseUnopened(offer?.awaits ?? null)
  if (offer === null || why === 'closed') {
    if (requestedTier !== null) return refuse('unknownTier')
    return refuse(quoteTier === null ? 'nothingOnSale' : 'quotedTierOffSale')
  }
  if (why !== null) return refuse(why)
  const { priceWei, paymentAddress, tierId } = offer
  return { priceWei, paymentAddress, chainId, tierId, contractWallets }
}

/** Who may buy by an inner call in a future block. If only one provider could report the call and the operator does not trust it, no contract may. */
export async function modeIn(sql: Sql, block: number, deps: Pick<HttpDeps, 'operator'>): Promise<ContractWalletMode> {
  return doTracesCount(deps) ? modeAt(await readModes(sql), block) : 'hold'
}

/** True if we may believe what traces show about senders. */
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

/** The offer to quote: the named tier; if none is named, the first tier on sale. Null if there is none; a refusal if nothing can be sold yet. */
export async function readOffer(sql: Sql, tierId: string | null) {
  const paymentAddress = await readWalletInForce(sql)
  if (paymentAddress === null) return refuse('noPaymentAddress')
  if (!(await hasTerms(sql))) return refuse('noTerms')
  const offer = await readQuote(sql, tierId)
  return offer && { ...offer, paymentAddress, waits: await whyWait(sql) }
}

/** `tier` of the query, in the syntax of tier ids; null if absent. */
export function parseTier(query: Query): string | null | Refusal {
  const value = query.tier
  if (value === undefined) return null
  return typeof value === 'string' && TIER_ID_FORM.test(value) ? value : refuse('unknownTier')
}
