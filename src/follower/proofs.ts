// Keeps what this chain's headers prove, and decides what follows if one of them does not: it is a bad answer, another provider is asked, and it is
// told. Only two providers that agree, or a person, lower what is asked for. What it must never do is to take one provider's word for either.
import type { ChainFault, ProofFault } from '../chain/faults.ts'
import { isAskedFor, lowerProof, noteProven } from '../db/blocks/proofs.ts'
import { inTransaction, type Pool, type Sql } from '../db/core/sql.ts'
import { noteTrouble } from '../db/core/troubles.ts'
import type { Block, FailedProof } from '../domain/observed.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { raiseAlarm } from './alarm.ts'
import { HaltFault } from './halt.ts'

/** Providers are asked again after this, while headers are not asked for: a call each. */
const LOOK_MS = 600_000
/** The block that they are asked for is so far behind the head: all of them have it. */
const BEHIND_HEAD = 4

/** When each ledger's providers were asked last, by `performance.now()`. */
const lookedAt = new WeakMap<Pool, number>()

/** Has headers be asked for as the ledger says. To be called before anything is read. @returns whether they are. */
export async function askForProofs({ pool, chain }: LedgerDb & ChainRead): Promise<boolean> {
  const isAsked = await isAskedFor(pool, 'header')
  chain.headers.askFor(isAsked)
  return isAsked
}

/**
 * Has headers be asked for from now on, if the providers show that they recompute. Not on the embedded chain, whose blocks before its last start
 * have other hashes.
 */
export async function learnProofs(
  { pool, chain, rules }: LedgerDb & ChainRead & RuledBy<FollowRules>,
  head: Block,
): Promise<void> {
  if (rules.rewindsToShorterChain || performance.now() - (lookedAt.get(pool) ?? -LOOK_MS) < LOOK_MS) return
  lookedAt.set(pool, performance.now())
  const number = Math.max(0, head.number - BEHIND_HEAD)
  if (!(await chain.headers.isProven(number))) return
  await inTransaction(pool, (sql) => noteProven(sql, 'header', number))
  chain.headers.askFor(true)
}

/** Tells people of answers that were not accepted, once for as long as they come. */
export async function tellFailedProofs(ctx: Logging, sql: Sql, failed: readonly FailedProof[]): Promise<void> {
  for (const { blockNumber, ...detail } of failed) {
    const says = 'an answer of a provider does not prove what this chain proves: it was not accepted'
    if (await noteTrouble(sql, 'proof'))
      await raiseAlarm(ctx, sql, { action: 'proofFailed', subject: String(blockNumber), detail, says })
    else ctx.log.warn({ blockNumber, ...detail }, says)
  }
}

/**
 * What follows if no provider's answer proves a block: the part is lowered if two of them give the same one, as after a fork that this version
 * does not know. Else nothing is followed. @returns the fault to end the run with; null if the run may be tried again.
 */
export async function lowerOrHalt(ctx: LedgerDb & ChainRead & Logging, fault: ProofFault): Promise<ChainFault | null> {
  const { blockNumber, says } = fault
  const failed: FailedProof = { part: 'header', blockNumber, host: null, says }
  await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, [failed]))
  // What failed may have been read for what the ledger said before.
  if (!(await isAskedFor(ctx.pool, 'header'))) return null
  if (!(await ctx.chain.headers.isUnprovable(blockNumber)))
    return new HaltFault('unproven', { blockNumber, says }, { confirmed: false })
  await inTransaction(ctx.pool, (sql) => lowerProof(sql, 'header', { blockNumber, by: 'pass' }))
  ctx.log.warn(
    { blockNumber },
    'two providers give the same header, and it does not recompute: headers are believed from now on',
  )
  return null
}
