// The trends of the sale, hour by hour or day by day: sales, held payments, gas.
import { readTrends, type TrendBin } from '../../../db/reads/trends.ts'
import type { ReplicaDb, SignerAddresses } from '../../act.ts'
import { defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'

/** The ranges that can be shown, in hours. */
const RANGES = { '24h': 24, '7d': 168, '30d': 720, '90d': 2_160 } as const
type Range = keyof typeof RANGES
const RANGE_NAMES = Object.keys(RANGES) as Range[]

export interface Trends {
  range: Range
  by: 'hour' | 'day'
  bins: TrendBin[]
}

export const showTrends = defineReading({
  path: 'trends',
  summary: 'sales, held payments and gas over time',
  fields: {
    range: field.orElse(field.word('how far back; by default `24h`', RANGE_NAMES), '24h' as const),
  },
  run: async ({ readPool, signers }: ReplicaDb & SignerAddresses, { range }): Promise<Trends> => {
    const hours = RANGES[range]
    const by = hours > RANGES['24h'] ? 'day' : 'hour'
    return { range, by, bins: await readTrends(readPool, { hours, by, signers }) }
  },
})
