// Traces residues again that we could not explain when we found them, because by now a provider may have the trace. If a residue is undecided, its
// inner transfers replace it, in one transaction. If the operator has decided on it, the inner transfers are only recorded with it.
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import {
  lockResidue,
  noteFailedTrace,
  noteResidueTrace,
  noteShown,
  readResiduesToTrace,
  replaceResidue,
  type TraceableResidue,
} from '../db/payments/traces.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import type { ChainRead, LedgerDb, Logging, RunLimits } from '../ports/contexts.ts'
import { cannotBuy, FAILURES_MAX, storeTraced, traceFor, weighTrace } from './explain.ts'

type RetraceContext = LedgerDb & ChainRead & Logging

/** The most residues that one run traces again. Residues from new blocks come first. */
const RETRACED_MAX = 50

/** Traces the residues that are due. Takes one statement if there are none. */
export async function retraceResidues(ctx: RetraceContext, cursor: Cursor, run: RunLimits): Promise<void> {
  const waiting = await readResiduesToTrace(ctx.pool, RETRACED_MAX)
  if (waiting.length === 0) return
  const versions = await readTierVersions(ctx.pool)
  let failures = 0
  for (const residue of waiting) {
    if (run.outOfTime() || failures >= FAILURES_MAX) return
    await noteResidueTrace(ctx.pool, residue.ref)
    if (cannotBuy(versions, residue)) continue
    failures = (await retrace(ctx, cursor, residue)) ? 0 : failures + 1
  }
}

/** @returns whether we believed the trace. */
async function retrace(ctx: RetraceContext, cursor: Cursor, residue: TraceableResidue): Promise<boolean> {
  const transfers = await traceFor(ctx, residue.block, residue.wallet)
  if (transfers === null) return false
  return await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false
    // False if, in the meantime, it was decided or partly attributed, or its block was reorganised out.
    if (!(await lockResidue(sql, residue))) return false
    const trace = await weighTrace(sql, residue, transfers)
    if (trace.contradicts || (residue.decided && trace.isProven))
      await noteShown(sql, residue.ref, trace.shownTransfers)
    if (!trace.isProven) await noteFailedTrace(sql)
    else if (!residue.decided) await replace(ctx, sql, residue, await storeTraced(ctx, sql, trace))
    return trace.isProven
  })
}

async function replace(ctx: Logging, sql: Sql, residue: TraceableResidue, payments: number): Promise<void> {
  await replaceResidue(sql, residue)
  const { ref, wallet, residueWei, block } = residue
  const isOutgoing = residueWei < 0n
  const detail = {
    wallet,
    valueWei: (isOutgoing ? -residueWei : residueWei).toString(),
    left: isOutgoing,
    payments,
    blockNumber: block.number,
  }
  ctx.log.info({ ref, ...detail }, 'a trace has explained a residue')
  await writeAudit(sql, { actor: 'pass', action: 'residueExplained', subject: ref, detail })
  await notifyLedgerChanged(sql)
}
