// A transaction that is in no block yet, and what may have happened to it in the wallet.
import { Link } from 'wouter'
import { rich } from '../../words/message.ts'
import { words } from '../../words/payment.ts'
import type { Replacement } from './replaced.ts'

/** If the transaction is in no block after this time, the wallet may have replaced or dropped it. */
export const LATE_MS = 3 * 60_000

interface NotSeenProps {
  payer: string | undefined
  other: Replacement | null
  /** When this page polled for the first time, and for the last, in milliseconds since 1970. */
  since: number
  polledAt: number
}

/** A transaction that stays missing: shows what may be its replacement, else what to look for. */
export function NotSeen({ payer, other, since, polledAt }: NotSeenProps) {
  if (other) {
    const { txHash } = other.payment
    return (
      <p className="notice">
        {rich(words.notSeen.other, { other: (text) => <Link href={`/payment/${txHash}`}>{text}</Link> })}
      </p>
    )
  }
  if (polledAt - since < LATE_MS)
    return payer ? null : (
      <ol className="way">
        <li className="now">
          <span>{words.notSeen.looking}</span>
          <span className="note">{words.notSeen.unsure}</span>
        </li>
      </ol>
    )
  return (
    <p className="notice warn">
      {words.notSeen.late} {payer && <Link href={`/address/${payer}`}>{words.notSeen.all}</Link>}
    </p>
  )
}
