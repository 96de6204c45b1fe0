// Admin keys in the ledger, by the digest of the key. Rows are never deleted, because the audit log may name them.
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { Sql } from '../core/sql.ts'

/** A key as the operator sees it. */
export interface AdminKeyRow {
  id: number
  label: string
  scopes: Scope[]
  /** The passkey that signed in, if the key is a session. */
  passkeyId: number | null
  madeBy: string
  madeAt: Date
  expiresAt: Date
  usedAt: Date | null
  revokedAt: Date | null
  revokedBy: string | null
}

/** What the guard needs about a valid key. */
export interface LiveKey {
  id: number
  label: string
  /** As in KeyHolder. */
  digest: string
  scopes: Scope[]
  expiresAt: Date
  /** A session's passkey, and when that passkey expires; null for other keys. */
  passkeyId: number | null
  passkeyEndsAt: Date | null
  madeAt: Date
  /** Whether its last use is already recorded for this minute. */
  isNoted: boolean
}

/** The key with this digest, if it is valid. Costs one index read. */
export async function findLiveKey(sql: Sql, digest: string): Promise<LiveKey | null> {
  const [row] = await sql<LiveKey[]>`
    SELECT k.id, k.label, encode(coalesce(sha256(p.credential_id), k.digest), 'hex') AS digest, to_jsonb(k.scopes) AS scopes, k.expires_at AS "expiresAt", k.passkey_id AS "passkeyId",
      p.expires_at AS "passkeyEndsAt", k.made_at AS "madeAt",
      coalesce(k.used_at > now() - interval '1 minute', false) AS "isNoted"
    FROM admin_keys k LEFT JOIN passkeys p ON p.id = k.passkey_id
    WHERE k.digest = decode(${digest}, 'hex') AND k.revoked_at IS NULL AND k.expires_at > now()`
  return row ?? null
}

/** True if the ledger has a valid key, or a passkey with which someone can sign in to get one. */
export async function hasLiveKeys(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`
    SELECT EXISTS (SELECT FROM admin_keys WHERE revoked_at IS NULL AND expires_at > now())
      OR EXISTS (SELECT FROM passkeys WHERE revoked_at IS NULL AND expires_at > now()) AS has`
  return row?.has ?? false
}

/** Records a key's last use, at most once a minute however often it is used. */
export async function noteKeyUsed(sql: Sql, id: number): Promise<void> {
  await sql`
    UPDATE admin_keys SET used_at = now() WHERE id = ${id} AND (used_at IS NULL OR used_at <= now() - interval '1 minute')`
}

const columns = (sql: Sql) => sql`
  id, label, to_jsonb(scopes) AS scopes, passkey_id AS "passkeyId", made_by AS "madeBy", made_at AS "madeAt", expires_at AS "expiresAt", used_at AS "usedAt",
  revoked_at AS "revokedAt", revoked_by AS "revokedBy"`

/** The newest keys, valid ones first. Leaves out sessions, because their passkeys represent them. */
export async function readAdminKeys(sql: Sql, limit: number): Promise<AdminKeyRow[]> {
  return await sql<AdminKeyRow[]>`
    SELECT ${columns(sql)} FROM admin_keys WHERE passkey_id IS NULL
    ORDER BY revoked_at IS NULL AND expires_at > now() DESC, id DESC LIMIT ${limit}`
}

/** Stores a key that is valid from now on, for this many seconds. A session ends no later than its passkey. */
export async function insertAdminKey(
  sql: Sql,
  key: {
    label: string
    digest: string
    scopes: readonly Scope[]
    madeBy: string
    seconds: number
    passkeyId?: number
  },
): Promise<AdminKeyRow> {
  const passkeyId = key.passkeyId ?? null
  const [row] = await sql<AdminKeyRow[]>`
    INSERT INTO admin_keys (label, digest, scopes, made_by, expires_at, passkey_id)
    VALUES (${key.label}, decode(${key.digest}, 'hex'), ${[...key.scopes]}::text[], ${key.madeBy},
      least(now() + make_interval(secs => ${key.seconds}), (SELECT expires_at FROM passkeys WHERE id = ${passkeyId})), ${passkeyId})
    RETURNING ${columns(sql)}`
  if (!row) throw new Error('an inserted admin key came back without its row')
  return row
}

export async function readAdminKey(sql: Sql, id: number): Promise<AdminKeyRow | null> {
  const [row] = await sql<AdminKeyRow[]>`SELECT ${columns(sql)} FROM admin_keys WHERE id = ${id}`
  return row ?? null
}

/** True if a key is valid. If the caller has passed the gate, the key stays valid until the transaction ends. */
export async function isOpen(sql: Sql, id: number): Promise<boolean> {
  const [row] = await sql<{ open: boolean }[]>`
    SELECT EXISTS (SELECT FROM admin_keys WHERE id = ${id} AND revoked_at IS NULL AND expires_at > now()) AS open`
  return row?.open ?? false
}

export async function revokeAdminKey(sql: Sql, id: number, by: string): Promise<void> {
  await sql`UPDATE admin_keys SET revoked_at = now(), revoked_by = ${by} WHERE id = ${id} AND revoked_at IS NULL`
}

/** Revokes all keys of the ledger. @returns how many were valid, not counting sessions. */
export async function revokeAllAdminKeys(sql: Sql, by: string): Promise<number> {
  const keys = await sql<{ isSession: boolean }[]>`
    UPDATE admin_keys SET revoked_at = now(), revoked_by = ${by} WHERE revoked_at IS NULL AND expires_at > now()
    RETURNING passkey_id IS NOT NULL AS "isSession"`
  return keys.filter(({ isSession }) => !isSession).length
}

/** Who made the keys that ever had this label, and who invited someone under it. */
export async function makersOfLabel(sql: Sql, label: string): Promise<string[]> {
  const rows = await sql<{ madeBy: string }[]>`
    SELECT made_by AS "madeBy" FROM admin_keys WHERE label = ${label}
    UNION SELECT made_by FROM passkey_invitations WHERE label = ${label}`
  return rows.map(({ madeBy }) => madeBy)
}

/** How many keys are valid, not counting sessions. */
export async function countLiveKeys(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*) AS n FROM admin_keys WHERE passkey_id IS NULL AND revoked_at IS NULL AND expires_at > now()`
  return row?.n ?? 0
}
