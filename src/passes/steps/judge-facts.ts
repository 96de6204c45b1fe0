// What the ledger knows about a page of payments, read under the page's locks, and what the page has given away since. Answers the judge's questions
// about one payment after the other.
import { readCursor } from '../../db/blocks/blocks.ts'
import type { Sql } from '../../db/core/sql.ts'
import { readDenied } from '../../db/payments/deny-list.ts'
import { lockPayers, lockTiers } from '../../db/payments/lock-order.ts'
import { readPayerStandings } from '../../db/payments/payers.ts'
import { readLastVerdicts } from '../../db/payments/recheck.ts'
import { lockUnchanged, type Payment } from '../../db/payments/rows.ts'
import { type LimitedTier, readLimitedTiers, type Undecided } from '../../db/payments/supply.ts'
import { readTierUses, type TierUse, type WalletUse, walletUse } from '../../db/payments/wallet-use.ts'
import { readListUse } from '../../db/sale/allowlists.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { type HoldingReading, listedBy, type PaymentFacts, type Verdict } from '../../domain/judgement.ts'
import { type CodeReading, type ModeFrom, modeFor, type PayerFacts } from '../../domain/payers/payer.ts'
import { isOldWallet, type PaymentWallet } from '../../domain/payment-wallets.ts'
import { byPosition } from '../../domain/sale/position.ts'
import { lowerSupply, selectTier, type TierSelection, type TierVersion, waitsForStep } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import type { Sold } from './open-ladder.ts'

/** What we need to judge any payment of a run. */
export interface JudgingBasis {
  wallets: PaymentWallet[]
  /** Who may buy by an inner call, and from which block on. */
  modes: ModeFrom[]
  walletMax: number
  serviceAccounts: Address[]
  /** Block time and number of the followed block. */
  now: number
  height: number
  /** True if two providers could agree. Then one provider's word is not enough for a sale. */
  canAgree: boolean
  /** True if we believe a single provider about inner transfers. */
  trustsProvider: boolean
  /** All versions of all tiers. */
  versions: readonly TierVersion[]
  /** Unminted payments up to this block are left to the operator, because the ledger was restored or rebuilt; otherwise null. */
  recheckUpTo: number | null
}

/** A payment to judge, the tier that its amount matches, and what we have read from the chain for it. */
export interface Candidate {
  payment: Payment
  selection: TierSelection
  code: CodeReading
  holding: HoldingReading
}

/**
 * False if the payment can never become a sale, because its amount was never the price of a tier. Always true for a held payment: it may be waiting
 * for room, or the operator may have released it. And for a failed one: two providers must report it.
 */
export const mayBuy = ({ payment, selection }: Candidate): boolean =>
  payment.state === 'held' || !payment.succeeded || selection.kind !== 'none'

/** True if a payment rests on one provider's word although we could ask two. */
export const restsOnOne = ({ canAgree }: JudgingBasis, { proof }: { proof: string | null }): boolean =>
  canAgree && proof === 'believed'

/** What became of a payment. `failed`: we could not judge it. `early`: its tier may still open; its wallet's later payments do not wait. */
export type Outcome = Verdict['kind'] | 'unchanged' | 'failed' | 'early'
/** Outcomes that may change within the run, once we have read from the chain or a step has opened. */
export const AGAIN: readonly Outcome[] = ['undecided', 'early']

