// The deny list: wallets whose payments the operator wants to see first, an exchange's for one, which pays for many
// people and owns no node for any of them. Payments of theirs are held `senderDenied`.
import type { Address } from '../domain/units.ts'
import type { Sql } from './sql.ts'

/** A wallet on the deny list. */
export interface DeniedSender {
  address: Address
  label: string
  reason: string
  addedBy: string
  addedAt: Date
}

/** Everybody on the list, by address. There are as many as the operator entered: few. */
export async function readDeniedSenders(sql: Sql): Promise<DeniedSender[]> {
  return await sql<DeniedSender[]>`
    SELECT address, label, reason, added_by AS "addedBy", added_at AS "addedAt" FROM senders ORDER BY address`
}

/** Whether a wallet is on the list. */
export async function isDenied(sql: Sql, address: Address): Promise<boolean> {
  const [row] = await sql<{ denied: boolean }[]>`
    SELECT EXISTS (SELECT FROM senders WHERE address = ${address}) AS denied`
  return row?.denied ?? false
}

/** Puts a wallet on the list, or changes what is said of it. Payments judged already stay as they are. */
export async function denySender(sql: Sql, sender: Omit<DeniedSender, 'addedAt'>): Promise<void> {
  const { address, label, reason, addedBy } = sender
  await sql`
    INSERT INTO senders (address, label, reason, added_by) VALUES (${address}, ${label}, ${reason}, ${addedBy})
    ON CONFLICT (address) DO UPDATE SET label = excluded.label, reason = excluded.reason, added_by = excluded.added_by,
      added_at = now()`
}

/** Takes a wallet off the list. What was held for it stays held until it is released. @returns false when it was not there. */
export async function allowSender(sql: Sql, address: Address): Promise<boolean> {
  const removed = await sql`DELETE FROM senders WHERE address = ${address}`
  return removed.count > 0
}
