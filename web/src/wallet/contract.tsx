// What the pages show and do if the connected wallet is a contract (a Safe, a smart account). Its ether arrives by an internal call.
import type { Quote } from '@node-ledger/client'
import { isContract, type WalletCall } from '@node-ledger/client/viem'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { checksummed, ether, plainEther } from '../format.ts'
import { CopyRows } from '../ui/copy.tsx'
import { SignInLink } from '../ui/sign-in.tsx'
import { rich } from '../words/message.ts'
import { words } from '../words/wallet.ts'
import type { ConnectedWallet } from './use-wallet.ts'

/** True if a connected wallet is a contract; null until we know. */
export function useIsContract(wallet: ConnectedWallet | null): boolean | null {
  const code = useQuery({
    queryKey: ['code', wallet?.chainId, wallet?.address],
    queryFn: async () => (wallet ? isContract(await wallet.open()) : null),
    enabled: wallet !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return code.data ?? null
}

/** Shows a buyer before they pay what happens to the payment of a contract wallet. */
export function ContractNotice({ mode }: { mode: Quote['contractWallets'] }) {
  const notice = rich(words.notices[mode], { signIn: (text: ReactNode) => <SignInLink>{text}</SignInLink> })
  return (
    <div className={mode === 'hold' ? 'notice warn' : 'notice'}>
      <p>{notice}</p>
    </div>
  )
}

/** Shown when the wallet has accepted a call, because its other signers may have to agree. */
export function Proposed() {
  return (
    <p className="notice" role="status">
      {words.proposed}
    </p>
  )
}

/** A call to make by hand, if a wallet does not send it for this page. */
export function CallByHand({ call: { chainId, to, valueWei, data = '0x' } }: { call: WalletCall }) {
  return (
    <CopyRows
      rows={[
        [words.call.to, checksummed(to), checksummed(to)],
        [words.call.value, `${ether(valueWei)} ETH`, plainEther(valueWei)],
        [words.call.data, data, data],
        [words.call.chainId, String(chainId), String(chainId)],
      ]}
    />
  )
}

/** Explains that the owner must make a call by hand, and shows the call. */
export function LeftByHand({ call, children }: { call: WalletCall; children: ReactNode }) {
  return (
    <div className="notice warn" role="alert">
      <div className="stack">
        <p>{children}</p>
        <CallByHand call={call} />
      </div>
    </div>
  )
}
