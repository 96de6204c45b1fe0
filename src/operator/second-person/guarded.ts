// The acts that may need a second person, and what has them wait for one: instead of being done such an act is stored as a proposal. The
// confirmed proposal is done by the same function, which judges it again.
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { insertProposal, sumOfPayments } from '../../db/operator/proposals.ts'
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { type Act, type Actor, type Fields, isOperatorRefusal, type OperatorRefusal, recordAct } from '../act.ts'
import { decideMany, releasePayment } from '../decide.ts'
import { changeWallet, closeBooks, previewWallet, takeBackWallet } from '../payment-wallets.ts'
import { prepareRefunds } from '../refunds/refund-many.ts'
import { prepareRefund } from '../refunds/refunding.ts'
import { enterTerms, previewTerms, takeBackTerms } from '../terms.ts'
import { readBound, readRule, setSecondPerson } from './rule.ts'

/** What is answered instead of an act's own result where it waits for a second person. */
export interface Proposed {
  proposal: { id: number; act: string; expiresAt: Date; says: string }
}

export const isProposed = (answer: object): answer is Proposed => 'proposal' in answer

type Needs = (sql: Sql, input: Fields, bound: bigint) => Promise<boolean> | boolean

const always: Needs = () => true
/** By the sum of those that are named: several are decided about together. */
const byAmount: Needs = async (sql, input, bound) => (await sumOfPayments(sql, namedIn(input))) > bound
/** To ask again about a refund that was prepared before takes none. */
const byUnprepared: Needs = async (sql, input, bound) =>
  (await sumOfPayments(sql, namedIn(input), { unprepared: true })) > bound
const namedIn = ({ payment, payments }: Fields) => (Array.isArray(payments) ? payments : [payment]).map(String)
const releasing: Needs = (sql, input, bound) =>
  input.decision === 'release' && input.dryRun !== true && input.dryRun !== 'true' && byAmount(sql, input, bound)
/** A lower bound needs none: it takes nothing from anybody's say. */
const loosening: Needs = (_sql, input, bound) => {
  const asked = readRule(input)
  return 'aboveWei' in asked && (asked.aboveWei === null || asked.aboveWei > bound)
}

const RAW = {
  release: releasePayment,
  decideMany,
  prepareRefund,
  prepareRefunds,
  enterTerms,
  takeBackTerms,
  changeWallet,
  takeBackWallet,
  closeBooks,
  setSecondPerson,
} as const
export type GuardedAct = keyof typeof RAW

/** When each needs a second person, the scope of both, and what refuses a proposal that could not be done even now. */
const RULES: Record<GuardedAct, { scope: Scope; needs: Needs; preview?: Act }> = {
  release: { scope: 'decide', needs: byAmount },
  decideMany: { scope: 'decide', needs: releasing },
  prepareRefund: { scope: 'decide', needs: byUnprepared },
  prepareRefunds: { scope: 'decide', needs: byUnprepared },
  enterTerms: { scope: 'terms', needs: always, preview: previewTerms as Act },
  takeBackTerms: { scope: 'terms', needs: always },
  changeWallet: { scope: 'terms', needs: always, preview: previewWallet as Act },
  takeBackWallet: { scope: 'terms', needs: always },
  closeBooks: { scope: 'terms', needs: always },
  setSecondPerson: { scope: 'operate', needs: loosening },
}

/** The scope and the function of an act that was proposed; null for one that this version does not know. */
export function actOf(name: string): { scope: Scope; act: Act } | null {
  if (!Object.hasOwn(RAW, name)) return null
  const known = name as GuardedAct
  return { scope: RULES[known].scope, act: RAW[known] as Act }
}

/** The act as routes and commands call it: done at once, or proposed where it needs a second person. */
function guarded<Deps extends LedgerDb, Result extends object>(
  name: GuardedAct,
  act: (deps: Deps, actor: Actor, input: Fields) => Promise<Result | OperatorRefusal>,
) {
  return async (deps: Deps, actor: Actor, input: Fields): Promise<Result | Proposed | OperatorRefusal> => {
    const bound = await readBound(deps.pool)
    if (bound === null || !(await RULES[name].needs(deps.pool, input, bound))) return act(deps, actor, input)
    const previewed = await RULES[name].preview?.(deps as never, actor, input)
    return isOperatorRefusal(previewed) ? previewed : propose(deps, actor, name, input)
  }
}

async function propose({ pool }: LedgerDb, actor: Actor, act: GuardedAct, input: Fields): Promise<Proposed> {
  return inTransaction(pool, async (sql) => {
    const { id, expiresAt, isNew } = await insertProposal(sql, { act, input, by: actor.name })
    const reason = typeof input.reason === 'string' ? input.reason : null
    if (isNew)
      await recordAct(sql, actor, { action: 'proposed', subject: `proposal ${id}`, after: { act, input }, reason })
    const says = `Not done yet: a second person has to confirm it, as proposal ${id}.`
    return { proposal: { id, act, expiresAt, says } }
  })
}

/** The acts as routes and commands call them. */
export const guardedActs = {
  release: guarded('release', RAW.release),
  decideMany: guarded('decideMany', RAW.decideMany),
  prepareRefund: guarded('prepareRefund', RAW.prepareRefund),
  prepareRefunds: guarded('prepareRefunds', RAW.prepareRefunds),
  enterTerms: guarded('enterTerms', RAW.enterTerms),
  takeBackTerms: guarded('takeBackTerms', RAW.takeBackTerms),
  changeWallet: guarded('changeWallet', RAW.changeWallet),
  takeBackWallet: guarded('takeBackWallet', RAW.takeBackWallet),
  closeBooks: guarded('closeBooks', RAW.closeBooks),
  setSecondPerson: guarded('setSecondPerson', RAW.setSecondPerson),
}
