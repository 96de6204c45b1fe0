// The checks of what the operator has entered for the sale: credit terms, the payments wallet, the tiers, and settings that the ledger ignores.
// Doctor runs them all. The start runs ENTERED_CHECKS and prints their warnings.
import { ignoredValues } from '../boot/first-values.ts'
import type { Config } from '../config/load.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import type { Pool } from '../db/core/sql.ts'
import { readWindows } from '../db/nodes/owner-acts.ts'
import { readTiersNow, type TierNow } from '../db/payments/supply.ts'
import { readModes } from '../db/sale/contract-wallets.ts'
import { readPaymentWallets, readWalletInForce } from '../db/sale/payment-wallets.ts'
import { readCreditTerms } from '../db/sale/terms.ts'
import { readTierPlans, readTierVersions } from '../db/sale/tiers.ts'
import { windowCallNeeded } from '../domain/rounds/payouts.ts'
import { termsAt } from '../domain/rounds/turn-amounts.ts'
import { readChanges } from '../domain/sale/changes.ts'
import { isNearlySold } from '../domain/tiers.ts'
import { inEther } from '../domain/units.ts'
import { inUtc } from '../lib/times.ts'
import { type Checks, check, checkEach, ofLedger } from './check.ts'

interface SaleExamined {
  readonly pool: Pool
  readonly config: Config
}

const readWallets = async (pool: Pool) => ({
  wallets: await readPaymentWallets(pool),
  wallet: await readWalletInForce(pool),
})

/** The states of tiers, as buyers see them. */
const STATES: Readonly<Record<TierNow['state'], string>> = {
  open: 'on sale',
  upcoming: 'to open',
  soldOut: 'sold out',
  closed: 'closed',
}

export const ENTERED_CHECKS: Checks<SaleExamined> = {
  terms: check(null, ofLedger(readTermsNow), (terms) => {
    if (!terms)
      return {
        says: 'the ledger has no credit terms: nothing is judged, minted or paid',
        fail: 'Enter them with "node-ledger terms set". On a factory without nodes, DIST_ENABLED and CREDIT_… can set them at the first start that has the distributor’s key.',
      }
    const { payouts, minWei, maxWei, intervalSec } = terms.inForce
    return payouts
      ? `a turn pays ${inEther(minWei)} to ${inEther(maxWei)} ETH every ${intervalSec} s`
      : 'payouts are off'
  }),

  'terms.settings': checkEach(
    null,
    ({ pool, config }) => ignoredValues(pool, config),
    null,
    ({ settings, act }) => ({
      says: `${settings}: ignored, because the ledger has another value`,
      warn: `Unset it, or change the ledger's with "node-ledger ${act}".`,
    }),
  ),

  /** Names the wallet in force and any others that we still watch. */
  'sale.wallet': check(null, ofLedger(readWallets), ({ wallets, wallet }) => {
    if (wallet === null) {
      const todo = 'Enter the wallet that buyers pay to with "node-ledger wallets set <address>".'
      return { says: 'the ledger has no payments wallet: nothing can be bought', warn: todo }
    }
    const open = wallets.filter((one) => one.wallet !== wallet && one.closedBlock === null)
    const beside = open.length > 0 ? `; ${open.map((one) => one.wallet).join(', ')} also watched` : ''
    return `buyers pay to ${wallet}${beside}`
  }),
}

