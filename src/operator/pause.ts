// The operator's switch: while it is on no round is credited. Payments are still followed, judged and minted; the contract's own
// pause is up to the owner's wallet. Also the act that lets halted passes go on.
import { clearHalt } from '../db/blocks/halts.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeState } from '../db/core/state.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Actor, recordAct, refuseAct } from './act.ts'
import { defineAct } from './define-act.ts'
import * as field from './input.ts'

/** `changed` is false where the switch stood there already. */
export interface PauseState {
  paused: boolean
  changed: boolean
}

const setPaused =
  (paused: boolean) =>
  ({ pool }: LedgerDb, actor: Actor, { reason }: { readonly reason: string | null }): Promise<PauseState> =>
    inTransaction(pool, async (sql) => {
      const before = (await readState(sql, 'paused')) === true
      if (before === paused || !(await writeState(sql, 'paused', paused, actor.name))) return { paused, changed: false }
      await recordAct(sql, actor, { action: paused ? 'paused' : 'unpaused', before, after: paused, reason })
      await notifyLedgerChanged(sql)
      return { paused, changed: true }
    })

export const pause = defineAct({
  path: 'pause',
  scope: 'operate',
  command: 'pause',
  summary: 'stop crediting rounds; payments are still followed, judged and minted',
  details:
    'A round that is sent already is settled. Turns that are missed are owed, and paid one after the other later.',
  examples: ['pause --reason "the treasury moves" --yes'],
  fields: { reason: field.REASON },
  asks: 'Stop crediting, until "node-ledger resume"?',
  otherwise: 'Crediting goes on.',
  run: setPaused(true),
  says: ({ changed }) => (changed ? 'Crediting is paused; payments go on.' : 'Crediting was paused already.'),
})

export const resume = defineAct({
  path: 'resume',
  scope: 'operate',
  summary: 'credit rounds again; turns that were missed are paid one after the other',
  fields: { reason: field.REASON },
  run: setPaused(false),
})

export const clearHaltByHand = defineAct({
  path: 'halt/clear',
  scope: 'operate',
  summary: 'let halted passes look at the chain again; they halt again if nothing has changed',
  fields: { reason: field.REASON },
  run: ({ pool }: LedgerDb, actor, { reason: note }) =>
    inTransaction(pool, async (sql) => {
      const halt = await clearHalt(sql, actor.name, { requestId: actor.requestId, note })
      return halt === null ? refuseAct('conflict', 'The passes are not halted.') : { cleared: halt }
    }),
})
