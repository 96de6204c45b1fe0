// Proposals: acts that wait for a second person, who confirms or refuses them.
import { inTransaction, poolWithin, type Sql } from '../../../db/core/sql.ts'
import * as proposals from '../../../db/operator/proposals.ts'
import type { LedgerDb } from '../../../ports/contexts.ts'
import {
  type Actor,
  type EnvironmentKeys,
  type EveryPart,
  isOperatorRefusal,
  type OperatorRefusal,
  recordAct,
  refuseAct,
  refuseByScope,
} from '../../act.ts'
import { actOf, defineAct, defineReading, resultLine } from '../../define-act.ts'
import * as field from '../../input.ts'

const LISTED_MAX = 200

const stateOf = ({ outcome, isExpired }: Pick<proposals.ProposalRow, 'outcome' | 'isExpired'>) =>
  outcome ?? (isExpired ? 'expired' : 'open')

const digestsOf = (keys: EnvironmentKeys['environmentKeys']) => keys.map(({ digest }) => digest)

/** Proposals, open ones first, then newest first. */
export const listProposals = defineReading({
  path: 'proposals',
  command: 'proposals list',
  summary: 'list actions that wait for a second person, and earlier proposals with their results',
  examples: ['proposals list'],
  fields: {},
  run: async ({ pool, environmentKeys }: LedgerDb & EnvironmentKeys) => {
    const rows = await proposals.readProposals(pool, LISTED_MAX, digestsOf(environmentKeys))
    return {
      proposals: rows.map(({ outcome, isExpired, ...row }) => ({
        ...row,
        scope: actOf(row.act)?.scope ?? null,
        state: stateOf({ outcome, isExpired }),
      })),
    }
  },
  columns: [
    'id',
    'state',
    'act',
    'input',
    'proposedBy',
    ['its key has ended', 'makerEnded'],
    'proposedAt',
    'expiresAt',
    'settledBy',
    'refusal',
  ],
})

/** The proposal to confirm or refuse. Any key may call the route, but it needs the scope of the proposed act. */
const ANSWER = { id: field.id('its number in the list'), reason: field.REASON }

/** `done` is what the act answered. */
interface ConfirmedProposal {
  id: number
  state: 'confirmed'
  act: string
  done: object
}

/** Runs the act's own function; its row in the audit log has both names. */
export const confirmProposal = defineAct({
  path: 'proposals/:id/confirm',
  scope: null,
  command: 'proposals confirm',
  summary: 'confirm another person’s proposal: the service does it now, if it still can',
  examples: ['proposals confirm <proposal> --yes'],
  fields: ANSWER,
  onChain: true,
  asks: 'Confirm it? The service does it now.',
  run: (deps: EveryPart, actor, request) =>
    answer(deps, actor, request, async (sql, proposal): Promise<ConfirmedProposal | OperatorRefusal> => {
      const { id, proposedBy } = proposal
      const action = actOf(proposal.act)
      if (!action) return refuseAct('unavailable', `This version does not know the action ${proposal.act}.`)
      if (await proposals.mayBeSamePerson(sql, proposedBy, actor.name))
        return refuseAct('forbidden', sameWords(proposedBy, actor.name))
      if (!(await proposals.isMakerLive(sql, id, digestsOf(deps.environmentKeys))))
        return refuseAct('conflict', 'The key that proposed it was revoked or has expired. Propose it again.')
      const person = { name: proposedBy, requestId: actor.requestId, confirmed: { by: actor.name, proposal: id } }
      // Runs in one transaction, so that an act that ran always has a confirmed proposal, even if this process dies.
      const result = await action.unguarded({ ...deps, pool: poolWithin(sql) }, person, proposal.input)
      if (!isOperatorRefusal(result)) {
        await proposals.settleProposal(sql, id, { outcome: 'confirmed', by: actor.name, refusal: null })
        return { id, state: 'confirmed', act: proposal.act, done: result }
      }
      // If the act may succeed later, the proposal stays open.
      if (result.because === 'notYet' || result.because === 'unavailable') return result
      await proposals.settleProposal(sql, id, { outcome: 'failed', by: actor.name, refusal: result.message })
      return refuseAct('conflict', `It can no longer be done. ${result.message}`)
    }),
  preview: async ({ id, act, done }, _request, sql) => {
    const proposal = await proposals.lockProposal(sql, id)
    return `${proposal?.proposedBy} proposed: ${await actOf(act)?.previewText(sql, proposal?.input ?? {}, done)}`
  },
  says: ({ act, done }) => `Confirmed. ${resultLine(actOf(act)?.operation ?? {}, done)}`,
})

export const refuseProposal = defineAct({
  path: 'proposals/:id/refuse',
  scope: null,
  command: 'proposals refuse',
  summary: 'refuse a proposal, or withdraw your own',
  examples: ['proposals refuse <proposal> --reason "too much" --yes'],
  fields: ANSWER,
  asks: 'Refuse it?',
  run: (deps: LedgerDb, actor, request) =>
    answer(deps, actor, request, async (sql, { id, act, proposedBy }) => {
      await proposals.settleProposal(sql, id, { outcome: 'refused', by: actor.name, refusal: null })
      const [before, { reason }] = [{ act, proposedBy }, request]
      await recordAct(sql, actor, { action: 'proposalRefused', subject: `proposal ${id}`, before, reason })
      return { id, state: 'refused' }
    }),
  preview: async ({ id }, _request, sql) => {
    const proposal = await proposals.lockProposal(sql, id)
    return `Proposal ${id} of ${proposal?.proposedBy} (${proposal?.act}) is not done.`
  },
  says: 'Refused.',
})

const sameWords = (one: string, other: string) =>
  one === other
    ? 'This needs a second person: you proposed it yourself.'
    : 'This needs a second person: one of you made the other’s key, or the same person made a key for both of you.'

/** Locks the proposal until the end of the transaction in which `body` answers it. */
async function answer<Answer>(
  { pool }: LedgerDb,
  { held }: Actor,
  { id }: field.Read<typeof ANSWER>,
  body: (sql: Sql, proposal: proposals.ProposalRow) => Promise<Answer | OperatorRefusal>,
): Promise<Answer | OperatorRefusal> {
  return inTransaction(pool, async (sql) => {
    const proposal = await proposals.lockProposal(sql, id)
    if (!proposal) return refuseAct('notFound', `There is no proposal ${id}.`)
    const state = stateOf(proposal)
    if (state === 'expired') return refuseAct('conflict', `Proposal ${id} has expired. Propose it again.`)
    if (state !== 'open') return refuseAct('conflict', `Proposal ${id} was ${state} before, by ${proposal.settledBy}.`)
    const scope = actOf(proposal.act)?.scope
    if (held && scope && !held.scopes.includes(scope)) return refuseByScope(scope)
    return body(sql, proposal)
  })
}
