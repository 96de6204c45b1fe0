// The reconciler's speed: all nodes within a day at the default schedule, at a bounded cost for each run. On rows
// alone, because no test chain has so many nodes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cursor, writeCursor } from '../../src/db/blocks/blocks.ts'
import type { Pool } from '../../src/db/core/sql.ts'
import { type Address, type Hash, wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { reconcileWindow } from '../../src/mending/reconcile.ts'
import type { ChainNode } from '../../src/ports/contract.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

const NODES = 200_000
const DAY_SEC = 86_400
/** The default schedule, and the wait for the next payments pass. */
const RUN_SEC = 300 + 40
const OWNER = `0x${'a1'.repeat(20)}` as Address
const hashOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Hash
const cursor: Cursor = { number: 7, hash: hashOf(7), time: 70 }

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase(3)
  pool = database.pool
  await pool.begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    await sql`INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, block_number, block_hash)
      VALUES (1, 1, 100, 1000000, ${NODES}, 1, ${hashOf(1)})`
    await sql`INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
      SELECT n, ${OWNER}, 1, '0x' || lpad(to_hex(n), 64, '0'), 0, 0, ${hashOf(1)}, now(), 1, ${hashOf(1)} FROM generate_series(1, ${NODES}::int) n`
  })
  await pool`ANALYZE`
  await writeCursor(pool, cursor)
})
after(() => database.close())

/** A contract that counts so many nodes and has the ledger's. Notes how many each call reads. */
async function startReconciler(lastNodeId: number, onNodes: () => Promise<void> = async () => {}) {
  await pool`UPDATE totals SET nodes = ${lastNodeId}`
  const asked: number[] = []
  const nodes = async (first: bigint, count: number): Promise<ChainNode[]> => {
    asked.push(count)
    await onNodes()
    const own = { owner: OWNER, creditedWei: wei(0n), balanceWei: wei(0n), withdrawnWei: wei(0n), cohort: 1 }
    const length = Math.max(0, Math.min(count, NODES - Number(first) + 1))
    return Array.from({ length }, (_, i) => ({ nodeId: first + BigInt(i), ...own }))
  }
  const contract = {
    storageRoot: async () => null,
    nodes,
    counters: async () => ({ lastNodeId: BigInt(lastNodeId), round: 0, outstandingWei: wei(0n) }),
    cohorts: async () => [
      { cohort: 1, tierNo: 1, intervalSec: 100, nextDue: 1_000_000, size: NODES, perNodeWei: wei(0n) },
    ],
  }
  const ctx = {
    pool,
    contract,
    chain: { block: async () => ({ hash: cursor.hash }) },
    history: {},
    rules: { startBlock: 1 },
    log: silentLog,
  }
  return { asked, from: (first: number) => reconcileWindow(ctx as never, cursor, first) }
}

test('two hundred thousand nodes are compared within a day, a day’s part in each run', async () => {
  const { asked, from } = await startReconciler(NODES)
  let runs = 0
  for (let next = 0; next !== 1; runs++) {
    const done = await from(next || 1)
    assert.deepEqual(done.result, { inserted: 0, drifts: [] })
    next = done.next
  }
  assert.ok((runs - 1) * RUN_SEC <= DAY_SEC, `${runs} runs`)
  assert.ok(asked.every((count) => count <= 800) && asked.length === runs, 'one step each')
})

test('of ten million nodes a run compares forty thousand, and of more no more', async () => {
  for (const nodes of [10_000_000, 100_000_000]) {
    const { asked, from } = await startReconciler(nodes)
    assert.equal((await from(1)).next, 40_001)
    assert.equal(
      asked.reduce((sum, count) => sum + count, 0),
      40_000,
    )
  }
})

test('a window counts up to the block from which another run follows, and the next begins there', async () => {
  let calls = 0
  const { from } = await startReconciler(10_000_000, async () => {
    if (++calls === 3) await writeCursor(pool, { number: 8, hash: hashOf(8), time: 80 })
  })
  await pool`UPDATE nodes SET owner = ${`0x${'b0'.repeat(20)}`} WHERE node_id IN (1, 4001)`
  const { result, next } = await from(1)
  assert.deepEqual(
    result.drifts.map((drift) => 'nodeId' in drift && drift.nodeId),
    ['1'],
  )
  assert.equal(next, 4_001)
})
