// Judges the waiting payments page by page: first payments that match a tier's price, then the others, each group in chain order. If we cannot read a
// payment's facts, or judging it fails, only later payments of its own wallet wait. For an inner transfer the facts include its sender's code, and
// whether that is someone's wallet.
import type { Cursor } from '../../db/blocks/blocks.ts'
import { isDatabaseDown } from '../../db/core/faults.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../db/core/state.ts'
import { lockTiers } from '../../db/payments/lock-order.ts'
import { holdForRecheck, readRecheck } from '../../db/payments/recheck.ts'
import { forgetRetries, readRetryTimes, retryPaymentAt } from '../../db/payments/retries.ts'
import * as payments from '../../db/payments/rows.ts'
import { countPlaces, readSupplies } from '../../db/payments/supply.ts'
import { readSoldOut } from '../../db/reads/public-api.ts'
import { readModes } from '../../db/sale/contract-wallets.ts'
import { readPaymentWallets } from '../../db/sale/payment-wallets.ts'
import { hasTerms } from '../../db/sale/terms.ts'
import { openSteps, readAwaited, readTierVersions } from '../../db/sale/tiers.ts'
import { VOICES } from '../../domain/finality.ts'
import { PLACELESS, retryTimeOf } from '../../domain/payment.ts'
import { MINT_BATCH_MAX } from '../../domain/send.ts'
import { holdingTokenOf, selectTier, type TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { readFinality } from '../../follower/finality.ts'
import { Killed } from '../../lib/failpoint.ts'
import { chunks } from '../../lib/parallel.ts'
import {
  addressesOf,
  type ChainRead,
  type FactoryRead,
  type FinalityRules,
  type FollowRules,
  type Ground,
  type LedgerDb,
  type Logging,
  type RuledBy,
  type RunLimits,
  type ServiceAccounts,
  type TrustRules,
} from '../../ports/contexts.ts'
import {
  AGAIN,
  type Candidate,
  type Judged,
  type JudgingBasis,
  judgePage,
  mayBuy,
  type Outcome,
  restsOnOne,
} from './judge-page.ts'
import { agree } from './prove-released.ts'

type JudgeContext = LedgerDb & ChainRead & RuledBy<TrustRules> & Logging

/** The most payments that one run reads to judge; the rest wait for the next run. */
const JUDGED_MAX = 10_000
/**
 * The most payments judged in one transaction. Each wallet takes a lock, and a small database server has only about 1,300 locks for all its
 * connections.
 */
export const PAGE_MAX = 500
/** For how many wallets we read facts from the chain at the same time. */
const READINGS_AT_ONCE = 4
/** After this many milliseconds judging pauses, so that the pass can mint what it has accepted. */
const BEFORE_MINT_MS = 2_000

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
    hasSecond: ctx.chain.providers.length >= VOICES,
    trustsProvider: ctx.rules.trustsProvider,
    versions: waiting.versions,
    recheckUpTo,
  }
  const pages = judgeInTurn({ ...ctx, basis }, waiting.candidates, page)
  return {
    result,
    async goOn(stop) {
      while (!stop()) {
        const { done, value } = await pages.next()
        if (done) return
        for (const { outcome } of value)
          if (outcome === 'accepted' || outcome === 'held' || outcome === 'failed') result[outcome]++
      }
    },
  }
}

/** Creates a `stop` for `goOn`. It returns true once the accepted payments fill a mint, or have waited long enough for it. */
export function untilMint({ result }: Judging, run: RunLimits): () => boolean {
  const deadline = performance.now() + BEFORE_MINT_MS
  return () => run.outOfTime() || result.accepted >= MINT_BATCH_MAX || performance.now() >= deadline
}

/** The payments to judge, in chain order, and the facts to judge them by. */
interface Waiting extends Pick<JudgingBasis, 'walletMax' | 'versions'> {
  candidates: Candidate[]
}

