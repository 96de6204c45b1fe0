// The names of the faults that a provider can have, split into those of a single call's answer and those of a whole
// reply.

/** Faults that change one call's answer. The other calls of its batch get true answers. */
const CALL_FAULTS = [
  'staleHead', // an older block, with its nonces and balances, for the latest
  'missingBlock', // null for an existing block
  'otherFork', // a block with another parent
  'emptyLogs', // no logs although there are some
  'partialLogs', // all but the last
  'nullReceipt', // null for a transaction in a block
  'foreignReceipt', // the receipt from a block that lost
  'nullTransaction', // null for an existing transaction
  'wrongChainId',
  'highNonce', // 5,000 transactions too many for an account, at the latest block
  'highTip', // suggests a tip of 300 gwei
  'rateLimit', // an error that asks to slow down
  'rangeLimit', // refuses logs of more than one block
  'internalError',
  'swallowed', // acknowledges a send and never passes it on
  'sendRefused', // refuses a send with an unknown text, and passes it on all the same
  'noTraces', // a provider without tracing methods
  'shortTrace', // a trace in which the last call with value has none
] as const

/** Faults of a whole HTTP reply, which may be a batch's. */
const REPLY_FAULTS = [
  'delay', // late, but in time
  'hang', // no answer at all
  'reset', // the connection breaks before anything is forwarded
  'replyLost', // forwards, then the connection breaks
  'truncated', // half a reply, then the connection breaks
  'slow', // the reply in small pieces
  'html', // a balancer's page with status 200
  'unavailable', // 503
  'tooMany', // 429
  'giant', // more than any client reads
  'wrongId', // the answer to another request
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
