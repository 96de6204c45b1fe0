// Rows that the books do not need, and that grow with the ledger: how the passes judged payments that have their node, and what the passes
// noted. An operator's decisions and acts are never among them: nothing else knows of those.
import type { Sql } from './core/sql.ts'

/** Rows read at once. */
const ROWS = 5_000

/** The tables, and which of their rows are over. `nodeToConfirm` is looked up by the judge. */
const over = (sql: Sql, before: Date) => ({
  payment_verdicts: sql`decided_by = 'pass' AND decided_at < ${before} AND withdrawn_at IS NULL
    AND EXISTS (SELECT FROM payments p WHERE p.id = t.payment_id AND p.state = 'minted')`,
  audit: sql`actor = 'pass' AND at < ${before} AND action <> 'nodeToConfirm'`,
})
type Table = keyof ReturnType<typeof over>
const TABLES: readonly Table[] = ['payment_verdicts', 'audit']

/** How many rows of each table are over. */
export async function countArchivable(sql: Sql, before: Date): Promise<Record<Table, number>> {
  const count = async (table: Table) => {
    const [row] = await sql<{ count: number }[]>`
      SELECT count(*) AS count FROM ${sql(table)} t WHERE ${over(sql, before)[table]}`
    return row?.count ?? 0
  }
  return { payment_verdicts: await count('payment_verdicts'), audit: await count('audit') }
}

/** They, as JSON with the name of their table, and verdicts with the hash of their payment; in the order of their tables. */
export async function* readArchivable(sql: Sql, before: Date): AsyncGenerator<readonly string[]> {
  for (const table of TABLES) {
    const payment = sql`(SELECT p.tx_hash FROM payments p WHERE p.id = t.payment_id)`
    const about =
      table === 'payment_verdicts'
        ? sql`jsonb_build_object('table', ${table}::text, 'payment', ${payment})`
        : sql`jsonb_build_object('table', ${table}::text)`
    const rows = sql<{ line: string }[]>`
      SELECT (${about} || to_jsonb(t))::text AS line FROM ${sql(table)} t WHERE ${over(sql, before)[table]} ORDER BY t.id`
    for await (const part of rows.cursor(ROWS)) yield part.map(({ line }) => line)
  }
}

/** Takes them out. Within the snapshot in which they were read, these are the same rows. */
export async function deleteArchivable(sql: Sql, before: Date): Promise<number> {
  let rows = 0
  for (const table of TABLES) rows += (await sql`DELETE FROM ${sql(table)} t WHERE ${over(sql, before)[table]}`).count
  return rows
}
