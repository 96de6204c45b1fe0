// The audit log as the operator reads it: actor, act, subject, time, and the state before and after.
import { readAudit } from '../db/core/audit.ts'
import type { LedgerDb } from '../passes/context.ts'
import type { Fields, OperatorRefusal } from './act.ts'
import { readFields } from './input.ts'
import { cachedResponseOf, type PageOf, readPageFields } from './page.ts'

/** GET audit: newest first; `actor`, `action`, `subject`, `cursor`, `limit`. */
export async function listAudit(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  const filter = {
    actor: fields.textOrNull('actor', { max: 100 }),
    action: fields.textOrNull('action', { max: 100 }),
    subject: fields.textOrNull('subject', { max: 100 }),
    before,
  }
  if (fields.refusal) return fields.refusal
  return cachedResponseOf('entries', await readAudit(deps.pool, { ...filter, limit: limit + 1 }), limit)
}
