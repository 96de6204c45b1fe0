// Lists of wallets: their limits, and the places of a proof in a tree of any size.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ALLOCATION_MAX,
  ENTRIES_MAX,
  NODE_BYTES,
  nodeCount,
  POSTED_ENTRIES_MAX,
  proofPlaces,
} from '../../../src/domain/payers/allowlists.ts'

test('a list’s limits match the database, the body’s size and the measurement', () => {
  assert.deepEqual([ALLOCATION_MAX, ENTRIES_MAX, POSTED_ENTRIES_MAX, NODE_BYTES], [2_147_483_647, 1_000_000, 300, 32])
})

test('a node is proven by the sibling of each node on its way to the root', () => {
  const childrenOf = (parent: number): [number, number] => [2 * parent + 1, 2 * parent + 2]
  for (let place = 0; place < nodeCount(50); place++) {
    const places: number[] = []
    for (let at = place; at !== 0; ) {
      const parent =
        Array.from({ length: 99 }, (_, one) => one).find((one) => childrenOf(one).includes(at)) ?? assert.fail()
      const [left, right] = childrenOf(parent)
      places.push(at === left ? right : left)
      at = parent
    }
    assert.deepEqual(proofPlaces(place), places, `node ${place}`)
  }
  assert.deepEqual([1, 2, 50].map(nodeCount), [1, 3, 99])
})
