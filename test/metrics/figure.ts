// One figure of the metrics, as the database has it.
import type { Sql } from '../../src/db/core/sql.ts'
import { readFigures } from '../../src/db/reads/metrics.ts'
import type { Address } from '../../src/domain/units.ts'

/** Reads the figure with exactly these labels; undefined if it has no value. `senders`: the signer accounts by role. */
export async function readFigure(
  sql: Sql,
  name: string,
  labels: Readonly<Record<string, string>> = {},
  senders: Readonly<Record<string, Address>> = {},
): Promise<number | bigint | undefined> {
  const samples = await readFigures(sql, senders)
  const found = samples.find(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels?.[label] === value),
  )
  return found?.value ?? undefined
}
