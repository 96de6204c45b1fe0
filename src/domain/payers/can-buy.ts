// Checks, before a wallet pays, whether its payment would become a node automatically: one check for each rule. Each check has the judge decide a
// payment that is otherwise in order, so no rule is written twice. Pure.
import { judgePayment, type Listed, type PaymentFacts } from '../judgement.ts'
import type { PaymentPosition } from '../sale/position.ts'
import { selectTier, type TierVersion } from '../tiers.ts'
import { type Address, type Hash, isoOf, type Wei, wei } from '../units.ts'
import type { ContractWalletMode, PayerCode } from './payer.ts'

/** The gas of a plain transfer of ether. */
const TRANSFER_GAS = 21_000n

/** A wallet's payment that is not judged yet, or waits for room. */
export interface WaitingPayment extends PaymentPosition {
  valueWei: Wei
  /** Unix seconds. */
  blockTime: number
  /** The tier of its verdict; null if it has none yet. */
  tierNo: number | null
}

/** Facts about a wallet that is about to buy; null for facts that we could not read. */
export interface BuyerFacts {
  from: Address
  /** The tier's latest version, on sale or not. */
  tier: TierVersion
  /** True if we would quote a price for the tier; null while providers do not agree on the chain. */
  quoted: boolean | null
  versions: readonly TierVersion[]
  /** How many nodes of the tier are sold, to anyone, and how many undecided payments reserve a place. */
  sold: number
  reserved: number
  /** How many may be sold, according to the ledger or the contract; null for no limit. */
  most: number | null
  /** How many nodes the tier's list allows the wallet, and how many are used already; null if anyone may buy. */
  listed: Listed | null
  /** The followed block's time, unix seconds. */
  now: number
  /** The wallet's nodes and payments that already count, in all and in this tier. */
  use: Pick<PaymentFacts, 'walletNodes' | 'walletInFlight' | 'tierNodes' | 'tierInFlight'>
  waiting: readonly WaitingPayment[]
  /** Facts that send each of the wallet's payments to review, whatever the amount. */
  standing: Pick<PaymentFacts, 'wallets' | 'serviceAccounts' | 'senderDenied' | 'beforeRestore'>
  /** Facts that decide about a payer whose ether comes from a contract's call. */
  contract: { mode: ContractWalletMode; signedIn: boolean; allowed: boolean }
  /** The chain's readings. */
  code: PayerCode | null
  walletMax: number | null
  heldWei: bigint | null
  balanceWei: bigint | null
  gasPriceWei: bigint | null
}

/** Null if the rule could not be checked. */
type Passes = boolean | null

/** The checks, in their order. */
export type BuyerCheck =
  | { check: 'onSale'; passes: Passes }
  /** The checks `opening`, `supply` and `allowlist` exist only if the tier has them. */
  | { check: 'opening'; passes: boolean; opensAt: string | null; closesAt: string | null; opensAfter: string | null }
  | { check: 'supply'; passes: Passes; limit: number; sold: number; reserved: number }
  | { check: 'allowlist'; passes: boolean; root: Hash; limit: number; used: number }
  | { check: 'allowance'; passes: boolean; limit: number; owned: number; underWay: number }
  | { check: 'cap'; passes: Passes; limit: number | null; owned: number; underWay: number }
  | { check: 'holding'; passes: Passes; token: Address | null; requiredWei: bigint; heldWei: bigint | null }
  | { check: 'ether'; passes: Passes; requiredWei: bigint | null; balanceWei: bigint | null }
  | { check: 'review'; passes: Passes }

/** Checks a wallet against each rule. */
export function checkBuyer(facts: BuyerFacts): BuyerCheck[] {
  const { tier, use, walletMax, heldWei, balanceWei } = facts
  const waiting = facts.waiting.map((payment) => tierOf(facts.versions, payment)).filter((tierNo) => tierNo !== null)
  const tierInFlight = use.tierInFlight + waiting.filter((tierNo) => tierNo === tier.tierNo).length
  const walletInFlight = use.walletInFlight + waiting.length
  const passes = (overrides: Partial<PaymentFacts>) => wouldPass(facts, overrides)
  const requiredWei = etherFor(facts)
  return [
    { check: 'onSale', passes: facts.quoted },
    ...boundsOf(facts),
    ...listOf(facts, waiting.filter((tierNo) => tierNo === tier.tierNo).length),
    {
      check: 'allowance',
      passes: passes({ tierNodes: use.tierNodes, tierInFlight }) === true,
      limit: tier.maxPerWallet,
      owned: use.tierNodes,
      underWay: tierInFlight,
    },
    {
      check: 'cap',
      passes: walletMax === null ? null : passes({ walletNodes: use.walletNodes, walletInFlight, walletMax }),
      limit: walletMax,
      owned: use.walletNodes,
      underWay: walletInFlight,
    },
    {
      check: 'holding',
      // If the holding could not be read, the check is undecided, whatever the tier's rule is, because nothing was paid yet.
      passes: passes({ holding: heldWei === null ? { kind: 'notNeeded' } : { kind: 'read', amountWei: heldWei } }),
      token: tier.holdingToken,
      requiredWei: tier.holdingWei,
      heldWei,
    },
    {
      check: 'ether',
      passes: requiredWei === null || balanceWei === null ? null : balanceWei >= requiredWei,
      requiredWei,
      balanceWei,
    },
    { check: 'review', passes: passes({ ...facts.standing, payer: payerOf(facts) }) },
  ]
}

