// The outbox: a transaction settles an intent of its own sender.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertIntent, isLapsed, readPending, recordMined, rewindOutbox } from '../../src/db/sends/outbox.ts'
import { address, hash, wei } from '../../src/domain/units.ts'
import { openDatabase } from '../support/postgres.ts'

const MINTER = address(`0x${'a1'.repeat(20)}`)
const DISTRIBUTOR = address(`0x${'a2'.repeat(20)}`)
const word = (n: number) => hash(`0x${n.toString(16).padStart(64, '0')}`)

test('a transaction settles its sender’s intent, and no other sender’s with the same nonce', async () => {
  await using database = await openDatabase()
  const { pool } = database
  for (const [sender, txHash] of [
    [MINTER, word(1)],
    [DISTRIBUTOR, word(2)],
  ] as const) {
    const intent = {
      kind: 'mint' as const,
      sender,
      nonce: 7,
      call: {},
      gasLimit: 1n,
      guardBlock: null,
      validUntil: 900,
    }
    const fees = { maxFeeWei: 1n, maxPriorityFeeWei: 1n }
    await insertIntent(pool, intent, { txHash, raw: '0x00', ...fees, signedAtBlock: 1 })
  }
  const place = { blockNumber: 2, blockHash: word(9), blockTime: 3, txIndex: 0, gasUsed: 1n, feeWei: wei(1n) }
  const mined = { sender: MINTER, nonce: 7, txHash: word(1), succeeded: true, valueWei: wei(0n), to: null, ...place }
  const { settled, foreign } = await recordMined(pool, [mined], [MINTER, DISTRIBUTOR])
  assert.deepEqual([settled.map((intent) => intent.state), foreign], [['mined'], []])
  assert.deepEqual(
    (await readPending(pool, DISTRIBUTOR)).map((intent) => intent.txHash),
    [word(2)],
  )
  // We store and delete the block's time with it, whichever code writes the row.
  await pool`INSERT INTO blocks (number, hash, parent_hash, time, prevrandao) VALUES (5, ${word(5)}, ${word(4)}, 1000, ${word(6)})`
  const timeOf = async () => (await pool`SELECT block_time AS time FROM outbox WHERE sender = ${DISTRIBUTOR}`)[0]?.time
  await pool`UPDATE outbox SET state = 'mined', block_number = 5, block_hash = ${word(5)}, tx_hash = ${word(2)} WHERE sender = ${DISTRIBUTOR}`
  assert.deepEqual(await timeOf(), new Date(1_000_000))
  await rewindOutbox(pool, 4)
  assert.equal(await timeOf(), null)
})

test('an intent is useless once its time is over, or if its guard may be out of sight', () => {
  const intent = { guardBlock: 100, validUntil: 5_000 }
  assert.equal(isLapsed(intent, { number: 355, time: 5_000 }), false)
  assert.equal(isLapsed(intent, { number: 101, time: 5_001 }), true)
  assert.equal(isLapsed(intent, { number: 356, time: 4_000 }), true)
  assert.equal(isLapsed({ ...intent, guardBlock: null }, { number: 9_999, time: 5_000 }), false)
})
