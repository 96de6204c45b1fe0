// What the service knows of an account's nonces, and what a run of a pass does about them: a second reading of docs/ARCHITECTURE.md (Sending, Foreign
// use), docs/RUNBOOK.md (NodeLedgerTransactionStuck), docs/DATA-MODEL.md (The states of a send) and rows 1, 3, 15, 18 to 20 and 41 of the faults.
// Nothing is kept beside the chain: whatever the ledger knows is read again from the blocks that it has followed.

// Choices in what the documents leave open:
// - What followed blocks explain holds if any provider says so. Else the lowest of the answers counts.
// - While a nonce is in doubt, pending transactions are sent again, since the same bytes again do no harm.
// - A pending transaction that has expired is replaced when its fee would be raised, after 12 blocks, and not before.
// - A free nonce is filled only if the first provider's newer blocks have not used it either.

/** A use of a nonce in a block. `isSeen` is false if the follower is not shown it. */
export interface Use {
  nonce: number
  txHash: string
  succeeded: boolean
  isSeen: boolean
}
export interface Block {
  number: number
  hash: string
  time: number
  uses: Use[]
}
/** A transaction that was stored before it was sent. */
export interface Stored {
  nonce: number
  attempts: { txHash: string; isEmpty: boolean; signedAt: number }[]
  validUntil: number
  /** The block in which the account was found to be beyond this nonce, by the providers alone. */
  givenUp: Block | null
}
export interface Ledger {
  /** The followed blocks, all of one fork. */
  followed: Block[]
  stored: Stored[]
  /** The nonce from which the account is known, and the followed block in which the providers agreed on it. */
  base: { nonce: number; block: Block } | null
  doubt: { since: number; takeOver: boolean } | null
}
/** What each provider says of the account, the one that is asked first in front; null if it does not answer. */
export interface Answers {
  latest: (number | null)[]
  atFollowed: (number | null)[]
}
export interface Rules {
  validForSec: number
  /** The hash of the nth transaction that is signed. */
  hashOf: (nth: number) => string
  signed: number
}
export interface Run {
  signs: { nonce: number; isEmpty: boolean; txHash: string }[]
  sends: string[]
  refused: 'nonceUnknown' | 'providerBehind' | 'resting' | null
}

const ADOPT_AFTER = 64
const STUCK_AFTER = 12
const [REVERTS, REST_SEC] = [3, 900]

const seenUses = (ledger: Ledger): { use: Use; block: Block }[] =>
  ledger.followed.flatMap((block) => block.uses.filter(({ isSeen }) => isSeen).map((use) => ({ use, block })))
const stands = (ledger: Ledger, block: Block): boolean => ledger.followed.some(({ hash }) => hash === block.hash)
const hasAttempt = (one: Stored, txHash: string): boolean => one.attempts.some((attempt) => attempt.txHash === txHash)

export type State = 'pending' | 'mined' | 'reverted' | 'displaced'

/** What became of a stored transaction, by the followed blocks alone. */
export function fateOf(ledger: Ledger, one: Stored): { state: State; block: Block | null; txHash: string | null } {
  for (const { use, block } of seenUses(ledger)) {
    if (use.nonce !== one.nonce) continue
    const state = !hasAttempt(one, use.txHash) ? 'displaced' : use.succeeded ? 'mined' : 'reverted'
    return { state, block, txHash: use.txHash }
  }
  if (one.givenUp !== null && stands(ledger, one.givenUp))
    return { state: 'displaced', block: one.givenUp, txHash: null }
  return { state: 'pending', block: null, txHash: null }
}

const pendingOf = (ledger: Ledger): Stored[] =>
  ledger.stored.filter((one) => fateOf(ledger, one).state === 'pending').toSorted((a, b) => a.nonce - b.nonce)

/** The transactions in followed blocks that used a nonce of the account and are none of its stored ones. */
export const foreignOf = (ledger: Ledger): Use[] =>
  seenUses(ledger).flatMap(({ use }) => (ledger.stored.some((one) => hasAttempt(one, use.txHash)) ? [] : [use]))

/** The next nonce, as far as followed blocks show it; null if they show nothing of the account. */
export function shownNext(ledger: Ledger): number | null {
  const shown = seenUses(ledger).map(({ use }) => use.nonce + 1)
  if (ledger.base !== null && stands(ledger, ledger.base.block)) shown.push(ledger.base.nonce)
  return shown.length === 0 ? null : Math.max(...shown)
}

/** The nonce for a new transaction: after all that are stored or shown. */
export function assignedNext(ledger: Ledger): number | null {
  const shown = shownNext(ledger)
  const all = [...ledger.stored.map(({ nonce }) => nonce + 1), ...(shown === null ? [] : [shown])]
  return all.length === 0 ? null : Math.max(...all)
}

