// The bars of plots: hours and days in UTC, empty ones included, and ranges that omit nothing they must contain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { binsOf, pointsIn, RANGES, rangeFor, roundTop } from '../../../web/src/bins.ts'

const point = (time: string, wei: bigint) => ({ at: new Date(time), wei })
const NOW_MS = Date.parse('2026-01-31T12:00:00Z')
const points = [
  point('2026-01-01T23:59:59Z', 1n),
  point('2026-01-02T00:00:00Z', 2n),
  point('2026-01-02T23:59:59Z', 4n),
  point('2026-01-31T11:00:00Z', 8n),
]

test('amounts are grouped by the slots of a range, each once, with empty slots in place', () => {
  const amounts = (range: keyof typeof RANGES, some = points) =>
    binsOf(some, range, NOW_MS).bins.map(({ from, wei, count }) => [from.toISOString(), wei, count] as const)
  const days = amounts('all')
  assert.equal(days.length, 31)
  assert.deepEqual(
    days.filter(([, , count]) => count > 0),
    [
      ['2026-01-01T00:00:00.000Z', 1n, 1],
      ['2026-01-02T00:00:00.000Z', 6n, 2],
      ['2026-01-31T00:00:00.000Z', 8n, 1],
    ],
  )
  assert.deepEqual(amounts('24 hours').at(-2), ['2026-01-31T11:00:00.000Z', 8n, 1])
  assert.equal(amounts('24 hours').length, 25)
  // The chain's clock is ahead.
  const ahead = amounts('1 hour', [point('2026-01-31T12:03:00Z', 3n)])
  assert.deepEqual([ahead.length, ahead.at(-1)], [1, ['2026-01-31T12:03:00.000Z', 3n, 1]])
})

test('a young ledger fills its plot: the bars begin with its first point, and are narrower', () => {
  const spans = [
    point('2026-01-31T11:56:00Z', 1n),
    point('2026-01-31T11:30:00Z', 2n),
    point('2026-01-30T23:00:00Z', 3n),
  ]
    .flatMap((first) => (['1 hour', '24 hours', 'all'] as const).map((range) => binsOf([first], range, NOW_MS)))
    .map(({ stepMs, bins }) => [stepMs / 1000, bins.length])
  assert.deepEqual(spans, [
    ...[1, 2, 3].map(() => [10, 25]),
    ...[1, 2, 3].map(() => [60, 31]),
    ...[
      [120, 31],
      [1800, 27],
      [1800, 27],
    ],
  ])
})

test('a plot opens with the shortest range that holds all, and a range holds what is not older', () => {
  assert.deepEqual(
    [points, points.slice(1), points.slice(3), []].map((some) => rangeFor(some, NOW_MS)),
    ['30 days', '30 days', '1 hour', '1 hour'],
  )
  assert.equal(rangeFor([point('2025-12-31T00:00:00Z', 1n)], NOW_MS), 'all')
  assert.deepEqual(
    pointsIn(points, '30 days', Date.parse('2026-02-01T00:00:00Z')).map(({ wei }) => wei),
    [4n, 8n],
  )
  assert.deepEqual(pointsIn(points, '24 hours', NOW_MS), points.slice(3))
  assert.deepEqual(pointsIn(points, 'all', NOW_MS), points)
  assert.equal(RANGES.all, null)
})

test('the top of a scale is round, and never below the highest bar', () => {
  const tops = [0n, 1n, 2n, 3n, 5n, 6n, 10n, 11n, 499n, 501n].map(roundTop)
  assert.deepEqual(tops, [0n, 1n, 2n, 3n, 5n, 7n, 10n, 15n, 500n, 750n])
})
