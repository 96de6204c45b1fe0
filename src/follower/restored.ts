// Detects that the ledger was restored from a backup, or started afresh on a chain with a past. Blocks then contain work of our own signer accounts
// that the outbox never stored. It can detect only what left a trace on chain. It must never undo anything.
import type { Sql } from '../db/core/sql.ts'
import { countUnjudged, raiseRecheck } from '../db/payments/recheck.ts'
import { neverStored } from '../db/sends/outbox.ts'
import type { FactoryEvent } from '../domain/observed.ts'
import type { Hash } from '../domain/units.ts'
import type { Logging } from '../passes/context.ts'
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
 * Checks what transactions that the outbox never stored did on the factory, whichever key sent them, because the key may have been replaced since. A
 * round, an opened cohort, or the mint of a payment not judged yet must be the service's own work. Then every unminted payment up to the provider's
 * head is held as `recheck`. Anything else (ether moved with the key, a node without a payment) says nothing about the ledger; nor does a transaction
 * that used the nonce of one of our intents (`displacing`). Call it before payments are marked minted. @returns whether the ledger was restored.
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
  // A node minted to a wallet other than the payer's is a thief's work, not the service's.
  const minted = theirs.flatMap((event) =>
    event.kind === 'nodeMinted' ? [{ ref: event.ref, owner: event.owner }] : [],
  )
  if (!ours && (await countUnjudged(sql, minted)) === 0) return false
  if (await raiseRecheck(sql, headBlock, 'pass')) {
    const detail = { transactions: unknown.size, recheckUpTo: headBlock }
    const says =
      'the chain holds work of this service that the ledger does not know: it was restored from a backup or started over; payments that were not minted are held until an operator has looked'
    await raiseAlarm(ctx, sql, { level: 'error', says, action: 'restored', detail })
  }
  return true
}
