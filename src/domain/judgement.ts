// Judges a payment: a list of refusals, cheapest first, each named after its rule. domain/tiers.ts selects the tier. Pure: the caller reads facts first, and stores evidence
// afterwards. A payment must never pass if something could not be checked. Room in a wallet is checked again when a released payment continues
// (passes/steps/judge-page.ts, acceptIfRoom), and by the contract, which skips the mint (follower/store.ts, holdSkipped).
import { judgePayer, type PayerFacts } from './payers/payer.ts'
import { holdingTokenOf, type TierSelection, type TierVersion } from './tiers.ts'
import type { Address, Hash } from './units.ts'

/** Why a transfer buys nothing at all. */
export const IGNORE_REASONS = ['failed', 'zero', 'self', 'operator'] as const
export type IgnoreReason = (typeof IGNORE_REASONS)[number]
/** The judge's reasons to hold a payment. */
export const JUDGED_REASONS = [
  'wrongAmount',
  'saleClosed',
  'notOpenYet',
  'soldOut',
  'notListed',
  'tierAllowance',
  'holding',
  'walletLimit',
  'senderDenied',
  'oldWallet',
  'recheck',
  'contractWallet',
] as const
export type JudgedReason = (typeof JUDGED_REASONS)[number]
/**
 * Why a payment waits for the operator (or, with `walletLimit`, for room). Leaves out a refund in progress, which must be recorded or cancelled
 * first.
 */
export const DECIDABLE_REASONS = [
  ...JUDGED_REASONS,
  'unattributed',
  'mintReverted',
  'supplySpent',
  'mintedElsewhere',
] as const
/** The reasons of payments for which their tier had no place: they take the next one that comes free. */
export const PLACELESS: readonly HoldReason[] = ['soldOut', 'supplySpent']
/** All reasons why a payment waits. */
export const HELD_REASONS = [...DECIDABLE_REASONS, 'refunding'] as const
export type HoldReason = (typeof HELD_REASONS)[number]

/** The buyer's token holding at the payment's block. */
export type HoldingReading =
  | { kind: 'notNeeded' }
  | { kind: 'read'; amountWei: bigint }
  | { kind: 'unreadable'; sinceSec: number }

/** A list of the tier: how many nodes it allows the wallet, and how many of its payments for the tier count already. */
export interface Listed {
  root: Hash
  allocation: number
  used: number
}

/** `allocations` has the key `root wallet`; `used` has the key `tier number wallet`, and counts how much of the allocation is used. */
export interface ListUse {
  readonly allocations: ReadonlyMap<string, number>
  readonly used: Map<string, number>
}

/** What the list of each selling version allows a wallet. */
export function listedBy(selection: TierSelection, from: Address, { allocations, used }: ListUse): Listed[] {
  if (selection.kind !== 'onSale') return []
  return [selection.tier, ...selection.others].flatMap(({ tierNo, allowlist: root }) =>
    root === null
      ? []
      : { root, allocation: allocations.get(`${root} ${from}`) ?? 0, used: used.get(`${tierNo} ${from}`) ?? 0 },
  )
}

/** The facts for judging a payment. Counts are those of the payer's wallet. */
export interface PaymentFacts {
  from: Address
  /** Unix seconds. */
  blockTime: number
  valueWei: bigint
  succeeded: boolean
  /** All payments wallets, past and current, because a transfer between them buys nothing. */
  wallets: readonly Address[]
  /** True if it went to a replaced wallet after the grace period. */
  isToOldWallet: boolean
  /** Our own wallets, which pay for other things: minter and distributor. Null for an account without a key. */
  serviceAccounts: readonly (Address | null)[]
  /** True if the payer is on the deny list (an exchange's wallet, for example), so the operator decides. */
  senderDenied: boolean
  /** True for a payment from before a restore or rebuild, because the lost part may have recorded a refund of it. */
  beforeRestore: boolean
  selection: TierSelection
  /** Nodes of any tier: owned, and paid for but not minted yet. */
  walletNodes: number
  walletInFlight: number
  walletMax: number
  /** Nodes of the selected tier: owned, and paid for but not minted yet. */
  tierNodes: number
  tierInFlight: number
  /**
   * How many nodes of the tier may be sold: the lowest of the selection's supply and, as they are now, the ledger's supply and the contract's cap. Null
   * for no limit.
   */
  supply: number | null
  /** How many nodes of the tier are sold, to anyone, and how many earlier undecided payments reserve a place in it. */
  sold: number
  reserved: number
  /** True if undecided payments before this one may still sell out the tier on which this tier's opening depends. */
  mayOpen: boolean
  /** The lists of the versions that sell. */
  listed: readonly Listed[]
  holding: HoldingReading
  /** Facts about the sender, in case it is a contract. */
  payer: PayerFacts
  /** True if only one provider has reported the payment, although there are two to ask. */
  restsOnOne: boolean
}

