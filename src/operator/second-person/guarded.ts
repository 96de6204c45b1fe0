// The acts that may need a second person, and what has them wait for one: instead of being done such an act is stored as a proposal. The
// confirmed proposal is done by the same function, which judges it again.
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { insertProposal, sumOfPayments } from '../../db/operator/proposals.ts'
import type { Scope } from '../../domain/keys/admin-key.ts'
import type { LedgerDb } from '../../passes/context.ts'
import { type Act, type Actor, type Fields, isOperatorRefusal, recordAct } from '../act.ts'
import { decideMany, releasePayment } from '../decide.ts'
import { changeWallet, closeBooks, previewWallet, takeBackWallet } from '../payment-wallets.ts'
import { prepareRefunds } from '../refunds/refund-many.ts'
import { prepareRefund } from '../refunds/refunding.ts'
import { enterTerms, previewTerms, takeBackTerms } from '../terms.ts'
import type { Proposed } from './proposed.ts'
import { readBound, readRule, setSecondPerson } from './rule.ts'

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

/** The acts, the scope of both persons, when each act needs a second one, and what refuses a proposal that could not be done even now. */
const ACTS = {
  release: { act: releasePayment, scope: 'decide', needs: byAmount },
  decideMany: { act: decideMany, scope: 'decide', needs: releasing },
  prepareRefund: { act: prepareRefund, scope: 'decide', needs: byUnprepared },
  prepareRefunds: { act: prepareRefunds, scope: 'decide', needs: byUnprepared },
  enterTerms: { act: enterTerms, scope: 'terms', needs: always, preview: previewTerms },
  takeBackTerms: { act: takeBackTerms, scope: 'terms', needs: always },
  changeWallet: { act: changeWallet, scope: 'terms', needs: always, preview: previewWallet },
  takeBackWallet: { act: takeBackWallet, scope: 'terms', needs: always },
  closeBooks: { act: closeBooks, scope: 'terms', needs: always },
  setSecondPerson: { act: setSecondPerson, scope: 'operate', needs: loosening },
} as const
export type GuardedAct = keyof typeof ACTS

interface Rule {
  readonly act: Act
  readonly scope: Scope
  readonly needs: Needs
  readonly preview?: Act
}

const ruleOf = (name: GuardedAct) => ACTS[name] as Rule

/** The scope and the function of an act that was proposed; null for one that this version does not know. */
export function actOf(name: string): Rule | null {
  return Object.hasOwn(ACTS, name) ? ruleOf(name as GuardedAct) : null
}

/** An act as routes and commands call it: done at once, or proposed where it needs a second person. */
type Guarded<Raw> = Raw extends (deps: infer Deps, actor: Actor, input: Fields) => Promise<infer Result>
  ? (deps: Deps, actor: Actor, input: Fields) => Promise<Result | Proposed>
  : never

function guarded(name: GuardedAct): Act {
  const { act, needs, preview } = ruleOf(name)
  return async (deps, actor, input) => {
    const bound = await readBound(deps.pool)
    if (bound === null || !(await needs(deps.pool, input, bound))) return act(deps, actor, input)
    const previewed = await preview?.(deps, actor, input)
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
export const guardedActs = Object.fromEntries(
  Object.keys(ACTS).map((name) => [name, guarded(name as GuardedAct)]),
) as unknown as { readonly [Name in GuardedAct]: Guarded<(typeof ACTS)[Name]['act']> }
