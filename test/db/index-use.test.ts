// The cost of a block in the database does not grow with the ledger: every statement that follows, rewinds, judges or
// repairs reads only its own rows, by index. PostgreSQL itself counts them, on a ledger of 5,000 nodes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  deleteBlocksAbove,
  firstStoredBlockAt,
  insertBlocks,
  pruneBlocks,
  readBlock,
} from '../../src/db/blocks/blocks.ts'
import { connect, type Pool, type Sql } from '../../src/db/core/sql.ts'
import { countIntoStates, countUnbackedNodes, pruneCohortStates, rewindCohorts } from '../../src/db/nodes/cohorts.ts'
import { countUnpaidNodes } from '../../src/db/nodes/grants.ts'
import * as nodes from '../../src/db/nodes/nodes.ts'
import { rewindRounds } from '../../src/db/nodes/rounds.ts'
import { insertSeedBlocks, keepOldSeedBlock, readSeedBlock, rewindSeedBlocks } from '../../src/db/nodes/seed-blocks.ts'
import { applyAttributions, detachOrphans } from '../../src/db/payments/attributions.ts'
import { countWaitingPayments, listPayments } from '../../src/db/payments/decisions.ts'
import { readDenied } from '../../src/db/payments/deny-list.ts'
import { readPayerStandings } from '../../src/db/payments/payers.ts'
import { readPlaces } from '../../src/db/payments/places.ts'
import { isReleased, readLastVerdicts } from '../../src/db/payments/recheck.ts'
import * as payments from '../../src/db/payments/rows.ts'
import { readBuyerStanding } from '../../src/db/reads/can-buy.ts'
import { readNodesPaidIn } from '../../src/db/reads/public-api.ts'
import { readPaymentsIn, readPaymentsOf } from '../../src/db/reads/public-payments.ts'
import { readTransaction } from '../../src/db/reads/public-transactions.ts'
import { readTrends } from '../../src/db/reads/trends.ts'
import * as outbox from '../../src/db/sends/outbox.ts'
import { type Address, type Hash, wei } from '../../src/domain/units.ts'
import { createDatabase } from '../support/postgres.ts'

const NODES = 5_000
/** Most rows of one table that a statement about a few rows may read. It may scan cohorts, because they are few. */
const ROWS_MAX = 500
/** The nodes of the first block lie at 100, the last three in this one. */
const HEAD = NODES + 100

let database: Awaited<ReturnType<typeof createDatabase>>
let pool: Pool

before(async () => {
  database = await createDatabase()
  pool = connect(database.url, { max: 1, prepare: true, applicationName: 'test' })
  await fill(pool)
})
after(async () => {
  await pool.end({ timeout: 1 })
  await database.drop()
})

const hashOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Hash
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address
const at = { blockNumber: HEAD + 1, blockHash: hashOf(HEAD + 1), blockTime: HEAD + 1, txIndex: 0 }

