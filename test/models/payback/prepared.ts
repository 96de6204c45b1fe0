// The first step of a refund, as a second reading of docs/ADMIN.md (Prepare a refund; several; all that are held for a reason), of docs/RUNBOOK.md (Held
// payments) and docs/LIMITS.md (a restored ledger): the payment is held, and its ether may be sent once nothing can give the buyer a node as well.
//
// Choices in what the documents leave open:
// - A payment that is prepared already keeps its verdict and its row in the log, and is only looked at again.
// - A file that was made pays a refund, so no later file does unless asked again. A refund without value or without a payer is in no file.
// - One that only one provider tells of is asked about once it is held.
import { isFinal, mayStillMint, safeAfter } from '../refunds.ts'

export interface Payment {
  id: number
  ref: string
  /** Null for value that came without a transaction of its own. */
  txHash: string | null
  from: string | null
  valueWei: bigint
  succeeded: boolean
  state: 'seen' | 'accepted' | 'minting' | 'minted' | 'held' | 'refunded' | 'dismissed' | 'orphaned'
  reason: string | null
  /** What it was held for before its refund was prepared. */
  heldBefore: string | null
  tierId: string | null
  block: number | null
  proof: 'proven' | 'agreed' | 'believed' | null
  /** The ends of all mints that were signed for it. */
  mintsUntil: number[]
  isExpelled: boolean
  /** A part of its value has a node or a refund. */
  isSpent: boolean
  /** Two providers tell of it what the ledger has. */
  isConfirmed: boolean
  /** When files were made that pay it back, in seconds before now. */
  files: number[]
}
export interface Horizon {
  final: { number: number; time: number } | null
  /** Why nothing is final although providers answer, or that only one tells what is. */
  note: 'waits' | 'lone' | null
  /** Up to which block a ledger was lost, and until when what it signed may be executed. */
  lost: { upTo: number; until: number } | null
  /** One provider's word is enough about who paid. */
  trustsOne: boolean
  /** Two providers can be asked about who paid, once the ledger follows. */
  canAsk: boolean
  follows: boolean
}
export interface Ledger {
  payments: Payment[]
  horizon: Horizon
  wallets: string[]
  signers: string[]
  log: { action: string; payment: Payment; before: { state: string; reason: string | null } | null }[]
  verdicts: { payment: Payment; evidence: object }[]
  /** That only one provider tells of a payment was told of this block. */
  unproven: number | null
}
export type Refused = 'unknown' | 'several' | 'otherReason' | 'expelled' | 'state' | 'noSale' | 'spent' | 'restored'
export type Word = 'waits' | 'mint' | 'block' | 'payer' | 'send' | 'filed'
export interface Answer {
  says: Word
  /** Whether the answer also says that only one provider tells what is final. */
  warns: boolean
  safeAfter: number | null
  mayStillMint: boolean
  isPaymentFinal: boolean
  sendNow: boolean
  /** Seconds before now. */
  fileMade: number | null
}

const MAY = ['seen', 'accepted', 'minting', 'held', 'dismissed']

/** Why its refund is not prepared. */
export function refusal(one: Payment, { wallets, signers }: Ledger, heldFor: string | null): Refused | null {
  if (heldFor !== null && !(one.state === 'held' && (one.reason === heldFor || one.reason === 'refunding')))
    return 'otherReason'
  if (one.isExpelled) return 'expelled'
  if (!MAY.includes(one.state)) return 'state'
  // What the judge will ignore is no sale. What is judged keeps its verdict.
  const isOurs = one.from !== null && (wallets.includes(one.from) || signers.includes(one.from))
  if (one.state === 'seen' && one.from !== null && (!one.succeeded || one.valueWei === 0n || isOurs)) return 'noSale'
  return one.isSpent ? 'spent' : null
}

function wordOf(mayMint: boolean, isDeep: boolean, isPayerKnown: boolean, fileMade: number | null): Word {
  if (mayMint) return 'mint'
  if (!isDeep) return 'block'
  if (!isPayerKnown) return 'payer'
  return fileMade === null ? 'send' : 'filed'
}

/** Whether its ether may be sent now. */
export function lookAt(one: Payment, { final, note, lost, trustsOne }: Horizon): Answer {
  // A mint that ended before a final block is over.
  const signed = one.mintsUntil.filter((until) => final === null || until >= final.time)
  const isLost = lost !== null && one.block !== null && one.block <= lost.upTo
  const prepared = { mintsUntil: isLost ? [...signed, lost.until] : signed, block: one.block }
  const [mayMint, isDeep] = [mayStillMint(prepared, final), isFinal(prepared, final)]
  const isPayerKnown = one.proof !== 'believed' || trustsOne
  const sendNow = !mayMint && isDeep && isPayerKnown
  const fileMade = one.files.length === 0 ? null : Math.max(...one.files)
  return {
    ...{
      says: final === null && note !== null ? 'waits' : wordOf(mayMint, isDeep, isPayerKnown, fileMade),
      warns: sendNow && note === 'lone',
      safeAfter: safeAfter(prepared),
      mayStillMint: mayMint,
    },
    ...{ isPaymentFinal: isDeep, sendNow, fileMade },
  }
}

