// What `node-ledger tiers …` shows before a change, which is a new version: the tier as it is, and what is entered.

import type { EveryPart } from '../../operator/act.ts'
import type { EnteredTier } from '../../operator/acts/tier-entry.ts'
import { changeTier, previewCancel, setOnSale } from '../../operator/acts/tiers.ts'
import type { Command } from '../command.ts'
import { actorHere } from '../database.ts'
import { accepted, commandOf, type View } from '../operator.ts'
import { outline, preview } from '../output.ts'

/** Shows what the act would do. */
const changeBy = (act: typeof changeTier): View => ({
  first: async (parts: EveryPart, input, call) => {
    const entry = accepted(await act(parts, actorHere(), { ...input, dryRun: true }), call)
    preview(call, entry.notes.join('\n'))
    return null
  },
  text: TEXT,
})
const TEXT = ({ tier: { versions: _, ...tier } }: EnteredTier, outcome: string) => `${outcome}\n${outline(tier)}`

export const VIEWS: Readonly<Record<string, View>> = {
  'tiers create': {
    first: (_parts, input, call) => {
      preview(call, `${outline(input)}\nOn sale from the next block on.`)
      return null
    },
    text: TEXT,
  },
  'tiers price': changeBy(changeTier),
  'tiers cancel': {
    first: async (parts: EveryPart, input, call) => {
      preview(call, `To cancel: ${accepted(await previewCancel(parts, input), call).inWords}.`)
      return null
    },
    text: TEXT,
  },
}

export const more = (): Command[] => [
  commandOf(setOnSale.operation, {
    ...changeBy(setOnSale),
    command: 'tiers on-sale',
    summary: 'put a tier on sale again',
    fixed: { onSale: true },
    leavesOut: ['graceSec', 'atOnce', 'dryRun'],
    examples: ['tiers on-sale plus --yes'],
    asks: 'Put it on sale?',
  }),
  commandOf(setOnSale.operation, {
    ...changeBy(setOnSale),
    command: 'tiers off-sale',
    summary: 'take a tier off sale; its nodes are still credited',
    details:
      'It still sells for a grace period, because caches keep quotes. The service holds later payments (saleClosed).',
    fixed: { onSale: false },
    leavesOut: ['dryRun'],
    examples: ['tiers off-sale plus --reason "sold out" --yes'],
    asks: 'Take it off sale?',
  }),
]
