// Invitations to make a passkey, by the digest of the code. Rows are never deleted, because the audit log may name them.
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { Sql } from '../core/sql.ts'

/** An invitation. */
export interface InvitationRow {
  id: number
  label: string
  scopes: Scope[]
  madeBy: string
  madeAt: Date
  expiresAt: Date
  /** When the passkey made with it will expire. */
  passkeyExpiresAt: Date
  /** The passkey made with it; null until it is used. */
  passkeyId: number | null
  revokedAt: Date | null
  isExpired: boolean
}

const columns = (sql: Sql) => sql`
  id, label, to_jsonb(scopes) AS scopes, made_by AS "madeBy", made_at AS "madeAt", expires_at AS "expiresAt",
  passkey_expires_at AS "passkeyExpiresAt", passkey_id AS "passkeyId", revoked_at AS "revokedAt",
  expires_at <= now() AS "isExpired"`
const open = (sql: Sql) => sql`passkey_id IS NULL AND revoked_at IS NULL AND expires_at > now()`

/** The open invitations, newest first. */
export async function readOpenInvitations(sql: Sql, limit: number): Promise<InvitationRow[]> {
  return await sql<InvitationRow[]>`
    SELECT ${columns(sql)} FROM passkey_invitations WHERE ${open(sql)} ORDER BY id DESC LIMIT ${limit}`
}

export async function countOpenInvitations(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`SELECT count(*) AS n FROM passkey_invitations WHERE ${open(sql)}`
  return row?.n ?? 0
}

/** Stores an invitation. The passkey made with it expires after this many seconds. */
export async function insertInvitation(
  sql: Sql,
  invitation: {
    label: string
    digest: string
    scopes: readonly Scope[]
    madeBy: string
    byKey: number | null
    byPasskey: number | null
    seconds: number
  },
): Promise<InvitationRow> {
  const [row] = await sql<InvitationRow[]>`
    INSERT INTO passkey_invitations (label, digest, scopes, made_by, by_key, by_passkey, passkey_expires_at)
    VALUES (${invitation.label}, decode(${invitation.digest}, 'hex'), ${[...invitation.scopes]}::text[], ${invitation.madeBy},
      ${invitation.byKey}, ${invitation.byPasskey}, now() + make_interval(secs => ${invitation.seconds}))
    RETURNING ${columns(sql)}`
  if (!row) throw new Error('an inserted invitation came back without its row')
  return row
}

export async function findInvitation(sql: Sql, digest: string): Promise<InvitationRow | null> {
  const [row] = await sql<InvitationRow[]>`
    SELECT ${columns(sql)} FROM passkey_invitations WHERE digest = decode(${digest}, 'hex')`
  return row ?? null
}

/** The invitation with this id, locked until the transaction ends. If two people use it, the second waits. */
export async function lockInvitation(sql: Sql, id: number): Promise<InvitationRow | null> {
  const [row] = await sql<InvitationRow[]>`SELECT ${columns(sql)} FROM passkey_invitations WHERE id = ${id} FOR UPDATE`
  return row ?? null
}

/** Stores the passkey made with an invitation. */
export async function useInvitation(sql: Sql, id: number, passkeyId: number): Promise<void> {
  await sql`UPDATE passkey_invitations SET passkey_id = ${passkeyId} WHERE id = ${id}`
}

/** Revokes open invitations: a single invitation, those made by a key or by a passkey, or all. @returns how many. */
export async function revokeInvitations(
  sql: Sql,
  which: { id: number } | { byKey: number } | { byPasskey: number } | 'all',
  by: string,
): Promise<number> {
  const condition =
    which === 'all'
      ? sql`true`
      : 'id' in which
        ? sql`id = ${which.id}`
        : 'byKey' in which
          ? sql`by_key = ${which.byKey}`
          : sql`by_passkey = ${which.byPasskey}`
  const update = await sql`
    UPDATE passkey_invitations SET revoked_at = now(), revoked_by = ${by} WHERE ${open(sql)} AND ${condition}`
  return update.count
}
