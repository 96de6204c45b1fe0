import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizationsHeld } from '../../src/domain/nonces.ts'
import type { Authorization, NonceUse } from '../../src/domain/observed.ts'
import { address, hash, wei } from '../../src/domain/units.ts'

const OURS = address(`0x${'11'.repeat(20)}`)
const OTHER = address(`0x${'22'.repeat(20)}`)
const TX = hash(`0x${'ab'.repeat(32)}`)

const at = (blockNumber: number, txIndex: number) => ({ blockNumber, txIndex, blockHash: TX, blockTime: 1, txHash: TX })
const authorized = (nonce: number, blockNumber = 1, txIndex = 0, sender = OURS): Authorization => ({
  ...at(blockNumber, txIndex),
  sender,
  nonce,
})
const sent = (nonce: number, blockNumber = 1, txIndex = 0): NonceUse => ({
  ...at(blockNumber, txIndex),
  sender: OURS,
  nonce,
  succeeded: true,
  gasUsed: 21_000n,
  feeWei: wei(1n),
  to: OTHER,
  valueWei: wei(0n),
})
const held = (...args: Parameters<typeof authorizationsHeld>) => authorizationsHeld(...args).map(({ nonce }) => nonce)
const next = new Map([[OURS, 7]])

test('an authorization counts with its account’s next nonce only, one by one in chain order', () => {
  assert.deepEqual(held(next, [], [authorized(7)]), [7])
  assert.deepEqual(held(next, [], [authorized(6), authorized(8)]), [])
  assert.deepEqual(held(next, [], [authorized(7), authorized(7), authorized(8)]), [7, 8])
  assert.deepEqual(held(next, [], [authorized(8, 2), authorized(7, 1)]), [7, 8])
  assert.deepEqual(held(next, [], [authorized(8, 1, 3), authorized(7, 1, 2)]), [7, 8])
})

test('a transaction uses its own nonce before the authorizations that it carries use theirs', () => {
  assert.deepEqual(held(next, [sent(7)], [authorized(7)]), [])
  assert.deepEqual(held(next, [sent(7)], [authorized(8)]), [8])
  assert.deepEqual(
    held(next, [sent(7, 1, 5)], [authorized(7, 1, 4)]),
    [7],
    'a later transaction says the chain had it so',
  )
})

test('an authorization counts only with a nonce, and then moves and costs nothing', () => {
  assert.deepEqual(held(next, [], [authorized(0, 1, 0, OTHER)]), [])
  const unknown = new Map<never, never>()
  assert.deepEqual(held(unknown, [sent(7, 1)], [authorized(8, 2), authorized(10, 3)]), [8], 'its transaction says it')
  const [use] = authorizationsHeld(next, [], [authorized(7)])
  assert.deepEqual(use, { ...authorized(7), succeeded: true, gasUsed: 0n, feeWei: 0n, to: null, valueWei: 0n })
})
