// What `node-ledger tiers …` shows after a change, which is a new version, and its commands for the two directions of one act.
import type { EnteredTier } from '../../operator/acts/tier-entry.ts'
import { setOnSale } from '../../operator/acts/tiers.ts'
import type { Command } from '../command.ts'
import { commandOf, type View } from '../operator.ts'
import { outline } from '../output.ts'

const SHOWN: View = {
  text: ({ tier: { versions: _, ...tier } }: EnteredTier, outcome) => `${outcome}\n${outline(tier)}`,
}

export const VIEWS: Readonly<Record<string, View>> = {
  'tiers create': SHOWN,
  'tiers price': SHOWN,
  'tiers cancel': SHOWN,
}

export const more = (): Command[] => [
  commandOf(setOnSale.operation, {
    ...SHOWN,
    command: 'tiers on-sale',
    summary: 'put a tier on sale again',
    fixed: { onSale: true },
    leavesOut: ['graceSec', 'immediately'],
    examples: ['tiers on-sale plus --yes'],
    asks: 'Put it on sale?',
  }),
  commandOf(setOnSale.operation, {
    ...SHOWN,
    command: 'tiers off-sale',
    summary: 'take a tier off sale; its nodes are still credited',
    details:
      'It still sells for a grace period, because caches keep quotes. The service holds later payments (saleClosed).',
    fixed: { onSale: false },
    examples: ['tiers off-sale plus --reason "sold out" --yes'],
    asks: 'Take it off sale?',
  }),
]