export type Evidence = Record<string, string | number | boolean | null>
export type Verdict =
  | { kind: 'ignored'; reason: IgnoreReason; evidence: Evidence }
  | { kind: 'held'; reason: JudgedReason; tier: TierVersion | null; evidence: Evidence }
  | { kind: 'accepted'; tier: TierVersion; evidence: Evidence }
  /** We could not read a fact yet. The payment stays as it is and is judged again. */
  | { kind: 'undecided'; missing: 'holding' | 'payer' | 'proof' | 'place' | 'opening' | 'list' }

/**
 * Decides from the transfer alone whether it can buy anything.
 * @returns the reason to ignore it, or null.
 */
export function refuseTransfer(
  facts: Pick<PaymentFacts, 'from' | 'valueWei' | 'succeeded' | 'wallets' | 'serviceAccounts'>,
): IgnoreReason | null {
  if (!facts.succeeded) return 'failed'
  if (facts.valueWei === 0n) return 'zero'
  if (facts.wallets.includes(facts.from)) return 'self'
  if (facts.serviceAccounts.includes(facts.from)) return 'operator'
  return null
}

const REASON_NOT_SOLD = { none: 'wrongAmount', offSale: 'saleClosed', notOpenYet: 'notOpenYet' } as const

/** Judges a payment. Order matters: the first refusing rule gives the reason. */
export function judgePayment(facts: PaymentFacts): Verdict {
  const refusal = judgeTransfer(facts)
  if (refusal) return refusal

  const { selection } = facts
  const tier = judgedBy(selection, facts)
  const baseEvidence = baseEvidenceOf(tier, facts)
  const hold = (reason: JudgedReason, evidence: Evidence): Verdict => ({
    kind: 'held',
    reason,
    tier,
    evidence: { rule: reason, ...baseEvidence, ...evidence },
  })

  if (facts.isToOldWallet) return hold('oldWallet', {})
  if (facts.senderDenied) return hold('senderDenied', {})
  if (tier === null) return hold('wrongAmount', {})
  const times = timesOf(tier, facts)
  if (selection.kind === 'notOpenYet' && facts.mayOpen) return { kind: 'undecided', missing: 'opening' }
  if (selection.kind !== 'onSale') return hold(REASON_NOT_SOLD[selection.kind], times)

  const list = judgeList(tier, facts)
  if (list === null) return { kind: 'undecided', missing: 'list' }
  if (!list.isMet) return hold('notListed', list.evidence)

  const allowance = allowanceOf(tier, facts)
  if (!isWithinAllowance(tier, facts)) return hold('tierAllowance', allowance)

  // Rules that hold a payment for good come first. A payment that gets this far would be minted, now or once there is room.
  if (facts.beforeRestore) return hold('recheck', allowance)

  const room = roomOf(facts)
  // We read no further facts for a payment that has no place.
  if (room === 'none') return hold('soldOut', { ...placeOf(facts), ...times })

  if (facts.restsOnOne) return { kind: 'undecided', missing: 'proof' }
  const retrySec = retrySecOf(selection, facts)
  const payer = judgePayer(facts.payer, retrySec)
  if (payer.kind === 'undecided') return { kind: 'undecided', missing: 'payer' }
  if (payer.kind === 'held') return hold('contractWallet', { ...allowance, ...payer.evidence })
  const wallet = { walletMax: facts.walletMax, walletNodes: facts.walletNodes, walletInFlight: facts.walletInFlight }
  if (facts.walletNodes + facts.walletInFlight >= facts.walletMax) return hold('walletLimit', wallet)

  const holding = judgeHolding(tier, facts, retrySec)
  if (holding === null) return { kind: 'undecided', missing: 'holding' }
  if (!holding.isMet) return hold('holding', holding.evidence)
  if (room === 'reserved') return { kind: 'undecided', missing: 'place' }

  return {
    kind: 'accepted',
    tier,
    evidence: {
      rule: 'accepted',
      ...baseEvidence,
      byGrace: selection.byGrace || tier !== selection.tier,
      ...boundsOf(times, facts),
      ...list.evidence,
      ...allowance,
      ...payer.evidence,
      ...wallet,
      ...holding.evidence,
    },
  }
}

/** The verdict on a transfer that can buy nothing; null if it may buy. One provider's word does not make it fail. */
function judgeTransfer(facts: PaymentFacts): Verdict | null {
  if (facts.restsOnOne && !facts.succeeded) return { kind: 'undecided', missing: 'proof' }
  const reason = refuseTransfer(facts)
  return reason && { kind: 'ignored', reason, evidence: { rule: reason } }
}

const baseEvidenceOf = (tier: TierVersion | null, { valueWei }: PaymentFacts): Evidence => ({
  receivedWei: valueWei.toString(),
  expectedWei: tier ? tier.priceWei.toString() : null,
  tierId: tier?.tierId ?? null,
  tierVersion: tier?.version ?? null,
})

const allowanceOf = ({ maxPerWallet }: TierVersion, { tierNodes, tierInFlight }: PaymentFacts): Evidence => ({
  allowance: maxPerWallet,
  nodesOfTier: tierNodes,
  inFlightOfTier: tierInFlight,
})

/** Whether a payment meets a term of its tier. Null if the fact was not read; then no payment may pass. */
type Met = { isMet: boolean; evidence: Evidence } | null

