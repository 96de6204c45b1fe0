// Finds what a payments wallet paid for its own transactions. No hash covers the price in a receipt, so the fee that we stored may be false. The fee
// that makes the proven balances agree to the wei is the right one.
import type { Sql } from '../db/core/sql.ts'
import { readOwnFees, writeOwnFee } from '../db/payments/wallet.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'
import { observeWhole } from '../mending/compare.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import type { NamedDifference } from './explain.ts'

/** With more transactions of one wallet in one block, we do not try every combination of their fees. */
const OWN_MAX = 4

interface OwnFee {
  txHash: Hash
  feeWei: Wei
}

/**
 * Corrects the fees of the wallet's transactions in blocks in which other fees explain the whole difference. `write` runs in a transaction, unless the
 * ledger has moved.
 * @returns the differences that are left. One in a block with such a transaction is never called proven.
 */
export async function correctFees(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  wallet: Address,
  differences: readonly NamedDifference[],
  write: (body: (sql: Sql) => Promise<void>) => Promise<unknown>,
): Promise<NamedDifference[]> {
  const openDifferences: NamedDifference[] = []
  for (const difference of differences) {
    const { block, fromBlock, proof } = difference
    const ownFees = fromBlock === block.number ? await readOwnFees(ctx.pool, wallet, block.number) : []
    const fees = ownFees.length > 0 ? await feesThatAgree(ctx, difference, ownFees) : null
    if (fees) {
      ctx.log.warn({ block: block.number, wallet }, 'the wallet paid other fees than a provider reported')
      await write(async (sql) => {
        for (const fee of fees) await writeOwnFee(sql, { wallet, ...fee })
      })
    } else
      openDifferences.push(ownFees.length > 0 && proof === 'proven' ? { ...difference, proof: 'agreed' } : difference)
  }
  return openDifferences
}

/** Fees of all these transactions with which the block's balances agree; null if there are none. */
async function feesThatAgree(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  { block, residueWei }: NamedDifference,
  ownFees: readonly OwnFee[],
): Promise<OwnFee[] | null> {
  const read = ownFees.length > OWN_MAX ? null : await observeWhole(ctx, block.number)
  if (read?.blocks[0]?.hash !== block.hash) return null
  let combinations: { fees: OwnFee[]; lessWei: bigint }[] = [{ fees: [], lessWei: 0n }]
  for (const { txHash, feeWei } of ownFees) {
    const outflow = read.outflows.find((one) => one.txHash === txHash)
    const candidates = [feeWei, ...(outflow ? [outflow.feeWei, ...outflow.otherFeesWei] : [])]
    combinations = combinations.flatMap(({ fees, lessWei }) =>
      candidates.map((fee) => ({ fees: [...fees, { txHash, feeWei: fee }], lessWei: lessWei + feeWei - fee })),
    )
  }
  return combinations.find(({ lessWei }) => lessWei === residueWei)?.fees ?? null
}
