// Passkeys in the ledger, and the sessions that they open. Rows are never deleted, because the audit log may name them.
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { Sql } from '../core/sql.ts'

/** A passkey as the operator sees it. */
export interface PasskeyRow {
  id: number
  label: string
  scopes: Scope[]
  invitedBy: string
  madeAt: Date
  expiresAt: Date
  usedAt: Date | null
  revokedAt: Date | null
  revokedBy: string | null
  /** How many of its sessions are open. */
  sessions: number
}

/** What we need to verify a signature. Ids and keys are bytes as base64url. */
export interface Credential {
  id: number
  credentialId: string
  publicKey: string
}

const columns = (sql: Sql) => sql`
  p.id, p.label, to_jsonb(p.scopes) AS scopes, p.invited_by AS "invitedBy", p.made_at AS "madeAt", p.expires_at AS "expiresAt",
  p.used_at AS "usedAt", p.revoked_at AS "revokedAt", p.revoked_by AS "revokedBy",
  (SELECT count(*) FROM admin_keys k WHERE k.passkey_id = p.id AND k.revoked_at IS NULL AND k.expires_at > now()) AS sessions`

/** The newest passkeys, valid ones first. */
export async function readPasskeys(sql: Sql, limit: number): Promise<PasskeyRow[]> {
  return await sql<PasskeyRow[]>`
    SELECT ${columns(sql)} FROM passkeys p ORDER BY p.revoked_at IS NULL AND p.expires_at > now() DESC, p.id DESC LIMIT ${limit}`
}

/** How many passkeys can sign in. */
export async function countLivePasskeys(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    SELECT count(*) AS n FROM passkeys WHERE revoked_at IS NULL AND expires_at > now()`
  return row?.n ?? 0
}

/** The passkey with this credential, if it is valid. Costs one index read. */
export async function findCredential(sql: Sql, credentialId: string): Promise<Credential | null> {
  const [row] = await sql<(Omit<Credential, 'credentialId' | 'publicKey'> & { publicKey: Buffer })[]>`
    SELECT id, public_key AS "publicKey" FROM passkeys
    WHERE credential_id = ${Buffer.from(credentialId, 'base64url')} AND revoked_at IS NULL AND expires_at > now()`
  return row ? { ...row, credentialId, publicKey: row.publicKey.toString('base64url') } : null
}

/** Stores a passkey; null if the ledger already has its credential. */
export async function insertPasskey(
  sql: Sql,
  passkey: {
    label: string
    scopes: readonly Scope[]
    credentialId: string
    publicKey: Uint8Array
    counter: number
    transports: readonly string[]
    invitedBy: string
    expiresAt: Date
  },
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO passkeys (label, scopes, credential_id, public_key, counter, transports, invited_by, expires_at, used_at)
    VALUES (${passkey.label}, ${[...passkey.scopes]}::text[], ${Buffer.from(passkey.credentialId, 'base64url')},
      ${Buffer.from(passkey.publicKey)}, ${passkey.counter}, ${[...passkey.transports]}::text[], ${passkey.invitedBy},
      ${passkey.expiresAt}, now())
    ON CONFLICT (credential_id) DO NOTHING RETURNING id`
  return row?.id ?? null
}

/** The passkey with this id, locked until the transaction ends. */
export async function lockPasskey(sql: Sql, id: number): Promise<(PasskeyRow & { counter: number }) | null> {
  const [row] = await sql<(PasskeyRow & { counter: number })[]>`
    SELECT ${columns(sql)}, p.counter FROM passkeys p WHERE p.id = ${id} FOR UPDATE OF p`
  return row ?? null
}

export async function notePasskeyUsed(sql: Sql, id: number, counter: number): Promise<void> {
  await sql`UPDATE passkeys SET counter = ${counter}, used_at = now() WHERE id = ${id}`
}

/** Revokes a passkey, and each of its sessions, because a session is a key with a row of its own. */
export async function revokePasskeyRow(sql: Sql, id: number, by: string): Promise<void> {
  await sql`UPDATE passkeys SET revoked_at = now(), revoked_by = ${by} WHERE id = ${id} AND revoked_at IS NULL`
  await sql`UPDATE admin_keys SET revoked_at = now(), revoked_by = ${by} WHERE passkey_id = ${id} AND revoked_at IS NULL`
}

/** Revokes all passkeys. @returns how many were valid. */
export async function revokeAllPasskeys(sql: Sql, by: string): Promise<number> {
  const update = await sql`
    UPDATE passkeys SET revoked_at = now(), revoked_by = ${by} WHERE revoked_at IS NULL AND expires_at > now()`
  return update.count
}

/** Ends all but the newest sessions of a passkey. */
export async function endOldSessions(sql: Sql, passkeyId: number, keepCount: number, by: string): Promise<void> {
  await sql`
    UPDATE admin_keys SET revoked_at = now(), revoked_by = ${by} WHERE id IN (
      SELECT id FROM admin_keys WHERE passkey_id = ${passkeyId} AND revoked_at IS NULL AND expires_at > now()
      ORDER BY id DESC OFFSET ${keepCount})`
}
