// GET /api/can-buy/:address?tier=: whether a payment from this wallet would become a node automatically, with one check per rule, before the buyer
// pays. A check that could not be made is null. If a payment would need review, only the operator sees why, not the buyer.

import { readCursor } from '../../../db/blocks/blocks.ts'
import type { Sql } from '../../../db/core/sql.ts'
import { readRecheck } from '../../../db/payments/recheck.ts'
import { type BuyerStanding, readBuyerStanding } from '../../../db/reads/can-buy.ts'
import { readPaymentWallets } from '../../../db/sale/payment-wallets.ts'
import { readTierVersions, type TierRow } from '../../../db/sale/tiers.ts'
import {
  type BuyerCheck,
  type BuyerFacts,
  canBuy as canBuyBy,
  canBuyInside,
  checkBuyer,
} from '../../../domain/payers/can-buy.ts'
import type { Address } from '../../../domain/units.ts'
import type { BuyerReading } from '../../../ports/contract.ts'
import { parseAddress } from '../../edge/guards.ts'
import { isRefusal, noneIfRefused, refuse } from '../../refusals.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { doTracesCount, modeIn, parseTier, readOffer } from '../deploy-quote.ts'

/** For how many seconds we cache the answer. People look at it just before they pay. */
const KEPT_SEC = 2
/** The chain gets 4 s for each of two successive readings. */
const DEADLINE_MS = 8_000

export const canBuy = (tools: Tools): Route => ({
  path: '/api/can-buy/:address',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=2',
  cors: true,
  deadlineMs: DEADLINE_MS,
  handle: async ({ params, query }) => {
    const { deps, cached, queryReplica } = tools
    const address = parseAddress(params.address, deps.checksum)
    if (isRefusal(address)) return address
    const queryTier = parseTier(query)
    if (isRefusal(queryTier)) return queryTier
    const requestedTier = queryTier ?? deps.settings.quoteTier
    const response = await cached(`can-buy ${address} ${requestedTier ?? ''}`, KEPT_SEC, async () => {
      const sale = await queryReplica((sql) => readSale(sql, deps, { address, requestedTier }))
      if (sale === null) return null
      const reading = await deps.readings.buyer(address, sale.tier.holdingToken)
      const facts = factsOf(tools, address, sale, reading)
      const inner = canBuyInside({ ...facts, tracesCount: doTracesCount(deps) })
      // Traces matter only for a wallet that can pay this way.
      const isTraced = inner && (await deps.readings.tracesWork())
      return answerOf(address, sale, { checks: checkBuyer(facts), inner: isTraced }, reading)
    })
    return response ?? refuse('unknownTier')
  },
})

interface Sale {
  tier: TierRow
  quoted: boolean | null
  sold: number
  reserved: number
  most: number | null
  now: number
  history: TierRow[]
  standing: BuyerStanding
  rest: Pick<BuyerFacts['standing'], 'wallets' | 'beforeRestore'> & Pick<BuyerFacts['contract'], 'mode'>
}

/** The ledger's part of the answer; null if there is no such tier. If no tier is named, the answer is about the first on sale. */
async function readSale(
  sql: Sql,
  deps: Tools['deps'],
  { address, requestedTier }: { address: Address; requestedTier: string | null },
): Promise<Sale | null> {
  const [offer, history, cursor, wallets, recheckUpTo] = await Promise.all([
    readOffer(sql, requestedTier).then(noneIfRefused),
    readTierVersions(sql),
    readCursor(sql),
    readPaymentWallets(sql),
    readRecheck(sql),
  ])
  const tier = history.find(({ tierId, live }) => live && tierId === (requestedTier ?? offer?.tierId))
  if (!tier) return null
  const nextBlock = (cursor?.number ?? -1) + 1
  return {
    tier,
    history,
    quoted: offer?.state === 'open' && !offer.soldOut && (offer.waits === null || null),
    sold: offer?.sold ?? 0,
    reserved: offer?.reserved ?? 0,
    most: offer?.most ?? null,
    now: cursor?.time ?? 0,
    standing: await readBuyerStanding(sql, address, tier),
    rest: {
      wallets: wallets.map(({ wallet }) => wallet),
      beforeRestore: recheckUpTo !== null && nextBlock <= recheckUpTo,
      mode: await modeIn(sql, nextBlock, deps),
    },
  }
}

function factsOf({ deps }: Tools, from: Address, sale: Sale, reading: BuyerReading): BuyerFacts {
  const { tier, quoted, sold, reserved, most, now, history, standing, rest } = sale
  return {
    from,
    tier,
    quoted,
    sold,
    reserved,
    most,
    now,
    versions: history,
    use: standing.use,
    listed: standing.listed,
    waiting: standing.waiting,
    standing: {
      wallets: rest.wallets,
      serviceAccounts: Object.values(deps.operator.signers),
      senderDenied: standing.denied,
      beforeRestore: rest.beforeRestore,
    },
    contract: { mode: rest.mode, signedIn: standing.signedIn, allowed: standing.allowed },
    ...reading,
  }
}

function answerOf(
  address: Address,
  { tier }: Sale,
  { checks, inner }: { checks: readonly BuyerCheck[]; inner: boolean | null },
  { blockNumber }: BuyerReading,
) {
  const { tierId, priceWei, holdingSymbol: symbol, holdingDecimals: decimals } = tier
  const checksWithToken = checks.map((check) => (check.check === 'holding' ? { ...check, symbol, decimals } : check))
  return { address, tierId, priceWei, canBuy: canBuyBy(checks), checks: checksWithToken, inner, blockNumber }
}
