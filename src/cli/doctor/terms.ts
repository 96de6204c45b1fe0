// The checks of the operator's terms: whether there are credit terms, whether the settings name other values, and whether the contract's owner has
// added the windows of turns that the terms declare not owed.
import { ignoredInWords, ignoredValues } from '../../boot/first-values.ts'
import type { Config } from '../../config/load.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readWindows } from '../../db/nodes/owner-acts.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { termsAt } from '../../domain/credit.ts'
import { windowCallNeeded } from '../../domain/payouts.ts'
import { inEther } from '../ether.ts'
import type { Checks } from './check.ts'

export const TERMS_CHECKS: Checks<{ readonly pool: Pool; readonly config: Config }> = {
  terms: async ({ pool }) => {
    const [entered, cursor] = [await readCreditTerms(pool), await readCursor(pool)]
    const last = entered.at(-1)
    if (!last)
      return {
        says: 'the ledger has no credit terms: nothing is judged, minted or paid',
        fail: '"node-ledger terms set" enters them; on a factory without nodes DIST_ENABLED and CREDIT_… name them for the first start with a key.',
      }
    const inForce = termsAt(entered, cursor?.time ?? 0) ?? last
    const range = `${inEther(inForce.minWei)} to ${inEther(inForce.maxWei)} ether every ${inForce.intervalSec} s`
    return { says: inForce.payouts ? `a turn pays ${range}` : 'payouts are off', reading: { inForce, last } }
  },

  'terms.settings': async ({ pool, config }) =>
    (await ignoredValues(pool, config)).map((value) => ({
      says: ignoredInWords(value),
      warn: `Unset it, or change the ledger's with "node-ledger ${value.act}".`,
    })),

  'terms.smartWalletLogin': async ({ pool, config }) => {
    if (config.SMART_WALLET_LOGIN || (await readModes(pool)).at(-1)?.mode !== 'proven') return null
    return {
      says: 'contract wallets may buy once they have signed in, but none can sign in: only known or allowed ones may buy',
      warn: 'Set SMART_WALLET_LOGIN=true on the instances where people sign in.',
    }
  },

  'terms.windows': async ({ pool }) => {
    const [entered, windows, cursor] = [await readCreditTerms(pool), await readWindows(pool), await readCursor(pool)]
    const call = entered.length === 0 ? null : windowCallNeeded(entered, windows, cursor?.time ?? 0)
    if (!call) return null
    return {
      says: "the contract's owner has not set yet which turns are not owed: until then they are owed, and wait",
      warn: `The owner has to send ${call.name}. "node-ledger terms list" shows it.`,
      reading: { call: call.name },
    }
  },
}
