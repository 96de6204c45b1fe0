// Raises alarms in the log and in the audit log, which webhooks, metrics and the doctor read.
import type { Sql } from '../db/core/sql.ts'
import { writeAudit } from '../db/core/state.ts'
import type { Logging } from '../passes/context.ts'

/** An event that a person must look at, and the row it concerns. */
interface Alarm {
  action: string
  subject?: string
  detail?: object
  level?: 'info' | 'warn' | 'error'
  /** The message in the log. */
  says?: string
  /** The person whose act raised it, as in the act's own row. Omitted if a pass raised it. */
  by?: { readonly name: string; readonly requestId: string | null }
}

/** Raises an alarm. Call it in the transaction that found the reason. */
export async function raiseAlarm({ log }: Logging, sql: Sql, alarm: Alarm): Promise<void> {
  const { level = 'warn', says = 'needs a look', detail = {}, by = { name: 'pass', requestId: null }, ...what } = alarm
  log[level]({ actor: by.name, ...what, ...detail }, says)
  await writeAudit(sql, { actor: by.name, requestId: by.requestId, ...what, detail })
}