/** One payment, node, transfer, withdrawal, mint and header per block. */
async function fill(sql: Pool): Promise<void> {
  const hash = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 64, '0')`
  const address = (n: string) => sql`'0x' || lpad(to_hex(${sql.unsafe(n)}), 40, '0')`
  const each = sql`FROM generate_series(1, ${NODES}::int) n`
  await sql.begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`
    await sql`INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block,
      from_time, entered_by) VALUES ('basic', 1, 1, 'Basic', 100, 10, 10000, true, 0, 1, 'test')`
    await sql`INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, block_number, block_hash)
      SELECT n, 1, 100, 1000000, 100, 0, 0, 1, ${hash('1')} FROM generate_series(1, 200) n`
    await sql`INSERT INTO cohort_states (cohort, block_number, interval_sec, next_due, size, per_node_wei, turn_count)
      SELECT n % 200 + 1, n + 100, 100, 1000000, 100, 0, 0 ${each}`
    await sql`INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, node_id, tier_id, tier_version,
        block_number, block_hash, tx_index, block_time) OVERRIDING SYSTEM VALUE
      SELECT n, ${hash('n')}, ${hash('n')}, '0x' || repeat('f3', 20), ${address('n')}, 100, true, 'minted', n, 'basic', 1, n + 100, ${hash('n + 100')}, 0,
        to_timestamp(n + 100) ${each}`
    await sql`INSERT INTO payment_verdicts (payment_id, verdict, evidence, decided_by) SELECT n, 'accepted', '{}', 'pass' ${each}`
    // A few held ones, older than all the others.
    await sql`INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, reason, block_number, block_hash, tx_index,
        block_time) OVERRIDING SYSTEM VALUE
      SELECT -n, ${hash('1000000 + n')}, ${hash('1000000 + n')}, '0x' || repeat('f3', 20), ${address('n')}, 99, true, 'held',
        CASE WHEN n > 15 THEN 'holding' ELSE 'wrongAmount' END, 50, ${hash('50')}, n, to_timestamp(50) FROM generate_series(1, 20) n`
    await sql`INSERT INTO nodes (node_id, owner, cohort, ref, payment_id, per_node_at_mint_wei, turns_at_mint, mint_tx_hash,
        minted_at, block_number, block_hash)
      SELECT n, ${address('n')}, n % 200 + 1, ${hash('n')}, n, 0, 0, ${hash('n')}, to_timestamp(n + 100), n + 100,
        ${hash('n + 100')} ${each}`
    await sql`INSERT INTO owners (owner, nodes) SELECT owner, 1 FROM nodes`
    await sql`INSERT INTO node_transfers (block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
      SELECT n + 100, 1, n, '0x' || repeat('0', 40), ${address('n')}, ${hash('n')}, ${hash('n + 100')} ${each}`
    await sql`INSERT INTO withdrawals (amount_wei, block_hash, block_number, created_at, confirmed_at, log_index, node_id, status,
        to_address, tx_hash, withdrawn_total_wei, answer)
      SELECT 5, ${hash('n + 100')}, n + 100, to_timestamp(1), to_timestamp(1), 2, n, 'sent', ${address('n')}, ${hash('n')}, 5, '{}' ${each}`
    await sql`INSERT INTO outbox (id, kind, sender, nonce, call, gas_limit, guard_block, valid_until, state, block_number, block_hash, tx_hash)
      OVERRIDING SYSTEM VALUE SELECT n, 'mint', ${addressOf(1)}, n, '{}', 1, n + 99, n + 999, 'mined', n + 100, ${hash('n + 100')},
        ${hash('n')} ${each}`
    await sql`INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block)
      SELECT ${hash('n')}, n, 1, '0x00', 1, 1, n + 99 ${each}`
    await sql`INSERT INTO blocks (number, hash, parent_hash, time, prevrandao)
      SELECT n + 100, ${hash('n + 100')}, ${hash('n + 99')}, n + 100, ${hash('n')} ${each}`
    await sql`INSERT INTO seed_blocks (number, time, parent_time, seed, proof) SELECT n + 100, n + 100, n + 99, ${hash('n')}, 'proven' ${each}`
  })
  await sql`UPDATE totals SET nodes = ${NODES}, owners = ${NODES}, distributed_wei = 1000000, sales_wei = 100000000, withdrawn_wei = 100000`
  await sql`INSERT INTO wallet_books (wallet, in_wei) VALUES ('0x' || repeat('f3', 20), 100000000)`
  await sql`SELECT setval(pg_get_serial_sequence('payments', 'id'), ${NODES})`
  await sql`VACUUM (ANALYZE)`
  // Counts the reads of filling now, and not with the first measured statement.
  await sql`SELECT pg_stat_force_next_flush()`
}

const failed = (nodeIds: bigint[]) => ({
  ...at,
  txHash: hashOf(NODES + 1),
  caller: addressOf(7),
  to: addressOf(7),
  amountWei: null,
  nodeIds,
})
const WALLET = addressOf(7)
const REFS = [hashOf(7), hashOf(8)]

async function listAll(sql: Sql): Promise<void> {
  for (const status of ['held', 'seen', null] as const) {
    for (const reason of ['wrongAmount', 'holding', 'oldWallet', null]) {
      for (const before of [null, NODES])
        for (const of of [
          { from: null, tierId: null },
          { from: addressOf(7), tierId: null },
          { from: null, tierId: 'basic' },
        ])
          await listPayments(sql, { status, reason, before, limit: 20, ...of })
    }
  }
}

