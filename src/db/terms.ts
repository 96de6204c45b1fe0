// The credit terms, each entry with the time from which it holds. Rows are added and never changed; only one that does not hold yet is
// removed. What every instance goes by is here; no setting of an instance stands beside it.
import type { CreditTerms } from '../domain/credit.ts'
import type { Sql } from './sql.ts'

/** An entry with who made it. `enteredAt` is ISO 8601. */
export interface TermsRow extends CreditTerms {
  enteredAt: string
  enteredBy: string
}

/** All entries, oldest first. There are as many as were ever entered: few. */
export async function readCreditTerms(sql: Sql): Promise<CreditTerms[]> {
  return await sql<CreditTerms[]>`
    SELECT from_time AS "fromTime", payouts, min_wei AS "minWei", max_wei AS "maxWei", interval_sec AS "intervalSec",
      slot_sec AS "slotSec"
    FROM credit_terms ORDER BY from_time`
}

/** The same with who entered each, and when. */
export async function readTermsHistory(sql: Sql): Promise<TermsRow[]> {
  return await sql<TermsRow[]>`
    SELECT from_time AS "fromTime", payouts, min_wei AS "minWei", max_wei AS "maxWei", interval_sec AS "intervalSec",
      slot_sec AS "slotSec", iso(entered_at) AS "enteredAt", entered_by AS "enteredBy"
    FROM credit_terms ORDER BY from_time`
}

/** Whether any were entered: until then nothing is judged, minted or paid. */
export async function hasTerms(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`SELECT EXISTS (SELECT FROM credit_terms) AS has`
  return row?.has ?? false
}

/** Keeps others from entering terms until the transaction ends. Readings go on. */
export async function lockTerms(sql: Sql): Promise<void> {
  await sql`LOCK TABLE credit_terms IN SHARE ROW EXCLUSIVE MODE`
}

/** Waits for whoever is entering terms, and keeps others from it until the transaction ends. */
export async function lockTermsForReading(sql: Sql): Promise<void> {
  await sql`LOCK TABLE credit_terms IN SHARE MODE`
}

/** Adds an entry. The database refuses a second one for the same time. */
export async function insertTerms(sql: Sql, terms: CreditTerms, enteredBy: string): Promise<void> {
  const { fromTime, payouts, minWei, maxWei, intervalSec, slotSec } = terms
  await sql`
    INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by)
    VALUES (${fromTime}, ${payouts}, ${minWei.toString()}, ${maxWei.toString()}, ${intervalSec}, ${slotSec}, ${enteredBy})`
}

/** Enters the first terms, from time 0 on, unless there are some. Run in a transaction. @returns whether these were entered. */
export async function insertFirstTerms(
  sql: Sql,
  terms: Omit<CreditTerms, 'fromTime'>,
  enteredBy: string,
): Promise<boolean> {
  await lockTerms(sql)
  if (await hasTerms(sql)) return false
  await insertTerms(sql, { ...terms, fromTime: 0 }, enteredBy)
  return true
}

/** Removes an entry. */
export async function deleteTerms(sql: Sql, fromTime: number): Promise<void> {
  await sql`DELETE FROM credit_terms WHERE from_time = ${fromTime}`
}
