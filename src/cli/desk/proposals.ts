// The command `proposals confirm`. If the act makes files for a Safe, they must reach the person who confirms.
import type { LedgerPart } from '../../operator/act.ts'
import { listProposals } from '../../operator/acts/second-person/proposals.ts'
import { actOf } from '../../operator/define-act.ts'
import type { View } from '../operator.ts'
import { outline } from '../output.ts'
import { filesOf, mustReach, SAFE_FILE, writeFiles } from './safe-file.ts'

type Done = { done: object }

export const VIEWS: Readonly<Record<string, View>> = {
  'proposals confirm': {
    options: SAFE_FILE,
    first: async (parts: LedgerPart, { id }, call) => {
      const { proposals } = await listProposals(parts)
      const proposal = proposals.find((one) => String(one.id) === String(id))
      if (proposal && actOf(proposal.act)?.operation.makesFiles) await mustReach(call)
      return null
    },
    text: ({ done }: Done, outcome) => (filesOf(done).length > 0 ? outcome : [outcome, outline({ done })].join('\n')),
    last: (call, { done }: Done) => writeFiles(call, done),
  },
}
