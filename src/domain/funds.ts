// Whether an account that sends has enough ether left: warned before the passes stop for the lack of it. Pure.

/** What a sender's next transactions cost. */
export interface Spending {
  /** Gas of the mint that waits to be sent now; 0 where none does. */
  waitingGas: bigint
  /** Gas of a transaction as it usually is. */
  gasPerTransaction: bigint
  /** What is offered per gas now, wei. */
  maxFeeWei: bigint
  /** Ether the next round hands out at most; 0 for a sender that hands out none. */
  nextRoundWei: bigint
}

/** The ether below which a sender's funds are low: gas for what waits and for that many transactions, and the next round. */
export function fundsNeededWei(spending: Spending, transactions: number): bigint {
  const gas = spending.waitingGas + BigInt(transactions) * spending.gasPerTransaction
  return gas * spending.maxFeeWei + spending.nextRoundWei
}
