// A purchase that this browser began and did not finish: the outcome of a wallet's prompt is unknown, or transfers are still to be made. Shown before
// the buyer pays a second time.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { getBlockNumber } from 'viem/actions'
import { Link } from 'wouter'
import { short } from '../../format.ts'
import { usePaymentsOf } from '../../live.ts'
import { Amount, Time } from '../../ui/facts.tsx'
import { nonceOf, useWallet } from '../../wallet/use-wallet.ts'
import { ordinal, words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import {
  type Intent,
  isPrompting,
  restOf,
  sentSince,
  useIntent,
  withoutLast,
  withSent,
  writeIntent,
} from '../payment/intent.ts'
import { useSentTransfer } from './sent.ts'

const t = words.unfinished

/** If a wallet has sent a transfer, its nonce shows that after this many blocks. */
const QUIET_BLOCKS = 3
const QUIET_MS = 30_000
const EVERY_MS = 4_000

interface UnfinishedProps {
  chainId: number | undefined
  tierId: string
  /** Shows payments that were sent. */
  show: (tierId: string, hashes: readonly string[]) => void
  children: ReactNode
}

/** Shows the unfinished purchase in place of `children`, which sell, until the buyer continues it, or until we know that the wallet sent nothing. */
export function Unfinished({ chainId, tierId, show, children }: UnfinishedProps) {
  const intent = useIntent()
  const [wasQuiet, setWasQuiet] = useState(false)
  const [resumedAt, setResumedAt] = useState<number | null>(null)
  const unfinished =
    intent === null || isPrompting(intent) || (!intent.isOpen && resumedAt === intent.at) ? null : intent
  return (
    <div tabIndex={-1} className="stack bare">
      {unfinished?.isOpen && (
        <Open key={unfinished.at} intent={unfinished} chainId={chainId} setWasQuiet={setWasQuiet} />
      )}
      {unfinished && !unfinished.isOpen && restOf(unfinished) > 0 && (
        <Rest
          intent={unfinished}
          isHere={unfinished.tierId === tierId}
          resume={() => setResumedAt(unfinished.at)}
          show={show}
        />
      )}
      {unfinished && !unfinished.isOpen && restOf(unfinished) === 0 && <Sent intent={unfinished} show={show} />}
      {unfinished === null && wasQuiet && intent === null && (
        <p className="notice" role="status">
          {fill(t.quiet, { n: QUIET_BLOCKS })}
        </p>
      )}
      {unfinished === null && children}
    </div>
  )
}

const amountOf = ({ priceWei }: Intent, transfers: number) => (
  <Amount wei={BigInt(priceWei) * BigInt(transfers)} plain />
)

interface OpenProps {
  intent: Intent
  chainId: number | undefined
  setWasQuiet: (wasQuiet: boolean) => void
}

/** A prompt with an unknown outcome: we do not know whether the wallet has sent. */
function Open({ intent, chainId, setWasQuiet }: OpenProps) {
  const payments = usePaymentsOf(intent.payer)
  const onChain = useSentTransfer(intent)
  const sentHash = sentSince(payments.data, intent) ?? onChain
  const [isSure, setIsSure] = useState(false)
  // The nonce proves nothing while an earlier transfer may still change it.
  const hasAll = intent.sent.every((hash) => payments.data?.some(({ txHash }) => txHash === hash))
  const isQuiet = useIsQuiet(intent, chainId) && payments.isSuccess && hasAll && !sentHash
  useEffect(() => {
    if (sentHash) writeIntent({ ...withSent(intent, sentHash), page: null })
  }, [sentHash, intent])
  useEffect(() => {
    setWasQuiet(isQuiet)
    if (isQuiet) writeIntent(withoutLast(intent))
  }, [isQuiet, intent, setWasQuiet])
  return (
    <div className="stack">
      <div className="notice warn" role="status">
        <p>
          {rich(intent.quantity > 1 && intent.asks === 1 ? t.askedOf : t.asked, {
            time: <Time at={new Date(intent.at)} />,
            amount: amountOf(intent, intent.asks),
            payer: short(intent.payer),
            number: intent.paid + 1,
            quantity: intent.quantity,
          })}
        </p>
        {intent.said && <p>{fill(t.said, { said: intent.said })}</p>}
        <p>{isSure ? t.twice : t.notHeard}</p>
      </div>
      <p>
        <button
          type="button"
          className="button"
          onClick={() => (isSure ? writeIntent(withoutLast(intent)) : setIsSure(true))}
        >
          {isSure ? t.nothingSent : t.showsNothing}
        </button>
      </p>
    </div>
  )
}

interface RestProps {
  intent: Intent
  /** True on the page of the tier that the purchase is for. */
  isHere: boolean
  resume: () => void
  show: UnfinishedProps['show']
}

/** Which transfers were sent, why the next was not, and an offer to send the others. */
function Rest({ intent, isHere, resume, show }: RestProps) {
  const { paid, quantity, sent: hashes, said: why, isRefused, tierId } = intent
  const { data: payments } = usePaymentsOf(intent.payer)
  const rest = { n: restOf(intent) }
  const values = { paid, quantity, nth: ordinal(paid + 1), why: why ?? '' }
  return (
    <div className="stack">
      <div className="notice warn" role="status">
        <p>
          <strong>{fill(why ? (isRefused ? t.refused : t.notSent) : t.partly, values)}</strong>
        </p>
        <ol className="sent">
          {hashes.map((hash) => {
            const status = payments?.find(({ txHash }) => txHash === hash)?.status
            return (
              <li key={hash}>
                <Link href={`/payment/${hash}`}>{short(hash)}</Link> {status ? words.payments[status] : t.onItsWay}
              </li>
            )
          })}
        </ol>
      </div>
      {isHere ? (
        <button type="button" className="button main wide" onClick={resume}>
          {fill(t.buyRest, rest)}
        </button>
      ) : (
        <Link href={`/buy/${tierId}`} className="button main wide">
          {fill(t.buyRest, rest)}
        </Link>
      )}
      <button
        type="button"
        className="button wide"
        onClick={() => {
          writeIntent(null)
          show(tierId, hashes)
        }}
      >
        {fill(t.leave, { n: paid })}
      </button>
    </div>
  )
}

/** A purchase whose transfers were all sent. */
function Sent({ intent, show }: { intent: Intent; show: UnfinishedProps['show'] }) {
  const { sent: hashes, tierId, quantity } = intent
  const [only] = hashes
  return (
    <div className="stack">
      <p className="notice warn" role="status">
        {rich(t.sent, {
          time: <Time at={new Date(intent.at)} />,
          amount: amountOf(intent, quantity),
          payer: short(intent.payer),
        })}
      </p>
      {hashes.length === 1 ? (
        <Link href={`/payment/${only}`} className="button main">
          {t.see}
        </Link>
      ) : (
        <button type="button" className="button main" onClick={() => show(tierId, hashes)}>
          {t.seeAll}
        </button>
      )}
      <p>
        <button type="button" className="button" onClick={() => writeIntent(null)}>
          {t.another}
        </button>
      </p>
    </div>
  )
}

/** True once the payer's nonce has not changed for so long that a transfer would have shown. False if we cannot read the nonce. */
function useIsQuiet({ payer, at, nonce }: Intent, chainId: number | undefined): boolean {
  const wallet = useWallet()
  const first = useRef<{ block: bigint; at: number } | null>(null)
  const reading = useQuery({
    queryKey: ['nonce', payer, at],
    queryFn: async () => {
      const own = await wallet?.open()
      if (!own) return false
      const [now, block] = await Promise.all([nonceOf(own), getBlockNumber(own)])
      first.current ??= { block, at: Date.now() }
      const { block: from, at: since } = first.current
      return now === nonce && block - from >= QUIET_BLOCKS && Date.now() - since >= QUIET_MS
    },
    enabled: wallet?.address === payer && wallet.chainId === chainId && typeof nonce === 'number',
    refetchInterval: EVERY_MS,
    gcTime: 0,
  })
  return reading.data ?? false
}
