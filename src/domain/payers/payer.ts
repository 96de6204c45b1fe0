// Decides whether a payer whose ether came by an internal call may buy: what its code was at the payment's block, the mode of the sale, and
// what shows that somebody can use what it owns. A node goes to the address that paid, so it must never go to a contract that cannot
// withdraw. Plain senders are no business of this file. Pure.
import type { Address } from '../units.ts'
import { type ContractCode, KNOWN_WALLETS_VERSION, knownWalletOf } from './known-wallets.ts'

/** Who may buy by an internal call. `hold`: no contract by itself; `proven`: a payer that is shown to be somebody's wallet; `all`: any contract. */
export const CONTRACT_WALLET_MODES = ['hold', 'proven', 'all'] as const
export type ContractWalletMode = (typeof CONTRACT_WALLET_MODES)[number]

/** A mode as it was entered: it holds in the blocks from this one on. */
export interface ModeEntry {
  mode: ContractWalletMode
  fromBlock: number
}

/** The code of an account at a block. */
export type PayerCode =
  | { kind: 'none' }
  /** A key's account that lends itself code by EIP-7702. */
  | { kind: 'delegation'; to: Address }
  | ContractCode

/** What is known of a code. */
export type CodeReading =
  | { kind: 'unread' }
  | { kind: 'read'; code: PayerCode }
  | { kind: 'unreadable'; sinceSec: number }

/** The facts about a payer, for the rule of contract wallets. */
export type PayerFacts =
  /** A transaction's own sender: its key signed the transfer. */
  | { kind: 'plain' }
  /** Nobody signed the transaction: a deposit from a parent chain, for instance. */
  | { kind: 'unsigned'; type: number; from: Address }
  | {
      kind: 'inner'
      mode: ContractWalletMode
      code: CodeReading
      /** One provider alone has traced it, and its word does not count. */
      oneProvider?: boolean
      /** It has signed in here as a contract. */
      signedIn: boolean
      /** The operator has allowed it. */
      allowed: boolean
    }

/** The mode in force at a block; without an entry everything is held. */
export function modeAt(entries: readonly ModeEntry[], block: number): ContractWalletMode {
  return entries.findLast(({ fromBlock }) => fromBlock <= block)?.mode ?? 'hold'
}

/**
 * The mode that a payment is judged by: that of its own block, by which it was made, or the present one where that lets more buy, so that a
 * change for more lets those buy who wait.
 */
export function modeFor(entries: readonly ModeEntry[], paidIn: number, now: number): ContractWalletMode {
  const modes = [modeAt(entries, paidIn), modeAt(entries, now)]
  return CONTRACT_WALLET_MODES.findLast((mode) => modes.includes(mode)) ?? 'hold'
}

type Evidence = Record<string, string | number | boolean | null>
export type PayerVerdict =
  | { kind: 'passes'; evidence: Evidence }
  | { kind: 'held'; evidence: Evidence }
  /** Its code was not read yet. */
  | { kind: 'undecided' }

const ADDRESSES = 1n << 160n
/** What rollups add to a contract's address on the parent chain, so that it is no address of theirs (Arbitrum, OP stack: "address aliasing"). */
const ALIAS = 0x1111000000000000000000000000000000001111n

/** The contract's own address on the parent chain, if this is the alias of one. A key's account has the same address on both. */
const aliased = (from: Address) =>
  `0x${((BigInt(from) - ALIAS + ADDRESSES) % ADDRESSES).toString(16).padStart(40, '0')}`

/**
 * Judges a payer. A transaction that nobody signed is held in every mode: the account that it names may be a contract's on the parent chain,
 * which nobody can use here. So is a sender whom one provider alone names, unless the operator trusts it. Code that stays unreadable for `retrySec` is held: what could not be read never passes. The evidence of a held one
 * says what it was judged by, so that a change of any of it has the payment judged again.
 */
export function judgePayer(payer: PayerFacts, retrySec: number): PayerVerdict {
  if (payer.kind === 'plain') return { kind: 'passes', evidence: {} }
  if (payer.kind === 'unsigned')
    return { kind: 'held', evidence: { unsignedType: payer.type, onParentChain: aliased(payer.from) } }
  const { mode, code, signedIn, allowed, oneProvider = false } = payer
  const looked = { mode, signedIn, allowed, knownWallets: KNOWN_WALLETS_VERSION, ...(oneProvider && { oneProvider }) }
  if (code.kind === 'unread') return { kind: 'undecided' }
  if (code.kind === 'unreadable') {
    if (code.sinceSec < retrySec) return { kind: 'undecided' }
    return { kind: 'held', evidence: { ...looked, payerCode: null, unreadable: true } }
  }
  const { code: found } = code
  if (found.kind === 'delegation') {
    const evidence = { payerCode: found.kind, delegatesTo: found.to }
    return oneProvider ? { kind: 'held', evidence: { ...looked, ...evidence } } : { kind: 'passes', evidence }
  }
  // A contract that is gone, or that is being made: nothing is there that could own a node.
  if (found.kind === 'none') return { kind: 'held', evidence: { ...looked, payerCode: found.kind, noCode: true } }
  const known = knownWalletOf(found)
  const evidence = {
    ...looked,
    payerCode: found.kind,
    codeHash: found.codeHash,
    implementation: found.implementation?.address ?? null,
    knownWallet: known && `${known.name} ${known.version}`,
  }
  const passes = mode === 'all' || (mode === 'proven' && (known !== null || signedIn || allowed))
  return { kind: passes && !oneProvider ? 'passes' : 'held', evidence }
}
