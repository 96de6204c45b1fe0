// How long the newest node took from its payment's block to its mint. That shows a buyer what to expect here.
import { useQuery } from '@tanstack/react-query'
import { ledger } from '../../ledger.ts'

/** A payment that took longer was held, or the service was down. */
const USUAL_MS_MAX = 10 * 60_000

/** The pace in whole seconds, at least one; null if there is nothing to report. */
export function usePace(): number | null {
  const { data } = useQuery({ queryKey: ['pace'], queryFn: readPace, staleTime: Number.POSITIVE_INFINITY })
  return data ?? null
}

async function readPace(): Promise<number | null> {
  const { totalNodes } = await ledger.getStats()
  if (totalNodes === 0) return null
  const { mintedAt, paymentTxHash } = await ledger.getNode(totalNodes, { limit: 1 })
  if (!mintedAt || !paymentTxHash) return null
  const { paidAt } = await ledger.getPayment(paymentTxHash)
  const ms = mintedAt.getTime() - (paidAt?.getTime() ?? 0)
  return ms < 0 || ms > USUAL_MS_MAX ? null : Math.max(1, Math.round(ms / 1000))
}
