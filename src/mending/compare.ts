// Compares what the ledger recorded of a block with the block: with its own list of transactions, and with the factory's events. No list says who sent
// a transaction, and we recover only the senders of those that seem to matter; and we may have followed the block before its list was proven. So a
// provider may have hidden a payment or a transaction of ours. In that case the ledger rewinds to before the block and reads it again. It must never
// write a row that a block would write.
import { isDeepStrictEqual } from 'node:util'
import { type Cursor, oldestBlockNumber, readBlock } from '../db/blocks/blocks.ts'
import { takeClaimedBlock } from '../db/blocks/claimed.ts'
import { isProven, noteReadWhole } from '../db/blocks/evidence.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { hasAudit } from '../db/core/state.ts'
import { noteMintProofs, readEventsOf } from '../db/nodes/nodes.ts'
import { noteProof, readPlainTransfers } from '../db/payments/rows.ts'
import { readWatching } from '../db/sale/payment-wallets.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { listNoncesAhead } from '../db/sends/nonce-ahead.ts'
import { readKnownNonces } from '../db/sends/outbox.ts'
import { sortTransfers } from '../domain/junk.ts'
import type { Block, FactoryEvent, ObservedRange } from '../domain/observed.ts'
import type { Address, Hash } from '../domain/units.ts'
import { tellFailedProofs, tellFault } from '../follower/proofs.ts'
import { blockBefore, rewindTo } from '../follower/rewind.ts'
import { firstWhere } from '../lib/bisect.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault, orNull } from '../ports/faults.ts'

type LeftOutContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/** The action's name in the audit log. */
const LEFT_OUT = 'leftOut'

/** The ledger has rewound, so whatever the run has read from it is no longer valid. */
export class LeftOutFault extends ChainFault {
  constructor(block: number) {
    super(`a part of block ${block} was omitted or altered: the ledger went back to before it`, {
      retryable: true,
    })
    this.name = 'LeftOutFault'
  }
}

/**
 * Compares one block with what the ledger recorded of it, if the block's list can be proven; see `compareBlock`. None if no provider proves the list.
 */
export async function compareTransfers(
  ctx: LeftOutContext,
  cursor: Cursor,
  block: Pick<Block, 'number' | 'hash'>,
): Promise<readonly Hash[]> {
  return (await isProven(ctx.pool)) ? await compareBlock(ctx, cursor, block) : []
}

/**
 * Compares the transfers of one block with the block's own list, and the factory's events with the block's logs, and records which payments the list
 * proves.
 * @returns the transactions of payments that are proven now. None if no provider proves the list, or if the block is too old to rewind.
 * @throws a LeftOutFault if the ledger has rewound, and a ChainFault if providers do not prove the block or contradict it.
 */
export async function compareBlock(
  ctx: LeftOutContext,
  cursor: Cursor,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<readonly Hash[]> {
  const { pool } = ctx
  const read = await observeWhole(ctx, number)
  if (read?.blocks[0]?.hash !== hash) return []
  if (!(await hasEventsOf(pool, number, read.events))) {
    await goBack(ctx, cursor, { number, hash }, 'receipts')
    return []
  }
  await noteMintProofs(
    pool,
    hash,
    read.events.filter((event) => event.kind === 'nodeMinted'),
  )
  const txHashes = read.transfers.filter(({ proof }) => proof === 'proven').map(({ txHash }) => txHash)
  if (!(await isProven(pool))) return []
  if (await hasTransfersOf(pool, number, read)) {
    await noteProof(pool, { blockHash: hash, txHashes }, 'proven')
    return txHashes
  }
  await goBack(ctx, cursor, { number, hash }, 'transactions')
  return []
}

/**
 * Looks for transactions of our accounts that providers hid in blocks we followed, by naming another sender. We look if an account's nonce shows that
 * some are missing. Takes one statement if none is missing.
 * @throws a LeftOutFault once the ledger has rewound.
 */
export async function findSentLeftOut(ctx: LeftOutContext, cursor: Cursor): Promise<void> {
  for (const { sender } of await listNoncesAhead(ctx.pool)) await findNonceLeftOut(ctx, cursor, sender)
}

/**
 * Looks for the followed block in which an account used a nonce that the ledger lacks, no matter who used it. An account's proof includes its nonce,
 * so we find the block by bisection, in about a dozen reads. If providers do not prove accounts, we find nothing; the nonce is then accepted unproven
 * later.
 */
async function findNonceLeftOut(ctx: LeftOutContext, cursor: Cursor, sender: Address): Promise<void> {
  const { pool, chain } = ctx
  const known = await readKnownNonces(pool, sender)
  const oldest = await oldestBlockNumber(pool)
  if (known === null || oldest === null || !(await isProven(pool))) return
  const hashes = new Map<number, Hash>()
  const isUsedAt = async (number: number): Promise<boolean | null> => {
    const [at] = (await orNull(chain.survey.accountsAt([{ number, accounts: [sender] }]))) ?? []
    if (!at) return null
    hashes.set(number, at.block.hash)
    return (at.accounts.get(sender)?.nonce ?? 0) > known.followed
  }
  if ((await isUsedAt(cursor.number)) !== true || (await isUsedAt(oldest)) !== false) return
  const first = await firstWhere(oldest, cursor.number, isUsedAt)
  const own = first === null ? null : await readBlock(pool, first)
  if (own && own.hash === hashes.get(own.number)) await goBack(ctx, cursor, own, 'transactions')
}

/**
 * Checks one block in which, according to a caller, there is a payment or a node that we have not recorded. The block decides, so a claim costs at most
 * one read.
 * @throws a LeftOutFault once the ledger has rewound.
 */
export async function findClaimedLeftOut(ctx: LeftOutContext, cursor: Cursor): Promise<void> {
  const number = await takeClaimedBlock(ctx.pool)
  const own = number === null || number > cursor.number ? null : await readBlock(ctx.pool, number)
  if (own) await compareBlock(ctx, cursor, own)
}

/** Rewinds the ledger to before a block. Does nothing if it cannot rewind that far, or has already rewound for this block. */
async function goBack(
  ctx: LeftOutContext,
  cursor: Cursor,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
  part: 'transactions' | 'receipts',
): Promise<void> {
  const { pool } = ctx
  await inTransaction(pool, (sql) => tellFailedProofs(ctx, sql, [toldOtherwise(number, part)]))
  const before = await blockBefore(ctx, number)
  if (before === undefined || (await hasAudit(pool, LEFT_OUT, hash))) return
  await inTransaction(pool, (sql) => noteReadWhole(sql, number))
  if (await rewindTo(ctx, before, cursor, { actor: 'pass', action: LEFT_OUT, subject: hash }))
    throw new LeftOutFault(number)
}

/**
 * The block with the full list that its hash commits to; null if no proof is possible.
 * @throws a ChainFault if providers do not answer, or if they contradict what the block commits to. We report a contradiction, and use nothing of the
 * answer.
 */
export async function observeWhole(ctx: LeftOutContext, number: number): Promise<ObservedRange | null> {
  const watching = { ...(await readWatching(ctx.pool)), leastWei: 1n, wholeTo: Number.MAX_SAFE_INTEGER }
  try {
    const read = await ctx.chain.observe(number, number, null, watching)
    // A range takes along all answers that were rejected since the last one.
    const { failedProofs } = read
    if (failedProofs) await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, failedProofs))
    return read
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    await tellFault(ctx, error)
    // If the ledger cannot rewind to before the block, reading the block would change nothing.
    if ((await blockBefore(ctx, number)) === undefined) return null
    throw error
  }
}

