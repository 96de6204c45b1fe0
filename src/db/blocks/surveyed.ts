// Up to which block parts of the ledger were surveyed in place of being read block by block: what moved nothing is not in it below.
import type { Sql } from '../core/sql.ts'
import { readState, writeState } from '../core/state.ts'

const NAME = 'surveyedTo'

/** The last surveyed block; -1 where the ledger was followed block by block. */
export async function readSurveyedTo(sql: Sql): Promise<number> {
  return ((await readState(sql, NAME)) as { block: number } | null)?.block ?? -1
}

/** Takes it back to `height`, with the ledger: blocks above are read anew, or surveyed. */
export async function rewindSurveyed(sql: Sql, height: number): Promise<void> {
  if ((await readSurveyedTo(sql)) > height) await noteSurveyed(sql, height)
}

/** Notes it, with the range that is being stored. */
export async function noteSurveyed(sql: Sql, block: number): Promise<void> {
  await writeState(sql, NAME, { block }, 'pass')
}
