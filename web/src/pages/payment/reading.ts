// Reads the state of a transaction's payments from the ledger. From time to time it also claims them, so that the
// service looks at the chain immediately. If a stream can be opened, changes arrive through it.
import { LedgerError, type Payment, watchPayment } from '@node-ledger/client'
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ledger, notBefore } from '../../ledger.ts'
import { whileShown } from '../../live.ts'

const EVERY_MS = 2_000
/**
 * How often we claim a payment that the ledger does not have, because only a claim can find it. The service allows
 * twenty claims a minute per client address.
 */
const UNKNOWN_EVERY_MS = 3_500
/** How often we poll a held payment, which waits for a person, or until its wallet has room. */
const HELD_EVERY_MS = 15_000
/** How often we claim otherwise: slow enough for two tabs behind one client address to stay below the limit. */
const CLAIM_EVERY_MS = 7_000
const FINAL: readonly Payment['status'][] = ['minted', 'refunded', 'dismissed']

/** The payments of a transaction; empty while the ledger has none. */
export type Seen = readonly Payment[]

/** Follows the payments of a transaction until all are final. Status 400 in an error means that it is not a payment. */
export function usePaymentsIn(txHash: string): UseQueryResult<Seen, Error> {
  const claimedAt = useRef(0)
  const isKnown = useRef(true)
  const queries = useQueryClient()
  const [isLive, setIsLive] = useState(false)
  const reading = useQuery<Seen, Error>({
    queryKey: ['payment', txHash],
    queryFn: async ({ signal }) => {
      const payments = await look(signal)
      isKnown.current = payments.length > 0
      return payments
    },
    refetchInterval: (query) => {
      const { data = [], error } = query.state
      return !isNoPayment(error) && !isOver(data) && notBefore(() => untilNextPoll(data, isLive))(query)
    },
    gcTime: 0,
  })
  const isDone = isOver(reading.data ?? []) || isNoPayment(reading.error)
  useEffect(() => {
    if (isDone) return
    return whileShown(async (signal) => {
      for await (const payment of watchPayment(ledger, txHash, { signal, pollMs: HELD_EVERY_MS, onLive: setIsLive }))
        if (payment) queries.setQueryData<Seen>(['payment', txHash], paymentsOf(payment))
    })
  }, [txHash, isDone, queries])
  return reading

  async function look(signal: AbortSignal): Promise<Seen> {
    const payments = isKnown.current ? await readState(txHash, signal) : []
    if (isSettled(payments) || (payments.length > 0 && Date.now() - claimedAt.current < CLAIM_EVERY_MS)) return payments
    claimedAt.current = Date.now()
    return claim(txHash, payments, signal, (afterMs) => {
      claimedAt.current += afterMs
    })
  }
}

/** True if the service has looked at the transaction, and it pays for nothing. */
export const isNoPayment = (error: Error | null): error is LedgerError =>
  error instanceof LedgerError && error.status === 400

/** True if all payments are final. */
export const isOver = (payments: Seen) => payments.length > 0 && payments.every(({ status }) => FINAL.includes(status))

/** True if no payment is left for a pass to process: each is final, or waits for a person. */
const isSettled = (payments: Seen) =>
  payments.length > 0 && payments.every(({ status }) => status === 'held' || FINAL.includes(status))

/** Milliseconds until the next poll. */
function untilNextPoll(payments: Seen, isLive: boolean): number {
  if (payments.length === 0) return UNKNOWN_EVERY_MS
  if (isSettled(payments)) return HELD_EVERY_MS
  return isLive ? CLAIM_EVERY_MS : EVERY_MS
}

async function readState(txHash: string, signal: AbortSignal): Promise<Seen> {
  try {
    return paymentsOf(await ledger.getPayment(txHash, { signal, attempts: 1 }))
  } catch (error) {
    if (error instanceof LedgerError && error.status === 404) return []
    throw error
  }
}

/**
 * What a claim returned. If the answer is deferred, we keep the last state: a service that cannot reach the chain still
 * has its ledger.
 */
async function claim(
  txHash: string,
  lastPayments: Seen,
  signal: AbortSignal,
  putOff: (afterMs: number) => void,
): Promise<Seen> {
  try {
    return paymentsOf(await ledger.claimPayment(txHash, { signal, attempts: 1 }))
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    putOff((error.retryAfter ?? 0) * 1000)
    // No block has the transaction yet.
    if (error.status === 409 || lastPayments.length > 0) return lastPayments
    // The service rejects a transfer that buys nothing, but it may still be on record, held for the operator.
    const payments = await readState(txHash, signal)
    if (payments.length > 0) return payments
    throw error
  }
}

const paymentsOf = ({ payments, ...payment }: Payment): Seen => payments ?? [payment]
