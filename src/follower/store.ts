// Stores one range of blocks in one transaction: its events, their effects on payments and intents, and the cursor. The ledger gets all of it or
// nothing.
import { isDeepStrictEqual } from 'node:util'
import {
  beginCursor,
  type Cursor,
  insertBlocks,
  pruneBlocks,
  readBlock,
  readCursor,
  writeCursor,
} from '../db/blocks/blocks.ts'
import { headersProvenFrom } from '../db/blocks/evidence.ts'
import { noteSurveyed } from '../db/blocks/surveyed.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import { pruneCohortStates, readCohorts, readOddCohorts, writeCohorts, writeOpenings } from '../db/nodes/cohorts.ts'
import {
  insertExpulsions,
  insertFailedWithdrawals,
  insertNodes,
  insertOwnershipChanges,
  insertWithdrawals,
  readMintedTo,
  readPaidExpulsions,
  readUnpaidRefs,
} from '../db/nodes/nodes.ts'
import { insertOwnerActs } from '../db/nodes/owner-acts.ts'
import { insertRounds, type StoredTurn } from '../db/nodes/rounds.ts'
import { insertSeedBlocks, type SeedBlock } from '../db/nodes/seed-blocks.ts'
import { countZeroTransfers, insertDust } from '../db/payments/junk.ts'
import * as payments from '../db/payments/rows.ts'
import { lockWalletsForReading, readWatching } from '../db/sale/payment-wallets.ts'
import { lockTierTable, readTierVersions, tellOpenings } from '../db/sale/tiers.ts'
import { writeFees } from '../db/sends/fees.ts'
import { type MinedSend, recordMined } from '../db/sends/outbox.ts'
import { type SortedTransfers, sortTransfers } from '../domain/junk.ts'
import type { Incoming, ObservedRange, Proof, Transfer, Watching } from '../domain/observed.ts'
import { type LedgerCohort, type ReplayedChanges, replay } from '../domain/replay.ts'
import type { TierVersion } from '../domain/tiers.ts'
import type { PaymentState } from '../domain/transitions.ts'
import type { Hash } from '../domain/units.ts'
import { failpoint } from '../lib/failpoint.ts'
import { addressesOf, type ChainRead, type LedgerDb, type Logging, type ServiceAccounts } from '../ports/contexts.ts'
import { raiseAlarm } from './alarm.ts'
import { asMintedTwice } from './minted-twice.ts'
import { tellFailedProofs } from './proofs.ts'
import { noteRestore } from './restored.ts'
import { seedBlocksOf, termsReader, withBacking } from './seeds.ts'
import { applyChanges, readDue, readTierTimes, type TierTimes } from './tier-changes.ts'

/** How many headers we keep. We can follow a reorganisation that deep: more than a day of twelve-second blocks. */
export const HEADERS_KEPT = 8_192

/** The contract's reasons for skipping an order: the wallet is full, the cohort takes no nodes now, the budget is spent, the tier is full. */
const SKIPPED_WALLET_FULL = 1
const SKIPPED_COHORT = 2
const SKIPPED_BUDGET = 4
const SKIPPED_SUPPLY = 5
/** Reasons that are to be expected. After a closed cohort or a spent budget, the payment simply waits for the next mint. */
const EXPECTED = [SKIPPED_WALLET_FULL, SKIPPED_COHORT, SKIPPED_BUDGET, SKIPPED_SUPPLY]

export interface StoreResult {
  cursor: Cursor
  detected: number
  minted: number
}

/**
 * Stores a range that continues `expectedCursor`. Stores nothing and returns null if the cursor, a cohort, or the watched addresses have changed since
 * the range was read. `headBlock` is the provider's head: if the ledger turns out to have been restored, payments up to that block are held.
 */
