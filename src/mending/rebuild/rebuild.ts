// Rebuilds a ledger from the chain alone, in a separate database, and compares it with the current one. It never sends anything, and never writes to
// the current ledger.

import { checkWalletBalances } from '../../books/balance-check.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import { readSurveyedTo } from '../../db/blocks/surveyed.ts'
import { inSnapshot } from '../../db/core/snapshot.ts'
import { inTransaction, type Pool, type Sql } from '../../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeAudit, writeState } from '../../db/core/state.ts'
import { readRecheck } from '../../db/payments/recheck.ts'
import { readNextResidueBlock, readOpenWalletBalances } from '../../db/payments/wallet.ts'
import { readWatching } from '../../db/sale/payment-wallets.ts'
import { SURVEY } from '../../follower/ahead.ts'
import { follow } from '../../follower/follow.ts'
import { settledHeight } from '../../follower/followed-finality.ts'
import { createPace } from '../../follower/survey/pace.ts'
import { readOfNoKey } from '../../follower/survey/survey.ts'
import { KnownError } from '../../lib/errors.ts'
import { judge } from '../../passes/steps/judge.ts'
import type { ChainFacts } from '../../ports/chain.ts'
import type {
  ChainRead,
  FactoryRead,
  FinalityRules,
  FollowRules,
  LedgerDb,
  Logging,
  Preflight,
  RuledBy,
  RunLimits,
  ServiceAccounts,
  TrustRules,
} from '../../ports/contexts.ts'
import { type Comparison, compareLedgers } from './compare.ts'
import { copyAllowlists, copyEndpoints, copyRecords, copyTerms, copyVerdicts, copyWallets } from './copy.ts'

/** Blocks between two checks of the wallets' balances. They are so few that inflows and outflows seldom cancel out. */
const BLOCKS_PER_STEP = 200
/** Blocks between two checks if the blocks are surveyed: there, value cannot have come and gone unnoticed. */
const SURVEYED_PER_STEP = 131_072
/** Milliseconds between two progress reports. */
const TELL_MS = 2_000
const UNLIMITED: RunLimits = { checkLock: () => {}, outOfTime: () => false }

type RebuildRules = FollowRules & FinalityRules & TrustRules
type RebuildContext = LedgerDb & ChainRead & FactoryRead & ServiceAccounts & RuledBy<RebuildRules> & Logging

/** A rebuild cannot begin or continue. The message explains what to do. */
class RebuildError extends KnownError {
  override readonly name = 'RebuildError'

  constructor(message: string) {
    super('refused', message)
  }
}

export interface Rebuilt {
  /** The last block that the rebuild followed. */
  block: number
  /** Payments that have no node, and wait for the operator. */
  waiting: number
  /** The last block that was surveyed instead of read; null if none was. */
  surveyedTo: number | null
  /** Null if there was no ledger to compare with. */
  comparison: Comparison | null
}

/**
 * Follows the chain into the database of `ctx`, which must be empty or hold an unfinished rebuild. Takes the operator's decisions from `source`,
 * judges the other payments, and compares the ledgers. Payments without a node are held as `recheck` unless the operator has decided on them.
 */
export async function rebuild(
  ctx: RebuildContext & Preflight,
  source: Pool | null,
  say: (line: string) => void,
): Promise<Rebuilt> {
  const facts = await ctx.preflight()
  await begin(ctx.pool)
  if (source) await copyAllowlists(source, ctx.pool)
  if (source) await copyTerms(source, ctx.pool)
  await reportKeylessWallets(ctx, source ?? ctx.pool, say)
  await followTo(ctx, source, say)
  if ((await readSurveyedTo(ctx.pool)) >= 0) say(SURVEYED_BY[ctx.chain.survey.voices > 1 ? 'two' : 'one'])
  if (!source) return { ...(await finish(ctx, facts, null)), comparison: null }
  // From here on it reads a snapshot of the current ledger, because passes and the operator may change that ledger in the meantime.
  return inSnapshot(source, async (old) => {
    await copyAllowlists(old, ctx.pool)
    await copyTerms(old, ctx.pool)
    await followTo(ctx, old, say)
    await copyVerdicts(old, ctx.pool)
    await copyRecords(old, ctx.pool)
    const outcome = await finish(ctx, facts, old)
    const comparison = await compareLedgers(old, ctx.pool, (table) => say(`comparing ${table}`))
    return { ...outcome, comparison }
  })
}

async function begin(pool: Pool): Promise<void> {
  const [row] = await pool<{ used: boolean }[]>`
    SELECT EXISTS (SELECT FROM cursors) OR EXISTS (SELECT FROM payments) OR EXISTS (SELECT FROM outbox) AS used`
  if (row?.used && !(await readState(pool, 'rebuilding')))
    throw new RebuildError('The target database already holds a ledger. Use an empty database.')
  await writeState(pool, 'rebuilding', true)
}

/** What to report about the blocks that we did not read. */
const SURVEYED_BY = {
  two: 'blocks that we did not read: proven against headers that two providers return',
  one: 'blocks that we did not read: as one provider reports them',
}

