// The payments pass: follow, reconcile from time to time, check the wallets' balances, judge, settle, mint. The process can be killed at any
// instruction, and any instance can run the pass: the next run finishes what the last one did not.

import { checkWalletBalances } from '../books/balance-check.ts'
import type { Cursor } from '../db/blocks/blocks.ts'
import { readMending } from '../db/blocks/mending.ts'
import { countOpenPayments, releaseFromFormer } from '../db/payments/rows.ts'
import { MINT_BATCH_MAX } from '../domain/send.ts'
import { type FollowResult, follow } from '../follower/follow.ts'
import { settledHeight } from '../follower/followed-finality.ts'
import { compareHistories } from '../follower/histories.ts'
import { compareBelieved, findClaimedLeftOut, findSentLeftOut } from '../mending/compare.ts'
import { reconcileWhenDue } from '../mending/reconcile.ts'
import type {
  ChainRead,
  FactoryRead,
  LedgerDb,
  Logging,
  NodeHistoryRead,
  Preflight,
  RuledBy,
  Rules,
  Run,
  RunLimits,
  RunLock,
  SendRules,
  Signers,
} from '../ports/contexts.ts'
import type { BudgetAnswer, PaymentsOutcome, SignerAnswer } from '../ports/outcomes.ts'
import type { SignerAccount } from '../ports/sending.ts'
import { passRunner } from './run.ts'
import { watchBudget } from './steps/budget.ts'
import { watchFunds } from './steps/funds.ts'
import { beginJudging, type Judging } from './steps/judge.ts'
import { type Mintable, mint } from './steps/mint.ts'
import { proveReleased } from './steps/prove-released.ts'
import { lookAfterRefunds } from './steps/refunds.ts'
import { resolvePending, type SenderRun } from './steps/send.ts'
import { withSigner } from './steps/signer.ts'
import { tellUnsent, whyUnsent } from './steps/unsent.ts'

/** After this many milliseconds judging pauses, so that the pass can mint what it has accepted. */
const BEFORE_MINT_MS = 2_000

type PaymentsContext = LedgerDb & ChainRead & FactoryRead & NodeHistoryRead & Signers & RuledBy<Rules> & Logging

/** Builds the pass (GET|POST /api/cron/payments). Concurrent calls return `ran: false`. */
export function paymentsPass(ctx: PaymentsContext & RunLock & Preflight): () => Promise<PaymentsOutcome> {
  const onHalt = async () => ({ ...notRun(), ran: true, pending: await countOpenPayments(ctx.pool) })
  const run = passRunner(ctx, { name: 'payments', body: (run) => payments(ctx, run), halted: onHalt })
  return async () => (await run()) ?? notRun()
}

async function payments(ctx: PaymentsContext, limits: Run): Promise<PaymentsOutcome> {
  const startMs = performance.now()
  let run = limits
  let followResult = await follow(ctx, run)
  let cursor = await cursorAtHead(ctx, followResult)
  let repairs: number | null = null
  if (cursor) repairs = await reconcileWhenDue(ctx, cursor)
  if (repairs) {
    // The ledger has gone back to before a block that it had not followed rightly.
    followResult = await follow(ctx, run)
    cursor = await cursorAtHead(ctx, followResult)
  }
  let held: number | null = null
  let signer: SignerAnswer = null
  let budgetSpent: BudgetAnswer = null
  if (cursor) {
    await lookAfterRefunds(ctx, cursor)
    await findSentLeftOut(ctx, cursor)
    await findClaimedLeftOut(ctx, cursor)
    await compareBelieved(ctx, cursor)
    held = await checkWalletBalances(ctx, cursor, run)
    run = { ...run, agreed: await compareHistories(ctx, cursor) }
    // Read once for both uses below, because with FINALITY=finalized it takes a request.
    const settledBlock = await settledHeight(ctx, cursor, run)
    const judging = await beginJudging(ctx, cursor, settledBlock)
    await judging.goOn(untilMint(judging, run))
    await watchFunds(ctx)
    if (ctx.minter && cursor.number === followResult.head.number) {
      const mintable = { upToBlock: settledBlock, trustsOne: await proveReleased(ctx, cursor, run) }
      const sendWith = (sender: SignerAccount) => settleAndMint(ctx, { run, sender, cursor }, mintable)
      const minted = await withSigner(ctx, 'minter', ctx.minter, sendWith)
      signer = minted.signer
      budgetSpent = minted.result ?? null
      await watchBudget(ctx, cursor, minted.result)
    }
    await judging.goOn(() => run.outOfTime())
    const { failed: failedCount } = judging.result
    held += judging.result.held
    if (failedCount > 0) run.reportFault(`${failedCount} payments could not be judged: see the log`)
  } else if (followResult.cursor) await compareHistories(ctx, followResult.cursor)
  return {
    ran: true,
    fromBlock: followResult.fromBlock,
    toBlock: followResult.toBlock,
    headBlock: followResult.head.number,
    detected: followResult.detected,
    minted: followResult.minted,
    held,
    pending: await countOpenPayments(ctx.pool),
    reconciled: repairs,
    signer,
    budgetSpent,
    durationMs: Math.round(performance.now() - startMs),
  }
}

/** Null if the provider lags behind the ledger, or the ledger reads blocks again. Then we only compare histories, and the counts stay null. */
async function cursorAtHead({ pool }: LedgerDb, { cursor, head }: FollowResult): Promise<Cursor | null> {
  return cursor && cursor.number <= head.number && (await readMending(pool)) === null ? cursor : null
}

/**
 * Call it only if the ledger has followed to the head, because before we send we must know what is already done.
 * @returns which of the minter's budgets is used up, null if neither; undefined if we did not check, because an earlier transaction is still pending.
 */
async function settleAndMint(
  ctx: LedgerDb & ChainRead & FactoryRead & RuledBy<SendRules> & Logging,
  sending: SenderRun,
  mintable: Mintable,
): Promise<BudgetAnswer | undefined> {
  await takeOver(ctx, sending.sender)
  if (await resolvePending(ctx, sending)) return undefined
  const { sent: sendResult, budgetSpent } = await mint(ctx, sending, mintable)
  if (sendResult?.kind === 'refused') ctx.log.warn(sendResult, 'nothing was minted; the next run tries again')
  await tellUnsent(ctx, 'payments', whyUnsent(sendResult))
  return budgetSpent
}

/**
 * Mints again the payments whose mint was signed with a previous key. If the earlier transaction is mined after all, the contract skips the second
 * mint.
 */
async function takeOver(ctx: LedgerDb & Logging, minter: SignerAccount): Promise<void> {
  const refs = await releaseFromFormer(ctx.pool, minter.address)
  if (refs.length > 0) ctx.log.warn({ refs, minter: minter.address }, 'mints that a previous key signed are made again')
}

/** Creates a `stop` for `goOn`. It returns true once the accepted payments fill a mint, or have waited long enough for it. */
function untilMint({ result }: Judging, run: RunLimits): () => boolean {
  const deadline = performance.now() + BEFORE_MINT_MS
  return () => run.outOfTime() || result.accepted >= MINT_BATCH_MAX || performance.now() >= deadline
}

/** For a run that did not take place. Its counts are null, because it counted nothing. */
function notRun(): PaymentsOutcome {
  return {
    ran: false,
    fromBlock: null,
    toBlock: null,
    headBlock: null,
    detected: null,
    minted: null,
    held: null,
    pending: null,
    reconciled: null,
    signer: null,
    budgetSpent: null,
    durationMs: null,
  }
}
