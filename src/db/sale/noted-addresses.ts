// Lists of addresses that the operator keeps with a label and a reason: the deny list, and the contracts that may buy.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** An address on a list. */
export interface NotedAddress {
  address: Address
  label: string
  reason: string
  addedBy: string
  addedAt: Date
}

/** What can be done with a list. Judged payments stay as they are. */
export const notedAddresses = (table: 'senders' | 'allowed_wallets') => ({
  /** All entries, by address. There are few. */
  async read(sql: Sql): Promise<NotedAddress[]> {
    return await sql<NotedAddress[]>`
      SELECT address, label, reason, added_by AS "addedBy", added_at AS "addedAt" FROM ${sql(table)} ORDER BY address`
  },
  /** Puts an address on the list, or changes its note. */
  async put(sql: Sql, { address, label, reason, addedBy }: Omit<NotedAddress, 'addedAt'>): Promise<void> {
    await sql`
      INSERT INTO ${sql(table)} (address, label, reason, added_by) VALUES (${address}, ${label}, ${reason}, ${addedBy})
      ON CONFLICT (address) DO UPDATE SET label = excluded.label, reason = excluded.reason, added_by = excluded.added_by,
        added_at = now()`
  },
  /** Takes an address off the list. @returns false if it was not on it. */
  async remove(sql: Sql, address: Address): Promise<boolean> {
    return (await sql`DELETE FROM ${sql(table)} WHERE address = ${address}`).count > 0
  },
})
