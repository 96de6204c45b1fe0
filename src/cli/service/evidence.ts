// What `node-ledger evidence set` shows before the question: what the newest blocks prove, and what facts would rest on.

import { setEvidence } from '../../operator/acts/evidence.ts'
import { resultLine } from '../../operator/define-act.ts'
import { actorHere } from '../database.ts'
import { accepted, type View } from '../operator.ts'
import { preview } from '../output.ts'

type Parts = Parameters<typeof setEvidence>[0]

const set: View<Parts> = {
  first: async (parts, input, call) => {
    const plan = accepted(await setEvidence(parts, actorHere(), { ...input, dryRun: true }), call)
    preview(call, resultLine(setEvidence.operation, plan))
    return null
  },
}

export const VIEWS: Readonly<Record<string, View>> = { 'evidence set': set }
