// The one table of refusals: the status and the message of each, and the refusal for each fault. Routes name a refusal; no route can choose a status.
// A new reason of the operator's acts, or a new kind of error, does not compile until it has a row here. No text here may mention keys, settings,
// hosts or code.
import { mayPass } from '../db/core/faults.ts'
import { Overdue } from '../lib/deadline.ts'
import { type ErrorKind, KnownError, kindOf } from '../lib/errors.ts'
import { type OperatorRefusal, type Problem, type RefusedBecause, withFieldNames } from '../operator/act.ts'

/** The statuses of errors, as api/openapi.yaml has them. */
type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 422 | 429 | 500 | 503

/** The operator's act provides the message itself. */
const OWN_WORDS = null

/** `{seconds}` is the answer's Retry-After. */
const REFUSALS = {
  // 400: malformed, or a transaction that does not do what the caller claims.
  badAddress: [400, 'Not an address: it must be 0x and 40 hex digits, with a correct checksum if in mixed case.'],
  badId: [400, 'Not an id: it must be a positive whole number up to 2^256 - 1.'],
  badBlock: [400, 'A block is identified by its number, a positive whole number.'],
  badLimit: [400, 'limit must be a whole number from 1 to 200, given once.'],
  badOffset: [400, 'offset must be a whole number from 0 to 1999, given once.'],
  badHash: [400, 'txHash must be a transaction hash: 0x and 64 hex digits.'],
  badTransactionHash: [400, 'A transaction is identified by its hash: 0x and 64 hex digits.'],
  badPaymentHash: [400, 'A payment is identified by its transaction hash: 0x and 64 hex digits.'],
  badRoot: [400, 'An allowlist is identified by its root: 0x and 64 hex digits.'],
  badCode: [400, 'A referral code is 1 to 32 of a-z, 0-9, _ and -.'],
  badWatch: [400, 'Give one thing to watch: address=0x… or payment=0x….'],
  badNodeId: [400, 'nodeId must be a chain node id: a positive whole number, as a decimal string.'],
  badSignature: [400, 'signature must be a hex string that begins with 0x.'],
  badCredential: [400, 'credential must be the browser’s answer to the challenge, as JSON.'],
  badTarget: [400, 'The request target cannot be read.'],
  badRequest: [400, 'The request cannot be read.'],
  badBody: [400, 'The body must be a JSON object, sent as application/json.'],
  bodyTooLarge: [400, 'The body is larger than {kib} KiB.'],
  tooManyHeaders: [400, 'The request has too many headers.'],
  unknownTier: [400, 'No such tier is on sale.'],
  nothingToSync: [400, 'Send the txHash of a mint or a nodeId.'],
  syncMismatch: [400, 'That transaction did not mint that node.'],
  mintFailed: [400, 'The transaction failed on chain.'],
  noMint: [400, 'The transaction minted no node.'],
  notASale: [400, 'The transaction is not a transfer of a tier price to the payments wallet.'],
  wrongAmount: [400, 'The amount matches no tier’s price, so the payment is held for review.'],
  dust: [400, 'The amount is far below every price: the ledger records it, but gives neither node nor refund.'],
  badIdempotencyKey: [400, 'Idempotency-Key must be 1 to 128 visible ASCII characters, sent once.'],
  invalid: [400, OWN_WORDS],
  // 401
  notSignedIn: [401, 'Not signed in, or the session has expired.'],
  nonceLapsed: [401, 'The nonce was used or has expired: request a new one.'],
  signatureRefused: [401, 'The signature does not belong to that address and message.'],
  challengeLapsed: [401, 'The challenge was used or has expired: try again.'],
  passkeyRefused: [401, 'The service does not know this passkey, or its signature is wrong.'],
  wrongKey: [401, 'Unauthorized.'],
  // 403: sync is the only public route that returns it. In the operator's routes the message names what the key lacks.
  notYours: [403, 'The chain shows another wallet as the owner of that node.'],
  forbidden: [403, OWN_WORDS],
  // 404
  unknownRoute: [404, 'Not found.'],
  unknownNode: [404, 'No such node.'],
  unknownAllowlist: [404, 'No such allowlist.'],
  unpublishedAllowlist: [404, 'No such allowlist, or the operator has not published it.'],
  unfollowedBlock: [404, 'The ledger has not followed that block yet.'],
  unknownReferral: [404, 'No such referral code.'],
  noSuchTier: [404, 'There is no such tier.'],
  unknownPayment: [404, 'The ledger has no payment of this transaction yet. To report it: POST /api/payments/claim.'],
  unknownTransaction: [404, 'The ledger has no record of this transaction.'],
  unknownRound: [404, 'No such distribution.'],
  nodeNotMinted: [404, 'No node with that id has been minted.'],
  mintNotConfirmed: [404, 'The transaction has not been confirmed yet.'],
  notFound: [404, OWN_WORDS],
  // 405
  wrongMethod: [405, 'That method is not allowed here.'],
  // 408
  tooSlow: [408, 'The request took too long to arrive.'],
  // 409
  notYetKnown: [409, 'The service’s provider does not have the transaction in a block yet: try again shortly.'],
  noLongerYours: [409, 'The node was minted to this wallet, but the chain shows another owner now.'],
  actUnderWay: [409, 'A request with this Idempotency-Key is in progress: try again shortly.'],
  conflict: [409, OWN_WORDS],
  notYet: [409, OWN_WORDS],
  // 422
  otherAct: [422, 'This Idempotency-Key was used for another request: use a new key for a new action.'],
  // 429
  rateLimited: [429, 'Too many requests: try again in {seconds} s.'],
  tooManyStreams: [429, 'Too many event streams are open from this address: close one, or try again in {seconds} s.'],
  // 500
  unexpected: [500, 'Unexpected failure.'],
  // 503
  noPaymentAddress: [503, 'No payments address is configured.'],
  noTerms: [503, 'No credit terms are entered yet, so nothing is sold.'],
  nothingOnSale: [503, 'Nothing is on sale.'],
  soldOut: [503, 'Sold out for now: the owner of the contract has to allow more nodes first.'],
  tierSoldOut: [503, 'All nodes of the tier are sold.'],
  tierNotOpen: [503, 'The tier is not open yet: GET /api/tiers shows when it opens.'],
  tierAwaits: [503, 'The tier is not open yet: it opens once all nodes of tier {tier} are sold.'],
  quotedTierOffSale: [503, 'The default tier is not on sale: choose another with ?tier=.'],
  historiesDiffer: [503, 'Providers of the chain contradict each other, so nothing is sold until they agree.'],
  mending: [
    503,
    'The service is reading some blocks again, so nothing is sold until it has caught up: try again shortly.',
  ],
  noChain: [503, 'The chain cannot be reached at the moment.'],
  chainUnclear: [503, 'The chain’s providers answer, but not yet reliably: try again shortly.'],
  noDatabase: [503, 'The ledger cannot be reached at the moment.'],
  busy: [503, 'The server is busy. Try again shortly.'],
  overdue: [503, 'No answer came in time: try again shortly.'],
  stillFollowing: [503, 'The ledger has not followed the chain that far yet: try again shortly.'],
  notReady: [503, 'Not ready.'],
  unavailable: [503, OWN_WORDS],
} as const satisfies Record<RefusedBecause, readonly [ErrorStatus, null]> &
  Record<string, readonly [ErrorStatus, string | null]>

