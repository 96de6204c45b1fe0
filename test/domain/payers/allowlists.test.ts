// Lists of wallets: their limits, and the size of their trees.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ALLOCATION_MAX,
  ENTRIES_MAX,
  NODE_BYTES,
  nodeCount,
  POSTED_ENTRIES_MAX,
} from '../../../src/domain/payers/allowlists.ts'

test('a list’s limits match the database, the body’s size and the measurement', () => {
  assert.deepEqual([1, 2, 50].map(nodeCount), [1, 3, 99])
  assert.deepEqual([ALLOCATION_MAX, ENTRIES_MAX, POSTED_ENTRIES_MAX, NODE_BYTES], [2_147_483_647, 1_000_000, 300, 32])
})
