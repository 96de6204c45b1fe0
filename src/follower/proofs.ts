// Records which parts of this chain's blocks can be proven, and decides what to do if a block fails its proof. We treat it as a bad answer, ask
// another provider, and report it. Only two providers that agree, or a person, can lower what we require. It must never rely on one provider, whether
// to require a proof or to give it up.
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

/**
 * How often we check again whether a part that we do not require can be proven. A check takes one call per provider; for lists, one call per provider
 * and block.
 */
const LOOK_MS = 600_000

/** When we last checked each ledger, on the clock of `performance.now()`. */
const lookedAt = new WeakMap<Pool, number>()

/** Requires proofs of the parts that the ledger has recorded as provable. Call it before reading anything. @returns the recorded states. */
export async function askForProofs({ pool, chain }: LedgerDb & ChainRead): Promise<ProofStates> {
  const states = await readProofStates(pool)
  chain.proofs.askFor(states, await isDoubted(pool))
  return states
}

/**
 * Once the providers show that headers can be proven (then the transaction lists and the receipt lists), requires these proofs from then on. The
 * embedded chain is exempt: the hashes of its blocks from before its last start differ.
 */
export async function learnProofs(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules>,
  states: ProofStates,
  head: Block,
): Promise<void> {
  const { pool, chain, rules } = ctx
  const missing: ProvenPart[] = LEARNT.filter((part) => states.get(part) !== 'askedFor')
  // We check every account proof that a provider returns, unless two providers agreed on one that fails.
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

/** Reports answers that failed their proof. While they keep coming, only the first is reported; the others are only logged. */
export async function tellFailedProofs(ctx: Logging, sql: Sql, failed: readonly FailedProof[]): Promise<void> {
  for (const { blockNumber, ...detail } of failed) {
    const says = 'a provider’s answer failed its proof and was rejected'
    if (await noteTrouble(sql, 'proof'))
      await raiseAlarm(ctx, sql, { action: 'proofFailed', subject: String(blockNumber), detail, says })
    else ctx.log.warn({ blockNumber, ...detail }, says)
  }
}

/**
 * True if the operator trusts the only provider, and lists of this chain never recomputed: neither before nor in any of the newest blocks. Lists of
 * receipts follow those of transactions.
 */
async function isWordEnough(
  { chain, rules }: ChainRead & RuledBy<FollowRules>,
  { part, blockNumber }: ProofFault,
  states: ProofStates,
): Promise<boolean> {
  if (!rules.trustsProvider || chain.providers.length !== 1 || states.has(part)) return false
  if (part === 'receipts') return states.get('transactions') === 'lowered'
  return part === 'transactions' && typeof (await chain.proofs.newestProof(part, blockNumber)) !== 'number'
}

/**
 * Decides what to do if no provider's answer proves a block. If two providers return the same answer, we stop requiring proofs of this part; perhaps
 * a fork brought blocks that this version does not know. If the operator trusts the only provider, its word suffices for lists that were never proven
 * here, such as Mantle's with deposits. Otherwise we stop following. @returns the fault with which to end the run; null if the run may try
 * again.
 */
export async function lowerOrHalt(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  fault: ProofFault,
): Promise<ChainFault | null> {
  const { part, blockNumber, says } = fault
  await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, [fault.failedBy(null)]))
  // The answer may be older than the decision to require no proof of this part, so try again.
  const states = await readProofStates(ctx.pool)
  if (states.get(part) === 'lowered') return null
  const isTrusted = await isWordEnough(ctx, fault, states)
  if (!isTrusted && !(await ctx.chain.proofs.isUnprovable(part, blockNumber)))
    return new HaltFault('unproven', { part, blockNumber, says }, { confirmed: false })
  await inTransaction(ctx.pool, (sql) => lowerProof(sql, part, { blockNumber, by: 'pass' }))
  ctx.log.warn(
    { part, blockNumber },
    `${isTrusted ? 'the only provider, which TRUST_PROVIDER trusts, gives an answer that' : 'two providers give the same answer, which'} does not match the block: from now on we believe this part without proof`,
  )
  return null
}
