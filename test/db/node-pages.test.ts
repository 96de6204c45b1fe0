// Pages of several nodes in one statement: each equals the answer of a separate statement.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pool } from '../../src/db/core/sql.ts'
import { type AskedNode, NODES_AT_ONCE, readNode, readNodes } from '../../src/db/reads/public-api.ts'
import { insertSmallLedger } from '../support/http-ledger.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
  await insertSmallLedger(pool)
})
after(() => database.close())

/** Nodes by either id, a missing one, one that no ledger can have; with their own limits, and one of them twice. */
const ASKED: AskedNode[] = [
  { id: 2n, limit: 50 },
  { id: 999n, limit: 50 },
  { id: 1n, limit: 1 },
  { id: 2n ** 63n, limit: 50 },
  { id: 1_000_000_001n, limit: 200 },
  { id: 2n, limit: 50 },
  { id: 1n, limit: 50 },
  { id: 1_000_000_002n, limit: 1 },
]

test('pages that are read together are those that are read one by one, in any number that the service asks for', async () => {
  const alone = await Promise.all(ASKED.map(({ id, limit }) => readNode(pool, id, limit)))
  assert.deepEqual(
    alone.map((page) => page?.nodeId),
    ['2', undefined, '1', undefined, '1', '2', '1', '2'],
  )
  assert.notEqual(alone[2]?.credits, alone[6]?.credits)
  for (const count of NODES_AT_ONCE) {
    for (let from = 0; from + count <= ASKED.length; from++) {
      const together = await readNodes(pool, ASKED.slice(from, from + count))
      assert.deepEqual(together, alone.slice(from, from + count), `${count} from ${from}`)
    }
  }
})

test('a number of nodes for which nothing is prepared is refused', async () => {
  await assert.rejects(readNodes(pool, ASKED.slice(0, 3)), RangeError)
})