async function readWaiting(
  ctx: LedgerDb & FactoryRead & RuledBy<TrustRules>,
  cursor: Cursor,
  { upToBlock, limit }: { upToBlock: number; limit: number },
): Promise<Waiting | null> {
  // `pricedFirst`, because otherwise a flood of transfers that buy nothing could fill a run, and a buyer would have to wait.
  const open = { states: ['seen' as const], upToBlock, now: cursor.time }
  const forRoom = { states: ['held' as const], reason: 'walletLimit' as const, upToBlock }
  const forPayer = {
    states: ['held' as const],
    reason: 'contractWallet' as const,
    payerChangedAt: cursor.number,
    trustsProvider: ctx.rules.trustsProvider,
    upToBlock,
  }
  const late = { states: ['held' as const], reason: PLACELESS, upToBlock }
  const early = { states: ['held' as const], reason: 'notOpenYet' as const, opened: true, upToBlock }
  const [seen, [full], shown, [tooLate], opened] = [
    await payments.readPayments(ctx.pool, { ...open, pricedFirst: true, limit }),
    await payments.readPayments(ctx.pool, { ...forRoom, limit: 1 }),
    await payments.readPayments(ctx.pool, { ...forPayer, limit }),
    await payments.readPayments(ctx.pool, { ...late, limit: 1 }),
    await payments.readPayments(ctx.pool, { ...early, limit }),
  ]
  if (seen.length === 0 && !full && shown.length === 0 && !tooLate && opened.length === 0) return null
  const walletMax = await ctx.contract.maxPerWallet()
  // We judge payments held for lack of room again in every run, because their wallets may have room by now. We leave out wallets that are still full,
  // because their payments could take up the entire run.
  const roomy = full ? await payments.readPayments(ctx.pool, { ...forRoom, walletMax, now: cursor.time, limit }) : []

  const versions = await readTierVersions(ctx.pool)
  const tierNos = tooLate ? await tiersWithRoom(ctx, versions) : []
  const placed = tierNos.length > 0 ? await payments.readPayments(ctx.pool, { ...late, waitsFor: tierNos, limit }) : []
  const candidates = [...seen, ...roomy, ...shown, ...placed, ...opened]
    .sort(payments.byPlace)
    .map((payment): Candidate => {
      const unread = { code: { kind: 'unread' }, holding: { kind: 'notNeeded' } } as const
      return { payment, selection: selectTier(versions, payment), ...unread }
    })
  return { candidates, walletMax, versions }
}

/** Opens steps that wait for a tier, if the tier sold out without judging: by a release, a grant, a lower supply or the contract's cap. */
async function openSoldOut({ pool }: LedgerDb, cursor: Cursor): Promise<void> {
  const awaited = await readAwaited(pool)
  if (awaited.length === 0) return
  await inTransaction(pool, async (sql) => {
    // Under these locks no other session can raise a supply in the meantime.
    await lockTiers(sql, awaited, { wait: true })
    const opened: string[] = []
    for (const tierId of await readSoldOut(sql)) opened.push(...(await openSteps(sql, tierId, cursor.number)))
    if (opened.length > 0) await notifyLedgerChanged(sql)
  })
}

/** The numbers of the tiers with a free place. A payment that was held as too late gets a free place before newer payments do. */
async function tiersWithRoom({ pool }: LedgerDb, versions: readonly TierVersion[]): Promise<number[]> {
  const places = [...(await countPlaces(pool, undefined, versions))]
  const supplies = await readSupplies(
    pool,
    places.map(([tierNo]) => tierNo),
  )
  return places.flatMap(([tierNo, { sold }]) => (sold < (supplies.get(tierNo) ?? sold + 1) ? tierNo : []))
}

const candidateOf = ({ candidate }: Judged): Candidate => candidate

type Bench = JudgeContext & { basis: JudgingBasis }

/**
 * Judges in three steps: first payments that match a tier's price, then payments for which we have to read the chain, last payments that can buy
 * nothing. So the latter delay no buyer.
 */
async function* judgeInTurn(bench: Bench, candidates: readonly Candidate[], page: number): AsyncGenerator<Judged[]> {
  const undecided: Candidate[] = []
  for await (const judged of judgeInOrder(bench, chunks(candidates.filter(mayBuy), page))) {
    undecided.push(...judged.filter(({ outcome }) => AGAIN.includes(outcome)).map(candidateOf))
    yield judged
  }
  yield* judgeWithReadings(bench, undecided)
  const unpriced = candidates.filter((candidate) => !mayBuy(candidate))
  yield* judgeInOrder(bench, chunks(unpriced, page))
}

/** Outcomes that make the later payments of a wallet wait. */
const WAITS: readonly Outcome[] = ['undecided', 'failed']

/**
 * Judges pages one after the other. If a page fails, judges its payments one by one. If a payment waits, the later payments of its wallet are not
 * judged and get the same outcome.
 */
async function* judgeInOrder(bench: Bench, pages: readonly Candidate[][]): AsyncGenerator<Judged[]> {
  const waiting = new Map<Address, Outcome>()
  const left = [...pages]
  for (let page = left.shift(); page; page = left.shift()) {
    const behind = page.flatMap((candidate): Judged[] => {
      const outcome = waiting.get(candidate.payment.from)
      return outcome ? [{ candidate, outcome }] : []
    })
    const free = page.filter(({ payment }) => !waiting.has(payment.from))
    const judged = await judgeTogether(bench, free)
    if (judged === null) left.unshift(...free.map((candidate) => [candidate]))
    for (const { candidate, outcome } of judged ?? [])
      if (WAITS.includes(outcome)) waiting.set(candidate.payment.from, outcome)
    yield [...behind, ...(judged ?? [])]
  }
}

