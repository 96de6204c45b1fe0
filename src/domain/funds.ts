// Judges whether a signer account has enough ether left, so we can warn before the passes stop for lack of it. Pure.

/** The gas of a transaction, assumed before any was sent: a mint of one node takes less. */
export const USUAL_GAS = 200_000n

/** The service warns if an account's ether pays for fewer transactions than this. */
export const FUNDS_WARN_TRANSACTIONS = 50

/** What a signer account's next transactions need. */
export interface Spending {
  /** Gas of the mint that is waiting to be sent; 0 if there is none. */
  waitingGas: bigint
  /** Gas of an average transaction. */
  gasPerTransaction: bigint
  /** The most ether that the next round may pay out; 0 for a signer account that pays no rounds. */
  nextRoundWei: bigint
}

/** The verdict on a signer account's funds. */
export interface FundsJudged {
  /** Funds below this are low. */
  neededWei: bigint
  low: boolean
  /** What remains after the waiting mint and the next round. Negative if the funds cannot pay for both. */
  leftWei: bigint
  /** How many average transactions the remainder pays for; null if gas costs nothing. */
  transactions: number | null
}

/**
 * Judges a balance at a gas price. It is low if it does not pay for the waiting mint, the next round, and this many more transactions. A balance that
 * does not pay for even one transaction is always low.
 */
export function judgeFunds(
  balanceWei: bigint,
  { waitingGas, gasPerTransaction, nextRoundWei }: Spending,
  { maxFeeWei, warnTransactions }: { maxFeeWei: bigint; warnTransactions: number },
): FundsJudged {
  const aheadWei = waitingGas * maxFeeWei + nextRoundWei
  const eachWei = gasPerTransaction * maxFeeWei
  const leftWei = balanceWei - aheadWei
  const neededWei = aheadWei + BigInt(Math.max(1, warnTransactions)) * eachWei
  const transactions = eachWei === 0n ? null : Math.max(0, Number(leftWei / eachWei))
  return { neededWei, low: balanceWei < neededWei, leftWei, transactions }
}
