// Finds out whether the contract's bounds let the distributor pay what the credit terms need.

import { type BoundsGwei, boundsNeeded } from '../../domain/rounds/terms.ts'
import type { CreditTerms } from '../../domain/rounds/turn-amounts.ts'
import type { Address } from '../../domain/units.ts'
import type { ContractReader } from '../../ports/contract.ts'

/**
 * The distributor, and the bounds that the owner must set for it to pay `range` at every rate in `payoutBps`. Null if the bounds are wide enough
 * already, or if there is no distributor. Throws if the chain does not answer.
 */
export async function readBoundsNeeded(
  contract: Pick<ContractReader, 'distributor' | 'bounds'>,
  range: Pick<CreditTerms, 'minWei' | 'maxWei'>,
  { payoutBps, atBlock }: { payoutBps: readonly number[]; atBlock: number },
): Promise<(BoundsGwei & { distributor: Address }) | null> {
  const distributor = await contract.distributor(atBlock)
  if (distributor === null) return null
  const boundsToSet = boundsNeeded(range, payoutBps, await contract.bounds(atBlock))
  return boundsToSet && { distributor, ...boundsToSet }
}
