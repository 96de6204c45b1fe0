// When a call may be signed by what the providers say of its guard's block, as a second reading of docs/ARCHITECTURE.md (Fork guard, histories), and what
// a provider must say of a payment that rests on one word (docs/ARCHITECTURE.md, Evidence). A provider of another chain has no say.

/** What a provider says of the guard's block. */
export type Said = 'same' | 'other' | 'none' | 'silent' | 'false'
export interface Provider {
  said: Said
  /** Whose chain it is on. One that does not say counts as on ours. */
  chain: 'ours' | 'otherId' | 'otherGenesis' | 'silent'
}
export interface Asked {
  kind: 'mint' | 'openCohorts'
  /** Whether the call names a block, and where it is beside the last one that all histories share; null if they do not differ. */
  guard: boolean
  aboveAgreed: -1 | 0 | 1 | null
  /** How the account's last guarded call ended. */
  last: 'none' | 'mined' | 'reverted' | 'refused' | 'refusedAndNoted'
}

/** Why the call is not signed: its histories differ, its providers disagree, none shows the block, or the contract refused one before. */
export type Why = 'differ' | 'disagree' | 'none' | 'refused'

export function whyRefused(providers: Provider[], { kind, guard, aboveAgreed, last }: Asked): Why | null {
  if (kind === 'openCohorts') return aboveAgreed === null ? null : 'differ'
  if (!guard) return null
  if (aboveAgreed === 1) return 'differ'
  let [same, other] = [0, 0]
  for (const { said, chain } of providers) {
    if (said === 'same') same += 1
    if (said === 'other' && (chain === 'ours' || chain === 'silent')) other += 1
  }
  if (same >= 2) return null
  if (other > 0) return 'disagree'
  if (same === 0) return 'none'
  // The contract saw another block than the ledger's before: one word is no longer enough.
  return last === 'refused' || last === 'refusedAndNoted' ? 'refused' : null
}

/** Whether it is asked how the last call ended: only if nothing refuses before, and never for a call without a guard. */
export const looksBack = (providers: Provider[], asked: Asked): boolean =>
  asked.kind === 'mint' && asked.guard && whyRefused(providers, { ...asked, last: 'none' }) === null

export interface Mined {
  isSameSender: boolean
  isSameWallet: boolean
  isSameValue: boolean
  isSameBlock: boolean
  isSameEnd: boolean
  isSameTime: boolean
}
/** Whether what two providers say proves a payment: every part of it, in the very block that the ledger has. */
export const proves = (mined: Mined | null, providers: number): boolean =>
  providers >= 2 && mined !== null && Object.values(mined).every((one) => one)
