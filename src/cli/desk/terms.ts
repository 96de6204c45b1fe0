// What `node-ledger terms …` adds to its acts: which entry the command withdraws, and the owner's transaction in full.
import type { EveryPart } from '../../operator/act.ts'
import { listTerms, type TermsProposal } from '../../operator/acts/terms.ts'
import type { View } from '../operator.ts'
import { outline } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'terms set': {
    // New blocks arrive while a person thinks, so the earliest time changes. We print the entry again.
    text: ({ changed, ownersTransaction: next }: TermsProposal, outcome) =>
      next === null || !changed
        ? `${changed ? 'Entered. ' : ''}${outcome}`
        : `Entered. ${outcome}\nThe contract's owner must send this; until then turns are owed and wait:\n${outline(next)}`,
  },
  'terms cancel': {
    first: async (parts: EveryPart) => ({ fromTime: (await listTerms(parts)).terms.at(-1)?.fromTime ?? 0 }),
  },
}
