// Reads the audit log for the operator, newest first. Rows are only ever added (state.ts writes them).
import type { Sql } from './sql.ts'

/** The filter; null matches any. */
export interface AuditFilter {
  actor: string | null
  action: string | null
  subject: string | null
  /** Rows older than this one. */
  before: number | null
  limit: number
}

export interface AuditRow {
  id: number
  at: string
  actor: string
  action: string
  subject: string | null
  requestId: string | null
  detail: unknown
}

/** SQL: rows of these actions, as literals, because PostgreSQL cannot choose a partial index by a parameter. */
export const actionIn = (sql: Sql, actions: readonly string[]) =>
  sql`action IN (${sql.unsafe(actions.map((action) => `'${action}'`).join(', '))})`

/** Reads a page of the log. Without a filter, or by subject, `limit` bounds the cost. With other filters, rare rows cost more. */
export async function readAudit(sql: Sql, { actor, action, subject, before, limit }: AuditFilter): Promise<AuditRow[]> {
  return await sql<AuditRow[]>`
    SELECT id, iso(at) AS at, actor, action, subject, request_id AS "requestId", detail FROM audit
    WHERE true ${before === null ? sql`` : sql`AND id < ${before}`}
      ${actor === null ? sql`` : sql`AND actor = ${actor}`}
      ${action === null ? sql`` : sql`AND action = ${action}`}
      ${subject === null ? sql`` : sql`AND subject = ${subject}`}
    ORDER BY id DESC LIMIT ${limit}`
}
