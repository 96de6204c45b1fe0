// Faults of the chain side, split by what to do about them. A fault says "could not", never "is not".

/** `retryable`: ask again later or elsewhere. `fatal`: this is not the chain we were set up for; stop and say so. */
export class ChainFault extends Error {
  readonly retryable: boolean

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'ChainFault'
    this.retryable = options.retryable
  }
}

/** A provider's JSON-RPC error, as it came, its text shortened. */
export interface RpcError {
  code: number
  message: string
  data: unknown
}

/**
 * What went wrong between us and a provider. `unreachable`: no answer in time or at all. `limit`: it asks us to slow
 * down. `tooLarge`: the answer exceeds what we read. `refused`: an HTTP status that says no. `garbled`: an answer that
 * is not JSON-RPC, or not to our question. `batch`: it will not take this batch. `error`: a JSON-RPC error.
 */
export type RpcFaultKind = 'unreachable' | 'limit' | 'tooLarge' | 'refused' | 'garbled' | 'batch' | 'error'

/** A retryable fault of a provider. Its text names the host only: the rest of a provider's URL is often its key. */
export class RpcFault extends ChainFault {
  readonly kind: RpcFaultKind
  /** The JSON-RPC error behind kind `error`, and behind `limit` and `batch` where there was one. */
  readonly rpcError: RpcError | null

  constructor(kind: RpcFaultKind, message: string, rpcError: RpcError | null = null) {
    super(message, { retryable: true })
    this.name = 'RpcFault'
    this.kind = kind
    this.rpcError = rpcError
  }
}
