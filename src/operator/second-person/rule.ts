// The rule of the second person: from which amount on a release or a refund needs one. While it is on, credit terms and the payments wallet
// always do. It is the ledger's, for all instances; off until it is set.
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { readState, writeState } from '../../db/core/state.ts'
import { type Wei, wei } from '../../domain/units.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { type Actor, type Fields, type OperatorRefusal, recordAct } from '../act.ts'
import { readFields } from '../input.ts'

const STATE = 'secondPerson'

/** The bound, above which a second person is needed; null while the rule is off. */
export async function readBound(sql: Sql): Promise<Wei | null> {
  const stored = (await readState(sql, STATE)) as { aboveWei: string | null } | null
  return stored?.aboveWei == null ? null : wei(BigInt(stored.aboveWei))
}

/** GET second-person. */
export async function showSecondPerson({ pool }: LedgerDb): Promise<{ aboveWei: Wei | null }> {
  return { aboveWei: await readBound(pool) }
}

/** The bound that is asked for; null for off. */
export function readRule(input: Fields) {
  const fields = readFields(input)
  const off = fields.flagOrNull('off') ?? false
  const aboveWei = fields.weiOrNull('aboveWei')
  const reason = fields.textOrNull('reason')
  if (off === (aboveWei !== null)) fields.complain('aboveWei or off must be given, and not both')
  return fields.refusal ?? { aboveWei, reason }
}

/** POST second-person `{aboveWei or off, reason?}`: sets the bound, or switches the rule off. */
export async function setSecondPerson(deps: LedgerDb, actor: Actor, input: Fields): Promise<object | OperatorRefusal> {
  const asked = readRule(input)
  if (!('aboveWei' in asked)) return asked
  const { aboveWei, reason } = asked
  return inTransaction(deps.pool, async (sql) => {
    const before = await readBound(sql)
    if (before === aboveWei) return { aboveWei, changed: false }
    await writeState(sql, STATE, { aboveWei: aboveWei?.toString() ?? null }, actor.name)
    const texts = { before: before?.toString() ?? null, after: aboveWei?.toString() ?? null }
    await recordAct(sql, actor, { action: 'secondPersonSet', ...texts, reason })
    return { aboveWei, changed: true }
  })
}
