// How `node-ledger wallets …` and `contract-wallets …` show their lists and, before they ask, what a change would do.
import type { EveryPart } from '../../operator/act.ts'
import type { ContractWalletsView } from '../../operator/contract-wallets.ts'
import { changeInWords, previewWallet, type WalletView } from '../../operator/payment-wallets.ts'
import { actorHere } from '../database.ts'
import { accepted, type View } from '../operator.ts'
import { tableOf } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'wallets list': {
    text: ({ wallets }: { wallets: WalletView[] }) =>
      wallets.length === 0
        ? 'None: nothing can be bought. "node-ledger wallets set <address>" enters one.'
        : tableOf(wallets, [
            'wallet',
            'state',
            ['from', fromInWords],
            ['closed with block', 'closedBlock'],
            ['entered by', 'enteredBy'],
          ]),
  },
  'wallets set': {
    first: async (parts: EveryPart, input, call) => {
      call.out.say(changeInWords(accepted(await previewWallet(parts, actorHere(), input), call)))
    },
  },
  'contract-wallets list': {
    text: ({ mode, modes, allowed, knownWallets }: ContractWalletsView) =>
      [
        `Mode: ${mode}. List of known wallets: version ${knownWallets}.`,
        modes.length === 0
          ? 'No mode was entered.'
          : tableOf(modes, ['mode', ['from block', 'fromBlock'], ['entered', 'enteredAt'], ['by', 'enteredBy']]),
        allowed.length === 0
          ? 'No contract is allowed.'
          : tableOf(allowed, ['address', 'label', 'reason', 'addedBy', 'addedAt']),
      ].join('\n\n'),
  },
}

// biome-ignore lint/suspicious/noExplicitAny: a row of a table
const fromInWords = ({ fromBlock, fromTime }: any) =>
  fromBlock === 0 ? 'the beginning' : `block ${fromBlock}, ${new Date(fromTime * 1000).toISOString()}`
