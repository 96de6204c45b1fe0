// The commands `node-ledger owner pause` and `owner unpause`: the two directions of one preview.
import { previewPause } from '../../operator/acts/owner.ts'
import type { Command } from '../command.ts'
import { commandOf } from '../operator.ts'

export const more = (): Command[] => [
  commandOf(previewPause.operation, {
    command: 'owner pause',
    summary: 'preview the transaction that pauses opening, minting and crediting on the contract',
    fixed: { paused: true },
    examples: ['owner pause'],
  }),
  commandOf(previewPause.operation, {
    command: 'owner unpause',
    summary: 'preview the transaction that ends the contract’s pause',
    fixed: { paused: false },
    examples: ['owner unpause'],
  }),
]
