// How `node-ledger owner …` reads the contract. It previews the transactions that the contract's owner may sign, and never sends.
import { previewPause } from '../../operator/acts/owner.ts'
import { withOwnerPreviews } from '../chain.ts'
import type { Command } from '../command.ts'
import { commandOf, type View } from '../operator.ts'

const PREVIEW: View = { open: withOwnerPreviews }

export const VIEWS: Readonly<Record<string, View>> = {
  'owner show': PREVIEW,
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
    summary: 'preview the transaction that pauses opening, minting and crediting on the contract',
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
