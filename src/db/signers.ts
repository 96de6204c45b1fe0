// Which of the service's accounts have a signer that did not sign when it was last asked: a row of `settings` for each, so that
// every instance shows it. No row: the last answer was a signature, or nothing was asked yet.
import { jsonRows, type Sql } from './sql.ts'

/** A signer that did not sign when it was last asked. */
export interface SignerTrouble {
  /** `minter` or `distributor`. */
  role: string
  address: string
  /** What the first refusal said. */
  detail: string
  /** When that was, ISO 8601. */
  since: string
}

/** Notes that a signer did not sign. @returns false when that account's signer is on record already. */
export async function noteUnsigned(
  sql: Sql,
  { role, address, detail }: Omit<SignerTrouble, 'since'>,
): Promise<boolean> {
  const noted = await sql`
    INSERT INTO settings (name, value, updated_by)
    VALUES (${`signer ${role}`}, ${jsonRows([{ address, detail }])}::text::jsonb -> 0, 'pass')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now()
      WHERE settings.value ->> 'address' <> excluded.value ->> 'address'
    RETURNING 1`
  return noted.count > 0
}

/** Notes that a signer signs. @returns false when nothing else was on record. */
export async function noteSigned(sql: Sql, role: string): Promise<boolean> {
  return (await sql`DELETE FROM settings WHERE name = ${`signer ${role}`}`).count > 0
}

/** The signers that did not sign when they were last asked. */
export async function readSignerTroubles(sql: Sql): Promise<SignerTrouble[]> {
  return await sql<SignerTrouble[]>`
    SELECT substr(name, 8) AS role, value ->> 'address' AS address, value ->> 'detail' AS detail, iso(updated_at) AS since
    FROM settings WHERE name LIKE 'signer %' ORDER BY name`
}
