// Checks a call's guard with every provider before we sign the call. If the chain does not have the guard's block, the call only burns gas. That
// happens if the ledger follows a provider that lies or is on another fork. This file cannot send.

import { inTransaction } from '../../db/core/sql.ts'
import { readFinding, writeFinding } from '../../db/core/troubles.ts'
import { readStandingGuard, type StandingGuard } from '../../db/sends/outbox.ts'
import { VOICES } from '../../domain/finality.ts'
import { raiseAlarm } from '../../follower/alarm.ts'
import { blocksAt } from '../../follower/followed-finality.ts'
import { hostsElsewhere } from '../../follower/histories.ts'
import { tellFailedProofs } from '../../follower/proofs.ts'
import type { ChainRead, LedgerDb, Logging, Run } from '../../ports/contexts.ts'
import type { FactoryCall, SignerAccount } from '../../ports/sending.ts'

type Asked = Pick<SignerAccount, 'address' | 'guardsAt'>

/** Why a call's guard may be wrong, so that we must not sign the call; null if we may. `follower/histories.ts` reports histories that differ. */
export async function refuseGuard(
  ctx: LedgerDb & ChainRead & Logging,
  { sender, run }: { sender: Asked; run: Pick<Run, 'agreed'> },
  call: FactoryCall,
): Promise<string | null> {
  const difference = run.agreed && `the providers’ histories differ above block ${run.agreed.number}`
  if (call.kind === 'openCohorts') return difference
  if (call.guard === null) return null
  const { number, hash } = call.guard
  if (run.agreed && number > run.agreed.number) return difference
  const answers = await blocksAt(ctx.chain, number)
  // A header that is not that of its hash is no answer, so it stops no sale.
  const failedProofs = answers.flatMap(({ host, fault }) => fault?.failedBy(host) ?? [])
  if (failedProofs.length > 0) await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, failedProofs))
  const namedCount = answers.filter(({ block }) => block?.hash === hash).length
  const others = answers.filter(({ block }) => block && block.hash !== hash)
  const elsewhere = await hostsElsewhere(ctx, others)
  if (namedCount < VOICES && others.length > elsewhere.length) return `the providers do not agree on block ${number}`
  if (namedCount === 0) return `no provider shows block ${number}`
  const refusedGuard = await readRefused(ctx, sender)
  if (!refusedGuard || namedCount >= VOICES) return null
  return `the contract refused the guard on block ${refusedGuard.guardBlock}, which the ledger has: only ${namedCount} provider confirms block ${number}, and two must`
}

const refusedOf = ({ address }: Asked) => `guardRefused ${address}`

/**
 * The account's last guarded call, if it reverted although the ledger has its guard's block, and a provider shows that the contract saw another block
 * there (`StaleFork`). We report that once. Null if the call succeeded or reverted for another reason.
 */
async function readRefused(ctx: LedgerDb & Logging, sender: Asked): Promise<StandingGuard | null> {
  const standing = await readStandingGuard(ctx.pool, sender.address)
  if (!standing) return null
  const { outboxId, guardBlock, guardHash, minedIn, txHash, gasUsed } = standing
  const finding = await readFinding<{ outboxId: number }>(ctx.pool, refusedOf(sender))
  if (finding?.outboxId === outboxId) return standing
  const hashes = await sender.guardsAt(guardBlock, minedIn)
  if (hashes.every((one) => one === null || one === guardHash)) return null
  const detail = { why: 'staleFork', guardBlock, guardHash, txHash, gasUsed, feeWei: standing.feeWei.toString() }
  await inTransaction(ctx.pool, async (sql) => {
    if (!(await writeFinding(sql, refusedOf(sender), { outboxId }))) return
    const says = 'the contract refused a guard on a block that the ledger has: a provider lies'
    await raiseAlarm(ctx, sql, { level: 'error', action: 'guardRefused', subject: sender.address, detail, says })
  })
  return standing
}
