// Judges the waiting payments page by page: first payments that match a tier's price, then the others, each group in chain order. If we cannot read a
// payment's facts, or judging it fails, only later payments of its own wallet wait. For an inner transfer the facts include its sender's code, and
// whether that is someone's wallet.
import type { Cursor } from '../../db/blocks/blocks.ts'
import { isDatabaseDown } from '../../db/core/faults.ts'
import * as queues from '../../db/payments/queues.ts'
import { holdForRecheck, readRecheck } from '../../db/payments/recheck.ts'
import { forgetRetries, readRetryTimes, retryPaymentAt } from '../../db/payments/retries.ts'
import { readTiersWithRoom } from '../../db/payments/supply.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readPaymentWallets } from '../../db/sale/payment-wallets.ts'
import { hasTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { canAgree } from '../../domain/finality.ts'
import { PLACELESS, retryTimeOf } from '../../domain/judgement.ts'
import { byPosition } from '../../domain/sale/position.ts'
import { holdingTokenOf, selectTier } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { Killed } from '../../lib/failpoint.ts'
import { chunks } from '../../lib/parallel.ts'
import {
  addressesOf,
  type ChainRead,
  type FactoryRead,
  type LedgerDb,
  type Logging,
  type RuledBy,
  type RunLimits,
  type ServiceAccounts,
  type TrustRules,
} from '../../ports/contexts.ts'
import { AGAIN, type Candidate, type JudgingBasis, mayBuy, type Outcome, restsOnOne } from './judge-facts.ts'
import { type Judged, judgePage } from './judge-page.ts'
import { openSoldOut } from './open-ladder.ts'
import { agree } from './prove-released.ts'

type JudgeContext = LedgerDb & ChainRead & RuledBy<TrustRules> & Logging

/** The most payments that one run reads to judge; the others wait for the next run. */
const JUDGED_MAX = 10_000
/**
 * The most payments judged in one transaction. Each wallet takes a lock, and a small database server has only about 1,300 locks for all its
 * connections.
 */
export const PAGE_MAX = 500
/** For how many wallets we read facts from the chain at the same time. */
const READINGS_AT_ONCE = 4

export interface JudgeResult {
  accepted: number
  held: number
  /** Payments that we could not judge, which the log names, and the later ones of their wallets. They all wait. */
  failed: number
}

/** How many payments to judge at most: in one transaction (`page`), and in one run (`most`). */
interface JudgingLimits {
  page?: number
  most?: number
}

/** The judging of one run, which can pause and go on. */
export interface Judging {
  readonly result: JudgeResult
  /** Continues to judge until nothing is left, or until `stop` returns true. It calls `stop` before each page. */
  goOn(stop: () => boolean): Promise<void>
}

/** Judges all waiting payments, within the run's time. */
export async function judge(
  ctx: JudgeContext & FactoryRead & ServiceAccounts,
  cursor: Cursor,
  upToBlock: number,
  run: RunLimits & JudgingLimits,
): Promise<JudgeResult> {
  const judging = await beginJudging(ctx, cursor, upToBlock, run)
  await judging.goOn(() => run.outOfTime())
  return judging.result
}

/** Reads the payments to judge, up to block `upToBlock`, the settled height. */
export async function beginJudging(
  ctx: JudgeContext & FactoryRead & ServiceAccounts,
  cursor: Cursor,
  upToBlock: number,
  { page = PAGE_MAX, most = JUDGED_MAX }: JudgingLimits = {},
): Promise<Judging> {
  const result: JudgeResult = { accepted: 0, held: 0, failed: 0 }
  const recheckUpTo = await readRecheck(ctx.pool)
  if (recheckUpTo !== null) result.held += await holdForRecheck(ctx.pool, recheckUpTo)
  await forgetRetries(ctx.pool)
  await openSoldOut(ctx, cursor)
  // Judged payments are minted and credited by terms. So we judge nothing until the operator has entered terms.
  const waiting = (await hasTerms(ctx.pool)) ? await readWaiting(ctx, cursor, { upToBlock, limit: most }) : null
  if (waiting === null) return { result, goOn: async () => {} }
  const basis: JudgingBasis = {
    wallets: await readPaymentWallets(ctx.pool),
    modes: await readModes(ctx.pool),
    walletMax: waiting.walletMax,
    serviceAccounts: addressesOf(ctx),
    now: cursor.time,
    height: cursor.number,
    canAgree: canAgree(ctx.chain),
    trustsProvider: ctx.rules.trustsProvider,
    versions: waiting.versions,
    recheckUpTo,
  }
  const pages = judgeInTurn({ ...ctx, basis }, waiting.candidates, page)
  return {
    result,
    async goOn(stop) {
      while (!stop()) {
        const next = await pages.next()
        if (next.done) return
        for (const { outcome } of next.value)
          if (outcome === 'accepted' || outcome === 'held' || outcome === 'failed') result[outcome]++
      }
    },
  }
}

/** The payments to judge, in chain order, and the facts to judge them by; null if none waits. */
async function readWaiting(
  ctx: LedgerDb & FactoryRead & RuledBy<TrustRules>,
  cursor: Cursor,
  extent: { upToBlock: number; limit: number },
) {
  const { pool, contract, rules } = ctx
  const payers = { now: cursor.number, trustsProvider: rules.trustsProvider }
  const waiting = [
    ...(await queues.readUndecidedPayments(pool, cursor.time, extent)),
    ...(await queues.readPaymentsOfChangedPayers(pool, payers, extent)),
    ...(await queues.readPaymentsOfOpenSteps(pool, extent)),
  ]
  const isAnyFull = await queues.isAnyHeld(pool, ['walletLimit'], extent.upToBlock)
  const isAnyLate = await queues.isAnyHeld(pool, PLACELESS, extent.upToBlock)
  if (waiting.length === 0 && !isAnyFull && !isAnyLate) return null
  const walletMax = await contract.maxPerWallet()
  // We judge payments held for lack of room again in every run, because their wallets may have room by now. We leave out wallets that are still full,
  // because their payments could take up the entire run.
  const roomy = isAnyFull ? await queues.readPaymentsWithRoom(pool, { walletMax, now: cursor.time }, extent) : []
  const versions = await readTierVersions(pool)
  // A payment that was held as too late gets a free place before newer payments do.
  const tierNos = isAnyLate ? await readTiersWithRoom(pool, versions) : []
  const withPlace = tierNos.length > 0 ? await queues.readPaymentsWithPlace(pool, tierNos, extent) : []
  const candidates = [...waiting, ...roomy, ...withPlace].sort(byPosition).map((payment): Candidate => {
    const unread = { code: { kind: 'unread' }, holding: { kind: 'notNeeded' } } as const
    return { payment, selection: selectTier(versions, payment), ...unread }
  })
  return { candidates, walletMax, versions }
}

const candidateOf = ({ candidate }: Judged): Candidate => candidate

type Bench = JudgeContext & { basis: JudgingBasis }

/**
 * Judges in three steps: first payments that match a tier's price, then payments for which we have to read the chain, last payments that can buy
 * nothing. So the latter delay no buyer.
 */
async function* judgeInTurn(bench: Bench, candidates: readonly Candidate[], page: number): AsyncGenerator<Judged[]> {
  const undecidedCandidates: Candidate[] = []
  for await (const results of judgeInOrder(bench, chunks(candidates.filter(mayBuy), page))) {
    undecidedCandidates.push(...results.filter(({ outcome }) => AGAIN.includes(outcome)).map(candidateOf))
    yield results
  }
  yield* judgeWithReadings(bench, undecidedCandidates)
  const unpricedCandidates = candidates.filter((candidate) => !mayBuy(candidate))
  yield* judgeInOrder(bench, chunks(unpricedCandidates, page))
}

/** Outcomes that make the later payments of a wallet wait. */
const WAITS: readonly Outcome[] = ['undecided', 'failed']

/**
 * Judges pages one after the other. If a page fails, judges its payments one by one. If a payment waits, the later payments of its wallet are not
 * judged and get the same outcome.
 */
async function* judgeInOrder(
  bench: Bench,
  pages: readonly Candidate[][],
  waiting = new Map<Address, Outcome>(),
): AsyncGenerator<Judged[]> {
  for (const page of pages) {
    const behind = page.flatMap((candidate): Judged[] => {
      const outcome = waiting.get(candidate.payment.from)
      return outcome ? [{ candidate, outcome }] : []
    })
    const results = await judgeTogether(
      bench,
      page.filter(({ payment }) => !waiting.has(payment.from)),
    )
    if (results === null) {
      yield* judgeInOrder(bench, chunks(page, 1), waiting)
      continue
    }
    for (const { candidate, outcome } of results)
      if (WAITS.includes(outcome)) waiting.set(candidate.payment.from, outcome)
    yield [...behind, ...results]
  }
}

/** Judges payments in one transaction. Null if that fails for several: the caller tries them one by one, so that one does not stop the others. */
async function judgeTogether(bench: Bench, page: readonly Candidate[]): Promise<Judged[] | null> {
  if (page.length === 0) return []
  try {
    return await judgePage(bench, bench.basis, page)
  } catch (error) {
    if (error instanceof Killed || isDatabaseDown(error)) throw error
    if (page.length > 1) {
      bench.log.warn({ err: error, payments: page.length }, 'could not judge payments together: judging one by one')
      return null
    }
    return page.map((candidate) => {
      const { id, txHash } = candidate.payment
      const says = 'a payment could not be judged: it waits, and so do the later ones of its wallet'
      bench.log.error({ id, txHash, err: error }, says)
      return { candidate, outcome: 'failed' }
    })
  }
}

/**
 * Reads codes and token balances for a few wallets at a time; wallets that we have not tried before come first. If a read fails, the payment is
 * retried later, and the later payments of its wallet wait.
 */
async function* judgeWithReadings(bench: Bench, unread: readonly Candidate[]): AsyncGenerator<Judged[]> {
  if (unread.length === 0) return
  const retryTimes = await readRetryTimes(bench.pool)
  const triedAt = ([first]: readonly Candidate[]) => (first && retryTimes.get(first.payment.id)) ?? 0
  const ofWallets = [...Map.groupBy(unread, ({ payment }) => payment.from).values()]
  ofWallets.sort((a, b) => triedAt(a) - triedAt(b))
  for (const few of chunks(ofWallets, READINGS_AT_ONCE)) {
    // Judges the first payment of each wallet; once it is decided, the second one, and so on.
    for (let open = few, place = 0; open.length > 0; place++) {
      const next = open.flatMap((ofWallet) => ofWallet[place] ?? [])
      const results = await judgeByReadings(bench, next)
      const failedIds = new Set(results.flatMap((one) => (one.outcome === 'failed' ? one.candidate.payment.id : [])))
      const behind = open.flatMap((all) => (failedIds.has(all[place]?.payment.id ?? 0) ? all.slice(place + 1) : []))
      yield [...results, ...behind.map((candidate): Judged => ({ candidate, outcome: 'failed' }))]
      const decidedIds = new Set(
        results.flatMap((one) => (WAITS.includes(one.outcome) ? [] : one.candidate.payment.id)),
      )
      open = open.filter((ofWallet) => decidedIds.has(ofWallet[place]?.payment.id ?? 0))
    }
  }
}

/** Reads from the chain without locks, one kind of fact at a time, and judges after each kind. @returns the payments that are decided. */
async function judgeByReadings(bench: Bench, candidates: readonly Candidate[]): Promise<Judged[]> {
  const decisions: Judged[] = []
  let openCandidates = candidates
  const decide = async () => {
    const results = (await Array.fromAsync(judgeInOrder(bench, [[...openCandidates]]))).flat()
    decisions.push(...results.filter(({ outcome }) => outcome !== 'undecided'))
    openCandidates = results.filter(({ outcome }) => outcome === 'undecided').map(candidateOf)
  }
  // First without reading: a payment may just have been waiting for an earlier one of its wallet.
  await decide()
  for (const { isNeeded, read } of READINGS) {
    if (!openCandidates.some((candidate) => isNeeded(candidate, bench.basis))) continue
    const readings = openCandidates.map((candidate) =>
      isNeeded(candidate, bench.basis) ? read(bench, candidate) : candidate,
    )
    openCandidates = await Promise.all(readings)
    await decide()
  }
  for (const { payment, selection } of openCandidates) {
    if (selection.kind === 'none') continue
    const at = { blockTime: payment.blockTime, now: bench.basis.now }
    await retryPaymentAt(bench.pool, payment.id, retryTimeOf(at, selection))
  }
  return decisions
}

/** The kinds of facts that we read from the chain, in this order. */
const READINGS = [
  { isNeeded: ({ payment }: Candidate) => payment.innerIndex > 0, read: withCode },
  { isNeeded: ({ payment }: Candidate, basis: JudgingBasis) => restsOnOne(basis, payment), read: withProof },
  { isNeeded: () => true, read: withHolding },
]

async function withCode({ chain, basis }: Bench, candidate: Candidate): Promise<Candidate> {
  const { from, blockNumber, blockHash, blockTime } = candidate.payment
  const code = await chain.payerCode(from, { number: blockNumber, hash: blockHash })
  const unreadable = { kind: 'unreadable', sinceSec: basis.now - blockTime } as const
  return { ...candidate, code: code ? { kind: 'read', code } : unreadable }
}

/** A payment that rests on one provider's word waits until two agree. */
async function withProof(bench: Bench, candidate: Candidate): Promise<Candidate> {
  const { payment } = candidate
  return (await agree(bench, payment, bench.basis.now))
    ? { ...candidate, payment: { ...payment, proof: 'agreed' } }
    : candidate
}

async function withHolding({ chain, basis }: Bench, candidate: Candidate): Promise<Candidate> {
  const { payment, selection } = candidate
  const token = holdingTokenOf(selection)
  if (token === null) return candidate
  const amountWei = await chain.holding(token, payment.from, { number: payment.blockNumber, hash: payment.blockHash })
  const unreadable = { kind: 'unreadable', sinceSec: basis.now - payment.blockTime } as const
  return { ...candidate, holding: amountWei === null ? unreadable : { kind: 'read', amountWei } }
}
