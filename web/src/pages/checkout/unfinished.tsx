// A purchase that this browser began and whose end no page has seen. Shown before anyone pays a second time.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { getBlockNumber } from 'viem/actions'
import { Link } from 'wouter'
import { short } from '../../format.ts'
import { usePaymentsOf } from '../../live.ts'
import { Amount, Time } from '../../ui/facts.tsx'
import { nonceOf, useWallet } from '../../wallet/use-wallet.ts'
import { words } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { type Intent, isAsking, sentSince, useIntent, writeIntent } from '../payment/intent.ts'

const t = words.unfinished

/** If a wallet has sent a transfer, its nonce shows it by then. */
const QUIET_BLOCKS = 3
const QUIET_MS = 30_000
const EVERY_MS = 4_000

/** Shows the unfinished purchase in place of `children`, which sell, until we know that the wallet sent nothing. */
export function Unfinished({ chainId, children }: { chainId: number | undefined; children: ReactNode }) {
  const intent = useIntent()
  const [wasQuiet, setWasQuiet] = useState(false)
  if (intent !== null && !isAsking(intent))
    return <Begun key={intent.at} intent={intent} chainId={chainId} setWasQuiet={setWasQuiet} />
  return (
    <>
      {wasQuiet && intent === null && (
        <p className="notice" role="status">
          {fill(t.quiet, { n: QUIET_BLOCKS })}
        </p>
      )}
      {children}
    </>
  )
}

interface BegunProps {
  intent: Intent
  chainId: number | undefined
  setWasQuiet: (wasQuiet: boolean) => void
}

function Begun({ intent, chainId, setWasQuiet }: BegunProps) {
  const payments = usePaymentsOf(intent.payer)
  const found = intent.txHash ?? sentSince(payments.data, intent)
  const [isSure, setIsSure] = useState(false)
  const isQuiet = useIsQuiet(intent, chainId) && payments.isSuccess && !found
  useEffect(() => {
    setWasQuiet(isQuiet)
    if (isQuiet) writeIntent(null)
  }, [isQuiet, setWasQuiet])
  return (
    <div className="stack">
      <div className="notice warn" role="status">
        <div>
          <p>
            {rich(found ? t.sent : t.asked, {
              time: <Time at={new Date(intent.at)} />,
              amount: <Amount wei={BigInt(intent.priceWei)} plain />,
              payer: short(intent.payer),
            })}
          </p>
          {!found && intent.said && <p>{fill(t.said, { said: intent.said })}</p>}
          {!found && <p>{isSure ? t.twice : t.notHeard}</p>}
        </div>
      </div>
      {found && (
        <Link href={`/payment/${found}`} className="button main">
          {t.see}
        </Link>
      )}
      <p>
        <button
          type="button"
          className="button"
          onClick={() => (found || isSure ? writeIntent(null) : setIsSure(true))}
        >
          {found ? t.another : isSure ? t.nothingSent : t.showsNothing}
        </button>
      </p>
    </div>
  )
}

/** True once the payer's nonce has not moved for so long that it would show a transfer. False if it cannot be read. */
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
