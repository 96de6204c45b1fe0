// The allowlists that the payments of a page are judged by: what they allow each wallet, and how much of it is used. Whoever reads them to use an
// allocation holds the wallets' locks.
import type { Sql } from '../../db/core/sql.ts'
import { readAllocations, readUsed } from '../../db/sale/allowlists.ts'
import type { Listed } from '../../domain/payment.ts'
import type { TierSelection, TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'

/** Allocations by `root wallet`, and what is used of them by `tier number wallet`. */
export interface ListUse {
  readonly allocations: ReadonlyMap<string, number>
  readonly used: Map<string, number>
}

/** Reads it for all lists that these tiers ever named: a step of a ladder may open while the page is judged. */
export async function readListUse(
  sql: Sql,
  versions: readonly TierVersion[],
  { tierNos, wallets }: { tierNos: readonly number[]; wallets: readonly Address[] },
): Promise<ListUse> {
  const listed = versions.filter(({ tierNo, allowlist }) => allowlist !== null && tierNos.includes(tierNo))
  const roots = listed.flatMap(({ allowlist }) => allowlist ?? [])
  const used = [...new Set(listed.map(({ tierNo }) => tierNo))]
  return {
    allocations: await readAllocations(sql, [...new Set(roots)], wallets),
    used: await readUsed(sql, used, wallets),
  }
}

/** The list that allows a wallet the most; null if anyone may buy. */
export function listedBy(selection: TierSelection, from: Address, { allocations, used }: ListUse): Listed | null {
  if (selection.kind !== 'onSale' || selection.lists === null) return null
  const allowed = selection.lists.map((root) => ({ root, allocation: allocations.get(`${root} ${from}`) ?? 0 }))
  const [most] = allowed.sort((a, b) => b.allocation - a.allocation)
  return most ? { ...most, used: used.get(`${selection.tier.tierNo} ${from}`) ?? 0 } : null
}

/** Counts a payment that was accepted, before the next one of the page is judged. */
export function useAllocation({ used }: ListUse, tierNo: number | null, from: Address): void {
  const key = `${tierNo} ${from}`
  used.set(key, (used.get(key) ?? 0) + 1)
}
