// Keeps what this chain's blocks prove, and decides what to do if one of them does not: that is a bad answer, we ask another provider, and report it.
// Only two providers that agree, or a person, lower what we require. It must never take one provider's word in either direction.
import type { ChainFault, ProofFault } from '../chain/faults.ts'
import { isDoubted, lowerProof, noteProven, readProofStates } from '../db/blocks/proofs.ts'
import { inTransaction, type Pool, type Sql } from '../db/core/sql.ts'
import { noteTrouble } from '../db/core/troubles.ts'
import {
  BEHIND_HEAD,
  type Block,
  type FailedProof,
  LEARNT,
  type ProofStates,
  type ProvenPart,
} from '../domain/observed.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { raiseAlarm } from './alarm.ts'
import { HaltFault } from './halt.ts'

/** How often we ask providers again while we do not require a part: one call each, and for lists one per block. */
const LOOK_MS = 600_000

/** When we last asked each ledger's providers, by `performance.now()`. */
const lookedAt = new WeakMap<Pool, number>()

/** Requires parts as the ledger says. Call it before anything is read. @returns what the ledger says. */
export async function askForProofs({ pool, chain }: LedgerDb & ChainRead): Promise<ProofStates> {
  const states = await readProofStates(pool)
  chain.proofs.askFor(states, await isDoubted(pool))
  return states
}

/**
 * Requires headers, and then lists of transactions and receipts, from now on, if the providers show that they recompute. Not on the embedded chain,
 * whose blocks before its last start have other hashes.
 */
export async function learnProofs(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules>,
  states: ProofStates,
  head: Block,
): Promise<void> {
  const { pool, chain, rules } = ctx
  const missing: ProvenPart[] = LEARNT.filter((part) => states.get(part) !== 'askedFor')
  // A proof of an account is compared whenever a provider gives one, unless that was lowered.
  if (states.get('state') === 'lowered') missing.push('state')
  if (missing.length === 0 || rules.rewindsToShorterChain) return
  if (performance.now() - (lookedAt.get(pool) ?? -LOOK_MS) < LOOK_MS) return
  lookedAt.set(pool, performance.now())
  for (const part of missing) {
    const number = await chain.proofs.newestProof(part, Math.max(0, head.number - BEHIND_HEAD))
    if (typeof number !== 'number') return
    await inTransaction(pool, (sql) => noteProven(sql, part, number))
    chain.proofs.askFor(await readProofStates(pool), await isDoubted(pool))
  }
}

/** Reports answers that we did not accept, once for as long as they come. */
export async function tellFailedProofs(ctx: Logging, sql: Sql, failed: readonly FailedProof[]): Promise<void> {
  for (const { blockNumber, ...detail } of failed) {
    const says = 'an answer of a provider does not prove what this chain proves: it was not accepted'
    if (await noteTrouble(sql, 'proof'))
      await raiseAlarm(ctx, sql, { action: 'proofFailed', subject: String(blockNumber), detail, says })
    else ctx.log.warn({ blockNumber, ...detail }, says)
  }
}

/**
 * What to do if no provider's answer proves a block: lower the part if two of them give the same one, for example after a fork that this version does
 * not know. Otherwise follow nothing. @returns the fault to end the run with; null if the run may try again.
 */
export async function lowerOrHalt(ctx: LedgerDb & ChainRead & Logging, fault: ProofFault): Promise<ChainFault | null> {
  const { part, blockNumber, says } = fault
  const failed: FailedProof = { part, blockNumber, host: null, says }
  await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, [failed]))
  // The failed answer may be from before the ledger lowered the part.
  if ((await readProofStates(ctx.pool)).get(part) === 'lowered') return null
  if (!(await ctx.chain.proofs.isUnprovable(part, blockNumber)))
    return new HaltFault('unproven', { part, blockNumber, says }, { confirmed: false })
  await inTransaction(ctx.pool, (sql) => lowerProof(sql, part, { blockNumber, by: 'pass' }))
  ctx.log.warn(
    { part, blockNumber },
    'two providers give the same answer, and it does not recompute: this part is believed from now on',
  )
  return null
}
