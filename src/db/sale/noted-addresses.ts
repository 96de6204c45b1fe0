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

const columns = (sql: Sql) => sql`address, label, reason, added_by AS "addedBy", added_at AS "addedAt"`

/** What can be done with a list. Judged payments stay as they are. */
export const notedAddresses = (table: 'senders' | 'allowed_wallets') => ({
  /** All entries, by address. There are few. */
  async read(sql: Sql): Promise<NotedAddress[]> {
    return await sql<NotedAddress[]>`SELECT ${columns(sql)} FROM ${sql(table)} ORDER BY address`
  },
  /** The entry of an address; null if it is not on the list. */
  async find(sql: Sql, address: Address): Promise<NotedAddress | null> {
    return (await sql<NotedAddress[]>`SELECT ${columns(sql)} FROM ${sql(table)} WHERE address = ${address}`)[0] ?? null
  },
  /** Puts an address on the list, or changes its note. @returns the entry. */
  async put(sql: Sql, { address, label, reason, addedBy }: Omit<NotedAddress, 'addedAt'>): Promise<NotedAddress> {
    const [entry] = await sql<NotedAddress[]>`
      INSERT INTO ${sql(table)} (address, label, reason, added_by) VALUES (${address}, ${label}, ${reason}, ${addedBy})
      ON CONFLICT (address) DO UPDATE SET label = excluded.label, reason = excluded.reason, added_by = excluded.added_by,
        added_at = now() RETURNING ${columns(sql)}`
    return entry as NotedAddress
  },
  /** Takes an address off the list. @returns its entry; null if it was not on it. */
  async remove(sql: Sql, address: Address): Promise<NotedAddress | null> {
    const rows = sql<NotedAddress[]>`DELETE FROM ${sql(table)} WHERE address = ${address} RETURNING ${columns(sql)}`
    return (await rows)[0] ?? null
  },
})
