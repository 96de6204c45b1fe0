// Keys of requests that may come twice: who runs the act, and what the others are told.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { finishKey, freeKey, takeKey } from '../../src/db/core/idempotency.ts'
import type { Pool } from '../../src/db/core/sql.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
})
after(() => database.close())

const begunBefore = (key: string, seconds: number) =>
  pool`UPDATE idempotency_keys SET started_at = now() - make_interval(secs => ${seconds}) WHERE key = ${key}`
const kind = async (key: string, { actor = 'ann', digest = 'd' } = {}) => (await takeKey(pool, actor, key, digest)).kind

test('an act that did not finish may run again after a minute; one that did never does', async () => {
  assert.deepEqual([await kind('cut'), await kind('cut')], ['ours', 'underWay'])
  await begunBefore('cut', 55)
  assert.equal(await kind('cut'), 'underWay')
  await begunBefore('cut', 61)
  assert.equal(await kind('cut', { digest: 'another' }), 'otherRequest')
  assert.equal(await kind('cut'), 'ours')
  await finishKey(pool, 'ann', 'cut', '{"done":1}')
  for (const seconds of [0, 61, 86_400]) {
    await begunBefore('cut', seconds)
    assert.deepEqual(await takeKey(pool, 'ann', 'cut', 'd'), { kind: 'answered', answer: '{"done":1}' })
    assert.equal(await kind('cut', { digest: 'another' }), 'otherRequest')
  }
})

test('a key is its caller’s own, is free once its act was refused, and is forgotten after two days', async () => {
  assert.deepEqual([await kind('k'), await kind('k', { actor: 'bob' })], ['ours', 'ours'])
  await freeKey(pool, 'ann', 'k')
  assert.deepEqual([await kind('k'), await kind('k', { actor: 'bob' })], ['ours', 'underWay'])
  await finishKey(pool, 'ann', 'k', '1')
  await freeKey(pool, 'ann', 'k')
  assert.equal(await kind('k'), 'answered', 'what is answered is not freed')
  await begunBefore('k', 48 * 3_600 + 60)
  assert.equal(await kind('k'), 'ours')
})
