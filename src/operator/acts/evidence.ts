// The act that changes what the ledger's blocks are worth: `agreed` after a fork that this version does not know, `proven` once it does. It never
// gives up proofs that providers still return, so an operator cannot make the service believe a lie by mistake.
import { readMode, setMode } from '../../db/blocks/evidence.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { canAgree, foundInWords } from '../../domain/finality.ts'
import { EVIDENCE_MODES, type EvidenceMode } from '../../domain/observed.ts'
import type { ChainRead, LedgerDb } from '../../ports/contexts.ts'
import { type OperatorRefusal, refuseAct } from '../act.ts'
import { defineAct } from '../define-act.ts'
import * as field from '../input.ts'

export interface ChangedEvidence {
  dryRun: boolean
  before: EvidenceMode
  after: EvidenceMode
  /** What the newest blocks show. */
  found: string
  /** What backs a fact from then on: its block's hash, two providers that agree, or the only provider's word. */
  restsOn: 'proven' | 'agreed' | 'believed'
}

export const setEvidence = defineAct({
  path: 'evidence/set',
  scope: 'operate',
  command: 'evidence set',
  args: ['mode'],
  summary:
    'accept blocks that two providers agree on, after a fork that this version does not know, or require proof again',
  details:
    'The service asks the providers first, and refuses if their newest blocks need the other mode. The mode applies from the next block on. If you can, update the service instead.',
  examples: ['evidence set agreed --reason "the fork of May" --yes'],
  leavesOut: ['dryRun'],
  asks: ({ mode }) => (mode === 'agreed' ? 'Accept blocks without proof?' : 'Reject blocks without proof?'),
  onChain: true,
  fields: {
    mode: field.word('which blocks the service accepts', EVIDENCE_MODES, { value: 'mode' }),
    dryRun: field.flag('only show what it would do'),
    reason: field.REASON,
  },
  run: async (
    { pool, chain }: LedgerDb & ChainRead,
    actor,
    { mode, dryRun, reason },
  ): Promise<ChangedEvidence | OperatorRefusal> => {
    const inForce = await readMode(pool)
    if (!inForce) return refuseAct('notYet', 'The ledger has no block yet. Its first run finds the mode.')
    if (inForce.mode === mode) return refuseAct('conflict', `It is ${mode} already, since block ${inForce.fromBlock}.`)
    const support = await chain.proofs.findMode()
    if (!support)
      return refuseAct('notYet', 'The providers do not agree on the recent blocks at the moment: try again.')
    if (support.mode !== mode) return refuseAct('conflict', `No change: ${foundInWords(support)}.`)
    const restsOn = mode === 'proven' ? 'proven' : canAgree(chain) ? 'agreed' : 'believed'
    const change = { before: inForce.mode, after: mode, found: foundInWords(support), restsOn } as const
    if (dryRun) return { dryRun, ...change }
    await inTransaction(pool, (sql) => setMode(sql, mode, { by: actor.name, requestId: actor.requestId, reason }))
    return { dryRun, ...change }
  },
  says: evidenceInWords,
})

function evidenceInWords({ dryRun, found, restsOn }: ChangedEvidence): string {
  return `${found}. A fact ${dryRun ? 'would rest' : 'rests'} on ${RESTS_ON[restsOn]}.`
}

const RESTS_ON = {
  proven: 'its block’s hash',
  agreed: 'two providers that agree',
  believed: 'the only provider, if TRUST_PROVIDER trusts it',
}
