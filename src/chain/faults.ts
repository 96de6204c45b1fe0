// Faults of the chain side, split by their remedy. A fault says "could not", never "is not".
import type { ProvenPart } from '../domain/observed.ts'
import { KnownError } from '../lib/errors.ts'

/** Retryable: ask again later or elsewhere. Otherwise fatal: this is not the configured chain, so stop and report it. */
export class ChainFault extends KnownError {
  /** The provider that answered last; null if unknown. */
  host: string | null = null

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(options.retryable ? 'retryable' : 'fatal', message, { cause: options.cause })
    this.name = 'ChainFault'
  }

  /** A provider gave an answer that contradicts itself or the chain, or that cannot be read. */
  override get isAnswered(): boolean {
    return this.retryable
  }
}

/** The chain's answer, or null, which is never 0, if it could not be asked. Rethrows any other error. */
export async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ChainFault) return null
    throw error
  }
}

/** A provider's blocks do not follow the block after which we asked for them, because the chain has another one there by now. */
export class PartedFault extends ChainFault {
  constructor(message: string) {
    super(message, { retryable: true })
    this.name = 'PartedFault'
  }
}

/** A provider's answer about a block does not recompute to what that block's hash commits to, although this chain's do. */
export class ProofFault extends ChainFault {
  readonly part: ProvenPart
  readonly blockNumber: number
  /** The given and computed values, or why there are none. */
  readonly says: string

  constructor(part: ProvenPart, blockNumber: number, says: string) {
    super(`${part} of block ${blockNumber}: not proven: ${says}`, { retryable: true })
    this.name = 'ProofFault'
    this.part = part
    this.blockNumber = blockNumber
    this.says = says
  }
}

/** A provider's JSON-RPC error, its text shortened. */
export interface RpcError {
  code: number
  message: string
  data: unknown
}

/**
 * The failure between the service and a provider. `unreachable`: no answer in time or at all. `limit`: a rate limit. `tooLarge`: the answer exceeds
 * our limit. `refused`: an HTTP error status. `garbled`: an answer that is not JSON-RPC, or not to our question. `batch`: the provider refuses this
 * batch. `error`: a JSON-RPC error.
 */
export type RpcTrouble = 'unreachable' | 'limit' | 'tooLarge' | 'refused' | 'garbled' | 'batch' | 'error'

/** The troubles of a provider that answered nothing about its chain. */
const AWAY: readonly RpcTrouble[] = ['unreachable', 'limit', 'refused']

/** A retryable fault of a provider. Its text names only the host, because the rest of a provider's URL is often its key. */
export class RpcFault extends ChainFault {
  readonly trouble: RpcTrouble
  /** The JSON-RPC error of `error`, and of `limit` and `batch` if there was one. */
  readonly rpcError: RpcError | null

  constructor(trouble: RpcTrouble, message: string, rpcError: RpcError | null = null) {
    super(message, { retryable: true })
    this.name = 'RpcFault'
    this.trouble = trouble
    this.rpcError = rpcError
  }

  override get isAnswered(): boolean {
    return !AWAY.includes(this.trouble)
  }
}

/** The signer did not sign, or signed something else. Nothing was stored or sent, and no nonce is taken. */
export class SignerFault extends ChainFault {
  constructor(message: string, cause?: unknown) {
    super(message, { retryable: true, cause })
    this.name = 'SignerFault'
  }

  override get isAnswered(): boolean {
    return false
  }
}
