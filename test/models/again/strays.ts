// Which decisions by hand on an inner transfer are withdrawn when a transfer with its reference is booked, as a second reading of docs/ARCHITECTURE.md
// (Reorganisations): a person decided on a transfer in one block from one payer. Money that was paid back stays paid.

export interface Decision {
  verdict: 'accepted' | 'held' | 'ignored' | 'refunded' | 'dismissed'
  isByHand: boolean
  isWithdrawn: boolean
  /** What the person saw; null where the decision did not record it. */
  block: string | null
  payer: string | null
}

export interface Booked {
  payment: number
  block: string
  payer: string
}

/** True if the decision ends because of what is booked. `state`: of its payment, before. */
export function isStray(decision: Decision, state: string, booked: Booked | undefined): boolean {
  if (booked === undefined || state !== 'orphaned' || decision.isWithdrawn || !decision.isByHand) return false
  if (decision.verdict === 'refunded') return false
  if (decision.verdict !== 'accepted' && decision.verdict !== 'dismissed') return false
  const isTheVeryTransfer = decision.block === booked.block && decision.payer === booked.payer
  return !isTheVeryTransfer
}
