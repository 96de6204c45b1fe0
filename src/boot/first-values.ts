// Compares the settings that fill an empty ledger with the ledger's own values; no other code does. Once a ledger has a value, it ignores changes to
// the setting. If the operator has changed the ledger's value by a command, it is no mistake that the setting differs.
import type { Config } from '../config/load.ts'
import type { Pool } from '../db/core/sql.ts'
import { readModes } from '../db/sale/contract-wallets.ts'
import { readWalletHistory } from '../db/sale/payment-wallets.ts'
import { readTermsHistory } from '../db/sale/terms.ts'
import { endpointName, listEndpoints } from '../db/webhooks.ts'
import { sameTerms } from '../domain/rounds/terms.ts'

interface IgnoredValue {
  /** The names of the settings, for people. */
  readonly settings: string
  /** The command with which the operator changes the ledger's value. */
  readonly act: string
}

/** The values that the ledger got from its settings at a start, that no command has changed since, and that now differ from the settings. */
export async function ignoredValues(pool: Pool, config: Config): Promise<IgnoredValue[]> {
  const { PAYMENT_ADDRESS: wallet, CONTRACT_WALLETS: mode, namedSettings, namedTerms, webhooks } = config
  const endpoints = await listEndpoints(pool)
  const activeEndpoints = endpoints.filter(({ active }) => active).map(({ endpoint }) => endpoint)
  const endpointNames = webhooks.urls.map(endpointName)
  const lastOf = <Entry extends { enteredBy: string }>(entries: readonly Entry[]) =>
    entries.every(({ enteredBy }) => enteredBy === 'start') ? entries.at(-1) : undefined
  const [terms, lastWallet, lastMode] = [
    lastOf(await readTermsHistory(pool)),
    lastOf(await readWalletHistory(pool)),
    lastOf(await readModes(pool)),
  ]
  const differing: [boolean, IgnoredValue][] = [
    [
      namedTerms !== null && terms !== undefined && !sameTerms(terms, namedTerms),
      { settings: 'DIST_ENABLED and CREDIT_…', act: 'terms set' },
    ],
    [
      wallet !== null && lastWallet !== undefined && lastWallet.wallet !== wallet,
      { settings: 'PAYMENT_ADDRESS', act: 'wallets set' },
    ],
    [
      namedSettings.includes('CONTRACT_WALLETS') && lastMode !== undefined && lastMode.mode !== mode,
      { settings: 'CONTRACT_WALLETS', act: 'contract-wallets mode' },
    ],
    [
      endpoints.every(({ addedBy, active }) => addedBy === 'start' && active) &&
        activeEndpoints.length > 0 &&
        endpointNames.some((name) => !activeEndpoints.includes(name)),
      { settings: 'WEBHOOK_URL', act: 'webhooks add' },
    ],
  ]
  return differing.filter(([differs]) => differs).map(([, value]) => value)
}
