// How much of a plan is sent as a round, as a second reading of docs/ARCHITECTURE.md (Rounds) and docs/CONTRACT.md (credit): in swaps mode a round spends what the
// contract holds beyond its debts, up to the owner's allowance. What is too large is halved, cohort by cohort.

export interface Purse {
  mode: 'treasury' | 'swaps'
  balanceWei: bigint
  distributedWei: bigint
  withdrawnWei: bigint
  allowanceWei: bigint
  /** How many cohorts fit into a transaction. */
  fits: number
}

/** The cohorts that are tried last, and whether they could be paid. `amounts`: what each cohort needs, in the order of the plan. */
export function tried(amounts: bigint[], purse: Purse): { cohorts: number; isAffordable: boolean } {
  const surplusWei = purse.balanceWei - (purse.distributedWei - purse.withdrawnWei)
  let cohorts = amounts.length
  for (;;) {
    const totalWei = amounts.slice(0, cohorts).reduce((sum, one) => sum + one, 0n)
    const isAffordable = purse.mode === 'treasury' || (surplusWei >= totalWei && purse.allowanceWei >= totalWei)
    if ((isAffordable && cohorts <= purse.fits) || cohorts === 1) return { cohorts, isAffordable }
    cohorts -= Math.floor(cohorts / 2)
  }
}
