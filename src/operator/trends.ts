// The trends of the business, hour by hour or day by day: sales, held payments, gas.
import { readTrends, type TrendBin } from '../db/reads/trends.ts'
import type { Fields, OperatorRefusal, ReplicaDb, SignerAddresses } from './act.ts'
import { readFields } from './input.ts'

/** The ranges, in hours. */
const RANGES = { '24h': 24, '7d': 168, '30d': 720, '90d': 2_160 } as const
type Range = keyof typeof RANGES
const RANGE_NAMES = Object.keys(RANGES) as Range[]
/** Bars that can still be told apart: a week of hours. */
const HOURS_BY_HOUR = 168

export interface Trends {
  range: Range
  by: 'hour' | 'day'
  bins: TrendBin[]
}

/** GET trends with `range` (24h) and `by` (hour up to a week, else day). */
export async function showTrends(deps: ReplicaDb & SignerAddresses, input: Fields): Promise<Trends | OperatorRefusal> {
  const fields = readFields(input)
  const range = fields.wordOrNull('range', RANGE_NAMES) ?? '24h'
  const hours = RANGES[range]
  const by = fields.wordOrNull('by', ['hour', 'day'] as const) ?? (hours > HOURS_BY_HOUR ? 'day' : 'hour')
  if (fields.refusal) return fields.refusal
  return { range, by, bins: await readTrends(deps.readPool, { hours, by, signers: deps.signers }) }
}