/** Every statement of a range, of its rewind, of a verdict and of a repair, about a few rows. */
const STATEMENTS: Record<string, (sql: Sql) => Promise<unknown>> = {
  'withdrawals that failed': (sql) => nodes.insertFailedWithdrawals(sql, [failed([7n, 8n])]),
  'withdrawals that failed, of ids that no node can have': (sql) =>
    nodes.insertFailedWithdrawals(sql, [failed([0n, 7n, 2n ** 63n, 2n ** 256n - 1n])]),
  withdrawals: (sql) =>
    nodes.insertWithdrawals(sql, [
      {
        ...at,
        nodeId: 7n,
        to: WALLET,
        amountWei: wei(1n),
        withdrawnTotalWei: wei(6n),
        logIndex: 0,
        txHash: hashOf(NODES + 1),
      },
    ]),
  'transfers of nodes': (sql) =>
    nodes.insertOwnershipChanges(sql, [
      { ...at, nodeId: 7n, from: WALLET, to: addressOf(8), logIndex: 0, txHash: hashOf(NODES + 1) },
    ]),
  'nodes, and their payments': async (sql) => {
    const ref = hashOf(NODES + 1)
    await payments.insertIncomingTransfers(sql, [
      { ...at, txHash: ref, wallet: WALLET, from: WALLET, valueWei: wei(100n), succeeded: true },
    ])
    await payments.adoptNodes(sql, [ref])
    const node = {
      nodeId: BigInt(NODES + 1),
      owner: WALLET,
      cohort: 1,
      tierNo: 1,
      ref,
      perNodeAtMintWei: wei(0n),
      turnsAtMint: 0,
    }
    await nodes.insertNodes(sql, [{ ...at, ...node, txHash: ref }])
    await payments.adoptNodes(sql, [ref])
  },
  'what is mined of ours': (sql) =>
    outbox.recordMined(
      sql,
      [
        {
          ...at,
          txHash: hashOf(7),
          sender: addressOf(1),
          nonce: 7,
          succeeded: true,
          gasUsed: 1n,
          feeWei: wei(1n),
          to: null,
          valueWei: wei(0n),
        },
      ],
      [addressOf(1)],
    ),
  'payments that a mint did not carry': async (sql) => {
    await payments.holdSkipped(sql, REFS, 'walletLimit')
    await payments.releaseUnminted(sql, [7, 8])
    await payments.releaseFromFormer(sql, addressOf(2))
  },
  'payments of a transaction and of a payer': async (sql) => {
    await readPaymentsIn(sql, hashOf(7))
    await readPaymentsOf(sql, addressOf(7), 200)
    await readNodesPaidIn(sql, hashOf(7))
  },
  'what a transaction did': (sql) => readTransaction(sql, hashOf(7)),
  'the trends of ninety days': (sql) =>
    readTrends(sql, { hours: 2_160, by: 'hour', signers: { minter: addressOf(1), distributor: addressOf(2) } }),
  'a wallet that is about to buy': (sql) => readBuyerStanding(sql, addressOf(7), { tierNo: 1, allowlist: hashOf(1) }),
  headers: async (sql) => {
    await insertBlocks(sql, [
      { number: HEAD + 1, hash: hashOf(HEAD + 1), parentHash: hashOf(HEAD), time: HEAD + 1, prevrandao: hashOf(1) },
    ])
    await pruneBlocks(sql, 103)
    await pruneCohortStates(sql, 103)
    await readBlock(sql, 777)
    await firstStoredBlockAt(sql, 777)
  },
  'seeds of turns': async (sql) => {
    await insertSeedBlocks(sql, [
      { number: HEAD + 1, time: HEAD + 1, parentTime: HEAD, seed: hashOf(1), proof: 'proven' },
    ])
    await keepOldSeedBlock(sql, { number: 7, time: 7, parentTime: 6, seed: hashOf(1), proof: 'believed' })
    await readSeedBlock(sql, 777)
  },
  'blocks taken back': async (sql) => {
    const height = HEAD - 3
    await payments.rewindPayments(sql, height)
    await detachOrphans(sql)
    await nodes.rewindNodes(sql, height)
    await rewindRounds(sql, height)
    await rewindCohorts(sql, height)
    await rewindSeedBlocks(sql, height)
    await outbox.rewindOutbox(sql, height)
    await deleteBlocksAbove(sql, height)
  },
  verdicts: async (sql) => {
    await payments.readPayments(sql, { states: ['seen'], upToBlock: HEAD, limit: 1_000 })
    await payments.readPayments(sql, {
      states: ['held'],
      reason: 'notOpenYet',
      openedBy: HEAD,
      upToBlock: HEAD,
      limit: 1_000,
    })
    await payments.lockPayments(sql, [7, 8])
    await readPlaces(sql, [WALLET, addressOf(7), addressOf(9)])
    await readDenied(sql, [WALLET, addressOf(7)])
    await readPayerStandings(sql, [{ id: 7, from: addressOf(7), blockHash: hashOf(7) }])
    await payments.findPayments(sql, hashOf(7))
    await payments.countOpenPayments(sql)
    await isReleased(sql, 7)
    await readLastVerdicts(sql, [7, 8])
    await applyAttributions(sql, hashOf(7))
  },
  'lists of payments': listAll,
  'counts of what waits': async (sql) => {
    await countWaitingPayments(sql)
    await countUnpaidNodes(sql, 10_000)
  },
  'lists of payments, by plans that know no status': async (sql) => {
    await sql`SET LOCAL plan_cache_mode = force_generic_plan`
    await listAll(sql)
  },
  'what is sent': async (sql) => {
    await outbox.readPending(sql, addressOf(1))
    await outbox.readKnownNonces(sql, addressOf(1))
    await outbox.freeNonceBelowPending(sql, addressOf(1))
    await outbox.readReverts(sql, addressOf(1), 3)
    await outbox.neverStored(sql, [hashOf(7), hashOf(NODES + 1)])
    await outbox.mayStillMint(sql, hashOf(7))
  },
  repairs: async (sql) => {
    await nodes.readNodes(sql, 7, 3)
    await nodes.countEvents(sql, 7n)
    await nodes.readMintedTo(sql, [7n, 8n])
    await nodes.wasCreditedIn(sql, 7, 700)
    await nodes.sumCreditsBefore(sql, 7, { blockNumber: 700, rounds: [] })
    await countUnbackedNodes(sql, [7])
    await countIntoStates(sql, { cohort: 7, fromBlock: HEAD, by: 1 })
    await nodes.forgetEvents(sql, 7n)
  },
}

