// The operator's switch: while it is on no round is credited. Payments are still followed, judged and minted; the contract's own
// pause is up to the owner's wallet. Also the act that lets halted passes go on.
import { clearHalt } from '../db/blocks/halts.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeState } from '../db/core/state.ts'
import type { LedgerDb } from '../passes/context.ts'
import { recordAct, refuseAct } from './act.ts'
import { defineAct } from './define-act.ts'
import { readReason } from './input.ts'

/** `changed` is false where the switch stood there already. */
export interface PauseState {
  paused: boolean
  changed: boolean
}

/** POST pause `{reason?}`: stops crediting from the next pass on, until `resume`. A round that is sent already is settled. */
export const pause = setPaused(true)

/** POST resume `{reason?}`: lets rounds be credited again. Turns that were missed are paid one after the other. */
export const resume = setPaused(false)

function setPaused(paused: boolean) {
  return defineAct({
    read: readReason,
    run: ({ pool }: LedgerDb, actor, { reason }): Promise<PauseState> =>
      inTransaction(pool, async (sql) => {
        const before = (await readState(sql, 'paused')) === true
        if (before === paused || !(await writeState(sql, 'paused', paused, actor.name)))
          return { paused, changed: false }
        await recordAct(sql, actor, { action: paused ? 'paused' : 'unpaused', before, after: paused, reason })
        await notifyLedgerChanged(sql)
        return { paused, changed: true }
      }),
  })
}

/** POST halt/clear `{reason?}`: lets halted passes look at the chain again; they halt again where nothing has changed. */
export const clearHaltByHand = defineAct({
  read: readReason,
  run: ({ pool }: LedgerDb, actor, { reason: note }) =>
    inTransaction(pool, async (sql) => {
      const halt = await clearHalt(sql, actor.name, { requestId: actor.requestId, note })
      return halt === null ? refuseAct('conflict', 'The passes are not halted.') : { cleared: halt }
    }),
})
