// What `node-ledger tiers …` shows after a change, which is a new version, and its commands that only put a tier on sale or take it off.
import type { EnteredTier } from '../../operator/acts/tier-entry.ts'
import { changeTier } from '../../operator/acts/tiers.ts'
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

const onlyWith = (names: readonly string[]) => ({
  leavesOut: Object.keys(changeTier.operation.fields).filter((name) => !['tierId', 'reason', ...names].includes(name)),
})

export const more = (): Command[] => [
  commandOf(changeTier.operation, {
    ...SHOWN,
    command: 'tiers on-sale',
    summary: 'put a tier on sale again',
    fixed: { onSale: true },
    ...onlyWith(['fromTime']),
    examples: ['tiers on-sale plus --yes'],
    asks: 'Put it on sale?',
  }),
  commandOf(changeTier.operation, {
    ...SHOWN,
    command: 'tiers off-sale',
    summary: 'take a tier off sale; its nodes are still credited',
    details:
      'It still sells for a grace period, because caches keep quotes. The service holds later payments (saleClosed).',
    fixed: { onSale: false },
    ...onlyWith(['graceSec', 'immediately', 'fromTime']),
    examples: ['tiers off-sale plus --reason "sold out" --yes'],
    asks: 'Take it off sale?',
  }),
]
