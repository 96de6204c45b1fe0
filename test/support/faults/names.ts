// The faults a provider can be given, by name, and which of them change a single call's answer and which a whole reply.

/** Faults of one call's answer; the other calls of its batch are answered truly. */
const CALL_FAULTS = [
  'staleHead', // an older block, with the nonce and balance of then, for the latest
  'missingBlock', // null for a block that is there
  'otherFork', // a block with another parent
  'emptyLogs', // no logs where there are some
  'partialLogs', // all but the last
  'nullReceipt', // null for a transaction in a block
  'foreignReceipt', // the receipt as of a block that lost
  'nullTransaction', // null for a transaction that is there
  'wrongChainId',
  'highNonce', // an account has sent 5,000 transactions more, as of the latest block
  'highTip', // a tip of 300 gwei is suggested
  'rateLimit', // an error that asks to slow down
  'rangeLimit', // logs of more than one block are refused
  'internalError',
  'swallowed', // a send is acknowledged and never passed on
  'sendRefused', // a send is refused with an unknown text, and passed on all the same
  'noTraces', // a provider without methods of tracing
  'shortTrace', // a trace in which the last call with value has none
] as const

/** Faults of a whole HTTP reply, a batch's included. */
const REPLY_FAULTS = [
  'delay', // late, but in time
  'hang', // no answer at all
  'reset', // the connection breaks before anything was passed on
  'replyLost', // passed on, then the connection breaks
  'truncated', // half a reply, then the connection breaks
  'slow', // the reply in small pieces
  'html', // a balancer's page with status 200
  'unavailable', // 503
  'tooMany', // 429
  'giant', // more than anybody reads
  'wrongId', // the answer to another question
  'shortBatch', // a batch lacks an answer
  'batchRefused', // one error for a whole batch
  'shuffled', // a batch's answers in another order, which is allowed
] as const

export type CallFault = (typeof CALL_FAULTS)[number]
export type ReplyFault = (typeof REPLY_FAULTS)[number]
export type Fault = CallFault | ReplyFault
export const FAULTS: readonly Fault[] = [...CALL_FAULTS, ...REPLY_FAULTS]

export function isCallFault(fault: Fault): fault is CallFault {
  return (CALL_FAULTS as readonly string[]).includes(fault)
}

export interface Call {
  method: string
  params: unknown[]
}
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } }
