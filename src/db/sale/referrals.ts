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
  /** How long after its node's mint a commission is due, in seconds of block time. */
  waitSec: number
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
      wait_sec AS "waitSec", from_block AS "fromBlock", iso(entered_at) AS "enteredAt", entered_by AS "enteredBy" FROM referral_codes ORDER BY code, version`
}

/** Enters a code's next version. The caller locks the table, so the numbers stay consecutive. */
export async function insertReferral(
  sql: Sql,
  { code, payee, commissionBps, opensAt, closesAt, waitSec }: ReferralTerms,
  { version, fromBlock, enteredBy }: Pick<ReferralVersion, 'version' | 'fromBlock' | 'enteredBy'>,
): Promise<void> {
  await sql`
    INSERT INTO referral_codes (code, version, payee, commission_bps, opens_at, closes_at, wait_sec, from_block, entered_by)
    VALUES (${code}, ${version}, ${payee}, ${commissionBps}, ${opensAt}, ${closesAt}, ${waitSec}, ${fromBlock}, ${enteredBy})`
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

/** The latest terms of each code that ever paid this wallet, by code. A code that pays another wallet by now is closed for this one. */
export async function readReferralsOf(sql: Sql, payee: Address): Promise<(PublicReferral & { waitSec: number })[]> {
  return await sql<(PublicReferral & { waitSec: number })[]>`
    SELECT code, payee, commission_bps AS "commissionBps", iso(to_timestamp(opens_at)) AS "opensAt", iso(to_timestamp(closes_at)) AS "closesAt",
      wait_sec AS "waitSec", version = newest AND ${isOpen(sql)} AS open
    FROM (SELECT DISTINCT ON (code) *, (SELECT max(version) FROM referral_codes l WHERE l.code = c.code) AS newest FROM referral_codes c
      WHERE payee = ${payee} ORDER BY code, version DESC) own, ${headTime(sql)} ORDER BY code`
}

const headTime = (sql: Sql) =>
  sql`(SELECT coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0) AS now) n`
const isOpen = (sql: Sql) => sql`(opens_at <= now) IS NOT FALSE AND (closes_at > now) IS NOT FALSE`

/** What the public may see of a code; null if it was never registered. `open` is as of the followed block. */
export async function readPublicReferral(sql: Sql, code: string): Promise<PublicReferral | null> {
  const [row] = await sql<PublicReferral[]>`
    SELECT code, payee, commission_bps AS "commissionBps", iso(to_timestamp(opens_at)) AS "opensAt", iso(to_timestamp(closes_at)) AS "closesAt",
      ${isOpen(sql)} AS open
    FROM referral_codes, ${headTime(sql)}
    WHERE code = ${code} ORDER BY version DESC LIMIT 1`
  return row ?? null
}
