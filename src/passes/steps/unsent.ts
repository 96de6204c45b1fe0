// Records why a pass does not send what waits. Reports it once it has lasted, because most refusals are one provider's word, and no other check shows
// them.
import { noteSent, noteUnsent, type SendingPass } from '../../db/blocks/stuck.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { raiseAlarm } from '../../follower/alarm.ts'
import type { LedgerDb, Logging } from '../../ports/contexts.ts'

/** Refusals with an event of their own. */
const TOLD = ['insufficientFunds', 'roleLost', 'feeCapped', 'resting', 'notSigned', 'guardRefused']

/** Why a call was refused, in words. Null if it was sent, or if another event reports the refusal. */
export const whyUnsent = (sendResult: { kind: 'sent' } | { kind: 'refused'; why: string; detail: string } | null) =>
  sendResult?.kind === 'refused' && !TOLD.includes(sendResult.why)
    ? [sendResult.why, sendResult.detail].filter(Boolean).join(': ')
    : null

/** `why`: null if the run sent what waited, or had nothing to send. */
export async function tellUnsent(ctx: LedgerDb & Logging, pass: SendingPass, why: string | null): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if (why === null) return await noteSent(sql, pass)
    const detail = await noteUnsent(sql, pass, why)
    const says = 'a pass has sent nothing for minutes although there is something to send'
    if (detail) await raiseAlarm(ctx, sql, { action: 'unsent', subject: pass, detail, level: 'error', says })
  })
}
