// The service's accounts whose signer did not sign at the last request, and the accounts whose role the contract has given to others. Each is a row
// of `troubles`, so every instance shows it. If an account has no row, its last request was signed, or there was none yet.
import { jsonRows, type Sql } from '../core/sql.ts'
import { clearFinding, writeFinding } from '../core/troubles.ts'

/** What keeps an account from sending. */
export interface SenderTrouble {
  /** `minter` or `distributor`. */
  role: string
  address: string
  /** Since the first failure, ISO 8601. */
  since: string
}

/** A signer that did not sign at the last request. */
export interface SignerTrouble extends SenderTrouble {
  /** The message of the first failure. */
  detail: string
}

/** Notes that a signer did not sign. The first failure stays recorded. */
export async function noteUnsigned(sql: Sql, { role, address, detail }: Omit<SignerTrouble, 'since'>): Promise<void> {
  await sql`
    INSERT INTO troubles AS t (name, value) VALUES (${`signer ${role}`}, ${jsonRows([{ address, detail }])}::text::jsonb -> 0)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now() WHERE t.value ->> 'address' <> excluded.value ->> 'address'`
}

/** Notes that a signer signs. */
export const noteSigned = (sql: Sql, role: string): Promise<void> => clearFinding(sql, `signer ${role}`)

/** Notes that the contract rejected a call because its role belongs to another account. */
export async function noteRoleLost(sql: Sql, { role, address }: Omit<SenderTrouble, 'since'>): Promise<void> {
  await writeFinding(sql, `lost role ${role}`, { address })
}

/** Notes that the role belongs to our account. */
export const noteInRole = (sql: Sql, role: string): Promise<void> => clearFinding(sql, `lost role ${role}`)

/** SQL: a JSON list of the roles that did not sign. */
export const NOT_SIGNING = `(SELECT coalesce(jsonb_agg(substr(name, 8) ORDER BY name), '[]') FROM troubles WHERE name LIKE 'signer %')`

async function list<Trouble extends SenderTrouble>(sql: Sql, kind: 'signer' | 'lost role'): Promise<Trouble[]> {
  const rows = await sql<{ trouble: Trouble }[]>`
    SELECT value || jsonb_build_object('role', substr(name, ${kind.length + 2}::int), 'since', iso(updated_at)) AS trouble
    FROM troubles WHERE name LIKE ${`${kind} %`} ORDER BY name`
  return rows.map(({ trouble }) => trouble)
}

/** The signers that did not sign at the last request. */
export const readSignerTroubles = (sql: Sql): Promise<SignerTrouble[]> => list(sql, 'signer')

/** The accounts that had lost their role at the last call. */
export const readLostRoles = (sql: Sql): Promise<SenderTrouble[]> => list(sql, 'lost role')
