// JSON with amounts (src/lib/json.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toJson } from '../../src/lib/json.ts'

test('a bigint becomes a decimal string at any depth', () => {
  assert.equal(
    toJson({ wei: 2n ** 256n - 1n, list: [{ left: -1n }] }),
    `{"wei":"${2n ** 256n - 1n}","list":[{"left":"-1"}]}`,
  )
})

test('everything else is written as JSON writes it', () => {
  const value = { at: new Date(0), none: null, absent: undefined, whole: 1, text: 'ü"' }
  assert.equal(toJson(value), JSON.stringify(value))
})
