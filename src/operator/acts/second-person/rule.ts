// The two-person rule: the amount above which a second person is needed for releases, refunds, commission files, grants, and all else that lets
// held payments through. operator/guard.ts compares the sum. While it is set, changes of credit terms and payments wallets always need one. The rule is in the ledger, for all instances; it is off until set.
import { lockState, writeState } from '../../../db/core/state.ts'
import { inEther, type Wei } from '../../../domain/units.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import { fieldNamed, refuseAct } from '../../act.ts'
import { defineGuardedAct, defineReading } from '../../define-act.ts'
import { ANY_SUM, readBound } from '../../guard.ts'
import * as field from '../../input.ts'

const ruleInWords = ({ aboveWei }: { aboveWei: Wei | null }) =>
  aboveWei === null
    ? 'Off: nothing needs a second person.'
    : `Above ${inEther(aboveWei)} ETH a release or a refund needs a second person; terms and the payments wallet always do.`

export const showSecondPerson = defineReading({
  path: 'second-person',
  command: 'second-person show',
  summary: 'show the amount above which an action needs a second person',
  examples: ['second-person show'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ aboveWei: await readBound(pool) }),
  says: ruleInWords,
})

export const setSecondPerson = defineGuardedAct({
  path: 'second-person',
  scope: 'operate',
  command: 'second-person set',
  summary: 'require a second person for terms and payments wallets, and above an amount for releases and refunds',
  details: `The action becomes a proposal, which another person confirms or refuses within seven days. A person is the label of a key, or the user here.
Raising the amount or switching the rule off needs a second person, too.`,
  examples: ['second-person set --above-wei 1000ether --reason "four eyes" --yes'],
  fields: {
    aboveWei: field.orNull(
      field.wei('the amount above which an action needs a second person; 0: every release and refund'),
    ),
    off: field.flag('switch the rule off'),
    reason: field.REASON,
  },
  check: ({ off, aboveWei }, { complain }) => {
    if (off === (aboveWei !== null)) complain(null, `give ${fieldNamed('aboveWei')} or ${fieldNamed('off')}, not both`)
  },
  asks: 'Set this rule?',
  proposedAs: 'setSecondPerson',
  // Lowering the amount needs no second person, because it makes the rule stricter.
  sum: (_sql, { aboveWei }) => aboveWei ?? ANY_SUM,
  change: async ({ sql, actor, record }, { aboveWei }) => {
    await lockState(sql)
    const before = await readBound(sql)
    if (before === aboveWei) return { aboveWei, changed: false }
    if (before !== null && (aboveWei ?? ANY_SUM) > before && !actor.confirmed)
      return refuseAct('notYet', 'Someone else has lowered the amount: try again.')
    await writeState(sql, 'second_person_wei', aboveWei)
    record({ action: 'secondPersonSet', before: before?.toString() ?? null, after: aboveWei?.toString() ?? null })
    return { aboveWei, changed: true }
  },
  says: ruleInWords,
})
