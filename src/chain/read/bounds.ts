// Checks that the contract lets its distributor pay the amounts of credit terms.
import type { CreditTerms } from '../../domain/credit.ts'
import { type BoundsGwei, boundsNeeded } from '../../domain/terms.ts'
import type { Address } from '../../domain/units.ts'
import type { ContractReader } from '../port.ts'

/**
 * The distributor, and the bounds that the owner would have to set for a range at every rate. Null if the present bounds suffice, or no distributor
 * is named. Throws if the chain does not answer.
 */
export async function readBoundsNeeded(
  contract: Pick<ContractReader, 'distributor' | 'bounds'>,
  range: Pick<CreditTerms, 'minWei' | 'maxWei'>,
  { payoutBps, atBlock }: { payoutBps: readonly number[]; atBlock: number },
): Promise<(BoundsGwei & { distributor: Address }) | null> {
  const distributor = await contract.distributor(atBlock)
  if (distributor === null) return null
  const needed = boundsNeeded(range, payoutBps, await contract.bounds(atBlock))
  return needed && { distributor, ...needed }
}
