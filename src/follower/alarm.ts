// Raises alarms: writes them to the log and to the audit log. Webhooks, metrics and the doctor read the audit log.
import type { Sql } from '../db/core/sql.ts'
import { writeAudit } from '../db/core/state.ts'
import type { Logging } from '../ports/contexts.ts'

/** An event that a person must look at. */
interface Alarm {
  action: string
  subject?: string
  detail?: object
  level?: 'info' | 'warn' | 'error'
  /** The message in the log. */
  says?: string
  /** The person whose act raised the alarm, named as in the act's own audit row. Omitted if a pass raised it. */
  by?: { readonly name: string; readonly requestId: string | null }
}

/** Raises an alarm. Call it in the transaction that found the cause. */
export async function raiseAlarm({ log }: Logging, sql: Sql, alarm: Alarm): Promise<void> {
  const {
    level = 'warn',
    says = 'an operator must check this',
    detail = {},
    by = { name: 'pass', requestId: null },
    ...what
  } = alarm
  log[level]({ actor: by.name, ...what, ...detail }, says)
  await writeAudit(sql, { actor: by.name, requestId: by.requestId, ...what, detail })
}
