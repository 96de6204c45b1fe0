// Judges the payments that wait for it, in chain order: reads the facts, locks the wallet, lets the pure rule decide,
// stores verdict and evidence. A payment whose facts cannot be read holds up the later ones of its wallet, no other wallet's, and backs off. Of
// an inner transfer the facts are also what its sender's code was, and whether that is somebody's wallet.
import type { ChainFacts } from '../../chain/port.ts'
import type { Cursor } from '../../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../../db/core/sql.ts'
import { isDenied } from '../../db/payments/deny-list.ts'
import { type Decision, writeVerdict } from '../../db/payments/moves.ts'
import { readPayerStanding, storePayerCode } from '../../db/payments/payers.ts'
import { hasOperatorVerdict, holdForRecheck, isReleased, readRecheck } from '../../db/payments/recheck.ts'
import { forgetRetries, readRetryTimes, retryPaymentAt } from '../../db/payments/retries.ts'
import * as payments from '../../db/payments/rows.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readPaymentWallets } from '../../db/sale/payment-wallets.ts'
import { hasTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { type CodeReading, type ModeEntry, modeFor, type PayerFacts } from '../../domain/payers/payer.ts'
import {
  type Evidence,
  type HoldingReading,
  judgePayment,
  type PaymentFacts,
  retryTimeOf,
  type Verdict,
} from '../../domain/payment.ts'
import { isOldWallet, type PaymentWallet } from '../../domain/payment-wallets.ts'
import { selectTier, type TierSelection, type TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { failpoint } from '../../lib/failpoint.ts'
import {
  addressesOf,
  type ChainRead,
  type FactoryRead,
  type FinalityRules,
  type LedgerDb,
  type Logging,
  type RuledBy,
  type RunLimits,
  type ServiceAccounts,
} from '../context.ts'
import { isUnpriced, judgeUnpriced, placeOf, seenAt } from './judge-unpriced.ts'

type JudgeContext = LedgerDb & ChainRead & Logging

/** Payments judged in one run at most; the rest wait for the next. */
const JUDGED_MAX = 1_000

export interface JudgeResult {
  accepted: number
  held: number
}

/** Judges what the ledger has seen up to block `upToBlock`, the settled height. */
export async function judge(
  ctx: JudgeContext & FactoryRead & ServiceAccounts,
  cursor: Cursor,
  upToBlock: number,
  run: RunLimits,
): Promise<JudgeResult> {
  const judged: JudgeResult = { accepted: 0, held: 0 }
  const recheckUpTo = await readRecheck(ctx.pool)
  if (recheckUpTo !== null) judged.held += await holdForRecheck(ctx.pool, recheckUpTo)
  await forgetRetries(ctx.pool)
  // Judged payments are minted and credited, by terms that the operator has to enter first.
  if (!(await hasTerms(ctx.pool))) return judged
  // A flood of transfers that are no sale must not fill a run before a buyer's turn.
  const open = { states: ['seen' as const], upToBlock, now: cursor.time }
  const forRoom = { states: ['held' as const], reason: 'walletLimit' as const, upToBlock }
  const forPayer = {
    states: ['held' as const],
    reason: 'contractWallet' as const,
    payerChangedAt: cursor.number,
    upToBlock,
  }
  const [seen, [full], shown] = [
    await payments.readPayments(ctx.pool, { ...open, pricedFirst: true, limit: JUDGED_MAX }),
    await payments.readPayments(ctx.pool, { ...forRoom, limit: 1 }),
    await payments.readPayments(ctx.pool, { ...forPayer, limit: JUDGED_MAX }),
  ]
  if (seen.length === 0 && !full && shown.length === 0) return judged
  const walletMax = await ctx.contract.maxPerWallet()
  // A wallet may have room again: judged again at every run. Those of full ones are left out, or they would take the whole run.
  const roomy = full
    ? await payments.readPayments(ctx.pool, { ...forRoom, walletMax, now: cursor.time, limit: JUDGED_MAX })
    : []

  const versions = await readTierVersions(ctx.pool)
  const unpriced = new Set(seen.filter((payment) => isUnpriced(versions, payment)))
  const priced = seen.filter((payment) => !unpriced.has(payment))
  const waiting = [...priced, ...roomy, ...shown].sort(payments.byPlace)
  const basis: JudgingBasis = {
    wallets: await readPaymentWallets(ctx.pool),
    versions,
    modes: await readModes(ctx.pool),
    walletMax,
    serviceAccounts: addressesOf(ctx),
    now: cursor.time,
    height: cursor.number,
    recheckUpTo,
  }
  const note = (verdict: Verdict['kind'] | 'unchanged') => {
    if (verdict === 'accepted' || verdict === 'held') judged[verdict]++
  }
  const unread = await judgeWithoutReadings(ctx, { basis, waiting, run }, note)
  if (!run.outOfTime()) judged.held += await judgeUnpriced(ctx, basis, [...unpriced])
  await judgeWithReadings(ctx, { basis, unread, run }, note)
  return judged
}

type Note = (verdict: Verdict['kind'] | 'unchanged') => void

/**
 * Judges payments that need no reading of the chain. A slow one delays only the payments of its own wallet.
 * @returns by wallet, in order, the payments from the first on that needs one.
 */
async function judgeWithoutReadings(
  ctx: JudgeContext,
  { basis, waiting, run }: { basis: JudgingBasis; waiting: readonly payments.Payment[]; run: RunLimits },
  note: Note,
): Promise<Map<Address, payments.Payment[]>> {
  const unread = new Map<Address, payments.Payment[]>()
  for (const payment of waiting) {
    if (run.outOfTime()) break
    const behind = unread.get(payment.from)
    if (behind) {
      behind.push(payment)
      continue
    }
    const verdict = await decide(ctx, basis, candidateOf(basis, payment), UNREAD)
    failpoint('judge.stored')
    if (verdict === 'undecided') unread.set(payment.from, [payment])
    else note(verdict)
  }
  return unread
}

/** Reads codes and holdings, wallet by wallet, those that were never asked for first. One that cannot be read backs off, and with it the later payments of its wallet. */
async function judgeWithReadings(
  ctx: JudgeContext,
  { basis, unread, run }: { basis: JudgingBasis; unread: ReadonlyMap<Address, payments.Payment[]>; run: RunLimits },
  note: Note,
): Promise<void> {
  if (unread.size === 0) return
  const retryTimes = await readRetryTimes(ctx.pool)
  const triedAt = ([first]: readonly payments.Payment[]) => (first && retryTimes.get(first.id)) ?? 0
  for (const ofWallet of [...unread.values()].sort((a, b) => triedAt(a) - triedAt(b))) {
    for (const payment of ofWallet) {
      if (run.outOfTime()) return
      const verdict = await judgeOne(ctx, basis, payment)
      failpoint('judge.stored')
      if (verdict === 'undecided') break
      note(verdict)
    }
  }
}

/** The facts shared by all payments of one run. */
interface JudgingBasis {
  wallets: PaymentWallet[]
  versions: TierVersion[]
  /** Who may buy by an internal call. */
  modes: ModeEntry[]
  walletMax: number
  serviceAccounts: Address[]
  /** The followed block's time and number. */
  now: number
  height: number
  /** Up to here what is not minted is the operator's to decide: the ledger was restored or rebuilt. */
  recheckUpTo: number | null
}

/** Height up to which blocks count as settled (`FINALITY`). */
export async function finalizedHeight(
  ctx: ChainRead & RuledBy<FinalityRules>,
  cursor: Cursor,
  { guardUsable }: ChainFacts,
): Promise<number> {
  const { finality } = ctx.rules
  if (typeof finality === 'number') return cursor.number - finality
  if (finality === 'guarded' && guardUsable) return cursor.number
  return Math.min((await ctx.chain.finalized())?.number ?? -1, cursor.number)
}

/** What was read of the chain for a payment. */
interface Readings {
  code: CodeReading
  holding: HoldingReading
}
const UNREAD: Readings = { code: { kind: 'unread' }, holding: { kind: 'notNeeded' } }

/** Readings of the chain are taken outside the lock, one after the other, and only where everything else passes. */
async function judgeOne(
  ctx: JudgeContext,
  basis: JudgingBasis,
  payment: payments.Payment,
): Promise<Verdict['kind'] | 'unchanged'> {
  const candidate = candidateOf(basis, payment)
  let verdict = await decide(ctx, basis, candidate, UNREAD)
  if (verdict !== 'undecided') return verdict
  const readings = { ...UNREAD }
  if (payment.innerIndex > 0) {
    readings.code = await readCode(ctx, basis, payment)
    verdict = await decide(ctx, basis, candidate, readings)
    if (verdict !== 'undecided') return verdict
  }
  readings.holding = await readHolding(ctx, basis, candidate)
  verdict = await decide(ctx, basis, candidate, readings)
  const { selection } = candidate
  if (verdict === 'undecided' && selection.kind !== 'none') {
    const at = { blockTime: payment.blockTime, now: basis.now }
    await retryPaymentAt(ctx.pool, payment.id, retryTimeOf(at, selection.tier))
  }
  return verdict
}

/** A payment and the tier that its amount names. */
interface Candidate {
  payment: payments.Payment
  selection: TierSelection
}

const candidateOf = ({ versions }: JudgingBasis, payment: payments.Payment): Candidate => ({
  payment,
  selection: selectTier(versions, payment),
})

async function readCode(
  ctx: ChainRead,
  { now }: JudgingBasis,
  { from, blockNumber, blockHash, blockTime }: payments.Payment,
): Promise<CodeReading> {
  const code = await ctx.chain.payerCode(from, { number: blockNumber, hash: blockHash })
  return code ? { kind: 'read', code } : { kind: 'unreadable', sinceSec: now - blockTime }
}

async function readHolding(
  ctx: ChainRead,
  basis: JudgingBasis,
  { payment, selection }: Candidate,
): Promise<HoldingReading> {
  if (selection.kind === 'none' || !selection.tier.holdingToken) return { kind: 'notNeeded' }
  const at = { number: payment.blockNumber, hash: payment.blockHash }
  const amountWei = await ctx.chain.holding(selection.tier.holdingToken, payment.from, at)
  if (amountWei === null) return { kind: 'unreadable', sinceSec: basis.now - payment.blockTime }
  return { kind: 'read', amountWei }
}

/** Counts under the wallet's lock, decides, and stores the verdict, unless it is undecided. */
async function decide(
  ctx: LedgerDb & Logging,
  basis: JudgingBasis,
  { payment, selection }: Candidate,
  { code, holding }: Readings,
): Promise<Verdict['kind'] | 'unchanged'> {
  return inTransaction(ctx.pool, async (sql) => {
    await payments.lockWallet(sql, payment.from)
    const [current] = await payments.lockPayments(sql, [payment.id])
    // It was decided elsewhere, or a reorganisation removed it, since it was read.
    if (current?.state !== payment.state || current.blockHash !== payment.blockHash) return 'unchanged'
    if (current.reason !== payment.reason) return 'unchanged'
    if (payment.state === 'held' && (await isReleased(sql, payment.id)))
      return acceptIfWalletHasRoom(sql, basis, payment)
    const tierNo = selection.kind === 'none' ? null : selection.tier.tierNo
    const restored = basis.recheckUpTo !== null && payment.blockNumber <= basis.recheckUpTo
    const facts: PaymentFacts = {
      from: payment.from,
      valueWei: payment.valueWei,
      succeeded: payment.succeeded,
      wallets: basis.wallets.map(({ wallet }) => wallet),
      isToOldWallet: isOldWallet(basis.wallets, payment.wallet, placeOf(payment)),
      serviceAccounts: basis.serviceAccounts,
      senderDenied: await isDenied(sql, payment.from),
      beforeRestore: restored && !(await hasOperatorVerdict(sql, payment.id)),
      selection,
      ...(await payments.readWalletUse(sql, payment.from, tierNo)),
      walletMax: basis.walletMax,
      holding,
      payer: await payerOf(sql, basis, payment, code),
    }
    const verdict = judgePayment(facts)
    if (verdict.kind === 'undecided') return verdict.kind
    const isHeldAgain = verdict.kind === 'held' && verdict.reason === payment.reason
    // What a contract was judged by is noted each time: it is judged again once that changes.
    if (isHeldAgain && verdict.reason !== 'contractWallet') return 'unchanged'
    const evidence = { ...verdict.evidence, ...seenAt(payment) }
    await writeVerdict(sql, payment.id, decisionOf(verdict, evidence))
    ctx.log.info({ txHash: payment.txHash, verdict: verdict.kind, ...evidence }, 'payment judged')
    return isHeldAgain ? 'unchanged' : verdict.kind
  })
}

/** The facts about a payment's sender. A code that was read now is kept; one that was read before stands. */
async function payerOf(
  sql: Sql,
  { modes, height }: JudgingBasis,
  payment: payments.Payment,
  code: CodeReading,
): Promise<PayerFacts> {
  if (payment.innerIndex === 0) return { kind: 'plain' }
  const { code: known, ...shown } = await readPayerStanding(sql, payment)
  if (!known && code.kind === 'read') await storePayerCode(sql, payment, code.code)
  const mode = modeFor(modes, payment.blockNumber, height)
  return { kind: 'inner', mode, ...shown, code: known ? { kind: 'read', code: known } : code }
}

/** Turns a verdict of the rules into the decision to store. */
function decisionOf(verdict: Exclude<Verdict, { kind: 'undecided' }>, evidence: Evidence): Decision {
  const judged = { evidence, by: 'pass' }
  switch (verdict.kind) {
    case 'accepted':
      return { move: 'accept', tier: verdict.tier, ...judged }
    case 'held':
      return { move: 'hold', reason: verdict.reason, tier: verdict.tier, ...judged }
    case 'ignored':
      return { move: 'ignore', reason: verdict.reason, tier: null, ...judged }
  }
}

/** Mints a payment that the operator has released despite the verdict: only the contract's cap held it up. */
async function acceptIfWalletHasRoom(
  sql: Sql,
  basis: JudgingBasis,
  payment: payments.Payment,
): Promise<'accepted' | 'unchanged'> {
  const { walletNodes, walletInFlight } = await payments.readWalletUse(sql, payment.from, payment.tierNo)
  if (walletNodes + walletInFlight >= basis.walletMax) return 'unchanged'
  const evidence = { rule: 'released', walletMax: basis.walletMax, walletNodes, walletInFlight }
  await writeVerdict(sql, payment.id, { move: 'accept', evidence, by: 'pass' })
  return 'accepted'
}
