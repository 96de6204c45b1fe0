// Judges a page of payments in one transaction, in chain order: locks their wallets, reads what the ledger knows, lets the pure rule decide on one
// payment after the other, and stores verdicts with their evidence. An accepted payment takes its place before the next one is judged.
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../../db/core/state.ts'
import { readDenied } from '../../db/payments/deny-list.ts'
import { lockPayers, lockTiers } from '../../db/payments/lock-order.ts'
import { type JudgedPayment, writeVerdicts } from '../../db/payments/moves.ts'
import { type PayerStanding, readPayerStandings, storePayerCode } from '../../db/payments/payers.ts'
import { readPlaces, type TierPlaces, walletUse } from '../../db/payments/places.ts'
import { readLastVerdicts } from '../../db/payments/recheck.ts'
import { byPlace, lockPayments, type Payment } from '../../db/payments/rows.ts'
import { countPlaces, type Places, readSupplies, type Undecided } from '../../db/payments/supply.ts'
import { openSteps, readLastSale, readTierVersions } from '../../db/sale/tiers.ts'
import { type CodeReading, type ModeEntry, modeFor, type PayerFacts } from '../../domain/payers/payer.ts'
import { type HoldingReading, judgePayment, type PaymentFacts, type Verdict } from '../../domain/payment.ts'
import { isOldWallet, type PaymentWallet } from '../../domain/payment-wallets.ts'
import {
  isNearlySold,
  selectTier,
  type TierSelection,
  type TierVersion,
  waitsForStep,
  withSupply,
} from '../../domain/tiers.ts'
import type { PaymentState } from '../../domain/transitions.ts'
import type { Address } from '../../domain/units.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { LedgerDb, Logging } from '../../ports/contexts.ts'
import { type ListUse, listedBy, readListUse, useAllocation } from './judge-lists.ts'

