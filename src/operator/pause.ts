// The operator's switch: while it is on no round is credited. Payments are still followed, judged and minted; the contract's own
// pause is up to the owner's wallet. Also the act that lets halted passes go on.
import { clearHalt } from '../db/blocks/halts.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeState } from '../db/core/state.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Actor, type Fields, type OperatorRefusal, recordAct, refuseAct } from './act.ts'
import { readFields } from './input.ts'

/** `changed` is false where the switch stood there already. */
export interface PauseState {
  paused: boolean
  changed: boolean
}

/** POST pause `{reason?}`: stops crediting from the next pass on, until `resume`. A round that is sent already is settled. */
export const pause = (deps: LedgerDb, actor: Actor, input: Fields) => setPaused(deps, actor, input, true)

/** POST resume `{reason?}`: lets rounds be credited again. Turns that were missed are paid one after the other. */
export const resume = (deps: LedgerDb, actor: Actor, input: Fields) => setPaused(deps, actor, input, false)

async function setPaused(
  deps: LedgerDb,
  actor: Actor,
  input: Fields,
  paused: boolean,
): Promise<PauseState | OperatorRefusal> {
  const fields = readFields(input)
  const reason = fields.textOrNull('reason')
  if (fields.refusal) return fields.refusal
  return inTransaction(deps.pool, async (sql) => {
    const before = (await readState(sql, 'paused')) === true
    if (before === paused || !(await writeState(sql, 'paused', paused, actor.name))) return { paused, changed: false }
    await recordAct(sql, actor, { action: paused ? 'paused' : 'unpaused', before, after: paused, reason })
    await notifyLedgerChanged(sql)
    return { paused, changed: true }
  })
}

/** POST halt/clear `{reason?}`: lets halted passes look at the chain again; they halt again where nothing has changed. */
export async function clearHaltByHand(deps: LedgerDb, actor: Actor, input: Fields): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const note = fields.textOrNull('reason')
  if (fields.refusal) return fields.refusal
  return inTransaction(deps.pool, async (sql) => {
    const halt = await clearHalt(sql, actor.name, { requestId: actor.requestId, note })
    return halt === null ? refuseAct('conflict', 'The passes are not halted.') : { cleared: halt }
  })
}
