// Faults of the chain side, split by remedy. A fault means "could not find out", never "is not there".
import type { ProvenPart } from '../domain/observed.ts'
import { KnownError } from '../lib/errors.ts'

/** Retryable: try again later, or at another provider. Otherwise fatal: this is not the configured chain, so stop and report it. */
export class ChainFault extends KnownError {
  /** The provider that answered last; null if unknown. */
  host: string | null = null

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(options.retryable ? 'retryable' : 'fatal', message, { cause: options.cause })
    this.name = 'ChainFault'
  }

  /** True if a provider did answer, but the answer is unreadable, or contradicts itself or the chain. */
  override get isAnswered(): boolean {
    return this.retryable
  }
}

/** The chain's answer; null (never 0) on a ChainFault. Rethrows any other error. */
export async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ChainFault) return null
    throw error
  }
}

/** A provider's blocks do not follow on the block before them in our ledger, because the chain has since replaced that block. */
export class PartedFault extends ChainFault {
  constructor(message: string) {
    super(message, { retryable: true })
    this.name = 'PartedFault'
  }
}

/** A provider's answer about a block does not recompute to what the block's hash commits to, although this chain's blocks do recompute. */
export class ProofFault extends ChainFault {
  readonly part: ProvenPart
  readonly blockNumber: number
  /** The given value and the computed one, or why there are none. */
  readonly says: string

  constructor(part: ProvenPart, blockNumber: number, says: string) {
    super(`${part} of block ${blockNumber}: not proven: ${says}`, { retryable: true })
    this.name = 'ProofFault'
    this.part = part
    this.blockNumber = blockNumber
    this.says = says
  }
}

/** A provider's JSON-RPC error, with a shortened text. */
export interface RpcError {
  code: number
  message: string
  data: unknown
}

/**
 * What went wrong between the service and a provider. `unreachable`: no answer in time or at all. `limit`: a rate limit. `tooLarge`: the answer
 * exceeds our limit. `refused`: an HTTP error status. `garbled`: an answer that is not JSON-RPC, or not to our request. `batch`: the provider rejects
 * this batch. `error`: a JSON-RPC error.
 */
export type RpcTrouble = 'unreachable' | 'limit' | 'tooLarge' | 'refused' | 'garbled' | 'batch' | 'error'

/** The kinds of trouble in which a provider said nothing about its chain. */
const AWAY: readonly RpcTrouble[] = ['unreachable', 'limit', 'refused']

/** A retryable fault of a provider. Its text names only the host, because the rest of a provider's URL is often its key. */
export class RpcFault extends ChainFault {
  readonly trouble: RpcTrouble
  /** The JSON-RPC error: always with `error`; with `limit` and `batch` if there was one. */
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

/** The signer did not sign, or signed something else. Nothing was stored or sent, and no nonce is used. */
export class SignerFault extends ChainFault {
  constructor(message: string, cause?: unknown) {
    super(message, { retryable: true, cause })
    this.name = 'SignerFault'
  }

  override get isAnswered(): boolean {
    return false
  }
}
