// The service's accounts whose signer did not sign at the last request, and the accounts whose role the contract has given to others. Each is a row
// of `settings`, so every instance shows it. If an account has no row, its last request was signed, or there was none yet.
import { jsonRows, type Sql } from '../core/sql.ts'

/** A signer that did not sign at the last request. */
export interface SignerTrouble {
  /** `minter` or `distributor`. */
  role: string
  address: string
  /** The message of the first failure. */
  detail: string
  /** The time of the first failure, ISO 8601. */
  since: string
}

/** Notes that a signer did not sign. The first failure stays recorded. */
export async function noteUnsigned(sql: Sql, { role, address, detail }: Omit<SignerTrouble, 'since'>): Promise<void> {
  await sql`
    INSERT INTO settings (name, value, updated_by)
    VALUES (${`signer ${role}`}, ${jsonRows([{ address, detail }])}::text::jsonb -> 0, 'pass')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now()
      WHERE settings.value ->> 'address' <> excluded.value ->> 'address'`
}

/** Notes that a signer signs. */
export async function noteSigned(sql: Sql, role: string): Promise<void> {
  await sql`DELETE FROM settings WHERE name = ${`signer ${role}`}`
}

/** SQL: a JSON list of the roles that did not sign. */
export const NOT_SIGNING = `(SELECT coalesce(jsonb_agg(substr(name, 8) ORDER BY name), '[]') FROM settings WHERE name LIKE 'signer %')`

/** The signers that did not sign at the last request. */
export async function readSignerTroubles(sql: Sql): Promise<SignerTrouble[]> {
  return await sql<SignerTrouble[]>`
    SELECT substr(name, 8) AS role, value ->> 'address' AS address, value ->> 'detail' AS detail, iso(updated_at) AS since
    FROM settings WHERE name LIKE 'signer %' ORDER BY name`
}

/** An account that has lost its role on the contract. */
export interface LostRole {
  role: string
  address: string
  /** ISO 8601. */
  since: string
}

/** Notes that the contract rejected a call because its role belongs to another account. */
export async function noteRoleLost(sql: Sql, { role, address }: Omit<LostRole, 'since'>): Promise<void> {
  await sql`
    INSERT INTO settings (name, value, updated_by)
    VALUES (${`lost role ${role}`}, ${jsonRows([{ address }])}::text::jsonb -> 0, 'pass')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now() WHERE settings.value <> excluded.value`
}

/** Notes that the role belongs to our account. */
export async function noteInRole(sql: Sql, role: string): Promise<void> {
  await sql`DELETE FROM settings WHERE name = ${`lost role ${role}`}`
}

/** SQL: a JSON list of the lost roles. */
export const LOST_ROLES = `(SELECT coalesce(jsonb_agg(substr(name, 11) ORDER BY name), '[]') FROM settings WHERE name LIKE 'lost role %')`

/** The accounts that had lost their role at the last call. */
export async function readLostRoles(sql: Sql): Promise<LostRole[]> {
  return await sql<LostRole[]>`
    SELECT substr(name, 11) AS role, value ->> 'address' AS address, iso(updated_at) AS since
    FROM settings WHERE name LIKE 'lost role %' ORDER BY name`
}
