// Paying from another device or by hand: the exact amount as a QR code and as text. The page asks which address will
// pay, checks the address, and moves on once it sees the payment.
import type { Quote, Tier } from '@node-ledger/client'
import { useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import { ADDRESS, checksummed, cleanPaste, ether, plainEther } from '../../format.ts'
import { useDeployment } from '../../ledger.ts'
import { usePaymentsOf } from '../../live.ts'
import { chainInWords } from '../../site.ts'
import { CopyRows } from '../../ui/copy.tsx'
import { limitInWords } from '../../ui/states.tsx'
import { isPhone } from '../../wallet/phones.tsx'
import { Qr } from '../../wallet/qr.tsx'
import { words as checkoutWords } from '../../words/checkout.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/paying.ts'
import { Claim } from '../payment/claim.tsx'
import { isPaidSince } from '../payment/intent.ts'
import '../payment/payment.css'
import { payLink } from './offered.tsx'
import { Checks } from './preflight.tsx'
import { Referred, useReferred } from './referred.tsx'

const t = words.byHand

interface ByHandProps {
  quote: Quote
  tier: Tier
  payer: string | null
  setPayer: (address: string | null) => void
  onSent: (hash: string) => void
}

/** The payment as a QR code and as text. */
export function ByHand({ quote, tier, payer, setPayer, onSent }: ByHandProps) {
  const link = payLink(quote)
  const to = checksummed(quote.paymentAddress)
  const chain = chainInWords({ chainName: useDeployment().data?.chainName ?? null, chainId: quote.chainId })
  const rows = [
    [t.amount, `${ether(quote.priceWei)} ETH`, plainEther(quote.priceWei)],
    [t.to, to, to],
    [t.network, chain, null],
  ] as const
  // A phone cannot scan its own screen.
  const open = (
    <a href={link} className={isPhone() ? 'button main wide' : 'button wide'}>
      {t.open}
    </a>
  )
  const code = <Qr text={link} label={t.qr} />
  return (
    <div className="stack">
      <p className="notice warn">{checkoutWords.buy.ownWallet}</p>
      <Payer payer={payer} setPayer={setPayer} />
      {payer && <Checks address={payer} tier={tier} quantity={1} />}
      {isPhone() && open}
      <div className="scan">
        {!isPhone() && code}
        <CopyRows rows={rows} />
      </div>
      {isPhone() ? (
        <details className="checked">
          <summary>{t.showQr}</summary>
          {code}
        </details>
      ) : (
        open
      )}
      <p className="note">{fill(t.otherAmount, { chain })}</p>
      {payer ? <Watch key={payer} payer={payer} onSent={onSent} /> : <Claim isNext />}
      <Referred referral={useReferred(null)} />
    </div>
  )
}

function Payer({ payer, setPayer }: Pick<ByHandProps, 'payer' | 'setPayer'>) {
  const [text, setText] = useState(payer ? checksummed(payer) : '')
  const id = useId()
  const isWrong = text !== '' && !ADDRESS.test(text)
  const isBad = isWrong && text.length >= 42
  return (
    <div className="field">
      <label htmlFor={id}>{t.whichAddress}</label>
      <input
        id={id}
        value={text}
        placeholder="0x…"
        autoComplete="off"
        spellCheck="false"
        aria-invalid={isWrong}
        aria-describedby={`${id}-why`}
        onChange={(event) => {
          const address = cleanPaste(event.target.value)
          setText(address)
          setPayer(ADDRESS.test(address) ? address.toLowerCase() : null)
        }}
      />
      <p id={`${id}-why`} className={isBad ? 'error' : 'note'}>
        {isBad ? t.wrong : t.why}
      </p>
    </div>
  )
}

/** Waits for a new payment from this address. If the amount differs, the page also moves on, and explains why. */
function Watch({ payer, onSent }: { payer: string; onSent: (hash: string) => void }) {
  const { data, error } = usePaymentsOf(payer)
  const [since] = useState(Date.now)
  const knownHashes = useRef<ReadonlySet<string> | null>(null)
  const recent = data?.find((payment) => isPaidSince(payment, since))
  useEffect(() => {
    if (!data) return
    knownHashes.current ??= new Set(data.map(({ txHash }) => txHash))
    const fresh = data.find(({ txHash }) => !knownHashes.current?.has(txHash))
    if (fresh) onSent(fresh.txHash)
  })
  if (error)
    return (
      <p className="note">
        {limitInWords(error) ?? t.cannotRead} {t.goesOn}
      </p>
    )
  return (
    <div role="status">
      <ol className="way">
        <li className="now">
          <span>{t.waiting}</span>
          {recent && <> {rich(t.recent, { see: (text) => <Link href={`/payment/${recent.txHash}`}>{text}</Link> })}</>}
        </li>
      </ol>
    </div>
  )
}
