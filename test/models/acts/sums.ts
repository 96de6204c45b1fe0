// What an act counts as, so whether it waits for a second person, as a second reading of docs/ADMIN.md (A second person: the table of acts; Payments;
// Contract wallets; Tiers; Nodes and senders) and of the schema's comments. Loops over rows in memory. What a release counts as is in ./second-person.ts.

// Choices in what the documents leave open:
// - A payment that is named twice counts once, by its hash or by its id, and a hash names all payments of its transaction. Its value counts whatever its
//   state is, because an act that the state forbids is refused. To prepare a refund again is no change, so that counts as nothing.
// - A payment of a wallet waits if it is not judged yet, or is held for what the act lifts, or for a reason that the judge examines again by itself.
// - To allow a contract again is no change, nor is a grant of a node that was paid for or has a grant.
// - The highest price of a tier is that of any of its versions. A node that was expelled is in no cohort, so its tier is not known.
// - The file of commissions counts what is due for blocks that are not final, too. What a payee was paid too much lowers no other's due.
// - Of all late payments, one act takes every one that is held before the time; a payment at that very time is not before it.
// - A transfer that is stated in full may rest on a person's word, and several small ones may come from one payment. So the whole payment counts.

export interface Payment {
  id: number
  txHash: string | null
  from: string | null
  valueWei: bigint
  state: string
  reason: string | null
}
export type Name = { id: number } | { txHash: string }

/** Whether a name is a payment's. */
const isNamed = (one: Payment, name: Name): boolean => ('id' in name ? one.id === name.id : one.txHash === name.txHash)

/** What the named payments are worth. */
export function sumNamed(payments: Payment[], names: Name[]): bigint {
  let sum = 0n
  for (const one of payments) if (names.some((name) => isNamed(one, name))) sum += one.valueWei
  return sum
}

/** What is prepared for refund, of the named payments. */
export function sumPrepared(payments: Payment[], names: Name[]): bigint {
  const others = payments.filter(({ state, reason }) => !(state === 'held' && reason === 'refunding'))
  return sumNamed(others, names)
}

/** A payment with its time, and the reason it was held for before its refund was prepared; null: none was. */
export interface Dated extends Payment {
  time: number
  heldBefore: string | null
  isFiled: boolean
}

/** Whether a payment is late: it is held for the reason, or its refund is prepared after that and, unless asked for again, in no file. */
function isLate(one: Dated, asked: { heldFor: string; before: number; again: boolean }): boolean {
  if (one.state !== 'held' || one.time >= asked.before) return false
  if (one.reason === asked.heldFor) return true
  if (one.reason !== 'refunding' || one.heldBefore !== asked.heldFor) return false
  return asked.again || !one.isFiled
}

/** The late payments, and what their refunds give away: nothing for those that are prepared already, unless they go into a file again. */
export function lateOf(payments: Dated[], asked: { heldFor: string; before: number; again: boolean }) {
  const late = payments.filter((one) => isLate(one, asked))
  let sumWei = 0n
  for (const { reason, valueWei } of late) if (asked.again || reason !== 'refunding') sumWei += valueWei
  return { ids: late.map(({ id }) => id), sumWei }
}

/** The reasons for which a payment waits until a place, room, an opening or its payer's proof comes. */
const WAITS_BY_ITSELF = ['soldOut', 'walletLimit', 'notOpenYet', 'contractWallet']

/** What waits of a wallet that is allowed, or taken off the deny list. */
export function sumWaiting(payments: Payment[], wallet: string, act: 'allow' | 'takeOff'): bigint {
  let sum = 0n
  for (const { from, state, reason, valueWei } of payments) {
    if (from !== wallet) continue
    if (state === 'seen') sum += valueWei
    if (state !== 'held' || reason === null) continue
    if (WAITS_BY_ITSELF.includes(reason)) sum += valueWei
    if (reason === 'senderDenied' && act === 'takeOff') sum += valueWei
  }
  return sum
}

export interface Node {
  id: number
  cohort: number | null
  isPaid: boolean
  isGranted: boolean
}
export interface Sale {
  cohorts: { cohort: number; tierNo: number }[]
  tiers: { tierNo: number; priceWei: bigint }[]
}

/** What a grant of a node gives away; null if nobody knows. */
export function worthOfGrant(node: Node | undefined, { cohorts, tiers }: Sale): bigint | null {
  if (node === undefined || node.isPaid || node.isGranted) return 0n
  const tierNo = cohorts.find(({ cohort }) => cohort === node.cohort)?.tierNo
  let highest: bigint | null = null
  for (const one of tiers) {
    if (one.tierNo === tierNo && (highest === null || one.priceWei > highest)) highest = one.priceWei
  }
  return highest
}

/** What the file of commissions pays. */
export function sumDue(lines: { dueWei: bigint }[]): bigint {
  let sum = 0n
  for (const { dueWei } of lines) if (dueWei > 0n) sum += dueWei
  return sum
}

export interface Stated {
  innerIndex?: number | undefined
  from?: string | undefined
  valueWei?: bigint | undefined
}

/** What an attribution rests on a person's word for. */
export function sumStated(payments: Payment[], name: Name, transfers: Stated[]): bigint {
  for (const { innerIndex, from, valueWei } of transfers) {
    if (innerIndex !== undefined && from !== undefined && valueWei !== undefined) return sumNamed(payments, [name])
  }
  return 0n
}

/** Whether an act waits; `aboveWei` is null while the rule is off. What nobody knows is more than any amount. */
export function waits(worthWei: bigint | null, aboveWei: bigint | null): boolean {
  if (aboveWei === null) return false
  return worthWei === null || worthWei > aboveWei
}