export async function storeRange(
  ctx: LedgerDb & ChainRead & ServiceAccounts & Logging,
  range: ObservedRange,
  expectedCursor: Cursor | null,
  headBlock: number,
): Promise<StoreResult | null> {
  const last = range.blocks.at(-1)
  if (!last) throw new Error('an observed range is never empty')
  // Cohorts change only together with the cursor or under its lock. beginRange compares both with what we read here.
  const ledgerCohorts = await readCohorts(ctx.pool)
  const cohorts = new Map(ledgerCohorts.map((cohort) => [cohort.cohort, cohort]))
  const changes = replay(cohorts, range.events)
  const cursor = { number: last.number, hash: last.hash, time: last.time }
  const [{ turns, seedBlocks }, times] = await Promise.all([
    readTurns(ctx, range, { ledgerCohorts, changes, expectedCursor, cursor }),
    readTierTimes(ctx, range, expectedCursor),
  ])

  const storing = inTransaction(ctx.pool, async (sql) => {
    if (times.isDue) await lockTierTable(sql)
    if (!(await beginRange(sql, range, { expectedCursor, ledgerCohorts, cursor, times }))) return null
    if (times.isDue) await applyChanges(ctx, sql, times, expectedCursor)
    // A payment may have the price of a change that has just taken effect.
    const tiers = range.transfers.length > 0 ? await readTierVersions(sql) : []
    await tellFailedProofs(ctx, sql, range.failedProofs ?? [])
    const byKind = await sortNew(sql, range.transfers, tiers)
    // The statements below do not depend on each other, so we send them together, and the database does not wait for us in between. The long ones
    // come last, because the driver sends nothing after a long statement until that is answered.
    const others = Promise.all([
      insertDust(sql, byKind.dust),
      countZeroTransfers(sql, byKind.zero),
      payments.insertOutflows(sql, range.outflows),
      writeFees(sql, cursor.number, range.fees),
      insertSeedBlocks(sql, seedBlocks),
      pruneBlocks(sql, range.isSurveyed ? cursor.number : cursor.number - HEADERS_KEPT),
      range.isSurveyed ? noteSurveyed(sql, cursor.number) : null,
      pruneCohortStates(sql, cursor.number - HEADERS_KEPT),
      changesAnything(range) ? notifyLedgerChanged(sql) : null,
      tellOpenings(sql, { after: expectedCursor?.time ?? 0, upTo: cursor.time }),
      writeCohorts(sql, [...changes.cohorts.values()], [...changes.cohortStates.values()]),
      // The stored headers must have no gap, because the search for a fork relies on them.
      insertBlocks(sql, range.isSurveyed ? [last] : range.blocks),
    ])
    const [detectedCount] = await Promise.all([payments.insertIncomingTransfers(sql, byKind.payments), others])
    await storeEvents(sql, range, changes, turns)
    await settlePayments(ctx, sql, { range, came: byKind.payments, changes, headBlock })
    failpoint('follow.storing')
    await writeCursor(sql, cursor)
    return { cursor, detected: detectedCount, minted: changes.nodes.length }
  })
  return await storing.catch((error: unknown) => Promise.reject(asMintedTwice(error, changes.nodes)))
}

/** Locks the cursor, or sets the first one. @returns false if the ledger has changed since the range was read. */
async function beginRange(
  sql: Sql,
  range: ObservedRange,
  {
    expectedCursor,
    ledgerCohorts,
    cursor,
    times,
  }: {
    expectedCursor: Cursor | null
    ledgerCohorts: readonly LedgerCohort[]
    cursor: Cursor
    times: TierTimes
  },
): Promise<boolean> {
  const current = await readCursor(sql, { lock: true })
  if (current?.hash !== expectedCursor?.hash) return false
  // Without a cursor there is nothing to lock, so we lock the wallets: no wallet can be added until we are done.
  if (!current) await lockWalletsForReading(sql)
  const [watching, due, cohorts] = await Promise.all([
    readWatching(sql),
    times.isDue ? [] : readDue(sql, times, expectedCursor),
    // The reconciler may have inserted a node that the ledger lacked, and so changed a cohort.
    range.events.length > 0 ? readCohorts(sql) : ledgerCohorts,
  ])
  // A change of a tier was entered meanwhile. Its table must be locked before the cursor.
  if (due.length > 0) return false
  if (!wasReadFor(range.watching, watching)) return false
  if (!isDeepStrictEqual(cohorts, ledgerCohorts)) return false
  return current !== null || (await beginCursor(sql, cursor))
}

