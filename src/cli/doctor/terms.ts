// Looks at the credit terms: are there any, does the environment name others, has the contract's owner set what they say of turns not owed.
import type { Config } from '../../config/load.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readWindows } from '../../db/nodes/owner-acts.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { termsAt } from '../../domain/credit.ts'
import { type ContractWalletMode, type ModeEntry, modeDespite } from '../../domain/payers/payer.ts'
import { windowCallNeeded } from '../../domain/payouts.ts'
import { sameTerms } from '../../domain/terms.ts'
import { tiersWithOtherTerms } from '../../domain/tiers.ts'
import { inEther } from '../ether.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const LIST = '"node-ledger terms list" shows it.'

/** Compares the ledger's terms with those that the environment names. */
export async function lookAtTerms(
  pool: Pool,
  { credit: { named }, payments, http }: Pick<Config, 'credit' | 'payments' | 'http'>,
): Promise<Finding[]> {
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
  if (named && !sameTerms(last, named))
    findings.push(
      warn(
        'terms.settings',
        'DIST_ENABLED and CREDIT_… name other terms than the ledger has, and are ignored',
        `Unset them, or enter them with "node-ledger terms set". ${LIST}`,
        { named },
      ),
    )
  const tiers = tiersWithOtherTerms(await readTierVersions(pool), payments)
  if (tiers.length > 0)
    findings.push(
      warn(
        'terms.sale',
        'PRICE_GRACE_SEC and HOLDING_RETRY_SEC name other terms than tiers on sale have, and are ignored for them',
        'Unset them, or enter them with "node-ledger tiers price".',
        { tiers },
      ),
    )
  findings.push(...lookAtModes(await readModes(pool), payments.contractWallets, http.smartWalletLogin))
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

/** Compares the mode of contract wallets with what the environment names, and with whether a contract can sign in here. */
function lookAtModes(
  modes: readonly ModeEntry[],
  named: ContractWalletMode | null,
  smartWalletLogin: boolean,
): Finding[] {
  const despite = modeDespite(named, modes)
  const findings: Finding[] = []
  if (despite !== null)
    findings.push(
      warn(
        'terms.contractWallets',
        `CONTRACT_WALLETS names ${named}, and the ledger has ${despite}: it is ignored`,
        'Unset it, or enter it with "node-ledger contract-wallets mode".',
        { mode: despite, named },
      ),
    )
  if (modes.at(-1)?.mode === 'proven' && !smartWalletLogin)
    findings.push(
      warn(
        'terms.smartWalletLogin',
        'contract wallets buy once they have signed in, and none can: only those that are known or allowed buy',
        'Set SMART_WALLET_LOGIN=true on the instances that people sign in at.',
      ),
    )
  return findings
}