/**
 * True if a payment of the wallet by an inner call would become a node automatically: the sale allows it, and traces show who sent it. Null if we
 * could not read its code.
 */
export function canBuyInside(facts: BuyerFacts & { tracesCount: boolean }): Passes {
  const { code, contract, standing, tracesCount } = facts
  if (code === null) return null
  const payer = {
    kind: 'inner' as const,
    ...contract,
    code: { kind: 'read' as const, code },
    oneProvider: !tracesCount,
  }
  return wouldPass(facts, { ...standing, payer })
}

/** A closing applies immediately, because only a buyer with an earlier quote may pay in its grace period. */
function boundsOf(facts: BuyerFacts): BuyerCheck[] {
  const { opensAt, closesAt, opensAfter, opened } = facts.tier
  const { sold, reserved, most, now } = facts
  const isOpen = (opensAt ?? now) <= now && (closesAt === null || now < closesAt)
  const passes = isOpen && (opensAfter === null || opened !== null)
  const opening = {
    check: 'opening' as const,
    passes,
    opensAt: isoOf(opensAt),
    closesAt: isoOf(closesAt),
    opensAfter,
  }
  // Null while all places that are left are being paid for: one may come free.
  const hasPlace = (limit: number) => (sold >= limit ? false : sold + reserved >= limit ? null : true)
  return [
    ...((opensAt ?? closesAt ?? opensAfter) ? [opening] : []),
    ...(most === null ? [] : [{ check: 'supply' as const, passes: hasPlace(most), limit: most, sold, reserved }]),
  ]
}

/**
 * Waiting payments in the tier count before a new payment. A replaced list no longer counts, because only a buyer with an earlier quote may pay in
 * its grace period.
 */
function listOf(facts: BuyerFacts, waiting: number): BuyerCheck[] {
  if (facts.listed === null) return []
  const { root, allocation: limit } = facts.listed
  const listed = { ...facts.listed, used: facts.listed.used + waiting }
  return [
    { check: 'allowlist', passes: wouldPass(facts, { listed: [listed] }) === true, root, limit, used: listed.used },
  ]
}

/** True if all checks pass, false if one fails, null otherwise. */
export function canBuy(checks: readonly BuyerCheck[]): Passes {
  if (checks.some(({ passes }) => passes === false)) return false
  return checks.some(({ passes }) => passes === null) ? null : true
}

/** True if the judge would pass a payment about which only these facts are in doubt; null while it is undecided. */
function wouldPass({ from, tier }: BuyerFacts, overrides: Partial<PaymentFacts>): Passes {
  const verdict = judgePayment({
    from,
    blockTime: 0,
    valueWei: tier.priceWei,
    succeeded: true,
    wallets: [],
    serviceAccounts: [],
    isToOldWallet: false,
    senderDenied: false,
    beforeRestore: false,
    selection: { kind: 'onSale', tier, others: [], byGrace: false, supply: null },
    walletNodes: 0,
    walletInFlight: 0,
    walletMax: 1,
    tierNodes: 0,
    tierInFlight: 0,
    supply: null,
    sold: 0,
    reserved: 0,
    mayOpen: false,
    listed: tier.allowlist === null ? [] : [{ root: tier.allowlist, allocation: 1, used: 0 }],
    holding: { kind: 'read', amountWei: tier.holdingWei },
    payer: { kind: 'plain' },
    restsOnOne: false,
    ...overrides,
  })
  return verdict.kind === 'undecided' ? null : verdict.kind === 'accepted'
}

/** An account without code sends the transfer itself; a contract's ether comes from a call within a transaction. */
function payerOf({ code, contract }: BuyerFacts): PaymentFacts['payer'] {
  if (code?.kind === 'none') return { kind: 'plain' }
  return { kind: 'inner', ...contract, code: code === null ? { kind: 'unread' } : { kind: 'read', code } }
}

/** The number of the tier in which a waiting payment takes a place; null if it would not buy one automatically. */
function tierOf(versions: readonly TierVersion[], payment: WaitingPayment): number | null {
  if (payment.tierNo !== null) return payment.tierNo
  const selection = selectTier(versions, payment)
  return selection.kind === 'onSale' ? selection.tier.tierNo : null
}

/** The price plus the gas of a plain transfer at the current fee. For a contract's payment, another account pays the gas. */
function etherFor({ tier, code, gasPriceWei }: BuyerFacts): bigint | null {
  if (code?.kind === 'contract') return tier.priceWei
  return gasPriceWei === null ? null : wei(tier.priceWei + TRANSFER_GAS * gasPriceWei)
}
