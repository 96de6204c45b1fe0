// Judges the payments that wait for it, in chain order and by the page. A payment whose facts cannot be read, or that fails to be judged, holds
// up the later ones of its wallet, no other wallet's. Of an inner transfer the facts are also what its sender's code was, and whether that is
// somebody's wallet.
import type { ChainFacts } from '../../chain/port.ts'
import type { Cursor } from '../../db/blocks/blocks.ts'
import { isDatabaseDown } from '../../db/core/sql.ts'
import { holdForRecheck, readRecheck } from '../../db/payments/recheck.ts'
import { forgetRetries, readRetryTimes, retryPaymentAt } from '../../db/payments/retries.ts'
import * as payments from '../../db/payments/rows.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readPaymentWallets } from '../../db/sale/payment-wallets.ts'
import { hasTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { retryTimeOf } from '../../domain/payment.ts'
import { selectTier } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { Killed } from '../../lib/failpoint.ts'
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
import { type Candidate, type Judged, type JudgingBasis, judgePage, mayBuy, type Outcome } from './judge-page.ts'

type JudgeContext = LedgerDb & ChainRead & Logging

/** Payments judged in one run at most, so that no mint waits longer for it than seconds; the rest wait for the next run. */
const JUDGED_MAX = 10_000
/** Payments judged in one transaction. Each of their wallets takes a lock, of which a small server keeps some 1,300 for all who are connected. */
export const PAGE_MAX = 500
/** Payments whose facts are read from the chain at a time. */
const READINGS_AT_ONCE = 4

export interface JudgeResult {
  accepted: number
  held: number
  /** Those that could not be judged: they wait, each in the log. */
  failed: number
}

/** Judges what the ledger has seen up to block `upToBlock`, the settled height, `run.page` payments at a time. */
export async function judge(
  ctx: JudgeContext & FactoryRead & ServiceAccounts,
  cursor: Cursor,
  upToBlock: number,
  run: RunLimits & { page?: number },
): Promise<JudgeResult> {
  const { page = PAGE_MAX } = run
  const judged: JudgeResult = { accepted: 0, held: 0, failed: 0 }
  const recheckUpTo = await readRecheck(ctx.pool)
  if (recheckUpTo !== null) judged.held += await holdForRecheck(ctx.pool, recheckUpTo)
  await forgetRetries(ctx.pool)
  // Judged payments are minted and credited, by terms that the operator has to enter first.
  if (!(await hasTerms(ctx.pool))) return judged
  const waiting = await readWaiting(ctx, cursor, upToBlock)
  if (waiting === null) return judged
  const { candidates, walletMax } = waiting
  const basis: JudgingBasis = {
    wallets: await readPaymentWallets(ctx.pool),
    modes: await readModes(ctx.pool),
    walletMax,
    serviceAccounts: addressesOf(ctx),
    now: cursor.time,
    height: cursor.number,
    recheckUpTo,
  }
  const note = (outcomes: readonly Judged[]) => {
    for (const { outcome } of outcomes)
      if (outcome === 'accepted' || outcome === 'held' || outcome === 'failed') judged[outcome]++
  }
  const bench = { basis, run }
  const priced = await judgeInOrder(ctx, bench, chunks(candidates.filter(mayBuy), page))
  note(priced)
  // What no fact can make a sale depends on no other payment, and delays no buyer.
  const unpriced = candidates.filter((candidate) => !mayBuy(candidate))
  note(await judgeInOrder(ctx, bench, chunks(unpriced, page)))
  await judgeWithReadings(ctx, bench, priced.filter(({ outcome }) => outcome === 'undecided').map(candidateOf), note)
  return judged
}

/** What waits to be judged, in chain order, and the contract's cap of a wallet; null where nothing does. */
async function readWaiting(
  ctx: LedgerDb & FactoryRead,
  cursor: Cursor,
  upToBlock: number,
): Promise<{ candidates: Candidate[]; walletMax: number } | null> {
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
  if (seen.length === 0 && !full && shown.length === 0) return null
  const walletMax = await ctx.contract.maxPerWallet()
  // A wallet may have room again: judged again at every run. Those of full ones are left out, or they would take the whole run.
  const roomy = full
    ? await payments.readPayments(ctx.pool, { ...forRoom, walletMax, now: cursor.time, limit: JUDGED_MAX })
    : []

  const versions = await readTierVersions(ctx.pool)
  const candidates = [...seen, ...roomy, ...shown].sort(payments.byPlace).map((payment): Candidate => {
    const unread = { code: { kind: 'unread' }, holding: { kind: 'notNeeded' } } as const
    return { payment, selection: selectTier(versions, payment), ...unread }
  })
  return { candidates, walletMax }
}

/** Consecutive pieces of at most `size`. */
const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size))

const candidateOf = ({ candidate }: Judged): Candidate => candidate

interface Bench {
  basis: JudgingBasis
  run: RunLimits
}

/** Outcomes after which the later payments of a wallet wait. */
const WAITS: readonly Outcome[] = ['undecided', 'failed']

/**
 * Judges parts one after the other, while there is time. Behind a payment that waits, the later ones of its wallet are left out: their outcome is
 * that one's.
 */
