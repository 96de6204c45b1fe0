// Judges whether a sending account has enough ether left, to warn before the passes stop for lack of it. Pure.

/** The cost of a signer account's next transactions. */
export interface Spending {
  /** Gas of the mint that is waiting to be sent; 0 if there is none. */
  waitingGas: bigint
  /** Gas of an average transaction. */
  gasPerTransaction: bigint
  /** The gas price offered now, wei. */
  maxFeeWei: bigint
  /** The most ether that the next round pays out; 0 for a signer account that pays none. */
  nextRoundWei: bigint
}

/** The threshold of low funds: gas for the waiting mint and for that many transactions, and the next round. */
export function fundsNeededWei(spending: Spending, transactions: number): bigint {
  const gas = spending.waitingGas + BigInt(transactions) * spending.gasPerTransaction
  return gas * spending.maxFeeWei + spending.nextRoundWei
}
