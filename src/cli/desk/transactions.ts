// How `node-ledger transactions stuck` shows its two lists.
import type { Column } from '../../operator/define-act.ts'
import type { View } from '../operator.ts'
import { tableOf } from '../output.ts'

const SENDERS: readonly Column[] = [
  'sender',
  ['nonce by the providers', 'said'],
  ['by followed blocks', 'known'],
  ['since block', 'sinceBlock'],
  ['to be taken over', 'takeOver'],
]
const TRANSACTIONS: readonly Column[] = [
  ...['sender', 'nonce', 'kind'],
  ['blocks', 'pendingBlocks'],
  ...['attempts', 'why'],
  ['providers said', 'lastOutcome'],
  ['offers per gas', ({ maxFeeWei }) => maxFeeWei],
  ['base fee', ({ baseFeeWei }) => baseFeeWei],
]

export const VIEWS: Readonly<Record<string, View>> = {
  'transactions stuck': {
    text: ({ senders, transactions }: { senders: object[]; transactions: object[] }) => {
      const parts = [
        ...(senders.length > 0 ? [tableOf(senders, SENDERS)] : []),
        ...(transactions.length > 0 ? [tableOf(transactions, TRANSACTIONS)] : []),
      ]
      return parts.length > 0 ? parts.join('\n\n') : 'None.'
    },
  },
}
