// The one place that says which refusal has which status and which words, and what becomes of a fault. Routes name a
// refusal; they never choose a status. No text here may tell of keys, settings, hosts or code.
import { isDatabaseDown } from '../db/core/sql.ts'
import { Overdue } from '../lib/deadline.ts'
import { kindOf } from '../lib/errors.ts'

const REFUSALS = {
  // 400: malformed, or a transaction that does not say what is claimed.
  badAddress: [
    400,
    'Not an address: 0x and 40 hex digits are required, with a right checksum where the case is mixed.',
  ],
  badId: [400, 'Not an id: a positive whole number up to 2^256 - 1 is required.'],
  badLimit: [400, 'limit must be a whole number from 1 to 200, given once.'],
  badOffset: [400, 'offset must be a whole number from 0 to 1999, given once.'],
  badHash: [400, 'txHash must be a transaction hash: 0x and 64 hex digits.'],
  badNodeId: [400, 'nodeId must be a chain node id: a positive whole number, as a decimal string.'],
  badSignature: [400, 'signature must be a hex string that begins with 0x.'],
  badTarget: [400, 'The request target cannot be read.'],
  badRequest: [400, 'The request cannot be read.'],
  badBody: [400, 'The body must be a JSON object, sent as application/json.'],
  bodyTooLarge: [400, 'The body is larger than 16 KiB.'],
  tooManyHeaders: [400, 'The request has too many headers.'],
  unknownTier: [400, 'No such tier is on sale.'],
  nothingToSync: [400, 'Send the txHash of a mint or a nodeId.'],
  syncMismatch: [400, 'That transaction did not mint that node.'],
  mintFailed: [400, 'The transaction failed on chain.'],
  noMint: [400, 'The transaction minted no node.'],
  notASale: [400, 'The transaction is not a transfer of a tier price to the payments wallet.'],
  wrongAmount: [400, 'The amount is the price of no tier; the payment is held for review.'],
  dust: [400, 'The amount is far below every price: it is on record, and neither a node nor a refund comes of it.'],
  // 401
  notSignedIn: [401, 'Not signed in, or the session has expired.'],
  nonceLapsed: [401, 'The nonce was used already or has lapsed: ask for a new one.'],
  signatureRefused: [401, 'The signature does not belong to that address and message.'],
  wrongKey: [401, 'Unauthorized.'],
  // 403
  notYours: [403, 'The chain names another wallet as the owner of that node.'],
  // 404
  unknownRoute: [404, 'Not found.'],
  unknownNode: [404, 'No such node.'],
  unknownRound: [404, 'No such distribution.'],
  nodeNotMinted: [404, 'No node with that id has been minted.'],
  mintNotConfirmed: [404, 'The transaction has not been confirmed yet.'],
  // 405
  wrongMethod: [405, 'That method is not allowed here.'],
  // 408
  tooSlow: [408, 'The request took too long to arrive.'],
  // 409
  notYetKnown: [409, 'The transaction is not in a block that the node RPC has seen yet: try again shortly.'],
  noLongerYours: [409, 'The node was minted to this wallet, which the chain no longer names as its owner.'],
  // 429
  rateLimited: [429, 'Too many requests: try again when the minute is over.'],
  // 500
  unexpected: [500, 'Unexpected failure.'],
  // 503
  noPaymentAddress: [503, 'No payments address is configured.'],
  noTerms: [503, 'No credit terms are entered yet, so nothing is sold.'],
  nothingOnSale: [503, 'Nothing is on sale.'],
  quotedTierOffSale: [503, 'The tier that is quoted by default is not on sale: name another with ?tier=.'],
  noChain: [503, 'The chain cannot be reached at present.'],
  noDatabase: [503, 'The ledger cannot be reached at present.'],
  busy: [503, 'Too much is going on at present: try again shortly.'],
  overdue: [503, 'No answer came in time: try again shortly.'],
  stillFollowing: [503, 'The ledger has not followed the chain that far yet: try again shortly.'],
  notReady: [503, 'Not ready.'],
} as const satisfies Record<string, readonly [status: number, text: string]>

export type RefusalName = keyof typeof REFUSALS

/**
 * A request that is answered with an error, as a value. A class, so that nothing a caller sends can be taken for one.
 */
export class Refusal {
  readonly refused: RefusalName
  /** Cookies to set along with it. */
  readonly cookies: string[]

  constructor(refused: RefusalName, cookies: string[] = []) {
    this.refused = refused
    this.cookies = cookies
  }
}

/** Refuses. */
export const refuse = (refused: RefusalName, cookies: string[] = []): Refusal => new Refusal(refused, cookies)

export const isRefusal = (value: unknown): value is Refusal => value instanceof Refusal

/** Status of a refusal (specification section 7). */
export const statusOf = (name: RefusalName): number => REFUSALS[name][0]

/** The error envelope of a refusal: a JSON object with the single field `error`. */
export function envelope(name: RefusalName): string {
  return JSON.stringify({ error: REFUSALS[name][1] })
}

/**
 * The answer to a thrown fault: a database or a chain that cannot be reached is 503, everything else is 500. The
 * fault itself is for the log.
 */
export function refusalOfFault(fault: unknown): Refusal {
  if (isDatabaseDown(fault)) return refuse('noDatabase')
  // Faults of the chain say whether asking again helps; one that does not is a misconfiguration, which is 503 as well.
  const kind = kindOf(fault)
  if (kind === 'retryable' || kind === 'fatal') return refuse('noChain')
  if (fault instanceof Overdue) return refuse('overdue')
  return refuse('unexpected')
}
