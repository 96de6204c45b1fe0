// What a credit pass answers when it sends no new round, as a second reading of docs/ARCHITECTURE.md (What a pass does, Rounds) and the words at
// src/passes/outcomes.ts: why, the nodes that were due when it began, and the round that is pending.

export interface Cohort {
  nextDue: number
  size: number
  /** Opened by terms that the ledger never had. */
  isOdd: boolean
  /** The operator has granted its nodes, so only their turns' seed is not known. */
  isGranted: boolean
}
export interface Given {
  now: number
  cohorts: Cohort[]
  hasKey: boolean
  hasTerms: boolean
  /** What the payments pass before has seen as the head, beside the followed block; null without one, or if it counted nothing. */
  seenHead: -1 | 0 | 1 | null
  /** The provider's head beside the followed block. */
  head: -1 | 0
  isPaused: boolean
  isContractPaused: boolean
  /** The time of the last settled block; null if a round is bound to its fork, so that it needs none. */
  settled: number | null
  /** The round that no block has yet, with the turns of each cohort that it pays; null without one. */
  pending: { round: number; credits: { cohort: number; paid: number; wei: bigint }[] } | null
}

const nothing = { distributionId: null, txHash: null, nodeCount: 0, totalWei: 0n, dueNodes: 0 }
export type Answer = Omit<typeof nothing, 'distributionId'> & {
  ran: true
  reason: string
  distributionId: number | null
}

export function answer(given: Given, txHash: string): Omit<Answer, 'txHash'> & { txHash: string | null } {
  const { cohorts, now, pending } = given
  // Without terms no cohort can be told to be odd.
  const due = cohorts.filter((one) => !(one.isOdd && given.hasTerms) && one.size > 0 && one.nextDue <= now)
  const says = (reason: string, dueNodes = due.reduce((sum, { size }) => sum + size, 0)) => ({
    ...{ ran: true as const, ...nothing, reason, dueNodes },
  })
  if (!given.hasKey || !given.hasTerms) return says('disabled')
  // With nothing due at a head that was just seen, no provider is asked again.
  const isQuiet = given.seenHead === 0 && due.length === 0 && pending === null
  if (given.isPaused) return says(given.head !== 0 && !isQuiet ? 'pending' : 'paused')
  if (isQuiet) return says('nothingDue')
  if (given.head !== 0) return says('pending')
  if (given.isContractPaused) return says('paused')
  if (pending !== null) {
    const paid = pending.credits.filter((one) => one.paid > 0)
    const nodesOf = (cohort: number) => cohorts[cohort - 1]?.size ?? 0
    return {
      ...says('pending'),
      ...{ distributionId: pending.round, txHash },
      nodeCount: paid.reduce((sum, { cohort }) => sum + nodesOf(cohort), 0),
      totalWei: paid.reduce((sum, { cohort, wei }) => sum + wei * BigInt(nodesOf(cohort)), 0n),
    }
  }
  if (due.length === 0) return says('nothingDue')
  // A round that another fork would take waits until its turns are settled.
  const { settled } = given
  const payable = due.filter(({ nextDue }) => settled === null || nextDue <= settled)
  if (payable.length === 0) return says('pending')
  // Else all of their nodes have neither payment nor grant.
  return says(payable.some(({ isGranted }) => isGranted) ? 'pending' : 'unpaidNodes')
}
