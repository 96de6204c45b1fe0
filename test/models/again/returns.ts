// What a payment is when its transfer comes back after a reorganisation, as a second reading of docs/ARCHITECTURE.md (Reorganisations: decisions by
// hand survive their block) and docs/ADMIN.md (Tiers: a released payment waits for a place).

export interface Verdict {
  verdict: 'accepted' | 'held' | 'ignored' | 'refunded' | 'dismissed'
  reason: string | null
  /** The tier that the decision names, if it names one. */
  tier: Tier | null
  isByHand: boolean
  isWithdrawn: boolean
}
interface Tier {
  tierId: string
  version: number
}
export interface Payment {
  state: string
  reason: string | null
  tier: Tier | null
  hasMint: boolean
  from: string | null
  valueWei: bigint
  succeeded: boolean
  block: number | null
}
export interface Coming {
  kind: 'observe' | 'fileResidue'
  from: string | null
  valueWei: bigint
  succeeded: boolean
  block: number
}

const fresh = (kind: Coming['kind']) =>
  kind === 'observe' ? { state: 'seen', reason: null } : { state: 'held', reason: 'unattributed' }

/** The decision that holds for what came back: the last one by hand, if it was about this very transfer and the transfer moved something. */
function standing(payment: Payment, verdicts: Verdict[], coming: Coming): Verdict | null {
  if (!coming.succeeded) return null
  const last = verdicts.findLast(({ isByHand, isWithdrawn }) => isByHand && !isWithdrawn)
  if (last === undefined || last.verdict === 'ignored') return null
  // A residue names no sender and no tier of its own, so it cannot be released.
  if (last.verdict === 'accepted' && coming.kind === 'fileResidue') return null
  const isSame = payment.from === coming.from && payment.valueWei === coming.valueWei
  return last.verdict === 'accepted' && !isSame ? null : last
}

/** The payment after its transfer is stored. One that is in a block stays as it is. `limited`: the tiers that have a supply or a cap. */
export function returned(payment: Payment, verdicts: Verdict[], coming: Coming, limited: string[]): Payment {
  if (payment.state !== 'orphaned') return payment
  const { from, valueWei, succeeded, block } = coming
  const isResidue = coming.kind === 'fileResidue'
  const base = { ...payment, from, valueWei, succeeded, block, hasMint: isResidue && payment.hasMint }
  const decision = standing(payment, verdicts, coming)
  if (decision === null) return { ...base, ...fresh(coming.kind), tier: isResidue ? payment.tier : null }
  const tier = decision.tier ?? payment.tier
  if (decision.verdict === 'accepted' && tier !== null && limited.includes(tier.tierId))
    return { ...base, state: 'held', reason: 'soldOut', tier }
  return { ...base, state: decision.verdict, reason: decision.reason, tier }
}
