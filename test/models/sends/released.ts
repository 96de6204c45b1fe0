// Which released payments are proven before they are minted, as a second reading of docs/ARCHITECTURE.md (evidence; what one provider says alone) and
// docs/LIMITS.md: a proven list first, then two providers who agree. The only provider's word is enough only where blocks cannot be proven and the operator
// trusts it.
import { type Mined, proves } from './guards.ts'

export interface Released {
  state: 'accepted' | 'held'
  proof: 'proven' | 'agreed' | 'believed'
  block: number
  /** What the block's proven list shows: the payment, or nothing that proves it. */
  inList: boolean
  /** What two providers say together. */
  mined: Mined | null
}
export interface Given {
  mode: 'proven' | 'agreed' | null
  providers: number
  trusts: boolean
  cursor: number
  /** So many payments may be looked at before the run is over. */
  most: number
}

export const oneIsEnough = ({ mode, providers, trusts }: Given): boolean => providers < 2 && mode === 'agreed' && trusts

/** What backs a payment once it was looked at, and whether providers had to be asked about it. */
export function lookAt(one: Released, given: Given): { proof: Released['proof']; asks: boolean } {
  const isListed = given.mode === 'proven' && one.inList
  const agreed = !isListed && proves(one.mined, given.providers)
  const now = isListed ? ('proven' as const) : agreed ? ('agreed' as const) : one.proof
  return { proof: one.proof === 'believed' ? now : one.proof, asks: !isListed && given.providers >= 2 }
}

/** The payments that a run looks at, in the order of the chain. */
export function looked(all: Released[], given: Given): Released[] {
  if (oneIsEnough(given)) return []
  const waiting = all.filter(
    ({ state, proof, block }) => state === 'accepted' && proof === 'believed' && block <= given.cursor,
  )
  return waiting.toSorted((a, b) => a.block - b.block).slice(0, given.most)
}