/** Holds one for its refund, unless that is refused or done. */
export function hold(ledger: Ledger, one: Payment, heldFor: string | null): Refused | null {
  const why = refusal(one, ledger, heldFor)
  if (why !== null || one.reason === 'refunding') return why
  const evidence = { rule: 'refunding', stoodAs: one.state, heldFor: one.reason, tierId: one.tierId }
  ledger.verdicts.push({ payment: one, evidence })
  ledger.log.push({ action: 'refundPrepared', payment: one, before: { state: one.state, reason: one.reason } })
  one.heldBefore = one.reason
  one.state = 'held'
  one.reason = 'refunding'
  return null
}

/** Asks two providers who paid, if only one tells. */
export function ask(ledger: Ledger, one: Payment): void {
  const { canAsk, trustsOne, follows } = ledger.horizon
  if (one.proof !== 'believed' || trustsOne || !follows) return
  if (canAsk && one.isConfirmed) one.proof = 'agreed'
  else ledger.unproven ??= one.block
}

/** `isRestored`: the ledger was found to be restored while the act began. */
export function prepare(ledger: Ledger, one: Payment, isRestored: boolean): Refused | Answer {
  if (isRestored) return refusal(one, ledger, null) ?? 'restored'
  const why = hold(ledger, one, null)
  if (why !== null) return why
  ask(ledger, one)
  return lookAt(one, ledger.horizon)
}

export interface Named {
  payment: Payment | Refused
}
export interface Request {
  heldFor: string | null
  again: boolean
}
export interface Result {
  payment: Payment | null
  refused: Refused | null
  answer: Answer | null
}
export interface Outcome {
  results: Result[]
  transfers: { to: string; valueWei: bigint }[]
  /** Why payments are in no file: what they have in common, and which. */
  inNoFile: Map<string, (Payment | null)[]>
}

/** Prepares several, each for itself. `asks` is false for a look that changes nothing. */
export function prepareEach(ledger: Ledger, named: Named[], request: Request, asks = true): Outcome {
  for (const { payment } of named)
    if (asks && typeof payment !== 'string' && hold(ledger, payment, request.heldFor) === null) ask(ledger, payment)
  const outcome: Outcome = { results: [], transfers: [], inNoFile: new Map() }
  for (const { payment } of named) {
    const result = resultOf(ledger, payment, request.heldFor)
    outcome.results.push(result)
    const why = result.refused ?? whyInNoFile(result)
    if (why !== null) outcome.inNoFile.set(why, [...(outcome.inNoFile.get(why) ?? []), result.payment])
    else if (result.payment !== null && (request.again || result.answer?.fileMade === null))
      pay(ledger, result.payment, outcome)
  }
  return outcome
}

function resultOf(ledger: Ledger, payment: Payment | Refused, heldFor: string | null): Result {
  if (typeof payment === 'string') return { payment: null, refused: payment, answer: null }
  const refused = hold(ledger, payment, heldFor)
  return { payment, refused, answer: refused === null ? lookAt(payment, ledger.horizon) : null }
}

function pay(ledger: Ledger, payment: Payment, { transfers }: Outcome): void {
  transfers.push({ to: payment.from ?? '', valueWei: payment.valueWei })
  payment.files.push(0)
  ledger.log.push({ action: 'refundFileMade', payment, before: null })
}

function whyInNoFile({ payment, answer }: Result): string | null {
  if (answer?.mayStillMint) return 'mint'
  if (!answer?.isPaymentFinal) return 'block'
  if (!answer.sendNow) return 'payer'
  if (payment?.from === null) return 'nobody'
  return payment?.valueWei === 0n ? 'nothing' : null
}

/** What an act on all that are held for a reason takes, in its order: what no file pays and no act has prepared first, what it refuses last. */
export function heldBefore(
  payments: Payment[],
  given: { heldFor: string; before: number; again: boolean },
  timeOf: (one: Payment) => number,
) {
  const taken = payments.filter((one) => {
    if (one.state !== 'held' || timeOf(one) >= given.before) return false
    if (one.reason === given.heldFor) return true
    return one.reason === 'refunding' && one.heldBefore === given.heldFor && (given.again || one.files.length === 0)
  })
  const isRefused = (one: Payment) => Number(one.isExpelled || one.isSpent)
  const isPrepared = (one: Payment) => Number(one.reason === 'refunding')
  // The latest file; never comes first.
  const filed = (one: Payment) => (one.files.length === 0 ? -Infinity : -Math.min(...one.files))
  const keys = [isRefused, isPrepared, filed, (one: Payment) => one.block ?? 0, ({ id }: Payment) => id]
  return taken.toSorted((a, b) => keys.map((key) => key(a) - key(b)).find((by) => by !== 0 && !Number.isNaN(by)) ?? 0)
}
