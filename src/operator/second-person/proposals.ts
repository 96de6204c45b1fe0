// Proposals: acts that wait for a second person, who confirms or refuses them.
import { inTransaction, isDeadlock, type Pool, poolWithin, type Sql } from '../../db/core/sql.ts'
import * as proposals from '../../db/operator/proposals.ts'
import type { LedgerDb } from '../../passes/context.ts'
import {
  type Actor,
  isOperatorRefusal,
  type OperatorDeps,
  type OperatorRefusal,
  recordAct,
  refuseAct,
  refuseByScope,
} from '../act.ts'
import { defineAct } from '../define-act.ts'
import type { FieldReader } from '../input.ts'
import { actOf } from './guarded.ts'

const LISTED_MAX = 200
/** Of two who confirm acts on the same payments, the database ends one where each waits for the other: it goes through once the other is done. */
const ATTEMPTS = 3

const stateOf = ({ outcome, isExpired }: Pick<proposals.ProposalRow, 'outcome' | 'isExpired'>) =>
  outcome ?? (isExpired ? 'expired' : 'open')

/** GET proposals: those that wait first, then the newest. */
export async function listProposals({ pool }: LedgerDb): Promise<object> {
  const rows = await proposals.readProposals(pool, LISTED_MAX)
  return {
    proposals: rows.map(({ outcome, isExpired, ...row }) => ({
      ...row,
      scope: actOf(row.act)?.scope ?? null,
      state: stateOf({ outcome, isExpired }),
    })),
  }
}

/** POST proposals/:id/confirm `{reason?}`: the act is done now, by its own function; its row in the audit log has both names. */
export const confirmProposal = defineAct({
  read: readAnswer,
  run: (deps: OperatorDeps, actor, asked) =>
    answer(deps, actor, asked, async (sql, proposal) => {
      const { id, proposedBy } = proposal
      const known = actOf(proposal.act)
      if (!known) return refuseAct('unavailable', `This version does not know the act ${proposal.act}.`)
      if (await proposals.mayBeSamePerson(sql, proposedBy, actor.name))
        return refuseAct('forbidden', sameWords(proposedBy, actor.name))
      const person = { name: proposedBy, requestId: actor.requestId, confirmed: { by: actor.name, proposal: id } }
      // One transaction: an act that is done is a proposal that is confirmed, whenever this process ends.
      const done = await known.unguarded({ ...deps, pool: poolWithin(sql) }, person, proposal.input)
      if (!isOperatorRefusal(done)) {
        await proposals.settleProposal(sql, id, { outcome: 'confirmed', by: actor.name, refusal: null })
        return { id, state: 'confirmed', done }
      }
      // What may be asked again shortly stays a proposal.
      if (done.because === 'notYet' || done.because === 'unavailable') return done
      await proposals.settleProposal(sql, id, { outcome: 'failed', by: actor.name, refusal: done.message })
      return refuseAct('conflict', `It cannot be done any more. ${done.message}`)
    }),
})

/** POST proposals/:id/refuse `{reason?}`: it is not done. Who proposed it may take it back so. */
export const refuseProposal = defineAct({
  read: readAnswer,
  run: (deps: LedgerDb, actor, asked) =>
    answer(deps, actor, asked, async (sql, { id, act, proposedBy }) => {
      await proposals.settleProposal(sql, id, { outcome: 'refused', by: actor.name, refusal: null })
      const [before, { reason }] = [{ act, proposedBy }, asked]
      await recordAct(sql, actor, { action: 'proposalRefused', subject: `proposal ${id}`, before, reason })
      return { id, state: 'refused' }
    }),
})

/** Which proposal is answered. */
interface Answered {
  readonly id: number
  readonly reason: string | null
}

function readAnswer(fields: FieldReader): Answered {
  return { id: fields.whole('id', 1, Number.MAX_SAFE_INTEGER), reason: fields.textOrNull('reason') }
}

const sameWords = (one: string, other: string) =>
  one === other
    ? 'It takes a second person: you proposed it yourself.'
    : 'It takes a second person: the same person has made a key of yours and one of theirs, or one of you made a key of the other.'

/** Locks the proposal until the transaction ends in which `body` answers it. */
async function answer(
  { pool }: LedgerDb,
  { held }: Actor,
  { id }: Answered,
  body: (sql: Sql, proposal: proposals.ProposalRow) => Promise<object | OperatorRefusal>,
): Promise<object | OperatorRefusal> {
  return inTransactionAgain(pool, async (sql) => {
    const proposal = await proposals.lockProposal(sql, id)
    if (!proposal) return refuseAct('notFound', `There is no proposal ${id}.`)
    const state = stateOf(proposal)
    if (state === 'expired') return refuseAct('conflict', `Proposal ${id} has expired: have it proposed again.`)
    if (state !== 'open') return refuseAct('conflict', `Proposal ${id} was ${state} before, by ${proposal.settledBy}.`)
    const scope = actOf(proposal.act)?.scope
    if (held && scope && !held.scopes.includes(scope)) return refuseByScope(scope)
    return body(sql, proposal)
  })
}

async function inTransactionAgain<T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, body)
    } catch (error) {
      if (attempt === ATTEMPTS || !isDeadlock(error)) throw error
    }
  }
}
