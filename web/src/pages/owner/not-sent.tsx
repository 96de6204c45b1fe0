// Why a wallet sent nothing. If the wallet sends no transactions for a web page, also shows the call to make by hand.
import { WalletError } from '@node-ledger/client/viem'
import { Failed } from '../../ui/states.tsx'
import { LeftByHand } from '../../wallet/contract.tsx'
import { readableError, sentenceOfWallet } from '../../wallet/errors.ts'

export function NotSent({ error }: { error: Error }) {
  if (!(error instanceof WalletError && error.call)) return <Failed error={readableError(error)} />
  return <LeftByHand call={error.call}>{sentenceOfWallet(error)}</LeftByHand>
}
