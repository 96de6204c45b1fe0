// What a credit pass answers when it sends no new round, as a second reading of docs/ARCHITECTURE.md (What a pass does, Rounds) and the words at
// src/passes/outcomes.ts: why, the nodes that were due when it began, and the round that is pending. A run forgets an earlier run's trouble once it has
// looked and found nothing to send, or only what something else reports. A run that ends before it looks leaves the trouble as it is.

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
  isLocked: boolean
  isHalted: boolean
  /** Whether the distributor's signer is on record as down. It works again. */
  isDown: boolean
  /** The time from which turns are not owed by the terms, though the contract's owner has set no window; null: all are owed. */
  offFrom: number | null
  isContractPaused: boolean
  /** The time of the last settled block; null if a round is bound to its fork, so that it needs none. */
  settled: number | null
  /** The round that no block has yet, with the turns of each cohort that it pays; null without one. */
  pending: { round: number; credits: { cohort: number; paid: number; wei: bigint }[] } | null
  /** What an earlier run has put on record as unsent. */
  unsent: string | null
}

const nothing = { distributionId: null, txHash: null, nodeCount: 0, totalWei: 0n, dueNodes: 0 }
const uncounted = { ...nothing, nodeCount: null, totalWei: null, dueNodes: null, signer: null }
export interface Answer {
  ran: boolean
  reason: string | null
  distributionId: number | null
  txHash: string | null
  nodeCount: number | null
  totalWei: bigint | null
  dueNodes: number | null
  signer: 'signed' | null
  /** What is on record as unsent. */
  unsent: string | null
}
const PAUSED = 'every provider reports that the contract is paused'
const WINDOW =
  'turns wait: by the terms they are not owed, but the contract’s owner has not set the window; "node-ledger terms list" shows the transaction'

/** Why due turns are not paid: none of the ledger's nodes here has both a payment or grant and a known seed. */
function ofDue(due: Cohort[], { settled, offFrom, unsent }: Given): Pick<Answer, 'reason' | 'unsent'> {
  // A round that another fork would take waits until its turns are settled.
  const payable = due.filter(({ nextDue }) => settled === null || nextDue <= settled)
  if (payable.length === 0) return { reason: 'pending', unsent }
  const isDelayed = payable.some(({ nextDue }) => offFrom !== null && nextDue >= offFrom)
  if (isDelayed) return { reason: 'pending', unsent: WINDOW }
  // Else all of their nodes have neither payment nor grant.
  return { reason: payable.some(({ isGranted }) => isGranted) ? 'pending' : 'unpaidNodes', unsent: null }
}

/** The round that is pending. */
function ofPending(pending: NonNullable<Given['pending']>, cohorts: Cohort[], txHash: string) {
  const paid = pending.credits.filter((one) => one.paid > 0)
  const nodesOf = (cohort: number) => cohorts[cohort - 1]?.size ?? 0
  return {
    ...{ reason: 'pending', distributionId: pending.round, txHash },
    nodeCount: paid.reduce((sum, { cohort }) => sum + nodesOf(cohort), 0),
    totalWei: paid.reduce((sum, { cohort, wei }) => sum + wei * BigInt(nodesOf(cohort)), 0n),
  }
}

export function answer(given: Given, txHash: string): Answer {
  const { cohorts, now, pending, unsent } = given
  if (given.isLocked) return { ...uncounted, ran: false, reason: null, unsent }
  // Without terms no cohort can be told to be odd.
  const due = cohorts.filter((one) => !(one.isOdd && given.hasTerms) && one.size > 0 && one.nextDue <= now)
  const dueNodes = due.reduce((sum, { size }) => sum + size, 0)
  const says = (more: Partial<Answer>): Answer => {
    return { ...nothing, ran: true, reason: null, dueNodes, signer: null, unsent, ...more }
  }
  // With nothing due at a head that was just seen, no provider is asked again.
  const isAtRest = given.seenHead === 0 && due.length === 0
  const isDisabled = !given.hasKey || !given.hasTerms
  if (isAtRest && isDisabled) return says({ reason: 'disabled' })
  const isQuiet = isAtRest && pending === null
  if (isQuiet && given.isPaused) return says({ reason: 'paused' })
  const signer = given.isDown ? 'signed' : null
  if (isQuiet) return says({ reason: 'nothingDue', signer })
  if (given.isHalted) return { ...uncounted, ran: true, reason: 'paused', unsent }
  if (isDisabled) return says({ reason: 'disabled' })
  if (given.head !== 0) return says({ reason: 'pending' })
  if (given.isPaused) return says({ reason: 'paused' })
  if (given.isContractPaused) return says({ reason: 'paused', unsent: due.length > 0 ? PAUSED : null })
  if (pending !== null) return says({ ...ofPending(pending, cohorts, txHash), signer })
  if (due.length === 0) return says({ reason: 'nothingDue', signer, unsent: null })
  return says({ ...ofDue(due, given), signer })
}
