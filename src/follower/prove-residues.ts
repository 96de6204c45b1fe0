// Compares residues that rest on what providers said with balances that are proven, once there are such: a provider had none, or lied. What the proofs
// contradict is withdrawn, and its wallet checked again. What the operator has decided, or taken apart, stays.
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import {
  lockResidue,
  proveResidueIn,
  readToldResidues,
  replaceResidue,
  type ToldResidue,
} from '../db/payments/traces.ts'
import { checkAgain, netFlow } from '../db/payments/wallet.ts'
import type { ChainRead, LedgerDb, Logging, RunLimits } from '../passes/context.ts'
import { blockAt } from './locate.ts'

type ProveContext = LedgerDb & ChainRead & Logging

/** Residues compared in one run at most; each takes two readings. */
const PROVEN_MAX = 20
/** A residue whose blocks no provider proves is tried again after this: proofs of old blocks rarely come. */
const AGAIN_SEC = 600

/** Compares those whose turn it is; one statement if there are none. */
export async function proveResidues(ctx: ProveContext, cursor: Cursor, run: RunLimits): Promise<void> {
  for (const residue of await readToldResidues(ctx.pool, PROVEN_MAX)) {
    if (run.outOfTime()) return
    await proveResidueIn(ctx.pool, residue.ref, AGAIN_SEC)
    await prove(ctx, cursor, residue)
  }
}

async function prove(ctx: ProveContext, cursor: Cursor, residue: ToldResidue): Promise<void> {
  const { ref, wallet, fromBlock, block, isWide } = residue
  if (isWide && (await hasStateWithin(ctx, residue))) return await locateAgain(ctx, cursor, residue)
  const first = await blockAt(ctx, fromBlock - 1)
  const before = await ctx.chain.balanceAt(wallet, first)
  const after = await ctx.chain.balanceAt(wallet, block)
  if (before?.proof !== 'proven' || after?.proof !== 'proven') return
  await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return
    if (!(await lockResidue(sql, residue))) return
    const bookedWei = await netFlow(sql, wallet, { block: first.number, upTo: block.number })
    // One of several blocks waits for the states between.
    if (after.wei - before.wei === bookedWei) return isWide ? undefined : await proveResidueIn(sql, ref, null)
    await replaceResidue(sql, residue)
    await checkAgain(sql, wallet, { block: first.number, wei: before.wei })
    const detail = {
      ...{ wallet, valueWei: String(residue.residueWei), fromBlock, blockNumber: block.number },
      ...{ balanceBeforeWei: String(before.wei), balanceAfterWei: String(after.wei), bookedWei: String(bookedWei) },
    }
    ctx.log.warn({ ref, ...detail }, 'a residue is contradicted by proofs of its blocks: it is withdrawn')
    await writeAudit(sql, { actor: 'pass', action: 'residueWithdrawn', subject: ref, detail })
    await notifyLedgerChanged(sql)
  })
}

async function hasStateWithin(ctx: ProveContext, { wallet, fromBlock, block }: ToldResidue): Promise<boolean> {
  const middle = await blockAt(ctx, Math.floor((fromBlock - 1 + block.number) / 2))
  return (await ctx.chain.balanceAt(wallet, middle)) !== null
}

/** Withdraws a residue of several blocks, so that the check of its wallet finds the block that it came in. */
async function locateAgain(ctx: ProveContext, cursor: Cursor, residue: ToldResidue): Promise<void> {
  const { ref, wallet, fromBlock, block } = residue
  await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return
    if (!(await lockResidue(sql, residue))) return
    await replaceResidue(sql, residue)
    await checkAgain(sql, wallet, null)
    const detail = { wallet, valueWei: String(residue.residueWei), fromBlock, blockNumber: block.number }
    ctx.log.warn({ ref, ...detail }, 'a residue of several blocks is located again: their states can be read now')
    await writeAudit(sql, { actor: 'pass', action: 'residueWithdrawn', subject: ref, detail })
    await notifyLedgerChanged(sql)
  })
}
