// Compares what the ledger has of a block with the block's own list. In a block in which nothing seemed to act that list was not proven: a provider
// may have left out a payment or a transaction of ours, or told another amount. Then the ledger goes back to before the block and reads it again.
// It must never go back for anything that is not proven.
import { isDeepStrictEqual } from 'node:util'
import { ChainFault, orNull, ProofFault } from '../chain/faults.ts'
import { type Cursor, readBlock } from '../db/blocks/blocks.ts'
import { readProofStates } from '../db/blocks/proofs.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { hasAudit } from '../db/core/state.ts'
import { noteProof, readPlainTransfers } from '../db/payments/rows.ts'
import { readWatching } from '../db/sale/payment-wallets.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { readSentBelow } from '../db/sends/nonce-ahead.ts'
import { sortTransfers } from '../domain/junk.ts'
import type { Block, ObservedRange } from '../domain/observed.ts'
import type { Address, Hash } from '../domain/units.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { lowerOrHalt, tellFailedProofs } from './proofs.ts'
import { rewindTo } from './rewind.ts'

type LeftOutContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/** As the audit log calls it. */
const LEFT_OUT = 'leftOut'

/** The ledger went back: what the run has read of it holds no longer. */
export class LeftOutFault extends ChainFault {
  constructor(block: number) {
    super(`transactions of block ${block} were left out or told otherwise: the ledger went back to before it`, {
      retryable: true,
    })
    this.name = 'LeftOutFault'
  }
}

/**
 * Compares the transfers of one block.
 * @returns `same` if they are those that the block's hash commits to; `unproven` if no provider proves its list, or the ledger cannot go back so far.
 * @throws a LeftOutFault once the ledger has gone back, and a ChainFault while providers do not prove the block, or contradict it.
 */
export async function compareTransfers(
  ctx: LeftOutContext,
  cursor: Cursor,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<'same' | 'unproven'> {
  const { pool } = ctx
  const states = await readProofStates(pool)
  if (states.get('transactions') !== 'askedFor') return 'unproven'
  const read = await observeWhole(ctx, number)
  if (read?.blocks[0]?.hash !== hash) return 'unproven'
  if (await hasTransfersOf(pool, number, { ...read, isOutcomeProven: states.get('receipts') === 'askedFor' })) {
    await noteProof(pool, { blockHash: hash, txHashes: provenIn(read) }, 'proven')
    return 'same'
  }
  await goBack(ctx, cursor, { number, hash, failedProofs: read.failedProofs })
  return 'unproven'
}

/** The most of our transactions that are looked for in a run. */
const SENT_MAX = 20

/**
 * Looks for transactions of ours in followed blocks that were told without them: an account's nonce has shown that some are missing. Any provider may
 * name the block, since the block's own list decides. One statement if none is missing.
 * @throws a LeftOutFault once the ledger has gone back.
 */
export async function findSentLeftOut(ctx: LeftOutContext, cursor: Cursor): Promise<void> {
  const { pool, chain } = ctx
  for (const txHash of await readSentBelow(pool, SENT_MAX)) {
    const said = await Promise.all(chain.providers.map((provider) => orNull(provider.minedTransaction(txHash))))
    const number = said.find((mined) => mined !== null)?.blockNumber ?? null
    const own = number === null || number > cursor.number ? null : await readBlock(pool, number)
    if (own === null) continue
    const read = await orNull(observeWhole(ctx, own.number))
    const isThere = read?.sent.some((sent) => sent.txHash === txHash && sent.proof === 'proven')
    if (isThere && read?.blocks[0]?.hash === own.hash) await goBack(ctx, cursor, { ...own, ...read })
  }
}

/** Takes the ledger back to before a block, unless it cannot go so far, or went back for this block before. */
async function goBack(
  ctx: LeftOutContext,
  cursor: Cursor,
  {
    number,
    hash,
    failedProofs,
  }: Pick<Block, 'number' | 'hash'> & { failedProofs?: ObservedRange['failedProofs'] | undefined },
): Promise<void> {
  const { pool } = ctx
  // From now on lists are proven whatever they hold, so that no provider has the ledger go back for the same block again.
  await inTransaction(pool, (sql) => tellFailedProofs(ctx, sql, failedProofs ?? [toldOtherwise(number)]))
  const before = await readBlock(pool, number - 1)
  if (!before || (await hasAudit(pool, LEFT_OUT, hash))) return
  if (await rewindTo(ctx, before, cursor, { actor: 'pass', action: LEFT_OUT, subject: hash }))
    throw new LeftOutFault(number)
}

/**
 * The block as its hash commits to it; null if nothing proves it.
 * @throws a ChainFault if providers do not answer, or contradict what the block commits to, which is told: nothing is accepted from it.
 */
async function observeWhole(ctx: LeftOutContext, number: number): Promise<ObservedRange | null> {
  const watching = { ...(await readWatching(ctx.pool)), prices: undefined, isWhole: true }
  try {
    return await ctx.chain.observe(number, number, null, watching)
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    const isLowered = error instanceof ProofFault && (await lowerOrHalt(ctx, error)) === null
    // Of a block to which the ledger cannot go back an answer would change nothing.
    if (isLowered || !(await readBlock(ctx.pool, number - 1))) return null
    throw error
  }
}

const toldOtherwise = (blockNumber: number) => ({
  part: 'transactions' as const,
  blockNumber,
  host: null,
  says: 'transactions were left out, or told otherwise than the block has them',
})

/**
 * True if the ledger has the block's payments and outflows, as far as the transactions themselves say them, and of payments whether they succeeded
 * if that is proven. What the ledger counts as dust it has not as a payment, and a payment stays one once it is dust.
 */
async function hasTransfersOf(
  sql: Sql,
  number: number,
  { transfers, outflows, isOutcomeProven }: ObservedRange & { isOutcomeProven: boolean },
): Promise<boolean> {
  const told = await readPlainTransfers(sql, number)
  const { payments } = sortTransfers(transfers, await readTierVersions(sql))
  const wordsOf = (transfer: Told) => wordsFor(transfer, isOutcomeProven)
  const [mustBe, mayBe] = [payments.map(wordsOf), transfers.map(wordsOf)]
  const [toldIn, toldOut] = [told.payments.map(wordsOf), told.outflows.map(wordsOf)]
  return (
    mustBe.every((words) => toldIn.includes(words)) &&
    toldIn.every((words) => mayBe.includes(words)) &&
    isDeepStrictEqual(toldOut.sort(), outflows.map((outflow) => wordsOf(outflow)).sort())
  )
}

type Told = { txHash: Hash; wallet: Address } & (
  | { from: Address; valueWei: bigint; succeeded: boolean }
  | { to: Address | null }
)

/** What its transaction says of a transfer, and its receipt of a payment if it is proven. */
function wordsFor(told: Told, isOutcomeProven: boolean): string {
  const of = 'from' in told ? [told.from, told.valueWei, isOutcomeProven && told.succeeded] : [told.to]
  return [told.txHash, told.wallet, ...of].join(' ')
}

const provenIn = ({ transfers }: ObservedRange) =>
  transfers.filter(({ proof }) => proof === 'proven').map(({ txHash }) => txHash)
