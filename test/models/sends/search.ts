// Which rounds a run tries, and which cohorts it reports, as a second reading of docs/ARCHITECTURE.md (Planning: half the round if gas or ether is too short;
// without the cohorts at fault if the contract rejects it: cohortsRefused) and docs/CONTRACT.md (the errors of credit).
//
// Choices in what the documents leave open:
// - A try is halved only for its size. Only a rejection that may be about one cohort starts a search.
// - A search simulates both halves of what was rejected, and so on, down to single cohorts. Then all others are tried again.
// - A run has 48 simulations. What it has not looked at by then waits, like what it found.
// - A report is news only if it names other cohorts than the last one. A round that goes whole withdraws it.

export interface Plan {
  /** What each cohort needs, and the contract's error about it; null if it has none. */
  cohorts: { wei: bigint; error: string | null }[]
  /** An error about every round, whichever cohorts it has. */
  wholeError: string | null
  mode: 'treasury' | 'swaps'
  /** What may be spent, and whether a node says first that it is too little. */
  etherWei: bigint
  isEtherFirst: boolean
  /** How many cohorts fit into a transaction. */
  fits: number
}
export interface Result {
  /** The cohorts of each call that was simulated. */
  calls: number[][]
  /** The last try. */
  tried: number[]
  end: 'sent' | 'insufficientFunds' | 'overGasCap' | 'noSurplus' | `reverts ${string}`
  refused: number[] | null
}
const MOST = 48
export const OF_A_COHORT = [
  ...['EmptyCohort', 'WrongTurn', 'TurnNotDue', 'TurnOwed', 'AmountOutOfBounds', 'AmountTooLarge', 'WrongValue'],
  ...['AllowanceExceeded', 'SurplusExceeded'],
]

export const weiOf = ({ cohorts }: Plan, part: number[]): bigint =>
  part.reduce((sum, cohort) => sum + (cohorts[cohort - 1]?.wei ?? 0n), 0n)

/** What a node says to a call before it is signed. */
export function simulate(plan: Plan, part: number[]): 'ok' | 'insufficientFunds' | 'overGasCap' | { error: string } {
  const isShort = plan.mode === 'treasury' && weiOf(plan, part) > plan.etherWei
  if (isShort && plan.isEtherFirst) return 'insufficientFunds'
  const error = plan.wholeError ?? part.map((one) => plan.cohorts[one - 1]?.error ?? null).find((one) => one !== null)
  if (error) return { error }
  return part.length > plan.fits ? 'overGasCap' : 'ok'
}

export function runOf(plan: Plan): Result {
  const calls: number[][] = []
  let simulations = 0
  const halvesOf = (part: number[]) => {
    const middle = Math.ceil(part.length / 2)
    return [part.slice(0, middle), part.slice(middle)]
  }
  const attempt = (part: number[]): Result['end'] => {
    simulations += 1
    if (plan.mode === 'swaps' && weiOf(plan, part) > plan.etherWei) return 'noSurplus'
    calls.push(part)
    const answer = simulate(plan, part)
    if (typeof answer === 'object') return `reverts ${answer.error}`
    if (answer !== 'ok') return answer
    return plan.mode === 'treasury' && weiOf(plan, part) > plan.etherWei ? 'insufficientFunds' : 'sent'
  }
  const faultyOf = (part: number[]): number[] => {
    if (part.length === 1) return part
    return halvesOf(part).flatMap((half) => {
      if (simulations >= MOST) return half
      simulations += 1
      calls.push(half)
      return typeof simulate(plan, half) === 'object' ? faultyOf(half) : []
    })
  }
  let left = plan.cohorts.map((_, n) => 1 + n)
  let refused: number[] | null = null
  for (;;) {
    let tried = left
    let end = attempt(tried)
    while (['noSurplus', 'insufficientFunds', 'overGasCap'].includes(end) && tried.length > 1) {
      tried = halvesOf(tried)[0] as number[]
      end = attempt(tried)
    }
    const isOfCohort = OF_A_COHORT.some((error) => end === `reverts ${error}`)
    if (!isOfCohort || simulations >= MOST) return { calls, tried, end, refused }
    const faulty = faultyOf(tried)
    refused = [...(refused ?? []), ...faulty]
    left = left.filter((one) => !faulty.includes(one))
    if (faulty.length === 0 || left.length === 0) return { calls, tried, end, refused }
  }
}
