// Detects that the ledger was restored from a backup, or started afresh on a chain with a past. Blocks then contain work of our own signer accounts
// that the outbox never stored. If there is no such work on chain, we cannot detect a restore. It must never undo anything.
import type { Sql } from '../db/core/sql.ts'
import { countUnexplained, raiseRecheck } from '../db/payments/recheck.ts'
import { neverStored } from '../db/sends/outbox.ts'
import type { FactoryEvent } from '../domain/observed.ts'
import type { Hash } from '../domain/units.ts'
import type { Logging } from '../ports/contexts.ts'
import { raiseAlarm } from './alarm.ts'

/** Events that only the minter and the distributor can cause. */
const WORK: ReadonlySet<FactoryEvent['kind']> = new Set(['credited', 'turnsSkipped', 'cohortOpened', 'nodeMinted'])

/** What happened on the factory in a range of blocks. */
interface FollowedWork {
  events: readonly FactoryEvent[]
  /** Transactions that used the nonce of one of our intents. */
  displacing: ReadonlySet<Hash>
  /** The provider's head. */
  headBlock: number
}

/**
 * Looks for transactions on the factory that the outbox never stored, whichever key sent them, because the key may have been replaced since. If one
 * paid a round, opened a cohort, or minted a payment that is not judged yet or matches no price, it must be the service's own work, so the ledger was
 * restored. We then hold every unminted payment up to the provider's head as `recheck`. Other transactions show no restore: ether moved with the key, a
 * node without a payment, or a transaction that used the nonce of one of our intents (`displacing`). Call it before payments are marked minted.
 * @returns whether the ledger was restored.
 */
export async function noteRestore(
  ctx: Logging,
  sql: Sql,
  { displacing, events, headBlock }: FollowedWork,
): Promise<boolean> {
  const work = events.filter(({ kind, txHash }) => WORK.has(kind) && !displacing.has(txHash))
  const unknown = new Set(await neverStored(sql, [...new Set(work.map(({ txHash }) => txHash))]))
  if (unknown.size === 0) return false
  const theirs = work.filter((event) => unknown.has(event.txHash))
  const ours = theirs.some((event) => event.kind !== 'nodeMinted')
  // If the node went to a wallet that is not the payer's, a thief minted it.
  const mints = theirs.flatMap((event) => (event.kind === 'nodeMinted' ? [{ ref: event.ref, owner: event.owner }] : []))
  if (!ours && (await countUnexplained(sql, mints)) === 0) return false
  if (await raiseRecheck(sql, headBlock)) {
    const detail = { transactions: unknown.size, recheckUpTo: headBlock }
    const says =
      'the chain has work of this service that the ledger lacks, so the ledger was restored from a backup or started over; unminted payments are held until an operator has checked them'
    await raiseAlarm(ctx, sql, { level: 'error', says, action: 'restored', detail })
  }
  return true
}
