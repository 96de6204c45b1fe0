// The allowlists for judging the payments of a page: what they allow each wallet, and how much of that is used. Hold the wallets' locks when you read
// them to use an allocation.
import type { Sql } from '../../db/core/sql.ts'
import { readAllocations, readUsed } from '../../db/sale/allowlists.ts'
import type { Listed } from '../../domain/payment.ts'
import type { TierSelection, TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'

/** Allocations by `root wallet`, and how much of them is used by `tier number wallet`. */
export interface ListUse {
  readonly allocations: ReadonlyMap<string, number>
  readonly used: Map<string, number>
}

/** Reads them for all lists that these tiers ever named, because a step of a ladder may open while we judge the page. */
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

/** Counts an accepted payment, before we judge the next one of the page. */
export function useAllocation({ used }: ListUse, tierNo: number | null, from: Address): void {
  const key = `${tierNo} ${from}`
  used.set(key, (used.get(key) ?? 0) + 1)
}
