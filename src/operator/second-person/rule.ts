// The rule of the second person: the amount above which releases, refunds and what lets held payments through need one. While it is set,
// credit terms and the payments wallet always do. It is the ledger's, for all instances; off until it is set.
import { inTransaction } from '../../db/core/sql.ts'
import { lockState, writeState } from '../../db/core/state.ts'
import type { Wei } from '../../domain/units.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { recordAct, refuseAct } from '../act.ts'
import { defineGuardedAct } from '../define-act.ts'
import { ANY_SUM, RULE, readBound } from './guard.ts'

/** GET second-person. */
export async function showSecondPerson({ pool }: LedgerDb): Promise<{ aboveWei: Wei | null }> {
  return { aboveWei: await readBound(pool) }
}

/** POST second-person `{aboveWei or off, reason?}`: sets the amount, or switches the rule off. */
export const setSecondPerson = defineGuardedAct({
  name: 'setSecondPerson',
  scope: 'operate',
  read: (fields) => {
    const off = fields.flagOrNull('off') ?? false
    const aboveWei = fields.weiOrNull('aboveWei')
    if (off === (aboveWei !== null)) fields.complain('aboveWei or off must be given, and not both')
    return { aboveWei, reason: fields.textOrNull('reason') }
  },
  // A lower amount needs none: it takes nothing from anybody's say.
  sum: (_sql, { aboveWei }) => aboveWei ?? ANY_SUM,
  run: ({ pool }: LedgerDb, actor, { aboveWei, reason }) =>
    inTransaction(pool, async (sql) => {
      await lockState(sql, RULE)
      const before = await readBound(sql)
      if (before === aboveWei) return { aboveWei, changed: false }
      if (before !== null && (aboveWei ?? ANY_SUM) > before && !actor.confirmed)
        return refuseAct('notYet', 'Somebody else lowered the amount meanwhile: ask again.')
      await writeState(sql, RULE, { aboveWei: aboveWei?.toString() ?? null }, actor.name)
      const texts = { before: before?.toString() ?? null, after: aboveWei?.toString() ?? null }
      await recordAct(sql, actor, { action: 'secondPersonSet', ...texts, reason })
      return { aboveWei, changed: true }
    }),
})
