// Finds the EIP-7702 authorizations that used up a nonce of our signer accounts. Pure. Source: EIP-7702, "Behavior".
import type { Authorization, NonceUse } from './observed.ts'
import { type Address, wei } from './units.ts'

/**
 * The valid authorizations, as transactions that used a nonce and did nothing else. An authorization is valid if its nonce was its account's next
 * nonce at that point. A transaction uses its sender's nonce before the nonces of the authorizations that it carries. `next`: each account's next
 * nonce before these blocks. If an account has no entry, its authorizations are valid only after its first transaction in these blocks.
 */
export function authorizationsHeld(
  next: ReadonlyMap<Address, number>,
  transactions: readonly NonceUse[],
  authorizations: readonly Authorization[],
): NonceUse[] {
  const now = new Map(next)
  const uses = [
    // The sort is stable, so a transaction stays before its authorizations, and these in their order.
    ...transactions.map((use) => ({ use, isTransaction: true })),
    ...authorizations.map((use) => ({ use, isTransaction: false })),
  ].toSorted((a, b) => a.use.blockNumber - b.use.blockNumber || a.use.txIndex - b.use.txIndex)
  return uses.flatMap(({ use, isTransaction }) => {
    if (!isTransaction && now.get(use.sender) !== use.nonce) return []
    now.set(use.sender, use.nonce + 1)
    return isTransaction ? [] : [{ ...use, succeeded: true, gasUsed: 0n, feeWei: wei(0n), to: null, valueWei: wei(0n) }]
  })
}
