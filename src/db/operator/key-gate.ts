// The gate between acts that make keys or invitations and acts that revoke access to /api/admin. Many makers can pass it at a time. A revoker closes
// it: it waits for all makers inside and sees what they made, while later makers wait and then see what was revoked. Everyone takes the gate before
// any row, so nothing inside waits for the revoker. A person who accepts an invitation or signs in locks its row instead.
import type { Sql } from '../core/sql.ts'

/** Advisory lock number; any constant will do. */
const GATE = 7_340_012

/** Passes the gate until the transaction ends. */
export async function passGate(sql: Sql): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${GATE})`
}

/** Closes the gate until the transaction ends. */
export async function closeGate(sql: Sql): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${GATE})`
}

/** Keys and passkeys by their ids. Sessions are covered by their passkeys. */
export interface Made {
  readonly keys: readonly number[]
  readonly passkeys: readonly number[]
}

const open = (sql: Sql) => sql`
  SELECT 'key' AS kind, id, label, made_by AS by FROM admin_keys WHERE passkey_id IS NULL AND revoked_at IS NULL AND expires_at > now()
  UNION ALL SELECT 'passkey', id, label, invited_by FROM passkeys WHERE revoked_at IS NULL AND expires_at > now()`

/** All valid keys and passkeys. */
export async function readOpen(sql: Sql): Promise<Made> {
  return madeOf(await sql<MadeRow[]>`SELECT kind, id FROM (${open(sql)}) o`)
}

/** The keys and passkeys that this person made, directly or with another new key, except those in `keys` and `passkeys`. */
export async function readMadeSince(sql: Sql, label: string, { keys, passkeys }: Made): Promise<Made> {
  return madeOf(
    await sql<MadeRow[]>`
      WITH RECURSIVE fresh AS (
        SELECT * FROM (${open(sql)}) o
        WHERE id <> ALL(CASE kind WHEN 'key' THEN ${[...keys]}::bigint[] ELSE ${[...passkeys]}::bigint[] END)
      ), made(kind, id, label) AS (
        SELECT kind, id, label FROM fresh WHERE by = ${label}
        UNION SELECT f.kind, f.id, f.label FROM fresh f JOIN made m ON f.by = m.label)
      SELECT kind, id FROM made ORDER BY kind, id`,
  )
}

interface MadeRow {
  kind: 'key' | 'passkey'
  id: number
}

function madeOf(rows: readonly MadeRow[]): Made {
  const of = (kind: MadeRow['kind']) => rows.flatMap((row) => (row.kind === kind ? [row.id] : []))
  return { keys: of('key'), passkeys: of('passkey') }
}