export const SALE_CHECKS: Checks<SaleExamined> = {
  ...ENTERED_CHECKS,

  'terms.smartWalletLogin': check(null, ofLedger(readModes), (modes, { config: { SMART_WALLET_LOGIN } }) => {
    if (SMART_WALLET_LOGIN || modes.at(-1)?.mode !== 'proven') return null
    return {
      says: 'contract wallets may buy once they have signed in, but none can sign in: only known or allowed ones may buy',
      warn: 'Set SMART_WALLET_LOGIN=true on the instances where people sign in.',
    }
  }),

  'terms.windows': check(null, ofLedger(readWindowCall), (call) => {
    if (!call) return null
    return {
      says: "the contract's owner has not yet sent the call that cancels turns: they are still owed, and wait",
      warn: `The owner has to send ${call.name}. "node-ledger terms list" shows it.`,
    }
  }),

  'sale.tiers': check(null, ofLedger(readTiersNow), (tiers) => {
    const states = Map.groupBy(tiers, ({ state }) => state)
    const says = Object.entries(STATES).flatMap(([state, text]) => {
      const tierIds = states.get(state as TierNow['state'])?.map(({ tierId }) => tierId) ?? []
      return tierIds.length > 0 ? `${text}: ${tierIds.join(', ')}` : []
    })
    if ((states.get('closed') ?? []).length < tiers.length) return says.join('; ')
    const todo = 'Create one with "node-ledger tiers create", or put one back on sale with "tiers on-sale".'
    return { says: ['no tier is on sale', ...says].join('; '), warn: todo }
  }),

  'sale.changes': check('NodeLedgerTierChangeUnfit', ofLedger(readPlanned), ({ fit, unfit }) => {
    const [first] = unfit
    const next = fit[0]?.version
    if (first) {
      const { plan, why } = first
      const todo = `It will not take effect (${why.kind}). "node-ledger tiers plans" shows why, and "tiers cancel" cancels it.`
      return {
        says: `change ${plan.version} of tier ${plan.tierId}, planned for ${inUtc(plan.fromTime)}, does not fit`,
        warn: todo,
      }
    }
    return next ? `${fit.length} planned, the next for ${inUtc(next.fromTime)} (${next.tierId})` : null
  }),

  'sale.quote': check(null, ofLedger(readTiersNow), (tiers, { config: { QUOTE_TIER } }) => {
    if (QUOTE_TIER === null || tiers.some(({ tierId, onSale }) => onSale && tierId === QUOTE_TIER)) return null
    const todo = 'Set QUOTE_TIER to a tier on sale, or unset it.'
    return { says: `QUOTE_TIER is ${QUOTE_TIER}, which is not on sale`, warn: todo }
  }),

  'owner.supply': checkEach('NodeLedgerTierNearlySold', ofLedger(readTiersNow), null, (tier) => {
    const { tierId, state, supply, sold, reserved } = tier
    if (supply === null) return null
    const todo = `When all is sold, later payments are held (soldOut): "node-ledger tiers off-sale ${tierId}", or raise its supply.`
    return {
      says: `of tier ${tierId}, ${sold} of ${supply} are sold, and ${reserved} are being paid for`,
      // As the alert: a step that sold out as planned asks for nothing.
      warn: state === 'open' && isNearlySold(sold, supply) && todo,
    }
  }),

  'owner.cap': checkEach('NodeLedgerTierCapLower', ofLedger(readTiersNow), null, ({ tierId, supply, cap }) => {
    if (supply === null || cap === null || cap >= supply) return null
    return {
      says: `of tier ${tierId}, the contract mints ${cap} at most, and its supply is ${supply}`,
      warn: `Sales beyond that are held (soldOut): "node-ledger tiers price ${tierId} --supply ${cap}".`,
    }
  }),
}

async function readPlanned(pool: Pool) {
  return readChanges(await readTierVersions(pool), await readTierPlans(pool))
}

async function readTermsNow(pool: Pool) {
  const [terms, cursor] = [await readCreditTerms(pool), await readCursor(pool)]
  const last = terms.at(-1)
  return last && { inForce: termsAt(terms, cursor?.time ?? 0) ?? last, last }
}

async function readWindowCall(pool: Pool) {
  const [terms, windows, cursor] = [await readCreditTerms(pool), await readWindows(pool), await readCursor(pool)]
  return terms.length === 0 ? null : windowCallNeeded(terms, windows, cursor?.time ?? 0)
}