/** Takes its locks in everyone's order (db/payments/lock-order.ts). If a payment matches no price, its wallet and tier need no lock. */
export async function readLedger(sql: Sql, basis: JudgingBasis, page: readonly Candidate[]) {
  const payments = page.map(({ payment }) => payment)
  const buyers = page.filter(mayBuy)
  const wallets = [...new Set(buyers.map(({ payment }) => payment.from))]
  const isAlone = page.length === 1
  await lockPayers(sql, wallets, { wait: isAlone })
  const steps = page.filter(({ payment, selection }) => waitsForStep(selection, payment) !== null)
  const awaitedTiers = steps.map(({ payment, selection }) => awaitedNo(basis, selection, payment))
  const tierNos = [...new Set([...buyers.map(tierNoOf), ...awaitedTiers])].filter((tierNo) => tierNo !== null)
  await lockTiers(sql, tierNos, { wait: isAlone })
  const unchangedIds = await lockUnchanged(sql, payments, { wait: isAlone })
  // Read again, because a step may have opened since. Once it is open, what came for it too early reserves its places too.
  const versions = steps.length > 0 ? await readTierVersions(sql) : basis.versions
  const isDecidable = (payment: Payment) => payment.state === 'held' || isRestored(basis, payment)
  const decidable = payments.filter(isDecidable).map(({ id }) => id)
  const inner = buyers.filter(({ payment }) => payment.innerIndex > 0 && unchangedIds.has(payment.id))
  return {
    unchangedIds,
    versions,
    deniedSenders: await readDenied(sql, [...new Set(payments.map(({ from }) => from))]),
    decisions: await readLastVerdicts(sql, decidable),
    tierUses: await readTierUses(sql, wallets),
    // Null if another instance has followed on: then no single block shows these places.
    countedAtBlock: (await readCursor(sql))?.number === basis.height ? basis.height : null,
    tiers: await readLimitedTiers(sql, tierNos, versions),
    lists: await readListUse(sql, basis.versions, { tierNos, wallets }),
    payers: await readPayerStandings(sql, inner.map(withReadCode)),
  }
}

const withReadCode = ({ payment, code }: Candidate) => ({ ...payment, code: code.kind === 'read' ? code.code : null })

/** The tier in which a payment may take a place; null if there is none. */
const tierNoOf = ({ payment, selection }: Candidate): number | null => payment.tierNo ?? selectedNo(selection)

const selectedNo = (selection: TierSelection): number | null =>
  selection.kind === 'none' ? null : selection.tier.tierNo

/** The number of the tier that must sell out before this payment's step opens; null if the step waits for none. */
function awaitedNo({ versions }: JudgingBasis, selection: TierSelection, payment: Payment): number | null {
  const awaitedId = waitsForStep(selection, payment)
  return versions.find(({ tierId }) => tierId === awaitedId)?.tierNo ?? null
}

const isRestored = ({ recheckUpTo }: JudgingBasis, { blockNumber }: Payment): boolean =>
  blockNumber <= (recheckUpTo ?? -1)

const isBefore = (payment: Payment) => (other: Undecided) => byPosition(other, payment) < 0

type Ledger = Awaited<ReturnType<typeof readLedger>>

/** The facts about a page's payments. Tell it each decision (`count`) before you ask about the next payment. */
export class PageFacts {
  readonly #basis: JudgingBasis
  readonly #ledger: Ledger
  readonly #soldBefore: ReadonlyMap<number, number>

  constructor(basis: JudgingBasis, ledger: Ledger) {
    this.#basis = basis
    this.#ledger = ledger
    this.#soldBefore = new Map([...ledger.tiers].map(([tierNo, { sold }]) => [tierNo, sold]))
  }

  /** False if the payment was decided elsewhere since the run read it, or a reorganisation removed it. */
  isUnchanged({ id }: Payment): boolean {
    return this.#ledger.unchangedIds.has(id)
  }

  /** True if the operator has released a held payment despite its verdict. */
  isReleased({ id, state }: Payment): boolean {
    return state === 'held' && this.#ledger.decisions.get(id) === 'accepted'
  }

  /** The block whose state shows the nodes that wallets hold. */
  get countedAtBlock(): number | null {
    return this.#ledger.countedAtBlock
  }