function judgeList({ allowlist }: TierVersion, { listed: lists }: PaymentFacts): Met {
  if (allowlist === null) return { isMet: true, evidence: {} }
  const own = lists.find(({ root }) => root === allowlist)
  if (!own) return null
  const { allocation, used } = own
  return { isMet: used < allocation, evidence: { allowlist, allocation, used } }
}

const isWithinAllowance = ({ maxPerWallet }: TierVersion, { tierNodes, tierInFlight }: PaymentFacts): boolean =>
  tierNodes + tierInFlight < maxPerWallet

/**
 * The version by whose terms a payment is judged: the first of which the wallet meets all, else the first that may turn out so once the holding is
 * read, else the version in force. The holding is that of `holdingTokenOf`; a version that asks for another token sells to nobody.
 */
function judgedBy(selection: TierSelection, facts: PaymentFacts): TierVersion | null {
  if (selection.kind === 'none') return null
  if (selection.kind !== 'onSale') return selection.tier
  const token = holdingTokenOf(selection)
  const within = [selection.tier, ...selection.others].filter(
    (version) => judgeList(version, facts)?.isMet && isWithinAllowance(version, facts),
  )
  const { holding } = facts
  const meets = ({ holdingToken, holdingWei }: TierVersion) =>
    holdingToken === null || (holdingToken === token && holding.kind === 'read' && holding.amountWei >= holdingWei)
  const mayMeet = ({ holdingToken }: TierVersion) => holdingToken === token && holding.kind !== 'read'
  return within.find(meets) ?? within.find(mayMeet) ?? selection.tier
}

/** The times that anyone needs to recompute a verdict that depends on time. */
const timesOf = (tier: TierVersion, { blockTime }: PaymentFacts): Evidence => {
  const { opensAt, closesAt, graceSec, opensAfter, opened } = tier
  return { opensAt, closesAt, graceSec, blockTime, ...(opensAfter !== null && { opensAfter, ...openedAt(opened) }) }
}

const openedAt = (opened: TierVersion['opened']): Evidence => ({
  openedBlock: opened?.blockNumber ?? null,
  ...(opened && { openedTxIndex: opened.txIndex, openedInnerIndex: opened.innerIndex }),
})

const placeOf = ({ supply, sold, reserved }: PaymentFacts): Evidence => ({ supply, sold, reserved })

/** The limits against which an accepted payment was checked; empty for a tier without limits. */
const boundsOf = (times: Evidence, facts: PaymentFacts): Evidence => ({
  ...(facts.supply !== null && { ...placeOf(facts), place: facts.sold + 1 }),
  ...((times.opensAt ?? times.closesAt ?? times.opensAfter ?? null) !== null && times),
})

/** Why a tier has no free place; null if it has one. `reserved`: undecided payments before this one may take all places that are left. */
function roomOf({ supply, sold, reserved }: PaymentFacts): 'reserved' | 'none' | null {
  if (supply === null) return null
  if (sold >= supply) return 'none'
  return sold + reserved >= supply ? 'reserved' : null
}

/** How long an undecided payment reserves a place in its tier, seconds of block time. After that, later buyers no longer wait for it. */
export const PLACE_RESERVED_SEC = 3_600

/** How long we retry an unreadable fact. In a tier with a supply, no longer than a place is reserved. */
const retrySecOf = (
  { tier: { holdingRetrySec } }: Exclude<TierSelection, { kind: 'none' }>,
  { supply }: Pick<PaymentFacts, 'supply'>,
): number => (supply === null ? holdingRetrySec : Math.min(holdingRetrySec, PLACE_RESERVED_SEC))

/** The longest back-off between two reads of an unreadable fact, seconds of block time. */
const RETRY_PAUSE_SEC_MAX = 300

/**
 * The block time at which to judge a payment again if we could not read a fact at `now`. Each pause is half of the payment's age, up to a limit, and
 * ends no later than the time at which the payment is held.
 */
export function retryTimeOf(
  { blockTime, now }: { blockTime: number; now: number },
  selection: Exclude<TierSelection, { kind: 'none' }>,
): number {
  const pauseSec = Math.min(Math.floor(Math.max(0, now - blockTime) / 2), RETRY_PAUSE_SEC_MAX)
  const supply = selection.kind === 'onSale' ? selection.supply : null
  return Math.max(now, Math.min(now + pauseSec, blockTime + retrySecOf(selection, { supply })))
}

function judgeHolding(tier: TierVersion, facts: PaymentFacts, retrySec: number): Met {
  if (tier.holdingToken === null) return { isMet: true, evidence: {} }
  const requirement = { holdingToken: tier.holdingToken, holdingNeededWei: tier.holdingWei.toString() }
  switch (facts.holding.kind) {
    case 'read': {
      const evidence = { ...requirement, holdingReadWei: facts.holding.amountWei.toString() }
      return { isMet: facts.holding.amountWei >= tier.holdingWei, evidence }
    }
    case 'unreadable':
      if (facts.holding.sinceSec < retrySec) return null
      return { isMet: false, evidence: { ...requirement, holdingReadWei: null, unreadable: true } }
    case 'notNeeded':
      return null
  }
}