/** Judges payments in one transaction. Null if that fails for several: the caller tries them one by one, so that one does not stop the rest. */
async function judgeTogether(bench: Bench, page: readonly Candidate[]): Promise<Judged[] | null> {
  const [first] = page
  if (!first) return []
  try {
    return await judgePage(bench, bench.basis, page)
  } catch (error) {
    if (error instanceof Killed || isDatabaseDown(error)) throw error
    if (page.length > 1) {
      bench.log.warn({ err: error, payments: page.length }, 'could not judge payments together: judging one by one')
      return null
    }
    const { id, txHash } = first.payment
    bench.log.error(
      { id, txHash, err: error },
      'a payment could not be judged: it waits, and so do the later ones of its wallet',
    )
    return [{ candidate: first, outcome: 'failed' }]
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
  for (const few of chunks(
    ofWallets.sort((a, b) => triedAt(a) - triedAt(b)),
    READINGS_AT_ONCE,
  )) {
    // Judges the first payment of each wallet; once it is decided, the second one, and so on.
    for (let open = few, place = 0; open.length > 0; place++) {
      const next = open.flatMap((ofWallet) => ofWallet[place] ?? [])
      const decided = await judgeByReadings(bench, next)
      const failed = new Set(decided.flatMap((one) => (one.outcome === 'failed' ? one.candidate.payment.id : [])))
      const behind = open.flatMap((all) => (failed.has(all[place]?.payment.id ?? 0) ? all.slice(place + 1) : []))
      yield [...decided, ...behind.map((candidate): Judged => ({ candidate, outcome: 'failed' }))]
      const done = decided.filter(({ outcome }) => !WAITS.includes(outcome))
      const ids = new Set(done.map(({ candidate }) => candidate.payment.id))
      open = open.filter((ofWallet) => ids.has(ofWallet[place]?.payment.id ?? 0))
    }
  }
}

/** Reads from the chain without locks, one kind of fact at a time, and judges after each kind. @returns the payments that are decided. */
async function judgeByReadings(bench: Bench, asked: readonly Candidate[]): Promise<Judged[]> {
  const decided: Judged[] = []
  let left = asked
  const decide = async () => {
    const judged = (await Array.fromAsync(judgeInOrder(bench, [[...left]]))).flat()
    decided.push(...judged.filter(({ outcome }) => outcome !== 'undecided'))
    left = judged.filter(({ outcome }) => outcome === 'undecided').map(candidateOf)
  }
  // First without reading: a payment may just have been waiting for an earlier one of its wallet.
  await decide()
  if (left.some(({ payment }) => payment.innerIndex > 0)) {
    left = await Promise.all(left.map((candidate) => withCode(bench, bench.basis, candidate)))
    await decide()
  }
  if (left.some(({ payment }) => restsOnOne(bench.basis, payment))) {
    left = await Promise.all(left.map((candidate) => withProof(bench, bench.basis, candidate)))
    await decide()
  }
  left = await Promise.all(left.map((candidate) => withHolding(bench, bench.basis, candidate)))
  await decide()
  for (const { payment, selection } of left) {
    if (selection.kind === 'none') continue
    const at = { blockTime: payment.blockTime, now: bench.basis.now }
    await retryPaymentAt(bench.pool, payment.id, retryTimeOf(at, selection))
  }
  return decided
}

/** The height up to which blocks count as settled (`FINALITY`), never above the last common block of histories that differ. */
export async function finalizedHeight(
  ctx: LedgerDb & ChainRead & RuledBy<FinalityRules & FollowRules>,
  cursor: Cursor,
  { guardUsable, agreed }: Ground,
): Promise<number> {
  const { finality } = ctx.rules
  const most = agreed?.number ?? cursor.number
  if (typeof finality === 'number') return Math.min(most, cursor.number - finality)
  if (finality === 'guarded' && guardUsable) return most
  return Math.min(most, (await readFinality(ctx, cursor))?.firm ?? -1)
}

async function withCode(ctx: ChainRead, { now }: JudgingBasis, candidate: Candidate): Promise<Candidate> {
  const { from, blockNumber, blockHash, blockTime, innerIndex } = candidate.payment
  if (innerIndex === 0) return candidate
  const code = await ctx.chain.payerCode(from, { number: blockNumber, hash: blockHash })
  return { ...candidate, code: code ? { kind: 'read', code } : { kind: 'unreadable', sinceSec: now - blockTime } }
}

/** A payment that rests on one provider's word waits until two agree. */
async function withProof(ctx: JudgeContext, basis: JudgingBasis, candidate: Candidate): Promise<Candidate> {
  const { payment } = candidate
  if (!restsOnOne(basis, payment) || !(await agree(ctx, payment, basis.now))) return candidate
  return { ...candidate, payment: { ...payment, proof: 'agreed' } }
}

async function withHolding(ctx: ChainRead, { now }: JudgingBasis, candidate: Candidate): Promise<Candidate> {
  const { payment, selection } = candidate
  const token = holdingTokenOf(selection)
  if (token === null) return candidate
  const at = { number: payment.blockNumber, hash: payment.blockHash }
  const amountWei = await ctx.chain.holding(token, payment.from, at)
  const unreadable = { kind: 'unreadable', sinceSec: now - payment.blockTime } as const
  return { ...candidate, holding: amountWei === null ? unreadable : { kind: 'read', amountWei } }
}
