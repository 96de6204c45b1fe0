// How `node-ledger terms …` shows what a turn pays, whether turns are owed, and the schedule that new nodes join. Before it asks, it shows the entry
// that it would make and what the contract's owner has to do for it.
import type { OwnerTransaction } from '../../chain/factory/owner-calls.ts'
import type { EveryPart } from '../../operator/act.ts'
import { listTerms, previewTerms, type TermsList, type TermsProposal } from '../../operator/terms.ts'
import { actorHere } from '../database.ts'
import { inEther } from '../ether.ts'
import { accepted, type View } from '../operator.ts'
import { table } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'terms list': {
    text: ({ terms, ownersTransaction }: TermsList) => {
      if (terms.length === 0)
        return 'None, so nothing is judged, minted or paid. Enter terms with "node-ledger terms set".'
      const rows = terms.map((row) => [...cells(row), row.state, row.enteredBy])
      return `${table([...HEADS, 'state', 'entered by'], rows)}${forTheOwner(ownersTransaction)}`
    },
  },
  'terms set': {
    first: async (parts: EveryPart, input, call) => {
      const proposal = accepted(await previewTerms(parts, actorHere(), input), call)
      if (!proposal.changed) return { result: proposal, text: 'The latest terms are the same.' }
      call.out.say(inWords(proposal))
      return null
    },
    // New blocks arrive while a person thinks, so the earliest time changes. We print the entry again.
    text: ({ entries, ownersTransaction }: TermsProposal) =>
      `Entered.\n${table(HEADS, entries.map(cells))}${forTheOwner(ownersTransaction)}`,
  },
  'terms take-back': {
    first: async (parts: EveryPart, _input, { out }) => {
      const last = (await listTerms(parts)).terms.at(-1)
      if (last) out.say(table(HEADS, [cells(last)]))
      return { input: { fromTime: last?.fromTime ?? 0 } }
    },
  },
}

const HEADS = ['from', 'turns', 'ether, from', 'to', 'every s', 'slots of s']

const cells = (entry: TermsProposal['entries'][number]) => [
  entry.fromTime === 0 ? 'the beginning' : `${entry.fromTime} (${new Date(entry.fromTime * 1000).toISOString()})`,
  entry.payouts ? 'owed' : 'not owed',
  inEther(entry.minWei),
  inEther(entry.maxWei),
  entry.intervalSec,
  entry.slotSec,
]

function inWords({ before, entries, ownersTransaction }: TermsProposal): string {
  const rows = [...(before ? [cells(before)] : []), ...entries.map(cells)]
  return [
    table(HEADS, rows),
    `${before ? 'The first line shows the terms until then. ' : ''}A turn due exactly at that time is paid by the new terms. Open cohorts keep their interval until the contract's owner sets it.`,
    forTheOwner(ownersTransaction),
  ].join('\n')
}

function forTheOwner(transaction: OwnerTransaction | null): string {
  if (transaction === null) return ''
  const { to, call, data } = transaction
  return `\nThe contract's owner must send this; until then turns are owed and wait:\n  ${call}\n  to ${to}\n  data ${data}`
}
