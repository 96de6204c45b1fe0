// What the ledger would decide about a wallet's payment, read before the buyer pays and again just before the wallet prompts.
import type { BuyerCheck, CanBuy } from '@node-ledger/client'
import { useQuery } from '@tanstack/react-query'
import { ledger, notBefore, queries } from '../../ledger.ts'

/** Polling interval, in milliseconds: as often as a person who watches would notice a difference. */
const EVERY_MS = 5_000

const checksQuery = (address: string, tierId: string) => ({
  queryKey: ['can-buy', address, tierId],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    ledger.canBuy(address, tierId, { signal, fresh: true, attempts: 1 }),
})

/** The checks for a wallet that buys `quantity` nodes; no checks if the wallet is `undefined`. */
export const usePreflight = (address: string | undefined, tierId: string, quantity = 1) =>
  useQuery({
    ...checksQuery(address ?? '', tierId),
    select: (answer) => severalOf(answer, quantity),
    enabled: address !== undefined,
    refetchInterval: notBefore(() => EVERY_MS),
  })

/** The service checks one transfer. Several need their price and gas several times. */
function severalOf(answer: CanBuy, quantity: number): CanBuy {
  const checks = answer.checks.map((check) => {
    if (check.check !== 'ether' || check.requiredWei === null || check.balanceWei === null) return check
    const requiredWei = check.requiredWei * BigInt(quantity)
    return { ...check, requiredWei, passes: check.balanceWei >= requiredWei }
  })
  const isShort = checks.some(({ check, passes }) => check === 'ether' && passes === false)
  return { ...answer, checks, canBuy: isShort ? false : answer.canBuy }
}

/** Runs the checks again, just before the wallet prompts; null if they could not run. */
export async function checkNow(address: string, tierId: string): Promise<CanBuy | null> {
  try {
    return await queries.fetchQuery({ ...checksQuery(address, tierId), staleTime: 0 })
  } catch {
    return null
  }
}

/** True if other payments hold every place that is left. */
export const isTaken = ({ check, passes }: BuyerCheck): boolean => check === 'supply' && passes === null
export const isUnchecked = (check: BuyerCheck): boolean => check.passes === null && !isTaken(check)
