// How clients refuse a signed transaction: their own texts, by meaning. Sources of the texts:
// src/chain/send/send-errors.ts. Kept apart from it, so a text lost there is not lost here as well.

export const DIALECTS = ['anvil', 'geth', 'reth', 'erigon', 'nethermind', 'besu'] as const
export type Dialect = (typeof DIALECTS)[number]

/** Why a client refuses a signed transaction. */
export type Refusal = 'known' | 'nonceTooLow' | 'underpriced' | 'feeTooLow' | 'insufficientFunds' | 'overGasCap'

export interface Said {
  code: number
  message: string
}

const TEXTS: Record<Exclude<Dialect, 'anvil'>, Record<Refusal, Said>> = {
  geth: {
    known: { code: -32000, message: 'already known' },
    nonceTooLow: { code: -32000, message: 'nonce too low: next nonce 7, tx nonce 6' },
    underpriced: { code: -32000, message: 'replacement transaction underpriced' },
    feeTooLow: {
      code: -32000,
      message: 'max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 2',
    },
    insufficientFunds: {
      code: -32000,
      message: 'insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1',
    },
    overGasCap: { code: -32000, message: 'transaction gas limit too high (cap: 16777216, tx: 16777217)' },
  },
  reth: {
    known: { code: -32000, message: 'already known' },
    nonceTooLow: { code: -32000, message: 'nonce too low: next nonce 7, tx nonce 6' },
    underpriced: { code: -32000, message: 'replacement transaction underpriced' },
    feeTooLow: { code: -32000, message: 'transaction underpriced' },
    insufficientFunds: { code: -32000, message: 'insufficient funds for gas * price + value: have 1 want 2' },
    overGasCap: { code: -32000, message: 'exceeds block gas limit' },
  },
  erigon: {
    known: { code: -32000, message: 'ALREADY_EXISTS: already known' },
    nonceTooLow: { code: -32000, message: 'nonce too low' },
    underpriced: { code: -32000, message: 'could not replace existing tx' },
    feeTooLow: { code: -32000, message: 'fee too low' },
    insufficientFunds: { code: -32000, message: 'INTERNAL_ERROR: insufficient funds' },
    overGasCap: { code: -32000, message: 'gas limit is too high' },
  },
  nethermind: {
    known: { code: -32010, message: 'AlreadyKnown' },
    nonceTooLow: { code: -32010, message: 'OldNonce, Current nonce: 7, nonce of rejected tx: 6' },
    underpriced: { code: -32010, message: 'ReplacementNotAllowed' },
    feeTooLow: { code: -32010, message: 'FeeTooLow, MaxFeePerGas too low' },
    insufficientFunds: { code: -32010, message: 'InsufficientFunds, Account balance: 1, cumulative cost: 2' },
    overGasCap: { code: -32010, message: 'GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2' },
  },
  besu: {
    known: { code: -32000, message: 'Known transaction' },
    nonceTooLow: { code: -32001, message: 'Nonce too low' },
    underpriced: { code: -32000, message: 'Replacement transaction underpriced' },
    feeTooLow: { code: -32009, message: 'Gas price below configured minimum gas price' },
    insufficientFunds: { code: -32004, message: 'Upfront cost exceeds account balance' },
    overGasCap: { code: -32005, message: 'Transaction gas limit exceeds block gas limit' },
  },
}

/** Anvil's own texts, by their first words. */
const ANVIL: readonly (readonly [string, Refusal])[] = [
  ['transaction already imported', 'known'],
  ['already known', 'known'],
  ['nonce too low', 'nonceTooLow'],
  ['replacement transaction underpriced', 'underpriced'],
  ['max fee per gas less than block base fee', 'feeTooLow'],
  ['insufficient funds', 'insufficientFunds'],
  ['intrinsic gas too high', 'overGasCap'],
  ['transaction gas limit is greater than the', 'overGasCap'],
]

/** The meaning of anvil's text; null if it is not listed. */
export function meaningOf(message: string): Refusal | null {
  const text = message.toLowerCase()
  return ANVIL.find(([beginning]) => text.startsWith(beginning))?.[1] ?? null
}

/** The refusal in a client's own words; in anvil's if the client has none (for rules that only other clients have). */
export function say(dialect: Dialect, refusal: Refusal): Said {
  return TEXTS[dialect === 'anvil' ? 'geth' : dialect][refusal]
}
