// Bounded doing: never more at once than named, nobody forgotten, failures thrown.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLane, mapBounded } from '../../src/chain/parallel.ts'

const never = new AbortController().signal
const soon = () => new Promise((resolve) => setTimeout(resolve, 2))

test('a lane lets in so many, makes so many wait, and turns the rest away', async () => {
  const lane = createLane(2, 1)
  const leave = [await lane.enter(never), await lane.enter(never)]
  const third = lane.enter(never)
  await assert.rejects(lane.enter(never), RangeError)
  leave[0]?.()
  // Leaving twice must not let a further one in.
  leave[0]?.()
  const leaveThird = await third
  const fourth = lane.enter(never)
  let inside = false
  void fourth.then(() => {
    inside = true
  })
  await soon()
  assert.equal(inside, false)
  leaveThird()
  ;(await fourth)()
})

test('who gives up waiting leaves the queue to those behind', async () => {
  const lane = createLane(1, 5)
  const leave = await lane.enter(never)
  const impatient = new AbortController()
  const gone = lane.enter(impatient.signal)
  const patient = lane.enter(never)
  impatient.abort(new Error('enough'))
  await assert.rejects(gone, /enough/)
  leave()
  ;(await patient)()
  await assert.rejects(lane.enter(impatient.signal), /enough/)
  ;(await lane.enter(never))()
})

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
