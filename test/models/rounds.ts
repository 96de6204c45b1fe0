// What a turn pays, by docs/REWARDS.md (The rule, The seed by chain, What delays), docs/CONTRACT.md (Why cohorts, Rounds) and decision 0008. Words of 32
// bytes are put together by hand; only the hash function is a library's.

// Choices in what the documents leave open:
// - The cohort to join has its next turn later than interval - slot after the block, and at most interval after it: (interval - slot, interval].
// - Before a tier's first version there is no rate: a turn due then waits, since the documents name none.
// - A turn that no terms cover is to be paid, and waits for terms.
import { keccak256 } from 'viem'

export interface Terms {
  fromTime: number
  payouts: boolean
  minWei: bigint
  maxWei: bigint
}
export interface Rate {
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

/** The rate in force at a time. Versions are in the order of their entry; of those that begin at one time the last holds. */
export function rateAt(rates: Rate[], time: number): number | undefined {
  let found: Rate | undefined
  for (const one of rates)
    if (one.fromTime <= time && (found === undefined || one.fromTime >= found.fromTime)) found = one
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
export interface Window {
  from: number
  until: number
}
const covers = (one: Window, due: number): boolean => one.from <= due && due < one.until

/**
 * What happens to a turn: terms without payouts and a window over its time skip it. Without a window it waits for one, unless a window after its time
 * exists: windows only follow one another, so then it is owed for good.
 */
export function fateOf(terms: Terms[], windows: Window[], due: number): 'pay' | 'skip' | 'delay' {
  const now = termsAt(terms, due)
  if (now === undefined || now.payouts) return 'pay'
  if (windows.some((one) => covers(one, due))) return 'skip'
  return windows.some((one) => one.until > due) ? 'pay' : 'delay'
}

/** A cohort's entry in a round: it skips turns of one window, then pays turns up to the next that is not paid. */
export function entryOf(cohort: Cohort, owed: { terms: Terms[]; windows: Window[] }, now: number) {
  const fate = (due: number) => fateOf(owed.terms, owed.windows, due)
  const first = owed.windows.find((one) => covers(one, cohort.nextDue))
  let due = cohort.nextDue
  let [skipped, payable] = [0, 0]
  while (due <= now && first !== undefined && covers(first, due) && fate(due) === 'skip') {
    skipped += 1
    due += cohort.interval
  }
  const firstPayable = due
  while (due <= now && fate(due) === 'pay') {
    payable += 1
    due += cohort.interval
  }
  return { skipped, payable, firstPayable, isDelayed: firstPayable <= now && fate(firstPayable) === 'delay' }
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

/** The first turn of a node that opens a cohort of its own: the one multiple of the slot between interval - slot and interval ahead. */
export function firstTurn(schedule: { interval: number; slot: number }, now: number): number {
  let time = 0
  while (time <= now + schedule.interval - schedule.slot) time += schedule.slot
  return time
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

/** While no turn is paid, a tier's nodes share the cohort of its interval whose turn is the latest, if that is at most an interval ahead and not due. */
export function sharedCohort<One extends Cohort & { size: number }>(ofTier: One[], interval: number, now: number) {
  const nextOf = (one: One) => (one.size > 0 ? one.nextDue : wakened(one, now))
  let latest: One | null = null
  for (const one of ofTier) {
    const next = nextOf(one)
    if (one.interval !== interval || next <= now || next > now + interval) continue
    if (latest === null || next > nextOf(latest)) latest = one
  }
  return latest
}

/** The owner's bounds in whole gwei: as wide as both the range at every rate and the bounds of now, and `null` if these already are. */
export function boundsFor(
  range: { minWei: bigint; maxWei: bigint },
  rates: number[],
  now: { floorWei: bigint; ceilingWei: bigint },
): { floorGwei: bigint; ceilingGwei: bigint } | null {
  let { floorWei, ceilingWei } = now
  for (const rate of rates) {
    if (atRate(range.minWei, rate) < floorWei) floorWei = atRate(range.minWei, rate)
    if (atRate(range.maxWei, rate) > ceilingWei) ceilingWei = atRate(range.maxWei, rate)
  }
  if (floorWei === now.floorWei && ceilingWei === now.ceilingWei) return null
  let [floorGwei, ceilingGwei] = [0n, 0n]
  while ((floorGwei + 1n) * 1_000_000_000n <= floorWei) floorGwei++
  while (ceilingGwei * 1_000_000_000n < ceilingWei) ceilingGwei++
  return { floorGwei, ceilingGwei }
}
