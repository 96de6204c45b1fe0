// A purchase that was begun in this browser and whose end the page did not see: found again before anyone pays a second time.
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { short } from '../../format.ts'
import { usePaymentsOf } from '../../live.ts'
import { Amount, Time } from '../../ui/facts.tsx'
import { type Intent, readIntent, sentSince, writeIntent } from '../payment/intent.ts'

/** Shows the purchase that is unfinished in place of `children`, which sells, until the buyer says that nothing was sent. */
export function Unfinished({ children }: { children: ReactNode }) {
  // As it was when the page came: what is begun on the page is told by the page itself.
  const [intent, setIntent] = useState(readIntent)
  const forget = () => {
    writeIntent(null)
    setIntent(null)
  }
  return intent === null ? children : <Begun intent={intent} forget={forget} />
}

function Begun({ intent, forget }: { intent: Intent; forget: () => void }) {
  const payments = usePaymentsOf(intent.payer)
  const found = intent.txHash ?? sentSince(payments.data, intent)
  return (
    <div className="stack">
      <div className="notice warn" role="status">
        <p>
          <Time at={new Date(intent.at)} /> this browser {found ? 'sent' : 'asked a wallet for'} a payment of{' '}
          <Amount wei={BigInt(intent.priceWei)} plain /> from {short(intent.payer)}.
        </p>
        {!found && (
          <p>
            The page did not hear what became of it. If you confirmed it in the wallet, it shows here within a block or
            two. Do not pay again before you have looked into the wallet.
          </p>
        )}
      </div>
      {found && (
        <Link href={`/payment/${found}`} className="button main">
          See this payment
        </Link>
      )}
      <p>
        <button type="button" className="button" onClick={forget}>
          {found ? 'Buy another node' : 'Nothing was sent: buy now'}
        </button>
      </p>
    </div>
  )
}