/** Stores what the contract's events changed. Call it once the cohorts are written. */
async function storeEvents(
  sql: Sql,
  { events, failedWithdrawals }: ObservedRange,
  changes: ReplayedChanges,
  turns: readonly StoredTurn[],
): Promise<void> {
  // Each of these sends its first statement immediately, so they run in this order: nodes before what happened to them, rounds before the withdrawals
  // of what they paid.
  await Promise.all([
    writeOpenings(sql, events),
    insertNodes(sql, changes.nodes),
    insertOwnershipChanges(sql, changes.transfers),
    insertExpulsions(sql, changes.expulsions),
    insertRounds(sql, { rounds: changes.rounds, turns, skips: changes.skips }),
    insertWithdrawals(sql, changes.withdrawals),
    insertFailedWithdrawals(sql, failedWithdrawals),
    insertOwnerActs(sql, changes.ownerActs),
  ])
}

/** The turns that a range paid, with their terms and seeds, and the range's blocks that give later turns their seeds. */
async function readTurns(
  ctx: LedgerDb & ChainRead,
  { blocks, isSurveyed }: ObservedRange,
  {
    ledgerCohorts,
    changes,
    expectedCursor,
    cursor,
  }: {
    ledgerCohorts: readonly LedgerCohort[]
    changes: ReplayedChanges
    expectedCursor: Cursor | null
    cursor: Cursor
  },
) {
  const states = [...ledgerCohorts, ...[...changes.cohortStates.values()].map(({ state }) => state)]
  const before = expectedCursor && (await readBlock(ctx.pool, expectedCursor.number))
  const provenFrom = isSurveyed ? null : await headersProvenFrom(ctx.pool)
  const proof: Proof = provenFrom === null ? 'believed' : 'proven'
  const reader = termsReader(ctx, cursor.number, { blocks, proof })
  const paidIn = new Map(changes.rounds.map(({ round, blockNumber }) => [round, blockNumber]))
  const paidTurns = await Promise.all(
    changes.turns.map(async (turn) => ({ ...turn, ...(await reader.paid(turn, paidIn.get(turn.round))) })),
  )
  const turns = await withBacking(ctx, paidTurns)
  // In a surveyed range we look up each turn's seed. Several turns may have the same seed block.
  const lookedUp = isSurveyed ? await reader.lookedUp() : []
  // The time of the header before the range counts, too, and that header may be from before we required proofs.
  const isLinked = before !== null && provenFrom !== null && before.number > provenFrom
  const seedBlocks = seedBlocksOf(blocks, before, states).map(
    (block): SeedBlock => ({ ...block, proof: isLinked || block.number !== blocks[0]?.number ? proof : 'believed' }),
  )
  return { turns, seedBlocks: byNumber([...seedBlocks, ...lookedUp]) }
}

const byNumber = (blocks: readonly SeedBlock[]) => [...new Map(blocks.map((block) => [block.number, block])).values()]

/** True if we read the range while watching everything that the ledger watches now. */
function wasReadFor(read: Watching, now: Watching): boolean {
  return (
    isDeepStrictEqual(read.wallets, now.wallets) &&
    now.signers.every((sender) => read.signers.includes(sender)) &&
    (read.leastWei ?? 1n) <= (now.leastWei ?? 1n)
  )
}

