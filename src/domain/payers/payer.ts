// Decides whether a payer whose ether came by an inner call may buy. It depends on the payer's code at the payment's block, the mode of the sale, and
// evidence that someone controls the payer. A node goes to the address that paid, so it must never go to a contract that cannot withdraw. Plain
// senders are not decided here. Pure.
import type { Address } from '../units.ts'
import { type ContractCode, KNOWN_WALLETS_VERSION, knownWalletOf } from './known-wallets.ts'

/** Who may buy by an inner call automatically. `hold`: no contract; `proven`: a payer shown to be someone's wallet; `all`: any contract. */
export const CONTRACT_WALLET_MODES = ['hold', 'proven', 'all'] as const
export type ContractWalletMode = (typeof CONTRACT_WALLET_MODES)[number]

/** A mode as entered, in force from this block on. */
export interface ModeFrom {
  mode: ContractWalletMode
  fromBlock: number
}

/** The code of an account at a block. */
export type PayerCode =
  | { kind: 'none' }
  /** A key's account that uses other code through EIP-7702. */
  | { kind: 'delegation'; to: Address }
  | ContractCode

/** What we know about a code. */
export type CodeReading =
  | { kind: 'unread' }
  | { kind: 'read'; code: PayerCode }
  | { kind: 'unreadable'; sinceSec: number }

/** The facts about a payer, for the rule of contract wallets. */
export type PayerFacts =
  /** A transaction's own sender: its key signed the transfer. */
  | { kind: 'plain' }
  /** The transaction has no signature, for example a deposit from a parent chain. */
  | { kind: 'unsigned'; type: number; from: Address }
  | {
      kind: 'inner'
      mode: ContractWalletMode
      code: CodeReading
      /** True if only one provider has traced the payment, and we do not believe that provider alone. */
      oneProvider?: boolean
      /** True if the payer has signed in here as a contract. */
      signedIn: boolean
      /** True if the operator has allowed the payer. */
      allowed: boolean
    }

/** The mode in force at a block. Before the first mode, everything is held. */
export function modeAt(modes: readonly ModeFrom[], block: number): ContractWalletMode {
  return modes.findLast(({ fromBlock }) => fromBlock <= block)?.mode ?? 'hold'
}

/**
 * The mode by which a payment is judged: its own block's mode, or the current mode if that allows more. So a more permissive mode also helps buyers
 * who are waiting.
 */
export function modeFor(modes: readonly ModeFrom[], paidIn: number, now: number): ContractWalletMode {
  const both = [modeAt(modes, paidIn), modeAt(modes, now)]
  return (['all', 'proven'] as const).find((mode) => both.includes(mode)) ?? 'hold'
}

type Evidence = Record<string, string | number | boolean | null>
export type PayerVerdict =
  | { kind: 'passes'; evidence: Evidence }
  | { kind: 'held'; evidence: Evidence }
  /** The payer's code has not been read yet. */
  | { kind: 'undecided' }

const ADDRESSES = 1n << 160n
/**
 * Rollups add this to a parent-chain contract's address, so that it differs from the addresses of their own contracts (Arbitrum, OP stack: "address
 * aliasing").
 */
const ALIAS = 0x1111000000000000000000000000000000001111n

/** The contract's own address on the parent chain, if this is its alias. A key's account has the same address on both chains. */
const aliasOf = (from: Address) =>
  `0x${((BigInt(from) - ALIAS + ADDRESSES) % ADDRESSES).toString(16).padStart(40, '0')}`

/**
 * Judges a payer. A transaction without a signature is held in every mode, because its sender may be a contract on the parent chain, and no key can
 * use that address here. A sender that only one provider reports is also held, unless the operator trusts that provider. If the code stays unreadable
 * for `retrySec`, the payment is held, because what we could not read never passes. The evidence of a held payment records the facts that decided it.
 * If one of them changes, we judge the payment again.
 */
export function judgePayer(payer: PayerFacts, retrySec: number): PayerVerdict {
  switch (payer.kind) {
    case 'plain':
      return { kind: 'passes', evidence: {} }
    case 'unsigned':
      return { kind: 'held', evidence: { unsignedType: payer.type, onParentChain: aliasOf(payer.from) } }
    case 'inner':
      return judgeInner(payer, retrySec)
  }
}

type InnerPayer = Extract<PayerFacts, { kind: 'inner' }>

function judgeInner(payer: InnerPayer, retrySec: number): PayerVerdict {
  const { code } = payer
  switch (code.kind) {
    case 'unread':
      return { kind: 'undecided' }
    case 'unreadable':
      if (code.sinceSec < retrySec) return { kind: 'undecided' }
      return { kind: 'held', evidence: { ...lookedAt(payer), payerCode: null, unreadable: true } }
    case 'read':
      return judgeCode(code.code, payer)
  }
}

const lookedAt = ({ mode, signedIn, allowed, oneProvider = false }: InnerPayer): Evidence => ({
  mode,
  signedIn,
  allowed,
  knownWallets: KNOWN_WALLETS_VERSION,
  ...(oneProvider && { oneProvider }),
})

function judgeCode(code: PayerCode, payer: InnerPayer): PayerVerdict {
  const { mode, signedIn, allowed, oneProvider = false } = payer
  const payerFacts = lookedAt(payer)
  if (code.kind === 'delegation') {
    const evidence = { payerCode: code.kind, delegatesTo: code.to }
    return oneProvider ? { kind: 'held', evidence: { ...payerFacts, ...evidence } } : { kind: 'passes', evidence }
  }
  // The contract is gone or still being created, so nothing there could own a node.
  if (code.kind === 'none') return { kind: 'held', evidence: { ...payerFacts, payerCode: code.kind, noCode: true } }
  const knownWallet = knownWalletOf(code)
  const evidence = {
    ...payerFacts,
    payerCode: code.kind,
    codeHash: code.codeHash,
    implementation: code.implementation?.address ?? null,
    knownWallet: knownWallet && `${knownWallet.name} ${knownWallet.version}`,
  }
  const passes = mode === 'all' || (mode === 'proven' && (knownWallet !== null || signedIn || allowed))
  return { kind: passes && !oneProvider ? 'passes' : 'held', evidence }
}
