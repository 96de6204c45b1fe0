// The audit log as the operator reads it: actor, act, subject, time, and the state before and after.
import { readAudit } from '../../db/core/audit.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { defineReading } from '../define-act.ts'
import * as field from '../input.ts'

export const listAudit = defineReading({
  path: 'audit',
  command: 'audit list',
  group: 'books',
  summary: 'list who did what to what, newest first',
  examples: ['audit list --limit 20', 'audit list --action released --json'],
  fields: {
    actor: field.orNull(field.text('the label of an admin key, cli:<user>, or pass', { max: 100, value: 'name' })),
    action: field.orNull(field.text('released, tierChanged, paused and so on', { max: 100, value: 'action' })),
    subject: field.orNull(field.text('a hash, a tier, an address, a node', { max: 100 })),
    ...field.PAGE,
  },
  run: async ({ pool }: LedgerDb, { limit, cursor, ...filter }) =>
    field.pageOf('entries', await readAudit(pool, { ...filter, before: cursor, limit: limit + 1 }), limit),
  columns: ['at', 'actor', 'action', 'subject', ['detail', 'detail', 'record']],
})
