// The credit terms, each entry with the time from which it is in force. Rows are added and never changed; only an entry that is not in force yet can
// be removed. Every instance uses these rows; settings cannot override them.
import type { CreditTerms } from '../../domain/rounds/turn-amounts.ts'
import type { Sql } from '../core/sql.ts'

/** An entry, with who entered it. `enteredAt` is ISO 8601. */
export interface TermsRow extends CreditTerms {
  enteredAt: string
  enteredBy: string
}

/** All entries, oldest first. There are few. */
export async function readCreditTerms(sql: Sql): Promise<CreditTerms[]> {
  return await sql<CreditTerms[]>`
    SELECT from_time AS "fromTime", payouts, min_wei AS "minWei", max_wei AS "maxWei", interval_sec AS "intervalSec",
      slot_sec AS "slotSec"
    FROM credit_terms ORDER BY from_time`
}

/** All entries, with who entered each and when. */
export async function readTermsHistory(sql: Sql): Promise<TermsRow[]> {
  return await sql<TermsRow[]>`
    SELECT from_time AS "fromTime", payouts, min_wei AS "minWei", max_wei AS "maxWei", interval_sec AS "intervalSec",
      slot_sec AS "slotSec", iso(entered_at) AS "enteredAt", entered_by AS "enteredBy"
    FROM credit_terms ORDER BY from_time`
}

/** True if there are terms. Without terms we judge, mint and pay nothing. */
export async function hasTerms(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`SELECT EXISTS (SELECT FROM credit_terms) AS has`
  return row?.has ?? false
}

/** The terms in force at the followed block; no row without terms. */
export const TERMS_IN_FORCE = `SELECT * FROM credit_terms
  WHERE from_time <= coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0) ORDER BY from_time DESC LIMIT 1`

/** Blocks the entry of terms until the transaction ends. Reads continue. */
export async function lockTerms(sql: Sql): Promise<void> {
  await sql`LOCK TABLE credit_terms IN SHARE ROW EXCLUSIVE MODE`
}

/** Waits for any entry of terms in progress, and blocks further ones until the transaction ends. */
export async function lockTermsForReading(sql: Sql): Promise<void> {
  await sql`LOCK TABLE credit_terms IN SHARE MODE`
}

/** Adds an entry. The database rejects an entry for a time that has one. */
export async function insertTerms(sql: Sql, terms: CreditTerms, enteredBy: string): Promise<void> {
  const { fromTime, payouts, minWei, maxWei, intervalSec, slotSec } = terms
  await sql`
    INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by)
    VALUES (${fromTime}, ${payouts}, ${minWei.toString()}, ${maxWei.toString()}, ${intervalSec}, ${slotSec}, ${enteredBy})`
}

export async function deleteTerms(sql: Sql, fromTime: number): Promise<void> {
  await sql`DELETE FROM credit_terms WHERE from_time = ${fromTime}`
}
