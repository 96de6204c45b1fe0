// What the next round may cost at most, as a second reading of docs/RUNBOOK.md and docs/REWARDS.md: every cohort with nodes that is due by the followed
// block or, if none is, those that are due first, each node at the highest draw of the latest terms and its tier's rate of today.

export interface Cohort {
  tierNo: number
  size: number
  nextDue: number
}

export interface Terms {
  fromTime: number
  payouts: boolean
  maxWei: bigint
}

/** `rates`: of each tier by its number, in hundredths of a per cent. `now`: the followed block's time; null before the first. */
export function nextRoundWei(
  cohorts: readonly Cohort[],
  { terms, rates, now }: { terms: readonly Terms[]; rates: ReadonlyMap<number, number>; now: number | null },
): bigint {
  const latest = terms.toSorted((a, b) => b.fromTime - a.fromTime)[0]
  if (latest === undefined || !latest.payouts) return 0n
  const withNodes = cohorts.filter(({ size }) => size > 0)
  const first = Math.min(...withNodes.map(({ nextDue }) => nextDue))
  const due = withNodes.filter(({ nextDue }) => nextDue === first || (now !== null && nextDue <= now))
  let parts = 0n
  for (const { size, tierNo } of due) parts += BigInt(size) * latest.maxWei * BigInt(rates.get(tierNo) ?? 0)
  // A part of a wei costs a whole one.
  return (parts + 9_999n) / 10_000n
}
