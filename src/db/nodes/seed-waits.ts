// Turns that wait for a seed that something backs, and how far old headers are linked to the followed ones.
import type { Block } from '../../domain/observed.ts'
import type { Sql } from '../core/sql.ts'
import { readState, writeState } from '../core/state.ts'

/** The earliest turn that waits for its seed, in unix seconds, and why. */
export interface SeedWait {
  due: number
  says: string
}

/** The earliest turn that the last planned round left out because nothing backs its seed; null if it is paid by now, or there was none. */
export async function readSeedWait(sql: Sql): Promise<SeedWait | null> {
  const [row] = await sql<SeedWait[]>`
    SELECT seed_wait_due AS due, seed_wait_says AS says FROM ledger_state
    WHERE EXISTS (SELECT FROM cohorts WHERE size > 0 AND next_due <= seed_wait_due)`
  return row ?? null
}

/** Records what `readSeedWait` returns. */
export async function writeSeedWait(sql: Sql, wait: SeedWait | null): Promise<void> {
  const [due, says] = [wait?.due ?? null, wait?.says ?? null]
  await sql`
    UPDATE ledger_state SET seed_wait_due = ${due}, seed_wait_says = ${says}
    WHERE (seed_wait_due, seed_wait_says) IS DISTINCT FROM (${due}::bigint, ${says}::text)`
}

/** The lowest header from which followed blocks are known to descend; null if we have linked none. */
export const readLinked = (sql: Sql): Promise<Block | null> => readState(sql, 'linked_header')

/** Records what `readLinked` returns. */
export async function writeLinked(sql: Sql, block: Block): Promise<void> {
  await writeState(sql, 'linked_header', block)
}
