// What `node-ledger wallets set` shows before it asks: what the change would do.
import type { EveryPart } from '../../operator/act.ts'
import { changeInWords, previewWallet } from '../../operator/acts/payment-wallets.ts'
import { actorHere } from '../database.ts'
import { accepted, type View } from '../operator.ts'
import { preview } from '../output.ts'

export const VIEWS: Readonly<Record<string, View>> = {
  'wallets set': {
    first: async (parts: EveryPart, input, call) => {
      preview(call, changeInWords(accepted(await previewWallet(parts, actorHere(), input), call)))
    },
  },
}