/** Sorts a range's transfers. A transfer that we recorded as a payment before a reorganisation stays one and keeps its decision. */
export async function sortNew(
  sql: Sql,
  transfers: readonly Transfer[],
  tiers: readonly TierVersion[],
): Promise<SortedTransfers<Transfer>> {
  const byKind = sortTransfers(transfers, tiers)
  const small = [...byKind.dust, ...byKind.zero.filter(({ valueWei }) => valueWei > 0n)]
  if (small.length === 0) return byKind
  const paymentRefs = new Set(await payments.readPaymentRefs(sql, hashesOf(small)))
  const isNew = ({ txHash }: Incoming) => !paymentRefs.has(txHash)
  const former = small.filter((transfer) => !isNew(transfer))
  return { payments: [...byKind.payments, ...former], dust: byKind.dust.filter(isNew), zero: byKind.zero.filter(isNew) }
}

const hashesOf = (transfers: readonly Incoming[]) => transfers.map(({ txHash }) => txHash)

function changesAnything(range: ObservedRange): boolean {
  const { transfers, events, sent: transactions, failedWithdrawals } = range
  return [transfers, events, transactions, failedWithdrawals].some((entries) => entries.length > 0)
}

/** Updates pending payments from what happened in the range: a payment is minted, or the contract skipped it, or its mint must be sent again. */
async function settlePayments(
  ctx: ServiceAccounts & Logging,
  sql: Sql,
  {
    range,
    came: transfers,
    changes,
    headBlock,
  }: { range: ObservedRange; came: readonly Incoming[]; changes: ReplayedChanges; headBlock: number },
): Promise<void> {
  const { settled: settledSends, foreign } = await recordMined(sql, range.sent, addressesOf(ctx))
  const displacing = new Set(settledSends.map((intent) => intent.txHash))
  const isRestored = await noteRestore(ctx, sql, { displacing, events: range.events, headBlock })

  // A node may be there before its payment: a reorganisation moved the payment to a later block, or someone else minted with the payment's ref.
  const came = await payments.readRefsOfNodes(sql, hashesOf(transfers))
  const mintedRefs = [...changes.nodes, ...changes.refsTaken].map(({ ref }) => ref)
  await adopt(ctx, sql, [
    ...came,
    ...mintedRefs,
    ...(await readUnpaidRefs(sql, numbersOf(range.events, 'intervalSet'))),
  ])
  await alarmOddCohorts(ctx, sql, numbersOf(range.events, 'cohortOpened'))

  const skippedFor = (code: number) => refsOf(changes.skipped.filter(({ reason }) => reason === code))
  await payments.holdSkipped(sql, skippedFor(SKIPPED_WALLET_FULL), 'walletLimit')
  await payments.holdSkipped(sql, skippedFor(SKIPPED_SUPPLY), 'supplySpent')
  const impossible = changes.skipped.filter(({ reason }) => !EXPECTED.includes(reason))
  await payments.holdSkipped(sql, refsOf(impossible), 'mintReverted')
  for (const { ref, reason } of impossible)
    await raiseAlarm(ctx, sql, { action: 'mintSkipped', subject: ref, detail: { reason } })
  await alarmRefsTaken(ctx, sql, changes.refsTaken)
  await alarmExpelled(ctx, sql, changes.expulsions)

  await payments.releaseUnminted(
    sql,
    settledSends.map((intent) => intent.outboxId),
  )
  for (const intent of settledSends) await noteSettled(ctx, sql, intent)
  // A restored ledger does not know what was sent after its backup. We report that once, not for each transaction.
  if (!isRestored)
    for (const txHash of foreign) await raiseAlarm(ctx, sql, { action: 'foreignTransaction', subject: txHash })
}

const numbersOf = (events: ObservedRange['events'], kind: 'cohortOpened' | 'intervalSet') =>
  events.flatMap((event) => (event.kind === kind ? [event.cohort] : []))

