// Turns that wait for a seed that something backs, and how far old headers are linked to the followed ones.
import type { Block } from '../../domain/observed.ts'
import type { Sql } from '../core/sql.ts'
import { clearState, readState, writeState } from '../core/state.ts'

/** The earliest turn that waits for its seed, in unix seconds, and why. */
export interface SeedWait {
  due: number
  says: string
}

/** The earliest turn that the last planned round left out because nothing backs its seed; null if it is paid by now, or there was none. */
export async function readSeedWait(sql: Sql): Promise<SeedWait | null> {
  const [row] = await sql<{ value: SeedWait }[]>`
    SELECT value FROM settings WHERE name = 'seedWait'
      AND EXISTS (SELECT FROM cohorts WHERE size > 0 AND next_due <= (value ->> 'due')::bigint)`
  return row?.value ?? null
}

/** Records what `readSeedWait` returns. */
export async function writeSeedWait(sql: Sql, wait: SeedWait | null): Promise<void> {
  await (wait ? writeState(sql, 'seedWait', wait, 'pass') : clearState(sql, 'seedWait'))
}

/** The lowest header from which followed blocks are known to descend; null if we have linked none. */
export const readLinked = async (sql: Sql) => (await readState(sql, 'linkedHeader')) as Block | null

/** Records what `readLinked` returns. */
export async function writeLinked(sql: Sql, block: Block): Promise<void> {
  await writeState(sql, 'linkedHeader', block, 'pass')
}
