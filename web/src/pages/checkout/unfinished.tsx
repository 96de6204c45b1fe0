// A purchase that was begun in this browser and whose end the page did not see: found again before anyone pays a second time.
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { short } from '../../format.ts'
import { usePaymentsOf } from '../../live.ts'
import { Amount, Time } from '../../ui/facts.tsx'
import { words } from '../../words/checkout.ts'
import { rich } from '../../words/message.ts'
import { type Intent, readIntent, sentSince, writeIntent } from '../payment/intent.ts'

const t = words.unfinished

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
          {rich(found ? t.sent : t.asked, {
            time: <Time at={new Date(intent.at)} />,
            amount: <Amount wei={BigInt(intent.priceWei)} plain />,
            payer: short(intent.payer),
          })}
        </p>
        {!found && <p>{t.notHeard}</p>}
      </div>
      {found && (
        <Link href={`/payment/${found}`} className="button main">
          {t.see}
        </Link>
      )}
      <p>
        <button type="button" className="button" onClick={forget}>
          {found ? t.another : t.nothingSent}
        </button>
      </p>
    </div>
  )
}
