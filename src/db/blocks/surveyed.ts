// Up to which block the ledger was surveyed instead of read block by block. Below that block it lacks what moved nothing.
import type { Sql } from '../core/sql.ts'
import { readState, writeState } from '../core/state.ts'

const NAME = 'surveyedTo'

/** The last surveyed block; -1 if the ledger was followed block by block. */
export async function readSurveyedTo(sql: Sql): Promise<number> {
  return ((await readState(sql, NAME)) as { block: number } | null)?.block ?? -1
}

/** Rewinds it to `height`, with the ledger. Blocks above are read again, or surveyed. */
export async function rewindSurveyed(sql: Sql, height: number): Promise<void> {
  if ((await readSurveyedTo(sql)) > height) await noteSurveyed(sql, height)
}

/** Records it, with the range that is being stored. */
export async function noteSurveyed(sql: Sql, block: number): Promise<void> {
  await writeState(sql, NAME, { block }, 'pass')
}
