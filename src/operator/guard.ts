// Makes an act wait for a second person by storing it as a proposal instead of running it. The ledger's rule sets the amount above which acts wait.
// While the rule is set, some acts always wait. Acts that build on what the ledger has wait while it reads blocks again.
import { readMending } from '../db/blocks/mending.ts'
import { inTransaction, type Pool, type Sql } from '../db/core/sql.ts'
import { readState } from '../db/core/state.ts'
import { insertProposal } from '../db/operator/proposals.ts'
import { UINT256_MAX, type Wei, wei } from '../domain/units.ts'
import { type Actor, type Fields, type OperatorRefusal, type Proposed, recordAct, refuseAct } from './act.ts'

/** A sum that exceeds any amount of the rule, for acts that always wait while the rule is set. */
export const ANY_SUM = UINT256_MAX + 1n

/** The part of an act's declaration that decides when it waits. */
export interface Guard<Asked> {
  /** The act's name in a proposal. */
  readonly proposedAs: string
  /** The wei that the act lets through. The act waits if this is more than the rule's amount. */
  readonly sum: (sql: Sql, request: Asked) => bigint | Promise<bigint>
}

/** The amount above which a second person is needed; null while the rule is off. */
export async function readBound(sql: Sql): Promise<Wei | null> {
  const bound = await readState(sql, 'second_person_wei')
  return bound === null ? null : wei(bound)
}

/** True if an act with this input has to wait. */
export async function mustWait<Asked>(sql: Sql, { sum }: Pick<Guard<Asked>, 'sum'>, request: Asked): Promise<boolean> {
  const bound = await readBound(sql)
  return bound !== null && (await sum(sql, request)) > bound
}

/** Stores an act as a proposal. */
export function propose(pool: Pool, actor: Actor, act: string, input: Fields): Promise<Proposed> {
  return inTransaction(pool, async (sql) => {
    const { id, expiresAt, isNew } = await insertProposal(sql, {
      act,
      input,
      by: actor.name,
      keyDigest: actor.keyDigest ?? null,
    })
    const reason = typeof input.reason === 'string' ? input.reason : null
    if (isNew)
      await recordAct(sql, actor, { action: 'proposed', subject: `proposal ${id}`, after: { act, input }, reason })
    const says = `Not done yet: a second person has to confirm it, as proposal ${id}.`
    return { proposal: { id, act, expiresAt, says } }
  })
}

/** Refuses an act that builds on what the ledger has, while it reads blocks again (db/blocks/mending.ts); null if it does not. */
export async function refuseWhileMending(sql: Sql): Promise<OperatorRefusal | null> {
  const mending = await readMending(sql)
  return (
    mending &&
    refuseAct('notYet', `The ledger reads blocks ${mending.at + 1} to ${mending.to} again. Try again after that.`)
  )
}