/** The refusals whose messages are here; the others come from the operator's acts. */
export type RefusalName = Exclude<keyof typeof REFUSALS, RefusedBecause | 'tierAwaits' | 'bodyTooLarge'>

interface Extras {
  cookies?: string[]
  retryAfterSec?: number | null
  problems?: readonly Problem[]
}

/** The answer to a failed request, returned as a value. It is a class so that nothing a caller sends can pass for a refusal. */
export class Refusal {
  readonly refused: keyof typeof REFUSALS
  readonly words: string
  /** Cookies to set with the answer. */
  readonly cookies: string[]
  /** For how many seconds we ask the caller to wait; null if we ask for none, or if the rate limit sets it. */
  readonly retryAfterSec: number | null
  /** What is wrong, for programs. Only the operator's acts provide it. */
  readonly problems: readonly Problem[] | undefined

  constructor(
    name: keyof typeof REFUSALS,
    words: string,
    { cookies = [], retryAfterSec = null, problems }: Extras = {},
  ) {
    this.refused = name
    this.words = words
    this.cookies = cookies
    this.retryAfterSec = retryAfterSec
    this.problems = problems
  }

  get status(): ErrorStatus {
    return REFUSALS[this.refused][0]
  }

  /** The error envelope: a JSON object with the single field `error`. For an operator's act it also has `problems`. */
  get envelope(): string {
    return JSON.stringify({ error: this.words, problems: this.problems })
  }
}

/** Refuses. */
export const refuse = (name: RefusalName, cookies: string[] = [], retryAfterSec: number | null = null): Refusal =>
  new Refusal(name, REFUSALS[name][1].replace('{seconds}', String(retryAfterSec)), { cookies, retryAfterSec })

/** Refuses a quote of a tier that has not opened: it waits for another tier, or for a time. */
export const refuseUnopened = (awaits: string | null): Refusal =>
  awaits === null ? refuse('tierNotOpen') : new Refusal('tierAwaits', REFUSALS.tierAwaits[1].replace('{tier}', awaits))

/** Refuses a body that is larger than its route takes. */
export const refuseTooLarge = (bytesMax: number): Refusal =>
  new Refusal('bodyTooLarge', REFUSALS.bodyTooLarge[1].replace('{kib}', String(Math.floor(bytesMax / 1024))))

/** Refuses as an operator's act did, with its message. */
export const refuseAs = ({ because, message, problems }: OperatorRefusal): Refusal =>
  new Refusal(because, message, { problems: problems.map((one) => ({ ...one, text: withFieldNames(one.text) })) })

export const isRefusal = (value: unknown): value is Refusal => value instanceof Refusal

export const noneIfRefused = <T>(value: T | Refusal): T | null => (isRefusal(value) ? null : value)

/** We ask for a retry after this time, when a transient fault of the database is usually over. */
const RETRY_SEC = 1

/** What callers see of a known kind of error. Chain errors differ in whether a retry helps, but to the caller the chain is missing either way. */
const REFUSAL_OF_ERROR: Record<ErrorKind, RefusalName> = {
  usage: 'unexpected',
  refused: 'unexpected',
  retryable: 'noChain',
  fatal: 'noChain',
}

/**
 * The answer to a thrown fault: 503 if the same work may succeed in the database later, or if we cannot reach or rely on the chain; 500 for
 * everything else. The fault itself goes only to the log.
 */
export function refusalOfFault(fault: unknown): Refusal {
  if (mayPass(fault)) return refuse('noDatabase', [], RETRY_SEC)
  if (fault instanceof KnownError && fault.isAnswered) return refuse('chainUnclear')
  const kind = kindOf(fault)
  if (kind !== null) return refuse(REFUSAL_OF_ERROR[kind])
  return refuse(fault instanceof Overdue ? 'overdue' : 'unexpected')
}
