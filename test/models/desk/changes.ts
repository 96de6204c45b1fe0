// A change of the payments wallet, and what becomes of a proposal for it, as a second reading of docs/ADMIN.md (Payments wallets, Two persons): the grace is that
// of the last planned change, or the setting's; a proposal stays open as long as it may still succeed.

export interface Wallet {
  wallet: string
  stolen: boolean
  graceSec: number
}
export interface Change {
  address: string
  stolen: boolean
  graceSec: number | null
}
export interface World {
  wallets: Wallet[]
  hasCursor: boolean
  answers: boolean
  /** Addresses that are ours otherwise. */
  own: string[]
  settingSec: number
}
export type Answer = { refused: 'unavailable' | 'invalid' | 'conflict' | 'notYet' } | { graceSec: number }

export function change(asked: Change, { wallets, hasCursor, answers, own, settingSec }: World): Answer {
  if (!answers) return { refused: 'unavailable' }
  if (own.includes(asked.address)) return { refused: 'invalid' }
  if (wallets.some(({ wallet }) => wallet === asked.address)) return { refused: 'conflict' }
  if (wallets.length > 0 && !hasCursor) return { refused: 'notYet' }
  if (asked.stolen) return { graceSec: 0 }
  if (asked.graceSec !== null) return { graceSec: asked.graceSec }
  let graceSec = settingSec
  for (const [n, one] of wallets.entries()) if (n > 0 && !one.stolen) graceSec = one.graceSec
  return { graceSec }
}

/** What a proposal is after its confirmation was tried. */
export function settled(answer: Answer): 'confirmed' | 'failed' | null {
  if ('graceSec' in answer) return 'confirmed'
  return answer.refused === 'unavailable' || answer.refused === 'notYet' ? null : 'failed'
}
