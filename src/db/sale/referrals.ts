// The operator's referral codes with their versions. Rows are added, never changed, so the terms of a code at any block stay known.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** The terms of a code's version. Times are unix seconds of block time; null means no limit. */
export interface ReferralTerms {
  code: string
  payee: Address
  commissionBps: number
  opensAt: number | null
  closesAt: number | null
}

/** A version of a code, with who entered it and when. */
export interface ReferralVersion extends ReferralTerms {
  version: number
  /** The version applies to payments from this block on. */
  fromBlock: number
  enteredAt: string
  enteredBy: string
}

/** Every version of every code, by code and version. There are few. */
export async function readReferrals(sql: Sql): Promise<ReferralVersion[]> {
  return await sql<ReferralVersion[]>`
    SELECT code, version, payee, commission_bps AS "commissionBps", opens_at AS "opensAt", closes_at AS "closesAt",
      from_block AS "fromBlock", iso(entered_at) AS "enteredAt", entered_by AS "enteredBy" FROM referral_codes ORDER BY code, version`
}

/** Enters a code's next version. The caller locks the table, so the numbers stay consecutive. */
export async function insertReferral(
  sql: Sql,
  { code, payee, commissionBps, opensAt, closesAt }: ReferralTerms,
  { version, fromBlock, enteredBy }: Pick<ReferralVersion, 'version' | 'fromBlock' | 'enteredBy'>,
): Promise<void> {
  await sql`
    INSERT INTO referral_codes (code, version, payee, commission_bps, opens_at, closes_at, from_block, entered_by)
    VALUES (${code}, ${version}, ${payee}, ${commissionBps}, ${opensAt}, ${closesAt}, ${fromBlock}, ${enteredBy})`
}

/** What the public may see of a code. */
interface PublicReferral {
  code: string
  payee: Address
  commissionBps: number
  opensAt: string | null
  closesAt: string | null
  open: boolean
}

/** What the public may see of a code; null if it was never registered. `open` is as of the followed block. */
export async function readPublicReferral(sql: Sql, code: string): Promise<PublicReferral | null> {
  const [row] = await sql<PublicReferral[]>`
    SELECT code, payee, commission_bps AS "commissionBps", iso(to_timestamp(opens_at)) AS "opensAt", iso(to_timestamp(closes_at)) AS "closesAt",
      (opens_at <= now) IS NOT FALSE AND (closes_at > now) IS NOT FALSE AS open
    FROM referral_codes, (SELECT coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0) AS now) n
    WHERE code = ${code} ORDER BY version DESC LIMIT 1`
  return row ?? null
}
