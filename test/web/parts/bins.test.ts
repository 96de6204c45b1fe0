// The bars of plots: hours and days in UTC, and ranges that omit nothing they must contain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { binned, pointsIn, RANGES, rangeFor } from '../../../web/src/bins.ts'

const HOUR_MS = 3_600_000
const point = (time: string, wei: bigint) => ({ at: new Date(time), wei })
const NOW_MS = Date.parse('2026-01-31T12:00:00Z')
const points = [
  point('2026-01-01T23:59:59Z', 1n),
  point('2026-01-02T00:00:00Z', 2n),
  point('2026-01-02T23:59:59Z', 4n),
  point('2026-01-31T11:00:00Z', 8n),
]

test('amounts are put together by the hours and days of UTC, each once', () => {
  const bars = (binMs: number) => binned(points, binMs).map(({ from, wei, count }) => [from.toISOString(), wei, count])
  assert.deepEqual(bars(24 * HOUR_MS), [
    ['2026-01-01T00:00:00.000Z', 1n, 1],
    ['2026-01-02T00:00:00.000Z', 6n, 2],
    ['2026-01-31T00:00:00.000Z', 8n, 1],
  ])
  assert.deepEqual(bars(HOUR_MS)[1], ['2026-01-02T00:00:00.000Z', 2n, 1])
})

test('a plot opens with the shortest range that holds all, and a range holds what is not older', () => {
  assert.deepEqual(
    [points, points.slice(1), points.slice(3), []].map((some) => rangeFor(some, NOW_MS)),
    ['30 days', '30 days', '24 hours', '24 hours'],
  )
  assert.equal(rangeFor([point('2025-12-31T00:00:00Z', 1n)], NOW_MS), 'all')
  assert.deepEqual(
    pointsIn(points, '30 days', Date.parse('2026-02-01T00:00:00Z')).map(({ wei }) => wei),
    [4n, 8n],
  )
  assert.deepEqual(pointsIn(points, '24 hours', NOW_MS), points.slice(3))
  assert.deepEqual(pointsIn(points, 'all', NOW_MS), points)
  assert.equal(RANGES.all.backMs, null)
})
