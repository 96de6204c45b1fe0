// What `node-ledger tiers …` shows before a change, which is a new version: the tier as it is, and what is entered.

import type { EveryPart, Fields } from '../../operator/act.ts'
import { changesIn, whatStillBuys } from '../../operator/acts/tier-change.ts'
import { type EnteredTier, listTiers, nextGraceSec, setOnSale, type TierView } from '../../operator/acts/tiers.ts'
import type { Command } from '../command.ts'
import { commandOf, type View } from '../operator.ts'
import { outline, preview } from '../output.ts'

const CHANGE: View = {
  first: async (parts: EveryPart, input, call) => {
    const { tiers } = await listTiers(parts)
    const current = tiers.find(({ tierId }) => tierId === input.tierId)
    if (!current) {
      preview(call, `${outline(input)}\nOn sale from the next block on.`)
      return null
    }
    const changes = changesIn(current, input).join(', ') || 'No change'
    preview(call, `${changes} from the next block on. ${graceInWords(current, input, parts)}`.trimEnd())
    return null
  },
  text: ({ tier: { versions: _, ...tier } }: EnteredTier, outcome) => `${outcome}\n${outline(tier)}`,
}

export const VIEWS: Readonly<Record<string, View>> = {
  'tiers create': CHANGE,
  'tiers price': CHANGE,
}

export const more = (): Command[] => [
  commandOf(setOnSale.operation, {
    ...CHANGE,
    command: 'tiers on-sale',
    summary: 'put a tier on sale again',
    fixed: { onSale: true },
    leavesOut: ['graceSec', 'atOnce'],
    examples: ['tiers on-sale plus --yes'],
    asks: 'Put it on sale?',
  }),
  commandOf(setOnSale.operation, {
    ...CHANGE,
    command: 'tiers off-sale',
    summary: 'take a tier off sale; its nodes are still credited',
    details:
      'It still sells for a grace period, because caches keep quotes. The service holds later payments (saleClosed).',
    fixed: { onSale: false },
    examples: ['tiers off-sale plus --reason "sold out" --yes'],
    asks: 'Take it off sale?',
  }),
]

/** Until when the current terms still apply to sales. */
function graceInWords(current: TierView, input: Fields, { rules }: EveryPart): string {
  const still = whatStillBuys(current, input)
  if (still === null) return ''
  if (input.atOnce === true) return 'A payment in a later block for the earlier version is not a sale.'
  return `Then ${still} for another ${Number(input.graceSec ?? nextGraceSec(current.versions, rules)) / 60} minutes.`
}
