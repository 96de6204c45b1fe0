// The service's accounts whose signer did not sign at the last request, and the accounts whose role the contract has given to others. Each is a trouble,
// so every instance shows it. If an account has none, its last request was signed, or there was none yet.
import type { Sql } from '../core/sql.ts'
import { IS_SEEN } from '../core/troubles.ts'

/** What keeps an account from sending. */
export interface SenderTrouble {
  /** `minter` or `distributor`. */
  role: string
  address: string
  /** Since the first failure, ISO 8601. */
  since: string
  /** The message of the first failure, of a signer. */
  detail?: string
}

/** SQL: a JSON list of the roles that did not sign. */
export const NOT_SIGNING = `(SELECT coalesce(jsonb_agg(substr(name, 16) ORDER BY name), '[]') FROM troubles
  WHERE name LIKE 'trouble signer %' AND ${IS_SEEN})`

/** The signers that did not sign at the last request, or the accounts that had lost their role at the last call. */
export async function readSenderTroubles(sql: Sql, kind: 'signer' | 'role'): Promise<SenderTrouble[]> {
  const prefix = `trouble ${kind} `
  return await sql<SenderTrouble[]>`
    SELECT substr(name, ${prefix.length + 1}::int) AS role, value ->> 'address' AS address, iso(updated_at) AS since, value ->> 'detail' AS detail
    FROM troubles WHERE name LIKE ${`${prefix}%`} AND ${sql.unsafe(IS_SEEN)} ORDER BY name`
}