const toldOtherwise = (blockNumber: number, part: 'transactions' | 'receipts') => ({
  part,
  blockNumber,
  host: null,
  says: `${part === 'receipts' ? 'events' : part} of a block were omitted or altered`,
})

/** True if the ledger's mints, transfers, withdrawals, expulsions and credits match the block's events. */
async function hasEventsOf(sql: Sql, number: number, events: readonly FactoryEvent[]): Promise<boolean> {
  const among = events.flatMap((event) => ('nodeId' in event ? [event.nodeId] : []))
  const own = await readEventsOf(sql, number, among)
  const minted = events.flatMap((event) => (event.kind === 'nodeMinted' ? [event.nodeId] : []))
  // The ledger has no event of a node whose mint it lacks. The block of that mint heals both.
  const isKnown = (event: FactoryEvent) =>
    !('nodeId' in event) || own.nodeIds.has(event.nodeId) || minted.includes(event.nodeId)
  const told = events.filter(isKnown).flatMap(wordsOfEvent)
  return isDeepStrictEqual(told.sort(), own.words.sort())
}

function wordsOfEvent(event: FactoryEvent): string[] {
  const { kind, logIndex } = event
  switch (kind) {
    case 'nodeMinted':
      return [[kind, event.nodeId, event.ref].join(' ')]
    case 'transfer':
      return [[kind, event.nodeId, logIndex, event.to].join(' ')]
    case 'withdrawn':
      return [[kind, event.nodeId, logIndex, event.amountWei].join(' ')]
    case 'nodeExpelled':
      return [[kind, event.nodeId].join(' ')]
    case 'credited':
      return [[kind, event.cohort, event.round, event.due, event.turns, event.amountPerNodeWei].join(' ')]
    case 'turnsSkipped':
      return [[kind, event.cohort, event.round, event.due, event.turns].join(' ')]
    default:
      return []
  }
}

/**
 * True if the ledger's payments and outflows match the block's transactions, with the outcome of each payment. The ledger stores no dust as payments,
 * but what it has stored as a payment stays one even if it would count as dust now.
 */
async function hasTransfersOf(sql: Sql, number: number, { transfers, outflows }: ObservedRange): Promise<boolean> {
  const told = await readPlainTransfers(sql, number)
  const { payments } = sortTransfers(transfers, await readTierVersions(sql))
  const [mustBe, mayBe] = [payments.map(wordsFor), transfers.map(wordsFor)]
  const [toldIn, toldOut] = [told.payments.map(wordsFor), told.outflows.map(wordsFor)]
  return (
    mustBe.every((words) => toldIn.includes(words)) &&
    toldIn.every((words) => mayBe.includes(words)) &&
    isDeepStrictEqual(toldOut.sort(), outflows.map(wordsFor).sort())
  )
}

type Told = { txHash: Hash; wallet: Address } & (
  | { from: Address; valueWei: bigint; succeeded: boolean; codes: string | null }
  | { to: Address | null }
)

/** What we compare of a transfer: the transaction's fields, and whether a payment succeeded. */
function wordsFor(told: Told): string {
  const of = 'from' in told ? [told.from, told.valueWei, told.succeeded, told.codes] : [told.to]
  return [told.txHash, told.wallet, ...of].join(' ')
}
