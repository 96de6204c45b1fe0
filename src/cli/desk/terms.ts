// What `node-ledger terms …` shows before it asks: the entry that it would make, and what the contract's owner has to do for it.
import type { EveryPart } from '../../operator/act.ts'
import { listTerms, previewTerms, proposalInWords, type TermsProposal } from '../../operator/acts/terms.ts'
import { actorHere } from '../database.ts'
import { accepted, type View } from '../operator.ts'
import { outline, preview } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'terms set': {
    first: async (parts: EveryPart, input, call) => {
      const proposal = accepted(await previewTerms(parts, actorHere(), input), call)
      if (!proposal.changed) return { result: proposal, text: proposalInWords(proposal) }
      preview(call, `${proposal.before ? `${outline({ before: proposal.before })}\n` : ''}${inWords(proposal)}`)
      preview(call, "Open cohorts keep their interval until the contract's owner sets it.")
      return null
    },
    // New blocks arrive while a person thinks, so the earliest time changes. We print the entry again.
    text: (proposal: TermsProposal) => `Entered.\n${inWords(proposal)}`,
  },
  'terms take-back': {
    first: async (parts: EveryPart, _input, call) => {
      const last = (await listTerms(parts)).terms.at(-1)
      if (last) preview(call, outline(last))
      return { input: { fromTime: last?.fromTime ?? 0 } }
    },
  },
}

function inWords(proposal: TermsProposal): string {
  const { ownersTransaction: next } = proposal
  const text = proposalInWords(proposal)
  if (next === null) return text
  return `${text}\nThe contract's owner must send this; until then turns are owed and wait:\n${outline(next)}`
}
