// How `node-ledger tiers …` shows what is on sale at what price. A change is a new version; before it is entered, the command shows what it changes.
import type { EveryPart, Fields } from '../../operator/act.ts'
import { type EnteredTier, listTiers, nextGraceSec, setOnSale, type TierView } from '../../operator/tiers.ts'
import type { Command } from '../command.ts'
import { inEther } from '../ether.ts'
import { commandOf, type View } from '../operator.ts'
import { fields, tableOf } from '../output.ts'

const CHANGE: View = {
  first: async (parts: EveryPart, input, { out }) => {
    const { tiers } = await listTiers(parts)
    const known = tiers.find(({ tierId }) => tierId === input.tierId)
    out.say(preview(known ?? null, input))
    out.say(`It takes effect from the next block on.${known ? ` ${graceInWords(known, input, parts)}` : ''}`)
  },
  text: ({ changed, tier }: EnteredTier) => `${changed ? 'Entered' : 'No change'}.\n${asTable([tier])}`,
}

export const VIEWS: Readonly<Record<string, View>> = {
  'tiers list': {
    text: ({ tiers }: { tiers: TierView[] }) =>
      tiers.length === 0 ? 'None. "node-ledger tiers create" enters a tier.' : asTable(tiers),
  },
  'tiers preview': { text: ({ notes }: { notes: string[] }) => notes.join('\n') },
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

const asTable = (tiers: readonly TierView[]): string =>
  tableOf(tiers, [
    ['tier', 'tierId'],
    ['no', 'tierNo'],
    'label',
    ['ether', 'priceWei'],
    ['per wallet', 'maxPerWallet'],
    ['payout', ({ payoutBps }) => `${Number(payoutBps) / 100} %`],
    [
      'must hold',
      ({ holdingToken: token, holdingWei, holdingSymbol }) => token && `${holdingWei} of ${holdingSymbol ?? token}`,
    ],
    ['supply', 'supply'],
    ['sold', 'sold'],
    ['opens', ({ opensAt }) => timeOf(opensAt)],
    ['closes', ({ closesAt }) => timeOf(closesAt)],
    ['opens after', 'opensAfter'],
    ['on sale', ({ onSale }) => (onSale ? 'yes' : 'no')],
    ['version', ({ versions }) => (versions as object[]).length],
    ['from block', 'fromBlock'],
  ])

const timeOf = (unix: unknown) => (typeof unix === 'number' ? new Date(unix * 1000).toISOString() : null)

/** Until when the current terms still apply to sales. */
function graceInWords({ versions }: TierView, { graceSec, atOnce }: Fields, { rules }: EveryPart): string {
  if (atOnce === true) return 'A payment in a later block for the earlier version is not a sale.'
  return `The earlier version remains on sale for another ${Number(graceSec ?? nextGraceSec(versions, rules)) / 60} minutes.`
}

/** The new values next to the current ones. */
function preview(before: TierView | null, input: Fields): string {
  const now = before as unknown as Record<string, unknown> | null
  return fields(
    Object.entries(input).map(([name, value]) => {
      const old = name === 'tierId' || name === 'reason' ? undefined : now?.[name]
      return [
        name,
        old === undefined || String(old) === String(value)
          ? shown(name, value)
          : `${shown(name, old)} -> ${shown(name, value)}`,
      ]
    }),
  )
}

function shown(name: string, value: unknown): string {
  if (name !== 'priceWei' || !/^\d+$/.test(String(value))) return String(value)
  return `${value} (${inEther(String(value))} ether)`
}
