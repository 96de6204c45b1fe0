// A transaction that no block has shown yet: what may have become of it in the wallet.
import { Link } from 'wouter'
import { usePaymentsOf } from '../../live.ts'
import { isPaidSince } from './intent.ts'

/** A transaction that no block has taken by then may have been replaced in the wallet, or given up. */
const LATE_MS = 3 * 60_000

interface NotSeenProps {
  txHash: string
  payer: string | undefined
  /** When this page began to ask, and when it last asked; milliseconds since 1970. */
  since: number
  asked: number
}

/** A transaction that stays away: the one that replaced it, where its payer is known, or what to look for. */
export function NotSeen({ txHash, payer, since, asked }: NotSeenProps) {
  const { data } = usePaymentsOf(payer, { isLive: false })
  const other = data?.find((one) => one.txHash !== txHash && isPaidSince(one, since))
  if (other) {
    return (
      <p className="notice">
        Another payment of this wallet has come: <Link href={`/payment/${other.txHash}`}>look at it</Link>. A
        transaction that is sped up in the wallet gets a new hash.
      </p>
    )
  }
  if (asked - since < LATE_MS) return null
  return (
    <p className="notice warn">
      The chain has not shown this transaction for some minutes. Look into your wallet: it may still wait for a fee, or
      have been replaced by one with another hash, or cancelled. Do not pay again before you know.{' '}
      {payer && <Link href={`/address/${payer}`}>All payments of this wallet</Link>}
    </p>
  )
}
