// Looks at the credit terms: are there any, does the environment name others, has the contract's owner set what they say of turns not owed.
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
import { type Finding, fail, ok, warn } from './finding.ts'

const LIST = '"node-ledger terms list" shows it.'

/** Names the terms in force, and what of them waits for the operator or the contract's owner. */
export async function lookAtTerms(pool: Pool, config: Config): Promise<Finding[]> {
  const [entered, windows, cursor] = [await readCreditTerms(pool), await readWindows(pool), await readCursor(pool)]
  const last = entered.at(-1)
  if (!last)
    return [
      fail(
        'terms',
        'the ledger has no credit terms: nothing is judged, minted or paid',
        '"node-ledger terms set" enters them; on a factory without nodes DIST_ENABLED and CREDIT_… name them for the first start with a key.',
      ),
    ]
  const now = cursor?.time ?? 0
  const inForce = termsAt(entered, now) ?? last
  const reading = { inForce, last }
  const range = `${inEther(inForce.minWei)} to ${inEther(inForce.maxWei)} ether every ${inForce.intervalSec} s`
  const findings = [ok('terms', inForce.payouts ? `a turn pays ${range}` : 'payouts are off', reading)]
  for (const value of await ignoredValues(pool, config))
    findings.push(
      warn(
        'terms.settings',
        ignoredInWords(value),
        `Unset it, or change the ledger's with "node-ledger ${value.act}".`,
      ),
    )
  if ((await readModes(pool)).at(-1)?.mode === 'proven' && !config.SMART_WALLET_LOGIN)
    findings.push(
      warn(
        'terms.smartWalletLogin',
        'contract wallets buy once they have signed in, and none can: only those that are known or allowed buy',
        'Set SMART_WALLET_LOGIN=true on the instances that people sign in at.',
      ),
    )
  const call = windowCallNeeded(entered, windows, now)
  if (call)
    findings.push(
      warn(
        'terms.windows',
        "the contract's owner has not set yet which turns are not owed: until then they are owed, and wait",
        `The owner has to send ${call.name}. ${LIST}`,
        { call: call.name },
      ),
    )
  return findings
}
