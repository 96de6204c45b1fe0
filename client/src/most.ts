// How many nodes of a tier a wallet can buy now, according to the service's checks.
import type { CanBuy } from './types.ts'

/** A person would not confirm more transfers in one sitting, or read more in a wallet's list of calls. */
const SEVERAL_MAX = 20

export interface Most {
  /** How many nodes, never more than twenty. */
  most: number
  /** The check that sets this limit; null if none does. */
  by: 'supply' | 'allowlist' | 'allowance' | 'cap' | 'ether' | null
}

/**
 * How many nodes a wallet can buy by allowance, allocation, cap, supply and ether. At most one while the contract's cap could not be read, or while other
 * payments hold every place that is left.
 */
export function mostOf({ checks }: CanBuy): Most {
  let tightest: Most = { most: SEVERAL_MAX, by: null }
  const bound = (by: Most['by'], room: number) => {
    if (room < tightest.most) tightest = { most: Math.max(0, room), by }
  }
  for (const check of checks) {
    if (check.check === 'supply')
      bound('supply', Math.max(check.limit - check.sold - check.reserved, check.sold < check.limit ? 1 : 0))
    if (check.check === 'allowlist') bound('allowlist', check.limit - check.used)
    if (check.check === 'allowance') bound('allowance', check.limit - check.owned - check.underWay)
    if (check.check === 'cap') bound('cap', check.limit === null ? 1 : check.limit - check.owned - check.underWay)
    if (check.check === 'ether' && check.requiredWei !== null && check.balanceWei !== null)
      bound('ether', Number(check.balanceWei / check.requiredWei))
  }
  return tightest
}
