// Opens the steps of a ladder once the tier before them has sold out: in the judging that sells the last place, or after anything else that ends the sale.
import type { Cursor } from '../../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../../db/core/state.ts'
import { lockTiers } from '../../db/payments/lock-order.ts'
import { readSoldOut } from '../../db/payments/supply.ts'
import { openSteps, readAwaited, readLastSale } from '../../db/sale/tiers.ts'
import { beforeBlock } from '../../domain/sale/position.ts'
import { isNearlySold, type TierVersion } from '../../domain/tiers.ts'
import type { LedgerDb } from '../../ports/contexts.ts'

/**
 * Opens steps that wait for a tier, if the tier sold out without judging: by a release, a grant, a lower supply or the contract's cap. They open at the
 * followed block: an action of the operator or the owner ended the sale, and counts from then.
 */
export async function openSoldOut({ pool }: LedgerDb, cursor: Cursor): Promise<void> {
  const tierNos = await readAwaited(pool)
  if (tierNos.length === 0) return
  await inTransaction(pool, async (sql) => {
    // Under these locks no other session can raise a supply in the meantime.
    await lockTiers(sql, tierNos, { wait: true })
    const openedSteps: string[] = []
    for (const tierId of await readSoldOut(sql))
      openedSteps.push(...(await openSteps(sql, tierId, beforeBlock(cursor.number))))
    if (openedSteps.length > 0) await notifyLedgerChanged(sql)
  })
}

/** A tier of which places were taken: how many were sold before, and how many are now. */
export interface Sold {
  tierNo: number
  supply: number
  before: number
  sold: number
}

/** Reports once that a tier is nearly sold out, and once that it is sold out. Opens the steps that wait for a sold-out tier. */
export async function tellScarce(sql: Sql, versions: readonly TierVersion[], tiers: readonly Sold[]): Promise<void> {
  for (const { tierNo, supply, before, sold } of tiers) {
    const tierId = versions.find((version) => version.tierNo === tierNo)?.tierId ?? String(tierNo)
    const detail = { tierId, supply, sold }
    if (isNearlySold(sold, supply) && !isNearlySold(before, supply))
      await writeAudit(sql, { actor: 'pass', action: 'tierNearlySold', subject: tierId, detail })
    if (sold < supply) continue
    // Not this page's last payment: one that waited for a reading may come before others in the chain.
    await openSteps(sql, tierId, await readLastSale(sql, tierId))
    await writeAudit(sql, { actor: 'pass', action: 'tierSoldOut', subject: tierId, detail })
  }
}
