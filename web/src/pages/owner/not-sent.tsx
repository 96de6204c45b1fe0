// Why a wallet sent nothing, with the call to make by hand if the wallet sends none for a page.
import { WalletError } from '@node-ledger/client/viem'
import { Failed } from '../../ui/states.tsx'
import { LeftByHand } from '../../wallet/contract.tsx'
import { saidByWallet, sentenceOfWallet } from '../../wallet/errors.ts'

export function NotSent({ error }: { error: Error }) {
  if (!(error instanceof WalletError && error.call)) return <Failed error={saidByWallet(error)} />
  return <LeftByHand call={error.call}>{sentenceOfWallet(error)}</LeftByHand>
}
