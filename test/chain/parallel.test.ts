// Bounded parallelism: never more tasks at once than allowed, none skipped, failures thrown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapBounded } from '../../src/lib/parallel.ts'

const soon = () => new Promise((resolve) => setTimeout(resolve, 2))

test('a bounded map keeps the order, and to its bound', async () => {
  let inside = 0
  let most = 0
  const doubled = await mapBounded([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++inside)
    await soon()
    inside--
    return item * 2
  })
  assert.deepEqual(doubled, [2, 4, 6, 8, 10, 12, 14])
  assert.equal(most, 3)
})

test('the first failure of a bounded map stops it and is thrown', async () => {
  let begun = 0
  const failing = mapBounded([1, 2, 3, 4, 5, 6, 7, 8], 2, async (item) => {
    begun++
    await soon()
    if (item === 2) throw new Error('two')
  })
  await assert.rejects(failing, /two/)
  assert.ok(begun < 6, `${begun}`)
})