/** What we need to judge any payment of a run. */
export interface JudgingBasis {
  wallets: PaymentWallet[]
  /** Who may buy by an inner call, and from which block on. */
  modes: ModeEntry[]
  walletMax: number
  serviceAccounts: Address[]
  /** Block time and number of the followed block. */
  now: number
  height: number
  /** True if there are two providers. Then one provider's word is not enough for a sale. */
  hasSecond: boolean
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

/** What became of a payment. `failed`: we could not judge it. `early`: its tier may still open; its wallet's later payments do not wait. */
export type Outcome = Verdict['kind'] | 'unchanged' | 'failed' | 'early'
/** Outcomes that may change within the run, once we have read from the chain or a step has opened. */
export const AGAIN: readonly Outcome[] = ['undecided', 'early']

export interface Judged {
  candidate: Candidate
  outcome: Outcome
}

/**
 * False if the payment can never become a sale, because its amount was never the price of a tier. Always true for a held payment: it may be waiting
 * for room, or the operator may have released it. And for a failed one: two providers must say so.
 */
export const mayBuy = ({ payment, selection }: Candidate): boolean =>
  payment.state === 'held' || !payment.succeeded || selection.kind !== 'none'

interface Written {
  verdict: keyof typeof MOVE_OF
  row: JudgedPayment
}
const MOVE_OF = { accepted: 'accept', held: 'hold', ignored: 'ignore' } as const

/** Judges payments, given in chain order. If another session holds one of the locks, a page of several payments fails, but a single payment waits. */
export async function judgePage(
  ctx: LedgerDb & Logging,
  basis: JudgingBasis,
  page: readonly Candidate[],
): Promise<Judged[]> {
  const { judged, written } = await inTransaction(ctx.pool, async (sql) => {
    const decided = decideInOrder(basis, page, await readFacts(sql, basis, page))
    const byVerdict = Map.groupBy(decided.written, ({ verdict }) => verdict)
    for (const [verdict, written] of byVerdict)
      await writeVerdicts(
        sql,
        MOVE_OF[verdict],
        written.map(({ row }) => row),
      )
    await tellScarce(sql, basis, decided.sold)
    // Cached answers depend only on sales.
    if (decided.sold.length > 0) await notifyLedgerChanged(sql)
    failpoint('judge.storing')
    return decided
  })
  failpoint('judge.stored')
  tell(ctx, page, written)
  return judged
}

/** What the ledger knows about a page's payments, read under their locks. */
export interface PageFacts {
  /** The payments as they are at present. */
  current: ReadonlyMap<number, Payment>
  denied: ReadonlySet<Address>
  /** The operator's last decision on each payment that is held, or is from before a restore. */
  decisions: ReadonlyMap<number, PaymentState>
  places: ReadonlyMap<Address, TierPlaces[]>
  payers: ReadonlyMap<number, PayerStanding>
  /** By tier number, only for tiers with a supply or a cap; `sales` also for those that had one before. */
  supplies: ReadonlyMap<number, number>
  sales: ReadonlyMap<number, Places>
  /** The tiers' versions, read again to see which steps are open. Empty if no payment of the page is for a step. */
  versions: readonly TierVersion[]
  lists: ListUse
}

/** Takes its locks in everyone's order (db/payments/lock-order.ts). If a payment matches no price, its wallet and tier need no lock. */
async function readFacts(sql: Sql, basis: JudgingBasis, page: readonly Candidate[]): Promise<PageFacts> {
  const wallets = [...new Set(page.filter(mayBuy).map(({ payment }) => payment.from))]
  const isAlone = page.length === 1
  await lockPayers(sql, wallets, { wait: isAlone })
  const steps = page.filter(({ payment, selection }) => waitsForStep(selection, payment) !== null)
  const awaited = steps.flatMap((candidate) => awaitedNo(basis, candidate) ?? [])
  const tierNos = [...new Set([...page.filter(mayBuy).flatMap(tierNoOf), ...awaited])]
  await lockTiers(sql, tierNos, { wait: isAlone })
  const locked = await lockPayments(sql, page.map(idOf), { wait: isAlone })
  const current = new Map(locked.map((payment) => [payment.id, payment]))
  const supplies = await readSupplies(sql, tierNos)
  const versions = steps.length > 0 ? await readTierVersions(sql) : []
  const decidable = page.filter(({ payment }) => payment.state === 'held' || isRestored(basis, payment))
  return {
    current,
    denied: await readDenied(sql, [...new Set(page.map(({ payment }) => payment.from))]),
    decisions: await readLastVerdicts(sql, decidable.map(idOf)),
    places: await readPlaces(sql, wallets),
    supplies,
    // Once a step is open, what came for it too early reserves its places too.
    sales: await countPlaces(
      sql,
      tierNos.filter(isLimited(basis, supplies)),
      steps.length > 0 ? versions : basis.versions,
    ),
    versions,
    lists: await readListUse(sql, basis.versions, { tierNos, wallets }),
    payers: await readPayers(
      sql,
      page.filter((candidate) => mayBuy(candidate) && isAsRead(candidate, current)),
    ),
  }
}

/** True for a tier that has a supply or a cap, or has had a supply before. */
const isLimited =
  ({ versions }: JudgingBasis, supplies: ReadonlyMap<number, number>) =>
  (tierNo: number): boolean =>
    supplies.has(tierNo) || versions.some((version) => version.tierNo === tierNo && version.supply !== null)

/** The tier in which a payment may take a place, as a list of one; empty if there is none. */
const tierNoOf = ({ payment, selection }: Candidate): number[] => {
  const tierNo = payment.tierNo ?? (selection.kind === 'none' ? null : selection.tier.tierNo)
  return tierNo === null ? [] : [tierNo]
}

/** The number of the tier that must sell out before this payment's step opens; null if the step waits for none. */
function awaitedNo({ versions }: JudgingBasis, { payment, selection }: Candidate): number | null {
  const awaited = waitsForStep(selection, payment)
  return versions.find(({ tierId }) => tierId === awaited)?.tierNo ?? null
}

const idOf = ({ payment }: Candidate): number => payment.id

const isRestored = ({ recheckUpTo }: JudgingBasis, { blockNumber }: Payment): boolean =>
  recheckUpTo !== null && blockNumber <= recheckUpTo

/** True if the payment has not changed since we read it. False if it was decided elsewhere or a reorganisation removed it. */
function isAsRead({ payment }: Candidate, current: PageFacts['current']): boolean {
  const now = current.get(payment.id)
  return now?.state === payment.state && now.blockHash === payment.blockHash && now.reason === payment.reason
}

/** What we know of the senders of inner transfers. Stores each sender's code that we have just read, unless a code is already stored. */
async function readPayers(sql: Sql, page: readonly Candidate[]): Promise<PageFacts['payers']> {
  const inner = page.filter(({ payment }) => payment.innerIndex > 0)
  const payers = await readPayerStandings(
    sql,
    inner.map(({ payment }) => payment),
  )
  for (const { payment, code } of inner) {
    const payer = payers.get(payment.id)
    if (!payer || payer.code || code.kind !== 'read') continue
    await storePayerCode(sql, payment, code.code)
    payer.code = code.code
  }
  return payers
}

interface Decided {
  judged: Judged[]
  written: Written[]
  /** The tiers with a supply that sold a place, and how many places each had sold before and after. */
  sold: Sold[]
}

interface Sold {
  tierNo: number
  supply: number
  before: number
  now: number
}

/** Reports once that a tier is nearly sold out, and once that it is sold out. Opens the steps that wait for a sold-out tier. */
async function tellScarce(sql: Sql, { versions }: JudgingBasis, tiers: readonly Sold[]): Promise<void> {
  for (const { tierNo, supply, before, now } of tiers) {
    const tierId = versions.find((version) => version.tierNo === tierNo)?.tierId ?? String(tierNo)
    const detail = { tierId, supply, sold: now }
    if (isNearlySold(now, supply) && !isNearlySold(before, supply))
      await writeAudit(sql, { actor: 'pass', action: 'tierNearlySold', subject: tierId, detail })
    if (now < supply) continue
    // Not this page's last payment: one that waited for a reading may come before others in the chain.
    await openSteps(sql, tierId, await readLastSale(sql, tierId))
    await writeAudit(sql, { actor: 'pass', action: 'tierSoldOut', subject: tierId, detail })
  }
}

/** Decides on the payments one after the other. If a payment stays undecided, so do the later payments of its wallet. */
function decideInOrder(basis: JudgingBasis, page: readonly Candidate[], facts: PageFacts): Decided {
  const waiting = new Set<Address>()
  const taken = new Map(facts.places)
  const before = new Map([...facts.sales].map(([tierNo, { sold }]) => [tierNo, sold]))
  const decided: Omit<Decided, 'sold'> = { judged: [], written: [] }
  for (const candidate of page) {
    const { payment } = candidate
    const { outcome, written, taking }: Decision = waiting.has(payment.from)
      ? { outcome: 'undecided' }
      : decide(basis, candidate, { ...facts, places: taken })
    decided.judged.push({ candidate, outcome })
    if (written) decided.written.push(written)
    if (outcome === 'undecided') waiting.add(payment.from)
    if (taking) taken.set(payment.from, [...(taken.get(payment.from) ?? []), taking])
    if (taking) useAllocation(facts.lists, taking.tierNo, payment.from)
    for (const [tierNo, sales] of facts.sales) count(sales, payment, { outcome, takes: taking?.tierNo === tierNo })
  }
  return { ...decided, sold: soldSince(before, facts) }
}

/** Counts a payment's outcome among the places of a tier. */
function count(sales: Places, { id }: Payment, { outcome, takes }: { outcome: Outcome; takes: boolean }): void {
  const isOther = (one: Undecided) => one.id !== id
  if (takes) sales.sold++
  if (outcome !== 'undecided') sales.undecided = sales.undecided.filter(isOther)
  if (!AGAIN.includes(outcome)) sales.early = sales.early.filter(isOther)
}

function soldSince(before: ReadonlyMap<number, number>, { sales, supplies }: PageFacts): Sold[] {
  return [...sales].flatMap(([tierNo, { sold: now }]) => {
    const [supply, was] = [supplies.get(tierNo), before.get(tierNo) ?? now]
    return supply === undefined || now === was ? [] : [{ tierNo, supply, before: was, now }]
  })
}

interface Decision {
  outcome: Outcome
  written?: Written
  /** The place that the payment takes. */
  taking?: TierPlaces
}

const placeIn = (tierNo: number | null): TierPlaces => ({ tierNo, nodes: 0, inFlight: 1 })

function decide(basis: JudgingBasis, candidate: Candidate, facts: PageFacts): Decision {
  const { payment } = candidate
  if (!isAsRead(candidate, facts.current)) return { outcome: 'unchanged' }
  if (payment.state === 'held' && facts.decisions.get(payment.id) === 'accepted')
    return acceptIfWalletHasRoom(basis, payment, facts)
  const verdict = judgePayment(factsOf(basis, candidate, facts))
  if (verdict.kind === 'undecided') return { outcome: verdict.missing === 'opening' ? 'early' : 'undecided' }
  const was = payment.reason === 'supplySpent' ? 'soldOut' : payment.reason
  const isHeldAgain = verdict.kind === 'held' && verdict.reason === was
  // A contract wallet's payment is judged again when facts in its evidence change, so we store the evidence even if it is held again.
  if (isHeldAgain && verdict.reason !== 'contractWallet') return { outcome: 'unchanged' }
  const { wallet, from, blockNumber, blockHash } = payment
  const evidence = { ...verdict.evidence, wallet, from, blockNumber, blockHash }
  const tier = verdict.kind === 'ignored' ? null : verdict.tier
  const reason = verdict.kind === 'accepted' ? null : verdict.reason
  const row = { ...rowOf(payment), reason, tierId: tier?.tierId ?? null, tierVersion: tier?.version ?? null, evidence }
  const written = { verdict: verdict.kind, row }
  if (verdict.kind === 'accepted') return { outcome: 'accepted', written, taking: placeIn(verdict.tier.tierNo) }
  return { outcome: isHeldAgain ? 'unchanged' : verdict.kind, written }
}

const rowOf = ({ id, blockHash, state }: Payment) => ({ id, blockHash, was: state })

function factsOf(basis: JudgingBasis, candidate: Candidate, facts: PageFacts): PaymentFacts {
  const { payment, code, holding } = candidate
  const { denied, decisions, places, payers, supplies, sales, versions, lists } = facts
  const { from, valueWei, succeeded } = payment
  // The step may have opened after the run read the tiers.
  const isStep = waitsForStep(candidate.selection, payment) !== null
  const selection = isStep ? selectTier(versions, payment) : candidate.selection
  const place = { number: payment.blockNumber, time: payment.blockTime }
  const tierNo = selection.kind === 'none' ? null : selection.tier.tierNo
  const ofTier = tierNo === null ? undefined : sales.get(tierNo)
  return {
    ...{ from, valueWei, succeeded, holding, blockTime: payment.blockTime },
    selection: withSupply(selection, supplies.get(tierNo ?? 0) ?? null),
    listed: listedBy(selection, from, lists),
    sold: ofTier?.sold ?? 0,
    reserved: reservedBefore(ofTier, payment),
    mayOpen: mayOpen(basis, awaitedNo(basis, { ...candidate, selection }), payment, { supplies, sales }),
    wallets: basis.wallets.map(({ wallet }) => wallet),
    isToOldWallet: isOldWallet(basis.wallets, payment.wallet, place),
    serviceAccounts: basis.serviceAccounts,
    senderDenied: denied.has(from),
    beforeRestore: isRestored(basis, payment) && !decisions.has(payment.id),
    ...walletUse(places.get(from) ?? [], tierNo),
    walletMax: basis.walletMax,
    restsOnOne: restsOnOne(basis, payment),
    payer: payerOf(basis, payment, { code, standing: payers.get(payment.id) }),
  }
}

/** How many places earlier undecided payments reserve. */
const reservedBefore = (ofTier: Places | undefined, payment: Payment): number =>
  ofTier?.undecided.filter((earlier) => !earlier.isOld && byPlace(earlier, payment) < 0).length ?? 0

/** True if the awaited tier is sold out, or undecided payments up to this block (not old ones that rest on one provider) may sell it out. */
function mayOpen(
  basis: JudgingBasis,
  awaited: number | null,
  { blockNumber }: Payment,
  { supplies, sales }: Pick<PageFacts, 'supplies' | 'sales'>,
): boolean {
  const [supply, before] = [supplies.get(awaited ?? 0), sales.get(awaited ?? 0)]
  if (supply === undefined || !before) return false
  const mayTake = (earlier: Undecided) =>
    earlier.blockNumber <= blockNumber && !(earlier.isOld && restsOnOne(basis, earlier))
  return before.sold + [...before.undecided, ...before.early].filter(mayTake).length >= supply
}

/** True if a payment rests on one provider's word although we could ask two. */
export const restsOnOne = ({ hasSecond }: JudgingBasis, { proof }: { proof: string | null }): boolean =>
  hasSecond && proof === 'believed'

/** What the rule must know about a payment's sender. */
function payerOf(
  { modes, height, trustsProvider }: JudgingBasis,
  { from, innerIndex, blockNumber, unsignedType, proof }: Payment,
  { code, standing }: { code: CodeReading; standing: PayerStanding | undefined },
): PayerFacts {
  if (unsignedType !== null) return { kind: 'unsigned', type: unsignedType, from }
  if (innerIndex === 0) return { kind: 'plain' }
  const { signedIn = false, allowed = false, code: known = null } = standing ?? {}
  const mode = modeFor(modes, blockNumber, height)
  const oneProvider = proof !== 'agreed' && !trustsProvider
  return { kind: 'inner', mode, signedIn, allowed, oneProvider, code: known ? { kind: 'read', code: known } : code }
}

/** Accepts a payment that the operator has released despite its verdict, unless its wallet or its tier has no room. */
function acceptIfWalletHasRoom({ walletMax }: JudgingBasis, payment: Payment, facts: PageFacts): Decision {
  const { walletNodes, walletInFlight } = walletUse(facts.places.get(payment.from) ?? [], payment.tierNo)
  if (walletNodes + walletInFlight >= walletMax) return { outcome: 'unchanged' }
  const supply = facts.supplies.get(payment.tierNo ?? 0)
  const ofTier = facts.sales.get(payment.tierNo ?? 0)
  const [sold, reserved] = [ofTier?.sold ?? 0, reservedBefore(ofTier, payment)]
  if (supply !== undefined && sold + reserved >= supply) return { outcome: 'unchanged' }
  const place = supply === undefined ? {} : { supply, sold, reserved, place: sold + 1 }
  const evidence = { rule: 'released', walletMax, walletNodes, walletInFlight, ...place }
  const row = { ...rowOf(payment), reason: null, tierId: null, tierVersion: null, evidence }
  return { outcome: 'accepted', written: { verdict: 'accepted', row }, taking: placeIn(payment.tierNo) }
}

/** Logs each verdict on a payment that matches a tier's price. For the other payments, logs only how many were held or ignored for each reason. */
function tell(ctx: Logging, page: readonly Candidate[], written: readonly Written[]): void {
  const byId = new Map(page.map((candidate) => [candidate.payment.id, candidate]))
  const unpriced: Written[] = []
  for (const one of written) {
    const candidate = byId.get(one.row.id)
    if (!candidate) continue
    if (!mayBuy(candidate)) unpriced.push(one)
    else ctx.log.info({ txHash: candidate.payment.txHash, verdict: one.verdict, ...one.row.evidence }, 'payment judged')
  }
  for (const group of Map.groupBy(unpriced, ({ row }) => row.reason).values())
    ctx.log.info(
      { verdict: group[0]?.verdict, reason: group[0]?.row.reason, count: group.length },
      'judged payments that match no price',
    )
}
