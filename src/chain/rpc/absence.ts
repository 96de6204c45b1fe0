// Tells errors that mean "not there" from errors that mean nothing. We accept "pruned" only in the words of known clients, because any other error
// may be temporary.
import type { RpcError } from '../../ports/faults.ts'
import { isLimit } from './provider.ts'

/**
 * What clients answer about a state that they have pruned: geth ("missing trie node", "historical state … is not available"), Erigon and reth ("pruned",
 * "proof window"), Nethermind ("No state available"), Besu ("World state unavailable"), anvil ("block height is 9 but requested was 2"), EIP-4444,
 * and hosted providers whose plan has no old states ("archive").
 */
const GONE =
  /missing trie node|\bprun|\barchiv|proof window|\bstate\b.{0,100}(not |un)available|no state available|block height is \d+ but requested/i
const GONE_CODE = 4444

/** True if the error means that the provider no longer has a state. */
export const isGone = ({ code, message }: RpcError): boolean => code === GONE_CODE || GONE.test(message)

const INTERNAL_ERROR = -32_603
/** What providers answer about a tag or a method that they do not support. */
const UNKNOWN = /finali|unknown|not found|support|invalid/i

/** True if an error may be temporary. It then does not show that the provider lacks the tag or method. */
export const mayPass = (error: RpcError): boolean =>
  isLimit(error) || (error.code === INTERNAL_ERROR && !UNKNOWN.test(error.message))
