// Checks residues that rest on unproven balances, once providers can prove the balances. If the proofs contradict a residue, withdraws it, so that
// the wallet is checked again. Residues that the operator has decided on or split stay.
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import {
  lockResidue,
  proveResidueIn,
  readResiduesOver,
  readToldResidues,
  replaceResidue,
  type ToldResidue,
} from '../db/payments/traces.ts'
import { checkAgain, netFlow } from '../db/payments/wallet.ts'
import type { Block } from '../domain/observed.ts'
import type { Address } from '../domain/units.ts'
import type { ChainRead, LedgerDb, Logging, RunLimits } from '../ports/contexts.ts'
import { blockAt } from './locate.ts'

type ProveContext = LedgerDb & ChainRead & Logging

/** The most residues that one run checks; each takes two reads. */
const PROVEN_MAX = 20
/** Seconds until we retry a residue whose blocks no provider proves. It may be long, because proofs of old blocks rarely turn up. */
const AGAIN_SEC = 600

/** Checks the residues that are due. Takes one statement if there are none. */
export async function proveResidues(ctx: ProveContext, cursor: Cursor, run: RunLimits): Promise<void> {
  for (const residue of await readToldResidues(ctx.pool, PROVEN_MAX)) {
    if (run.outOfTime()) return
    await proveResidueIn(ctx.pool, residue.ref, AGAIN_SEC)
    await prove(ctx, cursor, residue)
  }
}

async function prove(ctx: ProveContext, cursor: Cursor, residue: ToldResidue): Promise<void> {
  const { ref, wallet, fromBlock, block, isWide } = residue
  if (isWide && (await hasStateWithin(ctx, residue))) {
    const why = 'a residue of several blocks is located again, because their states can be read now'
    return await whileTold(ctx, cursor, residue, (sql) =>
      withdraw(ctx, sql, residue, { why, proven: null, figures: {} }),
    )
  }
  const first = await blockAt(ctx, fromBlock - 1)
  const before = await ctx.chain.balanceAt(wallet, first)
  const after = await ctx.chain.balanceAt(wallet, block)
  if (before?.proof !== 'proven' || after?.proof !== 'proven') return
  await whileTold(ctx, cursor, residue, async (sql) => {
    const bookedWei = await netFlow(sql, wallet, { block: first.number, upTo: block.number })
    // A residue that spans several blocks remains due until the states in between can be read.
    if (after.wei - before.wei === bookedWei) return isWide ? undefined : await proveResidueIn(sql, ref, null)
    await withdraw(ctx, sql, residue, {
      why: 'a residue is withdrawn, because proofs of its blocks contradict it',
      proven: { block: first.number, wei: before.wei },
      figures: {
        balanceBeforeWei: String(before.wei),
        balanceAfterWei: String(after.wei),
        bookedWei: String(bookedWei),
      },
    })
  })
}

/**
 * Withdraws a wallet's undecided residues whose blocks include those of a new difference: a provider reported their balances wrongly, so the next
 * check locates one difference instead of two that offset each other. @returns whether there were any.
 */
export async function withdrawOffset(
  ctx: Logging,
  sql: Sql,
  wallet: Address,
  { fromBlock, block }: { fromBlock: number; block: Pick<Block, 'number'> },
): Promise<boolean> {
  const why =
    'a new difference in the same blocks contradicts a residue: it is withdrawn, and they are located together'
  const residues = await readResiduesOver(sql, wallet, { fromBlock, toBlock: block.number })
  for (const residue of residues)
    if (await lockResidue(sql, residue)) await withdraw(ctx, sql, residue, { why, proven: null, figures: {} })
  return residues.length > 0
}

async function hasStateWithin(ctx: ProveContext, { wallet, fromBlock, block }: ToldResidue): Promise<boolean> {
  const middle = await blockAt(ctx, Math.floor((fromBlock - 1 + block.number) / 2))
  return (await ctx.chain.balanceAt(wallet, middle)) !== null
}

/** Runs `act` under the cursor's lock. Does nothing if the ledger has moved, or if the operator has decided on the residue since. */
async function whileTold(
  { pool }: LedgerDb,
  cursor: Cursor,
  residue: ToldResidue,
  act: (sql: Sql) => Promise<void>,
): Promise<void> {
  await inTransaction(pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return
    if (await lockResidue(sql, residue)) await act(sql)
  })
}

/**
 * Withdraws a residue, so that the wallet's next check finds what really arrived. `proven`: the balance before the residue; null unless the recorded
 * one was wrong.
 */
async function withdraw(
  { log }: Logging,
  sql: Sql,
  residue: ToldResidue,
  { why, proven, figures }: { why: string; proven: { block: number; wei: bigint } | null; figures: object },
): Promise<void> {
  const { ref, wallet, residueWei, fromBlock, block } = residue
  await replaceResidue(sql, residue)
  await checkAgain(sql, wallet, proven)
  const detail = { wallet, valueWei: String(residueWei), fromBlock, blockNumber: block.number, ...figures }
  log.warn({ ref, ...detail }, why)
  await writeAudit(sql, { actor: 'pass', action: 'residueWithdrawn', subject: ref, detail })
  await notifyLedgerChanged(sql)
}
