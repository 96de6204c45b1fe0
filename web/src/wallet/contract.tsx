// What the pages say and do where the connected wallet is a contract (a Safe, a smart account), whose ether comes by an internal call.
import type { Quote } from '@node-ledger/client'
import { isContract, type WalletCall } from '@node-ledger/client/viem'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { checksummed, ether } from '../format.ts'
import { CopyRows } from '../ui/copy.tsx'
import { SignInLink } from '../ui/sign-in.tsx'
import type { ConnectedWallet } from './use-wallet.ts'

/** Whether a connected wallet is a contract; null while that is not known. */
export function useIsContract(wallet: ConnectedWallet | null): boolean | null {
  const code = useQuery({
    queryKey: ['code', wallet?.chainId, wallet?.address],
    queryFn: async () => (wallet ? isContract(await wallet.open()) : null),
    enabled: wallet !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return code.data ?? null
}

/** Tells a buyer whose wallet is a contract what becomes of its payment, before they pay. */
export function ContractNotice({ mode }: { mode: Quote['contractWallets'] }) {
  return <div className={mode === 'hold' ? 'notice warn' : 'notice'}>{NOTICES[mode]}</div>
}

const NOTICES: Record<Quote['contractWallets'], ReactNode> = {
  hold: (
    <p>
      This wallet is a contract. Its payment will be held for review: the operator looks at it, and releases the node or
      sends the ether back. From an ordinary account the node comes by itself.
    </p>
  ),
  proven: (
    <p>
      This wallet is a contract. Its payment becomes a node once the wallet is known to be somebody’s. A Safe and other
      known wallets are; any other <SignInLink>signs in here</SignInLink>, before it pays or after.
    </p>
  ),
  all: <p>This wallet is a contract. It buys as any other wallet does, and the node belongs to it.</p>,
}

/** Whose payments become nodes by themselves, in a sentence about contract wallets. */
export const CONTRACTS_MAY: Record<Quote['contractWallets'], string> = {
  hold: 'A transfer of a contract wallet (a Safe, a smart account) is held until the operator has looked.',
  proven: 'A contract wallet (a Safe, a smart account) may pay, too, once it is known to be somebody’s.',
  all: 'A contract wallet (a Safe, a smart account) may pay, too.',
}

/** The wallet has a call, and its other signers may have to agree. */
export function Proposed() {
  return (
    <p className="notice" role="status">
      The wallet has taken the call. It is sent once as many signers as the wallet asks for have agreed. This page waits
      for it, and need not stay open.
    </p>
  )
}

/** A call to be made by hand, for a wallet that this page cannot have send it. */
export function CallByHand({ call: { chainId, to, valueWei, data = '0x' } }: { call: WalletCall }) {
  return (
    <CopyRows
      rows={[
        ['To', checksummed(to), checksummed(to)],
        ['Value', `${ether(valueWei)} ETH`, ether(valueWei).replaceAll(',', '')],
        ['Data', data, data],
        ['Chain id', String(chainId), String(chainId)],
      ]}
    />
  )
}

/** Says that a call is left to be made by hand, and which. */
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
