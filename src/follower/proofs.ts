// Finds out at the first start whether this chain's blocks can be proven, and reports answers that fail their proof. No answer of a provider changes
// the ledger's mode afterwards.

import { readMode, setFirstMode } from '../db/blocks/evidence.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { noteTrouble } from '../db/core/troubles.ts'
import type { EvidenceMode, FailedProof } from '../domain/observed.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault, ProofFault } from '../ports/faults.ts'
import { raiseAlarm } from './alarm.ts'
import { HaltFault, ledgerChainId } from './halt.ts'

/**
 * Requires proofs if the ledger's mode requires it. The first run finds the mode. Call it before reading anything.
 * @throws a ChainFault if the providers do not show what their blocks prove.
 */
export async function requireProofs(ctx: LedgerDb & ChainRead & RuledBy<FollowRules>): Promise<void> {
  const mode = (await readMode(ctx.pool))?.mode ?? (await findFirst(ctx))
  ctx.chain.proofs.require(mode, await ledgerChainId(ctx))
}

async function findFirst({ pool, chain, rules }: LedgerDb & ChainRead & RuledBy<FollowRules>): Promise<EvidenceMode> {
  const mode = rules.mode ?? (await chain.proofs.findMode())?.mode
  if (mode === undefined) throw new ChainFault('no two providers of RPC_URL report the same recent blocks')
  return await inTransaction(pool, (sql) => setFirstMode(sql, mode))
}

/** Reports answers that failed their proof. While they keep coming, only the first is reported; the others are only logged. */
export async function tellFailedProofs(ctx: Logging, sql: Sql, failures: readonly FailedProof[]): Promise<void> {
  for (const { blockNumber, ...detail } of failures) {
    const says = 'a provider’s answer failed its proof and was rejected'
    if (await noteTrouble(sql, 'proof'))
      await raiseAlarm(ctx, sql, { action: 'proofFailed', subject: String(blockNumber), detail, says })
    else ctx.log.warn({ blockNumber, ...detail }, says)
  }
}

/** Reports a fault if it is a false answer that no other provider's replaced. */
export async function tellFault(ctx: LedgerDb & Logging, fault: unknown): Promise<void> {
  if (fault instanceof ProofFault && fault.isFalse)
    await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, [fault.failedBy(null)]))
}

/** The fault with which to end a run: a halt if each provider's answer about a block is false. */
export async function unprovenHalt(ctx: LedgerDb & Logging, fault: unknown): Promise<unknown> {
  if (!(fault instanceof ProofFault) || !fault.isFalse) return fault
  await tellFault(ctx, fault)
  const { part, blockNumber, says } = fault
  return new HaltFault('unproven', { part, blockNumber, says }, { confirmed: false })
}
