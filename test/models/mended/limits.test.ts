// What one run of src/mending/reconcile.ts compares at most: nodes step by step through its window, and so many nodes on record, cohorts and payments.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { reconcileWindow } from '../../../src/mending/reconcile.ts'
import { account, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const CURSOR = 103
const cursor = { number: CURSOR, hash: word(CURSOR), time: 1_030 }
const rows: Rows = {
  cursors: [{ name: 'follow', block_number: CURSOR, block_hash: word(CURSOR), block_time: 1_030 }],
  tiers: [
    {
      ...{ tier_id: 'basic', version: 1, tier_no: 1, label: 'B', price_wei: 5, max_per_wallet: 9, payout_bps: 10_000 },
      ...{ on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test' },
    },
  ],
}

/** A contract and a chain at the followed block, on which so many nodes are minted. */
function contextOf(sql: Sql, nodes: number, contract: object) {
  const counters = async () => ({ lastNodeId: BigInt(nodes), round: 0, outstandingWei: 0n })
  const chain = { block: async () => ({ number: CURSOR, hash: word(CURSOR) }), providers: [] }
  const root = { storageRoot: async () => null }
  return {
    ...{ pool: poolWithin(sql), log: silentLog, rules: { startBlock: 1 }, chain },
    contract: { counters, ...root, ...contract },
  } as never
}

interface Change {
  ledger?: number
  chain?: number
  lacking?: number
  slow?: boolean
  movesAt?: number | null
}
/** By the rule of a day's runs, each run compares 2,400 of so many nodes, two thousand at a time. */
const MANY = 600_000

/** A ledger with the nodes of a window, and a contract that has the same ones but for some. */
async function compareMany({ mock }: TestContext, change: Change) {
  const asked: [number, number][] = []
  const { ledger = 2_400, chain = 2_400, lacking = 0, slow = false, movesAt = null } = change
  const found = await tables.within(rows, async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    await sql`
      INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
      SELECT id, ${account(5)}, NULL, '0x' || lpad(to_hex(id), 64, '0'), 0, 0, ${word(600)}, now(), 50, ${word(50)}
      FROM generate_series(1 + ${lacking}::int, ${ledger}::int) id`
    await sql`
      INSERT INTO expulsions (node_id, cohort, credited_wei, turn_count, expelled_at, tx_hash, block_number, block_hash)
      SELECT node_id, 1, 7, 0, now(), ${word(601)}, 50, ${word(50)} FROM nodes`
    await sql`UPDATE totals SET nodes = ${MANY}, distributed_wei = 0, withdrawn_wei = 0`
    const nodes = async (first: bigint, count: number) => {
      asked.push([Number(first), count])
      if (Number(first) === movesAt) await sql`UPDATE cursors SET block_hash = ${word(1)}`
      if (slow) mock.method(performance, 'now', () => 1e12)
      const last = Math.min(Number(first) + count - 1, chain)
      return Array.from({ length: Math.max(0, last - Number(first) + 1) }, (_, n) => ({
        ...{ nodeId: first + BigInt(n), owner: account(5), creditedWei: 7n, withdrawnWei: 0n, cohort: 0 },
      }))
    }
    return await reconcileWindow(contextOf(sql, MANY, { nodes }), cursor as never, 1)
  })
  mock.restoreAll()
  return { asked, next: found.next, drifts: found.result.drifts.length }
}

const [FIRST, SECOND] = [
  [1, 2_000],
  [2_001, 400],
]
const BOTH = [FIRST, SECOND]
for (const [says, change, expected] of [
  ['goes through its window in steps', {}, { asked: BOTH, next: 2_401, drifts: 0 }],
  ['begins again behind the last node', { chain: 2_399, ledger: 2_399 }, { asked: BOTH, next: 1, drifts: 0 }],
  ['goes on with some differences', { lacking: 499 }, { asked: BOTH, next: 2_401, drifts: 499 }],
  ['stops with many differences', { lacking: 500 }, { asked: [FIRST], next: 2_001, drifts: 500 }],
  ['stops once it took too long', { slow: true }, { asked: [FIRST], next: 2_001, drifts: 0 }],
  ['keeps the steps before the ledger moved', { movesAt: 2_001, lacking: 1 }, { asked: BOTH, next: 2_001, drifts: 1 }],
  ['keeps nothing read while the ledger moved', { movesAt: 1, lacking: 1 }, { asked: [FIRST], next: 1, drifts: 0 }],
] as [string, Change, object][])
  test(`a run over many nodes ${says}`, async (context) => {
    assert.deepEqual(await compareMany(context, change), expected)
  })

test('a run compares so many nodes on record, cohorts and payments, and no more', async () => {
  const record = Array.from({ length: 101 }, (_, n) => ({ kind: 'notOnChain', nodeId: String(700 + n) }))
  const state = [{ drift: JSON.stringify([...record, { kind: 'notOnChain', nodeId: '700' }]) }]
  await tables.within({ ...rows, ledger_state: state }, async (sql) => {
    await sql`
      INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, block_number, block_hash)
      SELECT id, 1, 600, 9000 - id, 1, 50, ${word(50)} FROM generate_series(1, 1001) id`
    await sql`
      INSERT INTO payments (ref, tx_hash, wallet, from_address, value_wei, succeeded, proof, state, tier_id, tier_version, tx_index,
        block_time, block_number, block_hash)
      SELECT t, t, ${account(1)}, ${account(5)}, 5, true, 'proven', 'accepted', 'basic', 1, id, now(), 101, ${word(101)}
      FROM (SELECT id, '0x' || lpad(to_hex(id), 64, '0') AS t FROM generate_series(1, 21) id) one`
    const asked = { nodes: [] as number[], cohorts: [] as number[], refs: [] as string[] }
    const contract = {
      nodes: async (first: bigint, count: number) => {
        if (count === 1) asked.nodes.push(Number(first))
        return []
      },
      cohorts: async (numbers: number[]) => {
        asked.cohorts = numbers
        return []
      },
      nodeOfRef: async (ref: string) => {
        asked.refs.push(ref)
        return null
      },
    }
    await reconcileWindow(contextOf(sql, 0, contract), cursor as never, 1)
    assert.deepEqual(asked, {
      nodes: Array.from({ length: 100 }, (_, n) => 700 + n),
      cohorts: Array.from({ length: 1_000 }, (_, n) => 1_001 - n),
      refs: Array.from({ length: 20 }, (_, n) => word(1 + n)),
    })
  })
})
