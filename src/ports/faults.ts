// Faults of the chain side, divided by what to do about them. A fault means "we could not find out", never "it is not there".
import type { FailedProof, ProvenPart } from '../domain/observed.ts'
import { KnownError } from '../lib/errors.ts'

/** It is retryable (try again later, or at another provider) unless its thrower sets `retryable: false`: then this is not the configured chain, so stop. */
export class ChainFault extends KnownError {
  /** The provider that answered last; null if unknown. */
  host: string | null = null

  constructor(message: string, { retryable, cause }: { retryable?: false; cause?: unknown } = {}) {
    super(retryable === false ? 'fatal' : 'retryable', message, { cause })
    this.name = 'ChainFault'
  }

  /** True if a provider did answer, but we could not read the answer, or it contradicted itself or the chain. */
  override get isAnswered(): boolean {
    return this.retryable
  }
}

/** What the chain answered; null (never 0) on a ChainFault. Any other error is rethrown. */
export async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ChainFault) return null
    throw error
  }
}

/** The first block that a provider returned does not follow the last block in our ledger, because the chain has replaced that block since. */
export class PartedFault extends ChainFault {
  constructor(message: string) {
    super(message)
    this.name = 'PartedFault'
  }
}

/**
 * A provider's answer about a block is not proven, on a ledger whose blocks must be. `isFalse`: it is whole, and differs from what the block's hash
 * commits to, which we report. Otherwise a part is missing or malformed, which proves nothing: it is as if the provider had not answered.
 */
export class ProofFault extends ChainFault {
  readonly part: ProvenPart
  readonly blockNumber: number
  /** What the provider gave and what we computed; or why we could not compute anything. */
  readonly says: string
  readonly isFalse: boolean

  constructor(part: ProvenPart, blockNumber: number, says: string, { isFalse = true }: { isFalse?: boolean } = {}) {
    super(`${part} of block ${blockNumber}: not proven: ${says}`)
    this.name = 'ProofFault'
    this.part = part
    this.blockNumber = blockNumber
    this.says = says
    this.isFalse = isFalse
  }

  /** The failure as we report it. `host`: whose answer it was; null if there was no other provider to ask. */
  failedBy(host: string | null): FailedProof {
    const { part, blockNumber, says } = this
    return { part, blockNumber, host, says }
  }
}

/** A JSON-RPC error from a provider, with its text shortened. */
export interface RpcError {
  code: number
  message: string
  data: unknown
}

/**
 * What went wrong between the service and a provider. `unreachable`: no answer, or none in time. `limit`: a rate limit. `tooLarge`: the answer
 * exceeds our limit. `refused`: an HTTP error status. `garbled`: an answer that is not JSON-RPC, or does not belong to our request. `batch`: the
 * provider rejects this batch. `error`: a JSON-RPC error.
 */
export type RpcTrouble = 'unreachable' | 'limit' | 'tooLarge' | 'refused' | 'garbled' | 'batch' | 'error'

/** With these kinds of trouble, the provider has reported nothing about its chain. */
const AWAY: readonly RpcTrouble[] = ['unreachable', 'limit', 'refused']

/** A fault of a provider, which is retryable. Its text names only the provider's host, because the other parts of a URL often hold a key. */
export class RpcFault extends ChainFault {
  readonly trouble: RpcTrouble
  /** The provider's JSON-RPC error: always there for kind `error`, and sometimes for `limit` and `batch`; otherwise null. */
  readonly rpcError: RpcError | null

  constructor(trouble: RpcTrouble, message: string, rpcError: RpcError | null = null) {
    super(message)
    this.name = 'RpcFault'
    this.trouble = trouble
    this.rpcError = rpcError
  }

  override get isAnswered(): boolean {
    return !AWAY.includes(this.trouble)
  }
}

/** The signer did not sign, or signed something else. Nothing was stored or sent, and no nonce was used. */
export class SignerFault extends ChainFault {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'SignerFault'
  }

  override get isAnswered(): boolean {
    return false
  }
}
