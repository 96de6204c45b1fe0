// Paying from another device or by hand: the exact amount as a QR code and as text. The page asks which address will pay, checks it, and moves on
// by itself once that payment is seen.
import type { Quote } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { QrCodeGenerateResult } from 'uqr'
import { Link } from 'wouter'
import { ADDRESS, checksummed, ether } from '../../format.ts'
import { useDeployment } from '../../ledger.ts'
import { usePaymentsOf } from '../../live.ts'
import { chainInWords } from '../../site.ts'
import { CopyRows } from '../../ui/copy.tsx'
import { limitInWords } from '../../ui/states.tsx'
import { isPaidSince } from '../payment/intent.ts'

interface ByHandProps {
  quote: Quote
  payer: string | null
  setPayer: (address: string | null) => void
  sent: (hash: string) => void
}

/** The payment as a code and as text. */
export function ByHand({ quote, payer, setPayer, sent }: ByHandProps) {
  const link = `ethereum:${quote.paymentAddress}@${quote.chainId}?value=${quote.priceWei}`
  const to = checksummed(quote.paymentAddress)
  const name = useDeployment().data?.chainName
  const chain = chainInWords({ chainName: name ?? null, chainId: quote.chainId })
  const rows = [
    ['Amount, exactly', `${ether(quote.priceWei)} ETH`, ether(quote.priceWei).replaceAll(',', '')],
    ['To', to, to],
    ['Chain id', name ? `${quote.chainId}, ${name}` : String(quote.chainId), String(quote.chainId)],
  ] as const
  return (
    <div className="stack">
      <Payer payer={payer} setPayer={setPayer} />
      {payer && <Watch key={payer} payer={payer} priceWei={quote.priceWei} sent={sent} />}
      <div className="by-hand">
        <Qr text={link} />
        <div className="stack">
          <p>Scan this with a wallet on a phone, or send by hand:</p>
          <CopyRows rows={rows} />
          <p>
            <a href={link} className="button">
              Open in a wallet
            </a>
          </p>
          <p className="note">
            Any other amount is held for the operator. Sent on another network than {chain}, it is not seen here.
          </p>
        </div>
      </div>
    </div>
  )
}

function Payer({ payer, setPayer }: Pick<ByHandProps, 'payer' | 'setPayer'>) {
  const [text, setText] = useState(payer ? checksummed(payer) : '')
  const isWrong = text !== '' && !ADDRESS.test(text)
  return (
    <label className="field">
      <span>Which address will pay?</span>
      <input
        value={text}
        placeholder="0x… It is checked before you pay, and this page goes on by itself."
        autoComplete="off"
        spellCheck="false"
        aria-invalid={isWrong}
        onChange={(event) => {
          const entered = event.target.value.trim()
          setText(entered)
          setPayer(ADDRESS.test(entered) ? entered.toLowerCase() : null)
        }}
      />
      {isWrong && text.length >= 42 && <span className="error">An address is 0x and 40 hex digits.</span>}
    </label>
  )
}

interface WatchProps {
  payer: string
  priceWei: bigint
  sent: (hash: string) => void
}

/** Waits for a payment of that amount that was not there when the address was given. */
function Watch({ payer, priceWei, sent }: WatchProps) {
  const { data, error } = usePaymentsOf(payer)
  const [since] = useState(Date.now)
  const known = useRef<ReadonlySet<string> | null>(null)
  const ofPrice = data?.filter(({ valueWei }) => valueWei === priceWei)
  const recent = ofPrice?.find((payment) => isPaidSince(payment, since))
  useEffect(() => {
    if (!ofPrice) return
    known.current ??= new Set(ofPrice.map(({ txHash }) => txHash))
    const fresh = ofPrice.find(({ txHash }) => !known.current?.has(txHash))
    if (fresh) sent(fresh.txHash)
  })
  if (error)
    return (
      <p className="note">
        {limitInWords(error) ?? 'Payments of this address cannot be read just now.'} This page goes on by itself.
      </p>
    )
  return (
    <p className="note" role="status">
      Waiting for the transfer of this address.
      {recent && (
        <>
          {' '}
          It has made one of this amount a moment ago:{' '}
          <Link href={`/payment/${recent.txHash}`}>see what came of it</Link>.
        </>
      )}
    </p>
  )
}

/** A QR code, dark on light in both themes, since not every camera reads it the other way round. */
function Qr({ text }: { text: string }) {
  const code = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => (await import('uqr')).encode(text, { ecc: 'M', border: 3 }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return code.data ? <Code code={code.data} /> : null
}

function Code({ code: { data, size } }: { code: QrCodeGenerateResult }) {
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code of the payment"
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  )
}
