// What a turn pays, by docs/REWARDS.md (The rule, The seed by chain, What delays), docs/CONTRACT.md (Why cohorts, Rounds) and decision 0008. Words of 32
// bytes are put together by hand; only the hash function is a library's.
//
// Choices in what the documents leave open:
// - The cohort to join has its next turn later than interval - slot after the block, and at most interval after it: (interval - slot, interval].
// - Before a tier's first version its first rate applies, since a tier's cohorts exist as soon as the tier does.
import { keccak256 } from 'viem'

export interface Terms {
  fromTime: number
  payouts: boolean
  minWei: bigint
  maxWei: bigint
}
export interface Rate {
  version: number
  fromTime: number
  payoutBps: number
}
export interface Header {
  number: number
  hash: `0x${string}`
  time: number
  prevrandao: `0x${string}`
}

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/** The terms in force at a time: those with the latest beginning not after it. */
export function termsAt(terms: Terms[], time: number): Terms | undefined {
  let found: Terms | undefined
  for (const one of terms) {
    if (one.fromTime <= time && (found === undefined || one.fromTime > found.fromTime)) found = one
  }
  return found
}

/** The rate in force at a time. Of versions that begin at one time the last entered holds. */
export function rateAt(rates: Rate[], time: number): number | undefined {
  let found: Rate | undefined
  for (const one of rates) {
    if (one.fromTime > time) continue
    if (found === undefined || one.fromTime > found.fromTime) found = one
    else if (one.fromTime === found.fromTime && one.version > found.version) found = one
  }
  return found?.payoutBps
}

/** The draw of a turn at the base rate. */
export function draw(seed: `0x${string}`, cohort: number, due: number, range: { minWei: bigint; maxWei: bigint }) {
  const bytes = `0x${seed.slice(2)}${word(BigInt(cohort))}${word(BigInt(due))}` as const
  const span = range.maxWei - range.minWei + 1n
  return range.minWei + (BigInt(keccak256(bytes)) % span)
}

export const atRate = (drawWei: bigint, payoutBps: number): bigint => (drawWei * BigInt(payoutBps)) / 10_000n

/** Whether the field that holds prevrandao is randomness: it differs from the parent's, and none of its four 64-bit words is below 2^32. */
export function isRandom(own: `0x${string}`, parent: `0x${string}` | null): boolean {
  if (parent !== null && own.toLowerCase() === parent.toLowerCase()) return false
  for (let i = 0; i < 4; i++) {
    if (BigInt(`0x${own.slice(2 + 16 * i, 18 + 16 * i)}`) < 2n ** 32n) return false
  }
  return true
}

/** The block whose randomness a turn takes: the first whose time is not before the time due. */
export function seedBlock(chain: Header[], due: number): Header | undefined {
  for (const one of chain) if (one.time >= due) return one
  return undefined
}

/** The seed of a turn. */
export function seedOf(chain: Header[], due: number): `0x${string}` | undefined {
  const found = seedBlock(chain, due)
  if (found === undefined) return undefined
  const parent = chain.find((one) => one.number === found.number - 1)
  return isRandom(found.prevrandao, parent?.prevrandao ?? null) ? found.prevrandao : found.hash
}

export interface Cohort {
  nextDue: number
  interval: number
}
/** The times at which a cohort's turns are due that may be paid at a time, oldest first. */
export function dueTurns(cohort: Cohort, now: number, most: number): number[] {
  const found: number[] = []
  for (let due = cohort.nextDue; due <= now && found.length < most; due += cohort.interval) found.push(due)
  return found
}

/** Whether a turn is owed: no window of the contract's owner covers its time. A window's end is outside it. */
export function isOwed(windows: { from: number; until: number }[], due: number): boolean {
  return !windows.some((one) => one.from <= due && due < one.until)
}

/** What one node of a cohort gets for several turns at once: each turn's own draw, by the terms and the rate of its own time. */
export function sumOf(
  cohort: number,
  dues: number[],
  ledger: { chain: Header[]; terms: Terms[]; rates: Rate[] },
): bigint | undefined {
  let sum = 0n
  for (const due of dues) {
    const [seed, terms, rate] = [seedOf(ledger.chain, due), termsAt(ledger.terms, due), rateAt(ledger.rates, due)]
    if (seed === undefined || terms === undefined || rate === undefined) return undefined
    sum += atRate(draw(seed, cohort, due, terms), rate)
  }
  return sum
}

/** The next turn of an empty cohort once a node joins it: by whole intervals to the first time after the block's. */
export function wakened(cohort: Cohort, blockTime: number): number {
  let next = cohort.nextDue
  while (next <= blockTime) next += cohort.interval
  return next
}

/** Whether a new node of a schedule may join a cohort at a time: its first turn comes between interval - slot and interval ahead. */
export function mayJoin(cohort: Cohort, nodes: number, schedule: { interval: number; slot: number }, now: number) {
  if (cohort.interval !== schedule.interval) return false
  // A cohort whose turn is due takes no nodes. One without nodes owes nothing, and wakes.
  if (nodes > 0 && cohort.nextDue <= now) return false
  const next = nodes > 0 ? cohort.nextDue : wakened(cohort, now)
  return next > now + schedule.interval - schedule.slot && next <= now + schedule.interval
}