/** What all that answered say. Of several providers two must answer, for one of them may say anything. */
function agreed(answers: (number | null)[]): number | null {
  const given = answers.filter((one) => one !== null)
  if (given.length < Math.min(2, answers.length)) return null
  return given.every((one) => one === given[0]) ? (given[0] ?? null) : null
}

function rests(ledger: Ledger, now: number): boolean {
  const outcomes = ledger.stored
    .map((one) => ({ one, ...fateOf(ledger, one) }))
    .filter(({ state }) => state === 'mined' || state === 'reverted')
    // A revert by expiry says nothing of the account.
    .filter(({ one, state, block }) => state === 'mined' || (block !== null && block.time <= one.validUntil))
    .toSorted((a, b) => b.one.nonce - a.one.nonce)
  const last = outcomes.slice(0, REVERTS)
  const time = last[0]?.block?.time ?? 0
  return last.length === REVERTS && last.every(({ state }) => state === 'reverted') && now - time < REST_SEC
}

/** The nonce at the latest block, as far as the providers are believed; null if it is in doubt. Notes a doubt, and ends it. */
function believedNonce(ledger: Ledger, cursor: Block, answers: Answers): number | null {
  const at = agreed(answers.atFollowed)
  if (assignedNext(ledger) === null) {
    if (at === null) return null
    ledger.base = { nonce: at, block: cursor }
  }
  const next = assignedNext(ledger) as number
  const explained = pendingOf(ledger)[0]?.nonce ?? next
  const first = answers.latest.find((one) => one !== null)
  if (first === undefined) return null
  const latest = answers.latest.includes(explained)
    ? explained
    : Math.min(...answers.latest.filter((one) => one !== null))
  const isMissed = at !== null && at > explained
  if (latest <= explained || (latest <= next && !isMissed)) {
    ledger.doubt = null
    return latest
  }
  noteDoubt(ledger, cursor, isMissed ? at : null)
  return null
}

/** Notes a doubt, or adopts the nonce that the account has in the followed block, if `missed` says that it is beyond what those blocks explain. */
function noteDoubt(ledger: Ledger, cursor: Block, missed: number | null): void {
  // A doubt that was noted on a fork begins again.
  const since = ledger.doubt !== null && ledger.doubt.since <= cursor.number ? ledger.doubt : null
  if (since === null) {
    ledger.doubt = { since: cursor.number, takeOver: false }
    return
  }
  if (missed === null || !(since.takeOver || cursor.number - since.since >= ADOPT_AFTER)) return
  for (const one of pendingOf(ledger)) if (one.nonce < missed) one.givenUp = cursor
  ledger.base = { nonce: missed, block: cursor }
  ledger.doubt = null
}

/** Carries out one run of a pass that always has more to send. */
export function run(ledger: Ledger, answers: Answers, rules: Rules): Run {
  const cursor = ledger.followed.at(-1) as Block
  const done: Run = { signs: [], sends: [], refused: null }
  const sign = (nonce: number, isEmpty: boolean) => {
    const txHash = rules.hashOf(rules.signed++)
    done.signs.push({ nonce, isEmpty, txHash })
    done.sends.push(txHash)
    return { txHash, isEmpty, signedAt: cursor.number }
  }
  const store = (nonce: number, isEmpty: boolean) => {
    const validUntil = cursor.time + rules.validForSec
    ledger.stored.push({ nonce, attempts: [sign(nonce, isEmpty)], validUntil, givenUp: null })
  }
  const pending = pendingOf(ledger)
  if (pending.length === 0 && rests(ledger, cursor.time)) return { ...done, refused: 'resting' }
  const latest = believedNonce(ledger, cursor, answers)
  if (latest === null) {
    for (const one of pending) done.sends.push(lastOf(one).txHash)
    return { ...done, refused: pending.length === 0 ? 'nonceUnknown' : null }
  }
  const [first] = pending
  if (first === undefined) {
    const next = assignedNext(ledger) as number
    if (latest < next) return { ...done, refused: 'providerBehind' }
    store(next, false)
    return done
  }
  // Uses that were hidden from the follower show only in the account itself.
  const shown = shownNext(ledger)
  const free = shown === latest ? shown : agreed(answers.atFollowed)
  if (free !== null && free < first.nonce && free === latest) store(free, true)
  for (const one of pending) {
    if (latest > one.nonce) continue
    if (cursor.number - lastOf(one).signedAt < STUCK_AFTER) done.sends.push(lastOf(one).txHash)
    else one.attempts.push(sign(one.nonce, cursor.time > one.validUntil))
  }
  return done
}

const lastOf = (one: Stored) => one.attempts.at(-1) as Stored['attempts'][number]
