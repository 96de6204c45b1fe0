// The allowlists for a page of payments: how many nodes they allow each wallet, and how many of these are used. If you read them to use up an
// allocation, hold the locks of the wallets.
import type { Sql } from '../../db/core/sql.ts'
import { readAllocations, readUsed } from '../../db/sale/allowlists.ts'
import type { Listed } from '../../domain/payment.ts'
import type { TierSelection, TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'

/** `allocations` has the key `root wallet`; `used` has the key `tier number wallet`, and counts how much of the allocation is used. */
export interface ListUse {
  readonly allocations: ReadonlyMap<string, number>
  readonly used: Map<string, number>
}

/**
 * Reads allocations and their use for all lists that these tiers ever named. It reads them all because a step of a ladder may open while we judge the
 * page.
 */
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

/** What the list of each selling version allows a wallet. */
export function listedBy(selection: TierSelection, from: Address, { allocations, used }: ListUse): Listed[] {
  if (selection.kind !== 'onSale') return []
  return [selection.tier, ...selection.others].flatMap(({ tierNo, allowlist: root }) =>
    root === null
      ? []
      : { root, allocation: allocations.get(`${root} ${from}`) ?? 0, used: used.get(`${tierNo} ${from}`) ?? 0 },
  )
}

/** Counts an accepted payment as used, before we judge the next payment of the page. */
export function useAllocation({ used }: ListUse, tierNo: number | null, from: Address): void {
  const key = `${tierNo} ${from}`
  used.set(key, (used.get(key) ?? 0) + 1)
}
