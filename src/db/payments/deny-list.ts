// The deny list: wallets whose payments are held for the operator, as `senderDenied`. An exchange's wallet, for example, pays for many people and
// must not own their nodes.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** A wallet on the deny list. */
export interface DeniedWallet {
  address: Address
  label: string
  reason: string
  addedBy: string
  addedAt: Date
}

/** All entries, by address. There are few. */
export async function readDenyList(sql: Sql): Promise<DeniedWallet[]> {
  return await sql<DeniedWallet[]>`
    SELECT address, label, reason, added_by AS "addedBy", added_at AS "addedAt" FROM senders ORDER BY address`
}

/** True if a wallet is on the list. */
export async function isDenied(sql: Sql, address: Address): Promise<boolean> {
  const [row] = await sql<{ denied: boolean }[]>`
    SELECT EXISTS (SELECT FROM senders WHERE address = ${address}) AS denied`
  return row?.denied ?? false
}

/** The wallets among these that are on the list. */
export async function readDenied(sql: Sql, wallets: readonly Address[]): Promise<Set<Address>> {
  const rows = await sql<{ address: Address }[]>`SELECT address FROM senders WHERE address = ANY(${[...wallets]})`
  return new Set(rows.map(({ address }) => address))
}

/** Puts a wallet on the list, or changes its note. Judged payments stay as they are. */
export async function denyWallet(sql: Sql, sender: Omit<DeniedWallet, 'addedAt'>): Promise<void> {
  const { address, label, reason, addedBy } = sender
  await sql`
    INSERT INTO senders (address, label, reason, added_by) VALUES (${address}, ${label}, ${reason}, ${addedBy})
    ON CONFLICT (address) DO UPDATE SET label = excluded.label, reason = excluded.reason, added_by = excluded.added_by,
      added_at = now()`
}

/** Takes a wallet off the list. Its held payments stay held until they are released. @returns false if it was not on the list. */
export async function allowWallet(sql: Sql, address: Address): Promise<boolean> {
  const removed = await sql`DELETE FROM senders WHERE address = ${address}`
  return removed.count > 0
}
