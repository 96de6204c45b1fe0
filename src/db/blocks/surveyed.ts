// The last block that we surveyed instead of reading block by block. Up to that block the ledger lacks transactions that moved nothing.
import type { Sql } from '../core/sql.ts'
import { readState, writeState } from '../core/state.ts'

/** The last surveyed block; -1 if the ledger was followed block by block. */
export async function readSurveyedTo(sql: Sql): Promise<number> {
  return (await readState(sql, 'surveyed_to')) ?? -1
}

/** Rewinds the surveyed block to `height`, with the ledger. Later blocks are then read or surveyed again. */
export async function rewindSurveyed(sql: Sql, height: number): Promise<void> {
  if ((await readSurveyedTo(sql)) > height) await noteSurveyed(sql, height)
}

/** Records the last surveyed block, in the transaction that stores the range. */
export async function noteSurveyed(sql: Sql, block: number): Promise<void> {
  await writeState(sql, 'surveyed_to', block)
}