  /** How many nodes a payer may have, and how many it has, in all and of one tier. */
  useOf({ from }: Payment, tierNo: number | null): WalletUse & { walletMax: number } {
    return { walletMax: this.#basis.walletMax, ...walletUse(this.#ledger.tierUses.get(from) ?? [], tierNo) }
  }

  /** What is left of a tier: its supply, how many places are sold, and how many earlier undecided payments reserve. */
  roomFor(payment: Payment, tierNo: number | null): { supply: number | null; sold: number; reserved: number } {
    const { supply = null, sold = 0, undecided: undecidedPayments = [] } = this.#tier(tierNo) ?? {}
    const reserving = undecidedPayments.filter(({ isOld }) => !isOld).filter(isBefore(payment))
    return { supply, sold, reserved: reserving.length }
  }

  /** What the rule must know to judge a payment. */
  of(candidate: Candidate): PaymentFacts {
    const [basis, { deniedSenders, decisions, versions, lists }] = [this.#basis, this.#ledger]
    const { payment, holding } = candidate
    const { id, from, wallet, valueWei, blockTime, blockNumber } = payment
    const isStep = waitsForStep(candidate.selection, payment) !== null
    const selection = isStep ? selectTier(versions, payment) : candidate.selection
    const tierNo = selectedNo(selection)
    const { supply, sold, reserved } = this.roomFor(payment, tierNo)
    return {
      from,
      valueWei,
      succeeded: payment.succeeded,
      holding,
      blockTime,
      sold,
      reserved,
      selection,
      supply: lowerSupply(selection.kind === 'onSale' ? selection.supply : null, supply),
      listed: listedBy(selection, from, lists),
      mayOpen: this.#mayOpen(awaitedNo(basis, selection, payment), payment),
      wallets: basis.wallets.map((one) => one.wallet),
      isToOldWallet: isOldWallet(basis.wallets, wallet, { number: blockNumber, time: blockTime }),
      serviceAccounts: basis.serviceAccounts,
      senderDenied: deniedSenders.has(from),
      beforeRestore: isRestored(basis, payment) && !decisions.has(id),
      ...this.useOf(payment, tierNo),
      restsOnOne: restsOnOne(basis, payment),
      payer: this.#payer(candidate),
    }
  }

  /** Counts what a payment adds to its wallet's use and its tier's sales, and no longer what it reserved. */
  count({ id, from }: Payment, outcome: Outcome, use?: TierUse): void {
    const { tierUses, lists, tiers } = this.#ledger
    if (use) {
      tierUses.set(from, [...(tierUses.get(from) ?? []), use])
      const key = `${use.tierNo} ${from}`
      lists.used.set(key, (lists.used.get(key) ?? 0) + 1)
    }
    const isOther = (one: Undecided) => one.id !== id
    for (const tier of tiers.values()) {
      if (use?.tierNo === tier.tierNo) tier.sold++
      if (outcome !== 'undecided') tier.undecided = tier.undecided.filter(isOther)
      if (!AGAIN.includes(outcome)) tier.early = tier.early.filter(isOther)
    }
  }

  /** The tiers with a supply of which the page took places. */
  sales(): Sold[] {
    return [...this.#ledger.tiers.values()].flatMap(({ tierNo, supply, sold }) => {
      const before = this.#soldBefore.get(tierNo) ?? sold
      return supply === null || sold === before ? [] : [{ tierNo, supply, before, sold }]
    })
  }

  #tier(tierNo: number | null): LimitedTier | undefined {
    return tierNo === null ? undefined : this.#ledger.tiers.get(tierNo)
  }

  /** True if the awaited tier is sold out, or undecided payments before this one (not old ones that rest on one provider) may sell it out. */
  #mayOpen(tierNo: number | null, payment: Payment): boolean {
    const tier = this.#tier(tierNo)
    if (!tier || tier.supply === null) return false
    const earlier = [...tier.undecided, ...tier.early].filter(isBefore(payment))
    const mayTake = earlier.filter((one) => !(one.isOld && restsOnOne(this.#basis, one)))
    return tier.sold + mayTake.length >= tier.supply
  }

  /** What the rule must know about a payment's sender. */
  #payer({ payment, code }: Candidate): PayerFacts {
    const { id, from, innerIndex, blockNumber, unsignedType, proof } = payment
    if (unsignedType !== null) return { kind: 'unsigned', type: unsignedType, from }
    if (innerIndex === 0) return { kind: 'plain' }
    const { modes, height, trustsProvider } = this.#basis
    const { signedIn = false, allowed = false, code: storedCode = null } = this.#ledger.payers.get(id) ?? {}
    const mode = modeFor(modes, blockNumber, height)
    const oneProvider = proof !== 'agreed' && !trustsProvider
    return {
      kind: 'inner',
      mode,
      signedIn,
      allowed,
      oneProvider,
      code: storedCode ? { kind: 'read', code: storedCode } : code,
    }
  }
}
