// Revokes keys, passkeys and invitations behind the closed gate, so that we miss nothing that is being made at the same time. When a revocation
// starts, it also ends whatever the person is making at that moment. What they made before stays.
import { inTransaction, type Pool, type Sql } from '../../../db/core/sql.ts'
import { revokeAdminKey } from '../../../db/operator/admin-keys.ts'
import { revokeInvitations } from '../../../db/operator/invitations.ts'
import { closeGate, type Made, readMadeSince, readOpen } from '../../../db/operator/key-gate.ts'
import { revokePasskeyRow } from '../../../db/operator/passkeys.ts'

/** Ends what the person with this label was making in the meantime. @returns what was ended, for the audit log; null if nothing. */
export type EndMeanwhile = (sql: Sql, label: string) => Promise<Made | null>

/** Runs `body` in a transaction behind the closed gate. */
export async function whileNobodyMakes<T>(
  pool: Pool,
  by: string,
  body: (sql: Sql, endMeanwhile: EndMeanwhile) => Promise<T>,
): Promise<T> {
  const before = await readOpen(pool)
  return inTransaction(pool, async (sql) => {
    await closeGate(sql)
    return body(sql, async (within, label) => {
      const newer = await readMadeSince(within, label, before)
      for (const id of newer.keys) await endKey(within, id, by)
      for (const id of newer.passkeys) await endPasskey(within, id, by)
      return newer.keys.length + newer.passkeys.length === 0 ? null : newer
    })
  })
}

/** Ends a key, and its open invitations. */
export async function endKey(sql: Sql, id: number, by: string): Promise<void> {
  await revokeInvitations(sql, { byKey: id }, by)
  await revokeAdminKey(sql, id, by)
}

/** Ends a passkey, its sessions, and its open invitations. */
export async function endPasskey(sql: Sql, id: number, by: string): Promise<void> {
  await revokeInvitations(sql, { byPasskey: id }, by)
  await revokePasskeyRow(sql, id, by)
}