/** Reports cohorts that the service did not open. It does not mint into them and does not credit them. */
async function alarmOddCohorts(ctx: Logging, sql: Sql, cohorts: readonly number[]): Promise<void> {
  for (const { cohort, ...detail } of await readOddCohorts(sql, cohorts))
    await raiseAlarm(ctx, sql, { action: 'cohortOdd', subject: String(cohort), detail })
}

/** Links payments to their nodes, holds those whose ref another node has taken, and reports cases for the operator. */
export async function adopt(ctx: Logging, sql: Sql, refs: readonly Hash[]): Promise<void> {
  const { surprises, toConfirm, others } = await payments.adoptNodes(sql, refs)
  await alarmSurprises(ctx, sql, surprises)
  for (const { ref, nodeId, tierNo, valueWei } of toConfirm) {
    const detail = { nodeId, tierNo, valueWei: valueWei.toString() }
    const says =
      'the ledger does not know the tier in which this payment was released; the operator may confirm its node'
    await raiseAlarm(ctx, sql, { level: 'info', says, action: 'nodeToConfirm', subject: ref, detail })
  }
  for (const ref of await payments.holdRefsTaken(sql, refs))
    await raiseAlarm(ctx, sql, { action: 'mintedElsewhere', subject: ref })
  // We do not hold a payment that is already decided.
  for (const { ref, nodeId, tierNo } of others.filter(({ state }) => DECIDED.includes(state)))
    await raiseAlarm(ctx, sql, { action: 'mintedElsewhere', subject: ref, detail: { nodeId, tierNo } })
}

const DECIDED: readonly PaymentState[] = ['refunded', 'dismissed', 'ignored']

/** Reports payments that were minted in a state in which they should not be. If a refund is about to be sent, the operator must stop it. */
async function alarmSurprises(ctx: Logging, sql: Sql, surprises: readonly payments.MintSurprise[]): Promise<void> {
  for (const { ref, before, heldFor } of surprises) {
    const detail = { before, heldFor }
    if (before === 'held' && heldFor === 'refunding')
      await raiseAlarm(ctx, sql, {
        action: 'mintedThoughRefunding',
        subject: ref,
        detail: { ...detail, says: 'Do not send it back.' },
      })
    else {
      const action = before === 'refunded' ? 'mintedThoughRefunded' : 'mintedThoughNotAccepted'
      await raiseAlarm(ctx, sql, { action, subject: ref, detail })
    }
  }
}

/**
 * Reports refs whose node was minted to a wallet other than the payer's. It is fine if the payer's wallet received the node and gave it away later.
 */
async function alarmRefsTaken(ctx: Logging, sql: Sql, takenRefs: ReplayedChanges['refsTaken']): Promise<void> {
  const mintedTo = await readMintedTo(
    sql,
    takenRefs.map(({ nodeId }) => nodeId),
  )
  for (const { ref, nodeId, to } of takenRefs) {
    if (mintedTo.get(nodeId) === to) continue
    await raiseAlarm(ctx, sql, { action: 'refTaken', subject: ref, detail: { nodeId: nodeId.toString(), to } })
  }
}

/** Reports expelled nodes that were paid for. Each of these payments must be refunded. */
async function alarmExpelled(ctx: Logging, sql: Sql, expulsions: ReplayedChanges['expulsions']): Promise<void> {
  for (const { ref, nodeId } of await readPaidExpulsions(sql, expulsions))
    await raiseAlarm(ctx, sql, { action: 'paidNodeExpelled', subject: ref, detail: { nodeId: String(nodeId) } })
}

const refsOf = (skips: ReplayedChanges['skipped']) => skips.map((skip) => skip.ref)

async function noteSettled(ctx: Logging, sql: Sql, intent: MinedSend): Promise<void> {
  ctx.log.info(intent, 'transaction settled')
  if (intent.state !== 'mined')
    await raiseAlarm(ctx, sql, { action: intent.state, subject: intent.txHash, detail: { ...intent } })
}