/** Follows in steps to the current ledger's block, or to the head. Checks the payments wallets' balances after each step. */
async function followTo(ctx: RebuildContext, source: Sql | null, say: (line: string) => void): Promise<void> {
  const goalOf = async () => {
    if (!source) return (await ctx.chain.head()).number
    return (await readCursor(source))?.number ?? ctx.rules.startBlock - 1
  }
  let reportedAt = 0
  const pace = createPace((ctx.rules.survey ?? SURVEY).blocksMin)
  for (;;) {
    const [cursor, goal] = [await readCursor(ctx.pool), await goalOf()]
    // We read the wallets after the goal. Otherwise we might follow a block for fewer wallets than the current ledger did.
    if (source) await copyWallets(source, ctx.pool)
    const from = cursor ? cursor.number + 1 : ctx.rules.startBlock
    if (from > goal) return
    const residue = source && (await readNextResidueBlock(source, from))
    const upTo = Math.min(goal, from + SURVEYED_PER_STEP - 1, residue ?? goal)
    const progress = await follow(ctx, UNLIMITED, { upTo, goal, readMax: BLOCKS_PER_STEP, pace })
    if (progress.toBlock === null)
      throw new RebuildError(
        `The provider's head is ${progress.head.number}; the current ledger is at ${goal}. Wait, and run it again.`,
      )
    if (progress.cursor) await auditThoroughly(ctx, progress.cursor)
    if (Date.now() - reportedAt < TELL_MS && progress.toBlock < goal) continue
    reportedAt = Date.now()
    const surveyedTo = await readSurveyedTo(ctx.pool)
    say(`followed to block ${progress.toBlock} of ${goal}${surveyedTo === progress.toBlock ? ', surveyed' : ''}`)
  }
}

/** Reports each wallet that makes surveys impossible. We must then read every old block, which may take days. */
async function reportKeylessWallets(ctx: RebuildContext, ledger: Pool, say: (line: string) => void): Promise<void> {
  const { behind, blocksMin } = ctx.rules.survey ?? SURVEY
  const goal = (await readCursor(ledger))?.number ?? (await ctx.chain.head()).number
  if (goal - behind - ctx.rules.startBlock < blocksMin) return
  const wallets = (await readWatching(ledger)).wallets.map(({ wallet }) => wallet)
  for (const wallet of (await readOfNoKey(ctx, wallets)) ?? [])
    say(
      `all blocks are read while ${wallet} is watched: it has code, or has sent nothing yet. To avoid that, see docs/RUNBOOK.md, "Back up and restore"`,
    )
}

async function auditThoroughly(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  cursor: NonNullable<Awaited<ReturnType<typeof readCursor>>>,
): Promise<void> {
  // A block has at most one residue, in or out, so a step needs no more checks than it has blocks. If a check changes nothing, a balance cannot be
  // read, and we stop.
  let before: string | null = null
  for (let i = 0; i < BLOCKS_PER_STEP; i++) {
    await checkWalletBalances(ctx, cursor, UNLIMITED)
    const all = await readOpenWalletBalances(ctx.pool)
    const stand = all.map((books) => `${books.auditedBlock} ${books.inWei} ${books.outWei}`).join()
    if (all.every((books) => books.auditedBlock === cursor.number) || stand === before) return
    before = stand
  }
}

/**
 * Holds payments that have no node, up to the cursor's block or to where the old ledger held them, whichever is later. Judges the others, then releases
 * the ledger for use.
 */
async function finish(ctx: RebuildContext, facts: ChainFacts, old: Sql | null): Promise<Omit<Rebuilt, 'comparison'>> {
  const cursor = await readCursor(ctx.pool)
  if (!cursor) throw new RebuildError('There was nothing to follow: the chain has no block from START_BLOCK on.')
  const heldUpTo = old && (await readRecheck(old))
  const block = Math.max(cursor.number, heldUpTo ?? 0)
  await writeState(ctx.pool, 'recheck_up_to', block)
  const countSeen = async () => (await ctx.pool`SELECT FROM payments WHERE state = 'seen'`).count
  let [before, seenCount] = [Number.POSITIVE_INFINITY, await countSeen()]
  // Ends, because each round but the last judges some. A round judges up to ten thousand.
  while (seenCount < before) {
    const upToBlock = await settledHeight(ctx, cursor, { ...facts, agreed: null })
    const { failed: failures } = await judge(ctx, cursor, upToBlock, UNLIMITED)
    if (failures > 0) throw new Error(`could not judge ${failures} payments: see the log`)
    before = seenCount
    seenCount = await countSeen()
  }
  return inTransaction(ctx.pool, async (sql) => {
    const [row] = await sql<{ waiting: number }[]>`
      SELECT count(*) AS waiting FROM payments WHERE state IN ('seen', 'accepted', 'minting', 'held')`
    await writeState(sql, 'rebuilding', false)
    await writeAudit(sql, { actor: 'rebuild', action: 'rebuilt', detail: { block: cursor.number } })
    if (old) await copyEndpoints(old, sql)
    await notifyLedgerChanged(sql)
    const surveyedTo = await readSurveyedTo(sql)
    return { block: cursor.number, waiting: row?.waiting ?? 0, surveyedTo: surveyedTo < 0 ? null : surveyedTo }
  })
}
