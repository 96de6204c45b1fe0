// Classifies the error with which a provider rejects a signed transaction. Uses the JSON-RPC code if it is unambiguous, or else the listed texts of
// clients, which the message must begin with. It must never guess: a text that is not listed is `unknown`, because the provider may have accepted the
// transaction nevertheless.

import type { RpcError } from '../../ports/faults.ts'
import type { EstimateOutcome, SendOutcome } from '../../ports/sending.ts'
import { isLimit } from '../rpc/provider.ts'

type SendKind = SendOutcome['kind']

/**
 * Codes that identify a rejection on their own (geth internal/ethapi/errors.go, execution-apis). The codes from -32000 on do not: one client's code
 * for "nonce too low" (Besu -32001) means "resource not found" or a rate limit in another client.
 */
const CODES: ReadonlyMap<number, SendKind> = new Map([
  [-38010, 'nonceTooLow'],
  [-38012, 'feeTooLow'],
  [-38014, 'insufficientFunds'],
])

/**
 * Texts in lower case. A message must begin with one of them; Erigon may put "NAME: " in front. Sources: geth core/txpool/errors.go, core/error.go;
 * reth crates/rpc/rpc-eth-types/src/error/mod.rs, crates/transaction-pool/src/error.rs; Erigon txnprovider/txpool/txpoolcfg/txpoolcfg.go; Nethermind
 * Nethermind.TxPool/AcceptTxResult.cs, TxPoolErrorMessages.cs, TxErrorMessages.cs; Besu jsonrpc/internal/response/RpcErrorType.java,
 * GethCompatibleTransactionErrors.java; anvil crates/anvil/src/eth/error.rs.
 */
const TEXTS: readonly (readonly [SendKind, readonly string[]])[] = [
  [
    'accepted',
    [
      'already known', // geth, reth, Erigon, Nethermind, Besu
      'alreadyknown', // older Nethermind, before its texts became geth's
      'known transaction', // Besu; geth before 1.9 ("known transaction: <hash>")
      'already imported', // reth's pool
      'transaction already imported', // anvil
      'existing txn with same hash', // Erigon
      'existing tx with same hash', // Erigon 2
      'transaction with the same hash was already imported', // OpenEthereum and its descendants
    ],
  ],
  [
    'nonceTooLow',
    [
      'nonce too low', // geth, reth, Erigon, Besu, anvil, Nethermind; often with both nonces after it
      'oldnonce', // older Nethermind
      'transaction nonce is too low', // OpenEthereum
    ],
  ],
  [
    'underpriced',
    [
      'replacement transaction underpriced', // geth, reth, Erigon, Besu, anvil, Nethermind
      'could not replace existing tx', // Erigon
      'insufficient gas price to replace existing transaction', // reth's pool
      'replacementnotallowed', // older Nethermind
      'ownnoncealreadyused', // older Nethermind
    ],
  ],
  [
    'feeTooLow',
    [
      'transaction underpriced', // geth, reth, Nethermind: below the pool's minimum
      'underpriced', // Erigon
      'fee too low', // Erigon
      'feetoolow', // older Nethermind; also FeeTooLowToCompete
      'max fee per gas less than block base fee', // geth, reth, anvil
      'gas price below configured minimum gas price', // Besu
      'gas price below current base fee', // Besu
    ],
  ],
  [
    'insufficientFunds',
    [
      'insufficient funds', // geth "... for gas * price + value", "... for transfer"; reth, Erigon, anvil, Nethermind
      'insufficientfunds', // older Nethermind
      'upfront cost exceeds account balance', // Besu
    ],
  ],
  [
    'overGasCap',
    [
      'transaction gas limit too high', // geth, EIP-7825
      'exceeds block gas limit', // geth, reth, Besu
      'gas limit is too high', // Erigon
      'gas limit reached', // Nethermind
      'gaslimitexceeded', // older Nethermind
      'txgaslimitcapexceeded', // Nethermind, EIP-7825
      'transaction gas limit exceeds block gas limit', // Besu
      'transaction gas limit is greater than the', // anvil, EIP-7825
      'intrinsic gas too high', // anvil: more than a block may have, in one wording or another
    ],
  ],
]

/** The kind of a rejection; `unknown` if the text is not listed. */
export function classifySendError(error: RpcError): SendKind {
  // We cannot tell whether an overloaded provider processed the transaction: perhaps it did, and could not answer.
  if (isLimit(error) && !/gas limit/i.test(error.message)) return 'unknown'
  return CODES.get(error.code) ?? kindOfText(error.message)
}

function kindOfText(message: string): SendKind {
  const text = message.trim().toLowerCase()
  const withoutName = text.replace(/^[a-z_]+: (?=\S)/, '')
  for (const [kind, beginnings] of TEXTS) {
    if (beginnings.some((beginning) => text.startsWith(beginning) || withoutName.startsWith(beginning))) return kind
  }
  return 'unknown'
}

/** Texts that mean that a call needs more gas than a transaction or a block may have. */
const OVER_GAS_CAP = ['gas required exceeds', 'out of gas: gas required exceeds']

/** Why an estimate failed, if not by a revert. Null if the error does not concern the call. */
export function classifyEstimateError(error: RpcError): EstimateOutcome['kind'] | null {
  const kind = classifySendError(error)
  if (kind === 'insufficientFunds' || kind === 'overGasCap') return kind
  const text = error.message.trim().toLowerCase()
  return OVER_GAS_CAP.some((beginning) => text.startsWith(beginning)) ? 'overGasCap' : null
}
