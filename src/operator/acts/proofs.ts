// The act that makes the service believe a part of blocks without proof, after a fork that this version does not know. It never lowers a part that
// providers still prove, so an operator cannot make the service believe a lie by mistake.
import { lowerProof, readProofStates } from '../../db/blocks/proofs.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { VOICES } from '../../domain/finality.ts'
import { BEHIND_HEAD, PROVEN_PARTS, type ProvenPart } from '../../domain/observed.ts'
import type { ChainRead, LedgerDb } from '../../passes/context.ts'
import { type OperatorRefusal, refuseAct } from '../act.ts'
import { defineAct } from '../define-act.ts'
import * as field from '../input.ts'

export interface LoweredProof {
  dryRun: boolean
  part: ProvenPart
  /** The block that does not prove the part. */
  blockNumber: number
  /** What backs the part from then on: two providers that agree, or the only provider's word. */
  restsOn: 'agreed' | 'believed'
}

export const lowerProofByHand = defineAct({
  path: 'proofs/lower',
  scope: 'operate',
  command: 'proofs lower',
  args: ['part'],
  summary: 'believe a part of blocks without proof, after a fork that this version does not know',
  details:
    'Asks the providers first, and refuses if one still proves that part. If you can, update the service instead. Proof is required again once two providers prove it.',
  examples: ['proofs lower state --reason "the fork of May" --yes'],
  leavesOut: ['dryRun'],
  asks: ({ part }) => `Believe what providers report about the ${String(part)} of blocks?`,
  onChain: true,
  fields: {
    part: field.word('the part of blocks', PROVEN_PARTS, { value: 'part' }),
    dryRun: field.flag('only say what it would do'),
    reason: field.REASON,
  },
  run: async (
    { pool, chain }: LedgerDb & ChainRead,
    actor,
    { part, dryRun, reason },
  ): Promise<LoweredProof | OperatorRefusal> => {
    if ((await readProofStates(pool)).get(part) === 'lowered')
      return refuseAct('conflict', 'The service already believes it without proof.')
    const blockNumber = Math.max(0, (await chain.head()).number - BEHIND_HEAD)
    const shown = await chain.proofs.proofOfAny(part, blockNumber)
    if (shown === null) return refuseAct('notYet', 'No provider returns that part at the moment: try again.')
    if (shown !== false) return refuseAct('conflict', `Block ${shown} proves it, so nothing is lowered.`)
    const restsOn = chain.providers.length >= VOICES ? 'agreed' : 'believed'
    const lowered = { part, blockNumber, restsOn } as const
    if (dryRun) return { dryRun, ...lowered }
    const by = { by: actor.name, requestId: actor.requestId, reason }
    await inTransaction(pool, (sql) => lowerProof(sql, part, { blockNumber, ...by }))
    return { dryRun, ...lowered }
  },
  says: ({ dryRun, part, blockNumber, restsOn }) =>
    `No provider proves the ${part} at block ${blockNumber}: ${dryRun ? 'it would rest' : 'it rests'} on ${restsOn === 'agreed' ? 'two providers that agree' : 'the word of the only provider'}.`,
})
