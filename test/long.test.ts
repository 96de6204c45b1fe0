// The choice of long checks for a run of limited time, and the table of their last runs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatRecord, type LastRun, parseRecord } from '../scripts/long/record.ts'
import { countSlices, takeSlice } from '../scripts/long/slice.ts'

const ran = (check: string, date: string, minutes = 10): LastRun => ({
  check,
  date,
  minutes,
  commit: 'abc1234',
  result: 'passed',
})
const recordOf = (...runs: LastRun[]) => new Map(runs.map((run) => [run.check, run]))
const checks = ['a', 'b', 'c', 'd'].map((name) => ({ name, atOnce: 1 }))
const names = (taken: readonly { name: string }[]) => taken.map(({ name }) => name)

describe('a slice', () => {
  test('takes what never ran first, then what ran the longest ago', () => {
    const record = recordOf(ran('a', '2026-01-03T00:00Z'), ran('b', '2026-01-01T00:00Z'), ran('d', '2026-01-02T00:00Z'))
    assert.deepEqual(names(takeSlice(checks, record, 24)), ['c', 'b', 'd'])
  })

  test('takes what still fits where the next one does not', () => {
    const record = recordOf(...['a', 'b', 'c', 'd'].map((name, i) => ran(name, `2026-01-0${i + 1}T00:00Z`, 12 - 4 * i)))
    assert.deepEqual(names(takeSlice(checks, record, 16)), ['a', 'c', 'd'])
  })

  test('takes one check however long it is', () => {
    assert.deepEqual(names(takeSlice(checks, recordOf(), 0.1)), ['a'])
  })

  test('counts checks that run side by side for a part of their time', () => {
    const pairs = checks.map((check) => ({ ...check, atOnce: 2 }))
    const record = recordOf(...['a', 'b', 'c', 'd'].map((name) => ran(name, '2026-01-01T00:00Z')))
    assert.equal(takeSlice(pairs, record, 20).length, 4)
    assert.equal(takeSlice(checks, record, 20).length, 2)
  })

  test('says after how many of its kind every check has run', () => {
    const record = recordOf(...['a', 'b', 'c', 'd'].map((name) => ran(name, '2026-01-01T00:00Z')))
    assert.equal(countSlices(checks, record, 20), 2)
    assert.equal(countSlices(checks, record, 1), 4)
  })
})

describe('the table of last runs', () => {
  test('is read as it was written', () => {
    const record = recordOf(ran('b', '2026-01-01T00:00Z', 1.5), ran('a', '2026-01-02T00:00Z', 2))
    assert.deepEqual([...parseRecord(formatRecord(record)).values()], [...record.values()])
  })

  test('is refused where a hand has made a row of it', () => {
    const text = formatRecord(recordOf(ran('a', '2026-01-01T00:00Z')))
    assert.throws(() => parseRecord(`${text}| b | yesterday |\n`), /row that cannot be read: \| b \| yesterday \|/)
  })
})
