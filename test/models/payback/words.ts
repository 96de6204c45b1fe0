// What an act on many refunds says of its outcome, one fact a line, as a second reading of docs/ADMIN.md (Several together; All of a reason) and of
// docs/RUNBOOK.md (Held payments): how many are held and how much, what may be sent now, what is in no file and why, and what another act would find.
//
// Choices in what the documents leave open:
// - Why one is in no file is the first of: it was refused, a mint may land, its block may go, one provider alone tells of its payer, it has no payer, no value.
// - Six reasons are told, in the order of the payments.
// - Times are told to the minute.

/** One of the payments, as far as it decides. */
export interface One {
  refusal: string | null
  mayStillMint: boolean
  isPaymentFinal: boolean
  sendNow: boolean
  hasPayer: boolean
  valueWei: bigint
}
export interface Outcome {
  isDry: boolean
  count: number
  sumWei: bigint
  /** In seconds; null if there is none. */
  oldest: number | null
  newest: number | null
  sendNowWei: bigint
  fileCount: number
  remaining: number
}

export type Why = 'mint' | 'block' | 'payer' | 'nobody' | 'nothing'

/** Why a file leaves it out; null if none does. A refusal is its own reason. */
export function whyInNoFile(one: One): Why | string | null {
  if (one.refusal !== null) return one.refusal
  if (one.mayStillMint) return 'mint'
  if (!one.isPaymentFinal) return 'block'
  if (!one.sendNow) return 'payer'
  if (!one.hasPayer) return 'nobody'
  return one.valueWei === 0n ? 'nothing' : null
}

/** The reasons that are told, and how many payments have each. */
export function reasonsTold(all: One[]): [why: string, count: number][] {
  const counts = new Map<string, number>()
  for (const one of all) {
    const why = whyInNoFile(one)
    if (why !== null) counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  return [...counts].slice(0, 6)
}

const ether = (wei: bigint): string => {
  const [whole, part] = [wei / 10n ** 18n, wei % 10n ** 18n]
  let text = String(part + 10n ** 18n).slice(1)
  while (text.endsWith('0')) text = text.slice(0, -1)
  return text === '' ? `${whole}` : `${whole}.${text}`
}
const minute = (sec: number) => `${new Date(1_000 * sec).toISOString().slice(0, 16).replace('T', ' ')} UTC`

export function heldLine({ isDry, count, sumWei, oldest, newest }: Outcome): string {
  const noun = count === 1 ? 'payment' : 'payments'
  const verb = isDry ? 'would be' : count === 1 ? 'is' : 'are'
  const times = oldest !== null && newest !== null ? `, paid from ${minute(oldest)} to ${minute(newest)}` : ''
  return `${count} ${noun} ${verb} held for ${count === 1 ? 'its refund' : 'their refunds'}, ${ether(sumWei)} ETH in all${times}.`
}

export function sendLine({ sendNowWei, fileCount }: Outcome): string {
  const files = fileCount === 0 ? '' : fileCount === 1 ? ', in 1 file' : `, in ${fileCount} files`
  return `Of it ${ether(sendNowWei)} ETH may be sent now${files}.`
}

export function restLine({ remaining }: Outcome): string | null {
  if (remaining === 0) return null
  return `${remaining} more ${remaining === 1 ? 'remains' : 'remain'}: run this again for them.`
}