class TakeBack extends Error {}

interface Read {
  name: string
  /** Rows read, by scan and by index. */
  rows: number
  /** Number of index scans. */
  looks: number
}

/** Rows that a statement read of each table. The planner treats the tables as large: a scan, or a hash join, is its last resort. */
async function readBy(statement: (sql: Sql) => Promise<unknown>): Promise<Read[]> {
  let reads: Read[] = []
  await pool
    .begin(async (sql) => {
      for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await sql`SET LOCAL ${sql.unsafe(`enable_${way}`)} = off`
      const counts = () => sql<Read[]>`
        SELECT relname AS name, seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows, coalesce(idx_scan, 0) AS looks
        FROM pg_stat_xact_user_tables`
      const earlier = new Map((await counts()).map((read) => [read.name, read]))
      await statement(sql as unknown as Sql)
      reads = (await counts()).map(({ name, rows, looks }) => {
        const { rows: rowsBefore = 0, looks: looksBefore = 0 } = earlier.get(name) ?? {}
        return { name, rows: rows - rowsBefore, looks: looks - looksBefore }
      })
      throw new TakeBack()
    })
    .catch((error: unknown) => {
      if (!(error instanceof TakeBack)) throw error
    })
  return reads
}

for (const [what, statement] of Object.entries(STATEMENTS)) {
  test(`${what}: no table is read beyond the rows it is about`, async () => {
    const reads = await readBy(statement)
    assert.deepEqual(
      reads.filter(({ rows }) => rows > ROWS_MAX),
      [],
    )
    assert.ok(
      reads.some(({ looks }) => looks > 0),
      'no index was used at all',
    )
  })
}
