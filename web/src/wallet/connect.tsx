// Connects a wallet, and shows which wallet is connected, on which chain.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnect, useConnectors } from 'wagmi'
import { useDeployment } from '../ledger.ts'
import { chainInWords } from '../site.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Address, Amount } from '../ui/facts.tsx'
import { Failed } from '../ui/states.tsx'
import { fill } from '../words/message.ts'
import { words } from '../words/wallet.ts'
import { readableError, sentenceOfWallet } from './errors.ts'
import { isPhone, WalletApps } from './phones.tsx'
import { useDisconnect, useSwitchChain, useWallet } from './use-wallet.ts'

interface ConnectProps {
  label?: string
  /** What a visitor without a wallet can do instead. */
  payByHand?: () => void
  /** What the wallet has; null if it could not be read, left out if it was not read. */
  balanceWei?: bigint | null | undefined
  /** True while the wallet must stay. */
  isInert?: boolean
}

/** A button that opens the list of wallets; once connected, the wallet itself. */
export function Connect({ label = words.connect, payByHand, balanceWei, isInert }: ConnectProps) {
  const [open, setOpen] = useState(false)
  const wallet = useWallet()
  const { mutate: disconnect, isPending } = useDisconnect()
  // Otherwise the list would open again once the wallet is disconnected.
  if (wallet && open) setOpen(false)
  if (wallet) {
    return (
      <p className="connected" inert={isInert}>
        <span>
          {wallet.name} <Address of={wallet.address} />
          {balanceWei !== undefined && (
            <span className="note">
              <Amount wei={balanceWei} plain />
            </span>
          )}
        </span>
        <button type="button" className="button quiet" disabled={isPending} onClick={() => disconnect()}>
          {words.disconnect}
        </button>
      </p>
    )
  }
  return (
    <>
      <button type="button" className="button main wide big" onClick={() => setOpen(true)}>
        {label}
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title={words.connect}>
        <Wallets onConnected={() => setOpen(false)} payByHand={payByHand} />
      </Dialog>
    </>
  )
}

/**
 * The wallets to choose from. In a frame, we ask the page around it whether it is a Safe. A page that is not a Safe never answers, so we leave it
 * out.
 */
function useOffered() {
  const connectors = useConnectors()
  const safe = connectors.find(({ type }) => type === 'safe')
  const answers = useQuery({
    queryKey: ['safe around'],
    queryFn: async () => (await safe?.getProvider()) !== undefined,
    enabled: safe !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const available = answers.data ? connectors : connectors.filter((connector) => connector !== safe)
  // A wallet that does not announce itself is in the page's `ethereum`. But a wallet that does may be there too.
  const announcing = available.filter(({ id }) => id !== 'injected')
  return announcing.length > 0 ? announcing : available
}

function Wallets({ onConnected, payByHand }: { onConnected: () => void; payByHand: (() => void) | undefined }) {
  const connectors = useOffered()
  const { mutate: connect, error, isPending, variables } = useConnect()
  if (connectors.length === 0) return <NoneHere payByHand={payByHand} />
  return (
    <>
      <ul className="wallets">
        {connectors.map((connector) => (
          <li key={connector.uid}>
            <button
              type="button"
              className="button wide"
              disabled={isPending}
              onClick={() => connect({ connector }, { onSuccess: onConnected })}
            >
              {connector.icon && <img src={connector.icon} alt="" width="28" height="28" />}
              <span>{connector.id === 'injected' ? words.unnamed : connector.name}</span>
              {isPending && variables?.connector === connector && <span className="note">{words.confirm}</span>}
            </button>
          </li>
        ))}
      </ul>
      {error && <Failed error={readableError(error)} />}
      <p className="note">{words.keys}</p>
      {payByHand && (
        <button type="button" className="button wide" onClick={payByHand}>
          {words.byHand}
        </button>
      )}
    </>
  )
}

/** What a visitor can do if this browser has no wallet. On a phone: open an app that has one. */
function NoneHere({ payByHand }: { payByHand: (() => void) | undefined }) {
  return (
    <>
      {isPhone() ? <WalletApps /> : <p>{words.noneFound}</p>}
      {payByHand && (
        <button type="button" className="button main wide" onClick={payByHand}>
          {words.byHand}
        </button>
      )}
    </>
  )
}

/** Shows if the wallet is on another chain, and offers to switch. Null if all is well. */
export function WrongChain() {
  const wallet = useWallet()
  const { data: deployment } = useDeployment()
  const { mutate: change, isPending, error } = useSwitchChain()
  if (!wallet || !deployment || wallet.chainId === deployment.chainId) return null
  return (
    <div className="notice warn" role="alert">
      <p>
        {fill(words.wrongChain, { id: String(wallet.chainId), chain: chainInWords(deployment) })}
        {error && ` ${sentenceOfWallet(error)}`}
      </p>
      <button type="button" className="button" disabled={isPending} onClick={() => change(deployment.chainId)}>
        {isPending ? words.confirmSwitch : words.switch}
      </button>
    </div>
  )
}
