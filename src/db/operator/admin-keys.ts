// Admin keys in the ledger, by the digest of the key. A row is never deleted while the audit log may name it.
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { Sql } from '../core/sql.ts'

/** A key as the operator sees it. */
export interface AdminKeyRow {
  id: number
  label: string
  scopes: Scope[]
  madeBy: string
  madeAt: Date
  expiresAt: Date
  usedAt: Date | null
  revokedAt: Date | null
  revokedBy: string | null
}

/** What the guard needs of a key that opens. */
export interface LiveKey {
  id: number
  label: string
  scopes: Scope[]
  expiresAt: Date
  /** Whether its last use is on record to the minute. */
  isNoted: boolean
}

/** The key with this digest, as long as it opens; one read of an index. */
export async function findLiveKey(sql: Sql, digest: string): Promise<LiveKey | null> {
  const [row] = await sql<LiveKey[]>`
    SELECT id, label, to_jsonb(scopes) AS scopes, expires_at AS "expiresAt",
      coalesce(used_at > now() - interval '1 minute', false) AS "isNoted"
    FROM admin_keys WHERE digest = decode(${digest}, 'hex') AND revoked_at IS NULL AND expires_at > now()`
  return row ?? null
}

/** True if any key of the ledger opens. */
export async function hasLiveKeys(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`
    SELECT EXISTS (SELECT FROM admin_keys WHERE revoked_at IS NULL AND expires_at > now()) AS has`
  return row?.has ?? false
}

/** Puts a key's last use on record, at most once a minute whatever asks for it. */
export async function noteKeyUsed(sql: Sql, id: number): Promise<void> {
  await sql`
    UPDATE admin_keys SET used_at = now() WHERE id = ${id} AND (used_at IS NULL OR used_at <= now() - interval '1 minute')`
}

const columns = (sql: Sql) => sql`
  id, label, to_jsonb(scopes) AS scopes, made_by AS "madeBy", made_at AS "madeAt", expires_at AS "expiresAt", used_at AS "usedAt",
  revoked_at AS "revokedAt", revoked_by AS "revokedBy"`

/** The newest keys: those that open first. */
export async function readAdminKeys(sql: Sql, limit: number): Promise<AdminKeyRow[]> {
  return await sql<AdminKeyRow[]>`
    SELECT ${columns(sql)} FROM admin_keys ORDER BY revoked_at IS NULL AND expires_at > now() DESC, id DESC LIMIT ${limit}`
}

/** Stores a key that opens from now on, for so many seconds. */
export async function insertAdminKey(
  sql: Sql,
  key: { label: string; digest: string; scopes: readonly Scope[]; madeBy: string; seconds: number },
): Promise<AdminKeyRow> {
  const [row] = await sql<AdminKeyRow[]>`
    INSERT INTO admin_keys (label, digest, scopes, made_by, expires_at)
    VALUES (${key.label}, decode(${key.digest}, 'hex'), ${[...key.scopes]}::text[], ${key.madeBy},
      now() + make_interval(secs => ${key.seconds}))
    RETURNING ${columns(sql)}`
  if (!row) throw new Error('an inserted admin key came back without its row')
  return row
}

/** The key of this id, locked until the transaction ends. */
export async function lockAdminKey(sql: Sql, id: number): Promise<AdminKeyRow | null> {
  const [row] = await sql<AdminKeyRow[]>`SELECT ${columns(sql)} FROM admin_keys WHERE id = ${id} FOR UPDATE`
  return row ?? null
}

/** Has a key open no more. */
export async function revokeAdminKey(sql: Sql, id: number, by: string): Promise<void> {
  await sql`UPDATE admin_keys SET revoked_at = now(), revoked_by = ${by} WHERE id = ${id} AND revoked_at IS NULL`
}

/** Has no key of the ledger open any more. @returns how many did. */
export async function revokeAllAdminKeys(sql: Sql, by: string): Promise<number> {
  const revoked = await sql`
    UPDATE admin_keys SET revoked_at = now(), revoked_by = ${by} WHERE revoked_at IS NULL AND expires_at > now()`
  return revoked.count
}

/** The makers of all keys that ever had this label. */
export async function makersOfLabel(sql: Sql, label: string): Promise<string[]> {
  const rows = await sql<
    { madeBy: string }[]
  >`SELECT DISTINCT made_by AS "madeBy" FROM admin_keys WHERE label = ${label}`
  return rows.map(({ madeBy }) => madeBy)
}

/** How many keys open. */
export async function countLiveKeys(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*) AS n FROM admin_keys WHERE revoked_at IS NULL AND expires_at > now()`
  return row?.n ?? 0
}
