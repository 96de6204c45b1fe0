// Compares the transfers that the ledger has of a block with the block's own list. In a block in which nothing seemed to act that list was not proven:
// a provider may have left a payment out, or told another amount. Then the ledger goes back to before the block and reads it again. It must never go
// back for anything that is not proven.
import { isDeepStrictEqual } from 'node:util'
import { ChainFault, orNull } from '../chain/faults.ts'
import { type Cursor, readBlock } from '../db/blocks/blocks.ts'
import { readProofStates } from '../db/blocks/proofs.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { hasAudit } from '../db/core/state.ts'
import { noteProof, readPlainTransfers } from '../db/payments/rows.ts'
import { readWatching } from '../db/sale/payment-wallets.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { sortTransfers } from '../domain/junk.ts'
import type { Block, ObservedRange } from '../domain/observed.ts'
import type { Address, Hash } from '../domain/units.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { tellFailedProofs } from './proofs.ts'
import { rewindTo } from './rewind.ts'

type LeftOutContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/** As the audit log calls it. */
const LEFT_OUT = 'leftOut'

/** The ledger went back: what the run has read of it holds no longer. */
export class LeftOutFault extends ChainFault {
  constructor(block: number) {
    super(`transfers of block ${block} were left out or told otherwise: the ledger went back to before it`, {
      retryable: true,
    })
    this.name = 'LeftOutFault'
  }
}

/**
 * Compares the transfers of one block.
 * @returns `same` if they are those that the block's hash commits to; `unproven` if no provider proves its list, or the ledger cannot go back so far.
 * @throws a LeftOutFault once the ledger has gone back.
 */
export async function compareTransfers(
  ctx: LeftOutContext,
  cursor: Cursor,
  { number, hash }: Pick<Block, 'number' | 'hash'>,
): Promise<'same' | 'unproven'> {
  const { pool, chain } = ctx
  if ((await readProofStates(pool)).get('transactions') !== 'askedFor') return 'unproven'
  const watching = { ...(await readWatching(pool)), prices: undefined, isWhole: true }
  const read = await orNull(chain.observe(number, number, null, watching))
  if (read?.blocks[0]?.hash !== hash) return 'unproven'
  if (await hasTransfersOf(pool, number, read)) {
    await noteProof(pool, { blockHash: hash, txHashes: provenIn(read) }, 'proven')
    return 'same'
  }
  // From now on lists are proven whatever they hold, so that no provider has the ledger go back for the same block again.
  await inTransaction(pool, (sql) => tellFailedProofs(ctx, sql, read.failedProofs ?? [toldOtherwise(number)]))
  const before = await readBlock(pool, number - 1)
  if (!before || (await hasAudit(pool, LEFT_OUT, hash))) return 'unproven'
  if (!(await rewindTo(ctx, before, cursor, { actor: 'pass', action: LEFT_OUT, subject: hash }))) return 'unproven'
  throw new LeftOutFault(number)
}

const toldOtherwise = (blockNumber: number) => ({
  part: 'transactions' as const,
  blockNumber,
  host: null,
  says: 'transfers were left out, or told otherwise than the block has them',
})

/**
 * True if the ledger has the block's payments and outflows, as far as the transactions themselves say them. What the ledger counts as dust it has
 * not as a payment, and a payment stays one once it is dust.
 */
async function hasTransfersOf(sql: Sql, number: number, { transfers, outflows }: ObservedRange): Promise<boolean> {
  const told = await readPlainTransfers(sql, number)
  const { payments } = sortTransfers(transfers, await readTierVersions(sql))
  const [mustBe, mayBe] = [payments.map(wordsOf), transfers.map(wordsOf)]
  const [toldIn, toldOut] = [told.payments.map(wordsOf), told.outflows.map(wordsOf)]
  return (
    mustBe.every((words) => toldIn.includes(words)) &&
    toldIn.every((words) => mayBe.includes(words)) &&
    isDeepStrictEqual(toldOut.sort(), outflows.map((outflow) => wordsOf(outflow)).sort())
  )
}

type Told = { txHash: Hash; wallet: Address } & ({ from: Address; valueWei: bigint } | { to: Address | null })

/** What its transaction says of a transfer; whether it succeeded, and what it cost, the receipt says. */
const wordsOf = (told: Told) =>
  [told.txHash, told.wallet, ...('from' in told ? [told.from, told.valueWei] : [told.to])].join(' ')

const provenIn = ({ transfers }: ObservedRange) =>
  transfers.filter(({ proof }) => proof === 'proven').map(({ txHash }) => txHash)
