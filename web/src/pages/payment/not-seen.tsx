// A transaction that is in no block yet, and what may have happened to it in the wallet.
import { Link, useLocation } from 'wouter'
import { useDeployment } from '../../ledger.ts'
import { chainInWords } from '../../site.ts'
import { fill, rich } from '../../words/message.ts'
import { words } from '../../words/payment.ts'
import { FindPayment } from './find.tsx'
import type { Replacement } from './replaced.ts'

/** If the transaction is in no block after this time, the wallet may have replaced or dropped it. */
export const LATE_MS = 3 * 60_000

interface NotSeenProps {
  txHash: string
  payer: string | undefined
  other: Replacement | null
  /** When this page polled for the first time, and for the last, in milliseconds since 1970. */
  since: number
  polledAt: number
}

/** A transaction that stays missing: shows what may be its replacement, else what to look for. */
export function NotSeen({ txHash, payer, other, since, polledAt }: NotSeenProps) {
  if (other) {
    const { txHash } = other.payment
    return (
      <p className="notice">
        {rich(words.notSeen.other, { other: (text) => <Link href={`/payment/${txHash}`}>{text}</Link> })}
      </p>
    )
  }
  if (polledAt - since < LATE_MS) return payer ? null : <Unknown txHash={txHash} />
  return (
    <p className="notice warn">
      {words.notSeen.late} {payer && <Link href={`/address/${payer}`}>{words.notSeen.all}</Link>}
    </p>
  )
}

/** A hash that may be wrong: another can be entered here. */
function Unknown({ txHash }: { txHash: string }) {
  const { data: deployment } = useDeployment()
  const [, navigate] = useLocation()
  return (
    <>
      <p className="busy" aria-busy>
        {words.notSeen.looking}
      </p>
      {deployment && <p className="note">{fill(words.notSeen.otherChain, { chain: chainInWords(deployment) })}</p>}
      <FindPayment of={txHash} find={(hash) => navigate(`/payment/${hash}`)} />
    </>
  )
}
