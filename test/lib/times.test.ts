// Times as an operator writes them, and as commands print them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inUtc, readDate, readTime, TIME_MAX, timeInWords } from '../../src/lib/times.ts'

const NOON = Date.UTC(2026, 11, 1, 12) / 1000

const READ: [given: unknown, time: number | undefined][] = [
  [0, 0],
  ['0', 0],
  [NOON, NOON],
  [String(NOON), NOON],
  [String(TIME_MAX), TIME_MAX],
  [String(TIME_MAX + 1), undefined],
  ['2026-12-01T12:00Z', NOON],
  ['2026-12-01 12:00 UTC', NOON],
  ['2026-12-01T12:00:30Z', NOON + 30],
  ['2026-12-01T14:00+02:00', NOON],
  ['2026-12-01', NOON - 43_200],
  ['2026-12-01T12:00', NOON],
  ['2026-12-01 12:00:30', NOON + 30],
  ['2026-12-01 12:00 CET', undefined],
  ['2026-12-01 12', undefined],
  ['2026-02-30', undefined],
  ['2026-13-01', undefined],
  ['1969-12-31', undefined],
  ['2026-12-01T25:00Z', undefined],
  ['in 2h', NOON + 7_200],
  ['in 2 d 21 h', NOON + 248_400],
  ['in 5m', NOON + 300],
  ['in 1h30min', NOON + 5_400],
  ['in 90 s', NOON + 90],
  ['in', undefined],
  ['in 2', undefined],
  ['in 2w', undefined],
  ['2h', undefined],
  ['-5', undefined],
  ['007', undefined],
  [1.5, undefined],
  [true, undefined],
  [null, undefined],
  [['2026-12-01', 5], undefined],
]

test('a time is unix seconds, a date, or a span from now on', () => {
  for (const [given, time] of READ) assert.equal(readTime(given, NOON), time, String(given))
  assert.equal(readTime('in 1s', NOON + 0.2), NOON + 2, 'never earlier than asked')
  assert.equal(readDate('in 2h'), undefined)
})

test('a time is shown in UTC, and how far ahead it is', () => {
  const shown = [-1, 0, 1, 40, 60, 3_599, 7_260, 86_400, 248_400, 262_740].map((ahead) =>
    timeInWords(NOON + ahead, NOON),
  )
  assert.deepEqual(shown, [
    '2026-12-01 11:59:59 UTC',
    '2026-12-01 12:00 UTC',
    '2026-12-01 12:00:01 UTC, in 1 s',
    '2026-12-01 12:00:40 UTC, in 40 s',
    '2026-12-01 12:01 UTC, in 1 min',
    '2026-12-01 12:59:59 UTC, in 59 min 59 s',
    '2026-12-01 14:01 UTC, in 2 h 1 min',
    '2026-12-02 12:00 UTC, in 1 d',
    '2026-12-04 09:00 UTC, in 2 d 21 h',
    '2026-12-04 12:59 UTC, in 3 d',
  ])
  assert.equal(timeInWords(NOON, NOON - 0.4), '2026-12-01 12:00 UTC, in 1 s')
})

test('what a command prints can be given to the next one', () => {
  for (const time of [NOON, NOON + 1, 0]) assert.equal(readTime(inUtc(time), NOON), time)
})