async function judgeInOrder(ctx: JudgeContext, bench: Bench, parts: readonly Candidate[][]): Promise<Judged[]> {
  const waiting = new Map<Address, Outcome>()
  const all: Judged[] = []
  for (const part of parts) {
    if (bench.run.outOfTime()) break
    const judged = await judgeTogether(
      ctx,
      bench,
      part.filter(({ payment }) => !waiting.has(payment.from)),
    )
    for (const candidate of part) {
      const outcome = waiting.get(candidate.payment.from)
      if (outcome) all.push({ candidate, outcome })
    }
    for (const { candidate, outcome } of judged)
      if (WAITS.includes(outcome)) waiting.set(candidate.payment.from, outcome)
    all.push(...judged)
  }
  return all
}

/**
 * Judges some payments in one transaction. Those that somebody else holds just now are waited for, each alone. Where one fails, halves are tried,
 * down to the payment that fails: it keeps no other wallet's from being judged.
 */
async function judgeTogether(ctx: JudgeContext, bench: Bench, page: readonly Candidate[]): Promise<Judged[]> {
  if (page.length === 0) return []
  const judged = await judgePage(ctx, bench.basis, page).catch((error: unknown) => {
    if (error instanceof Killed || isDatabaseDown(error)) throw error
    return error
  })
  if (Array.isArray(judged)) {
    const busy = judged.filter(({ outcome }) => outcome === 'busy').map((one) => [candidateOf(one)])
    if (busy.length === 0) return judged
    return [...judged.filter(({ outcome }) => outcome !== 'busy'), ...(await judgeInOrder(ctx, bench, busy))]
  }
  const [first] = page
  if (page.length === 1 && first) {
    const { id, txHash } = first.payment
    ctx.log.error(
      { id, txHash, err: judged },
      'a payment could not be judged: it waits, and so do the later ones of its wallet',
    )
    return [{ candidate: first, outcome: 'failed' }]
  }
  ctx.log.warn({ err: judged, payments: page.length }, 'payments could not be judged together: tried in halves')
  return await judgeInOrder(ctx, bench, chunks(page, Math.ceil(page.length / 2)))
}

/**
 * Reads codes and holdings, of a few wallets at a time, those that were never asked for first. One that cannot be read backs off, and with it the
 * later payments of its wallet.
 */
async function judgeWithReadings(
  ctx: JudgeContext,
  bench: Bench,
  unread: readonly Candidate[],
  note: (judged: readonly Judged[]) => void,
): Promise<void> {
  if (unread.length === 0) return
  const retryTimes = await readRetryTimes(ctx.pool)
  const triedAt = ([first]: readonly Candidate[]) => (first && retryTimes.get(first.payment.id)) ?? 0
  const ofWallets = [...Map.groupBy(unread, ({ payment }) => payment.from).values()]
  for (const few of chunks(
    ofWallets.sort((a, b) => triedAt(a) - triedAt(b)),
    READINGS_AT_ONCE,
  )) {
    // The first payment of each wallet, then the second one where that was decided.
    for (let open = few, place = 0; open.length > 0; place++) {
      if (bench.run.outOfTime()) return
      const next = open.flatMap((ofWallet) => ofWallet[place] ?? [])
      const decided = await judgeByReadings(ctx, bench, next)
      note(decided)
      const done = decided.filter(({ outcome }) => !WAITS.includes(outcome))
      const ids = new Set(done.map(({ candidate }) => candidate.payment.id))
      open = open.filter((ofWallet) => ids.has(ofWallet[place]?.payment.id ?? 0))
    }
  }
}

/** Readings of the chain are taken outside of locks, one kind after the other, and only where everything else passes. @returns the decided ones. */
async function judgeByReadings(ctx: JudgeContext, bench: Bench, asked: readonly Candidate[]): Promise<Judged[]> {
  const decided: Judged[] = []
  let left = asked
  const decide = async () => {
    const judged = await judgeTogether(ctx, bench, left)
    decided.push(...judged.filter(({ outcome }) => outcome !== 'undecided'))
    left = judged.filter(({ outcome }) => outcome === 'undecided').map(candidateOf)
  }
  // It was behind another one until now.
  await decide()
  if (left.some(({ payment }) => payment.innerIndex > 0)) {
    left = await Promise.all(left.map((candidate) => withCode(ctx, bench.basis, candidate)))
    await decide()
  }
  left = await Promise.all(left.map((candidate) => withHolding(ctx, bench.basis, candidate)))
  await decide()
  for (const { payment, selection } of left) {
    if (selection.kind === 'none') continue
    const at = { blockTime: payment.blockTime, now: bench.basis.now }
    await retryPaymentAt(ctx.pool, payment.id, retryTimeOf(at, selection.tier))
  }
  return decided
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

async function withCode(ctx: ChainRead, { now }: JudgingBasis, candidate: Candidate): Promise<Candidate> {
  const { from, blockNumber, blockHash, blockTime, innerIndex } = candidate.payment
  if (innerIndex === 0) return candidate
  const code = await ctx.chain.payerCode(from, { number: blockNumber, hash: blockHash })
  return { ...candidate, code: code ? { kind: 'read', code } : { kind: 'unreadable', sinceSec: now - blockTime } }
}

async function withHolding(ctx: ChainRead, { now }: JudgingBasis, candidate: Candidate): Promise<Candidate> {
  const { payment, selection } = candidate
  if (selection.kind === 'none' || !selection.tier.holdingToken) return candidate
  const at = { number: payment.blockNumber, hash: payment.blockHash }
  const amountWei = await ctx.chain.holding(selection.tier.holdingToken, payment.from, at)
  const unreadable = { kind: 'unreadable', sinceSec: now - payment.blockTime } as const
  return { ...candidate, holding: amountWei === null ? unreadable : { kind: 'read', amountWei } }
}
