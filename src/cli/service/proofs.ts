// What `node-ledger proofs lower` shows before the question: what the providers prove, and what the part would rest on.

import { lowerProofByHand } from '../../operator/acts/proofs.ts'
import { toldOf } from '../../operator/define-act.ts'
import { actorHere } from '../database.ts'
import { accepted, type View } from '../operator.ts'

type Parts = Parameters<typeof lowerProofByHand>[0]

const lower: View<Parts> = {
  first: async (parts, input, call) => {
    const shown = accepted(await lowerProofByHand(parts, actorHere(), { ...input, dryRun: true }), call)
    call.out.say(toldOf(lowerProofByHand.operation, shown))
    return null
  },
}

export const VIEWS: Readonly<Record<string, View>> = { 'proofs lower': lower }
