// How `node-ledger owner …` shows the transactions that the contract's owner may sign. It prints, and never sends.
import type { OwnersPowers } from '../../chain/port.ts'
import { type OwnerDeps, type OwnerPreview, previewPause } from '../../operator/owner.ts'
import { withOwnerPreviews } from '../chain.ts'
import type { Command } from '../command.ts'
import { inEther } from '../ether.ts'
import { commandOf, type View } from '../operator.ts'
import { fields } from '../output.ts'

const PREVIEW: View = {
  open: withOwnerPreviews,
  text: describe,
  afterwards: ({ refusal }: OwnerPreview, { out }) => {
    if (refusal !== null) out.say(`The contract would refuse it now: ${refusal}.`)
  },
}

export const VIEWS: Readonly<Record<string, View>> = {
  'owner show': {
    open: withOwnerPreviews,
    text: (powers: OwnersPowers, { governance }: OwnerDeps) => {
      const { blockNumber, owner, pendingOwner, minter, budget, distributor, bounds, swapsAllowanceWei, paused } =
        powers
      return fields([
        ['factory', governance.factory],
        ['as of', `block ${blockNumber}`],
        ['owner', owner],
        ['offered to', BigInt(pendingOwner) === 0n ? null : pendingOwner],
        ['minter', `${minter}, may mint ${budget.nodes} nodes and open ${budget.cohorts} cohorts`],
        [
          'distributor',
          `${distributor}, may credit a node ${inEther(bounds.floorWei)} to ${inEther(bounds.ceilingWei)} ether for a turn`,
        ],
        ['from surplus', `${inEther(swapsAllowanceWei)} ether`],
        ['paused', paused ? 'yes: nothing is opened, minted or credited' : 'no'],
      ])
    },
  },
  'owner refill-minter': PREVIEW,
  'owner set-minter': PREVIEW,
  'owner set-distributor': PREVIEW,
  'owner set-bounds': PREVIEW,
  'owner cap-tier': PREVIEW,
  'owner expel': PREVIEW,
}

export const more = (): Command[] => [
  commandOf(previewPause.operation, {
    ...PREVIEW,
    command: 'owner pause',
    summary: 'preview the transaction that stops opening, minting and crediting on the contract',
    fixed: { paused: true },
    examples: ['owner pause'],
  }),
  commandOf(previewPause.operation, {
    ...PREVIEW,
    command: 'owner unpause',
    summary: 'preview the transaction that ends the contract’s pause',
    fixed: { paused: false },
    examples: ['owner unpause'],
  }),
]

/** Names of the values that a transaction changes, in words. Other names are shown unchanged. */
const CHANGED: Readonly<Record<string, string>> = {
  nodesLeft: 'nodes left',
  cohortsLeft: 'cohorts left',
  floorGwei: 'floor, gwei for each node and turn',
  ceilingGwei: 'ceiling, gwei for each node and turn',
  minted: 'nodes of the tier',
  most: 'the most it may ever have',
}

function describe({ owner, transaction, before, after, notes, refusal }: OwnerPreview): string {
  const changes = Object.keys({ ...before, ...after }).map(
    (name) => [CHANGED[name] ?? name, `${before[name] ?? '-'} -> ${after[name] ?? '-'}`] as const,
  )
  return [
    fields([
      ['signed by', owner],
      ['to', transaction.to],
      ['value', '0'],
      ['data', transaction.data],
      ['which is', transaction.call],
      ['would go through', refusal === null ? 'yes, as of now' : `no: ${refusal}`],
    ]),
    fields(changes),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ].join('\n\n')
}
