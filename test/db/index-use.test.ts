// The cost of a block in the database does not grow with the ledger: every statement that follows, rewinds, judges or
// repairs reads only its own rows, by index. PostgreSQL itself counts them, on a ledger of 5,000 nodes. Then it plans each
// statement of passes, acts and reads for a ledger a thousand times as large.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  deleteBlocksAbove,
  firstStoredBlockAt,
  insertBlocks,
  pruneBlocks,
  readBlock,
} from '../../src/db/blocks/blocks.ts'
import { readHappenings } from '../../src/db/blocks/happenings.ts'
import { takeKey } from '../../src/db/core/idempotency.ts'
import { type Pool, poolWithin, type Sql } from '../../src/db/core/sql.ts'
import { countUnbackedNodes, pruneCohortStates, readCreditBlocks, rewindCohorts } from '../../src/db/nodes/cohorts.ts'
import { countUnpaidNodes } from '../../src/db/nodes/grants.ts'
import * as nodes from '../../src/db/nodes/nodes.ts'
import { rewindRounds } from '../../src/db/nodes/rounds.ts'
import { insertSeedBlocks, keepOldSeedBlock, readSeedBlock, rewindSeedBlocks } from '../../src/db/nodes/seed-blocks.ts'
import { readBelievedBlock } from '../../src/db/payments/assurance.ts'
import { applyAttributions, detachOrphans, readKnownResidues } from '../../src/db/payments/attributions.ts'
import { countWaitingPayments, listPayments } from '../../src/db/payments/decisions.ts'
import { readDenied } from '../../src/db/payments/deny-list.ts'
import { isDust } from '../../src/db/payments/junk.ts'
import { readPayerStandings } from '../../src/db/payments/payers.ts'
import * as queues from '../../src/db/payments/queues.ts'
import { isReleased, readLastVerdicts } from '../../src/db/payments/recheck.ts'
import * as refunds from '../../src/db/payments/refunds.ts'
import * as payments from '../../src/db/payments/rows.ts'
import * as wallets from '../../src/db/payments/wallet.ts'
import { readTierUses } from '../../src/db/payments/wallet-use.ts'
import { readBuyerStanding } from '../../src/db/reads/can-buy.ts'
import { readDueCommissions } from '../../src/db/reads/commissions.ts'
import * as doctor from '../../src/db/reads/doctor.ts'
import { readFigures } from '../../src/db/reads/metrics.ts'
import { readNodesPaidIn } from '../../src/db/reads/public-api.ts'
import { readPaymentsIn, readPaymentsOf } from '../../src/db/reads/public-payments.ts'
import { readTransaction } from '../../src/db/reads/public-transactions.ts'
import { readTrends } from '../../src/db/reads/trends.ts'
import { readSpending } from '../../src/db/sends/funds.ts'
import * as outbox from '../../src/db/sends/outbox.ts'
import * as webhooks from '../../src/db/webhooks.ts'
import { wei } from '../../src/domain/units.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'
import { addressOf, fillLedger, HEAD, hashOf, NODES } from './large-ledger.ts'
import { believeLarge, faultsOf, planOf } from './plans.ts'
import { playEverything } from './play.ts'
import { recordStatements } from './statements.ts'

/** Most rows of one table that a statement about a few rows may read. It may scan cohorts, because they are few. */
const ROWS_MAX = 500

/** Statements that may read or sort what grows, by a part of their text, with the reason. */
const MAY_READ_MUCH: Readonly<Record<string, string>> = {
  'SELECT max(guard_block) FROM outbox WHERE state': 'newest first, and nearly all are mined',
  'AND gas_used > 0 ORDER BY id DESC LIMIT 1': 'newest first, and half of all rows are of that sender',
  'AS "nodesPerWeek"': 'ends at the first node that is older than a week',
  'AS "dueWei"': 'what is due to codes is a sum over all payments with a code; the operator asks for it',
  'FROM webhook_deliveries d JOIN webhook_events e':
    'the operator’s list of deliveries, which are kept for thirty days',
}

let recorded: ReturnType<typeof recordStatements>
let database: OpenDatabase
let pool: Pool

before(async () => {
  database = await openDatabase()
  pool = database.pool
  await fillLedger(pool)
  recorded = recordStatements()
})
after(() => database.close())

const at = { blockNumber: HEAD + 1, blockHash: hashOf(HEAD + 1), blockTime: HEAD + 1, txIndex: 0 }

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
  'what the codes of a payee earned': (sql) =>
    readDueCommissions(sql, { final: HEAD, trustsOne: true, payee: addressOf(1_000_007) }),
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
    const extent = { upToBlock: HEAD, limit: 1_000 }
    await queues.readUndecidedPayments(sql, HEAD, extent)
    await queues.isAnyHeld(sql, ['soldOut', 'supplySpent'], HEAD)
    await queues.readPaymentsWithRoom(sql, { walletMax: 7, now: HEAD }, extent)
    await queues.readPaymentsWithPlace(sql, [1], extent)
    await queues.readPaymentsOfOpenSteps(sql, extent)
    await queues.readPaymentsOfChangedPayers(sql, { now: HEAD, trustsProvider: false }, extent)
    await queues.readAcceptedPayments(sql, extent)
    await queues.readMintablePayments(sql, { trustsOne: false, exceptTiers: [1] }, extent)
    await queues.readBelievedPayments(sql, extent)
    await payments.lockPayments(sql, [7, 8])
    await readTierUses(sql, [WALLET, addressOf(7), addressOf(9)])
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
  'figures for metrics and the doctor': async (sql) => {
    await readFigures(sql)
    await doctor.readHeldReasons(sql)
    await doctor.readRecentTrouble(sql, [addressOf(1)])
    await doctor.readForeign(sql)
    await doctor.readTakenRefs(sql)
    await doctor.readUnproven(sql)
    await doctor.readFailedResidues(sql)
    await readSpending(sql, { role: 'minter', address: addressOf(1), distMode: 'treasury' })
  },
  webhooks: async (sql) => {
    await webhooks.takeDeliveries(sql, 'x', 10)
    const settled = { status: 200, error: null, durationMs: 1, retrySec: null, gone: false }
    await webhooks.settleDelivery(poolWithin(sql), 'x', { id: 7, attempt: 1 }, settled)
    await webhooks.dropUnwanted(sql, 'x', { chosen: null, kinds: ['x'] })
    await webhooks.pruneEvents(sql)
    await webhooks.redeliver(sql, 7)
  },
  'refunds and what leaves the wallets': async (sql) => {
    await refunds.finalizeRefunds(sql, HEAD)
    await refunds.reopenRefunds(sql, HEAD - 3)
    await readBelievedBlock(sql)
    await refunds.readDoubtfulRefunds(sql, HEAD, 10)
    await refunds.readRefundsBy(sql, hashOf(7), WALLET)
    await refunds.readFirstFile(sql, hashOf(7))
    await refunds.readHeldBefore(sql, { heldFor: 'soldOut', before: 7, again: false }, 10)
    await refunds.readSignedUntil(sql, hashOf(7), HEAD + 900)
    await refunds.readRefundedAbove(sql, HEAD - 3)
    await wallets.isBalanceChecked(sql, HEAD)
    await wallets.isInResidue(sql, HEAD)
    await wallets.readNextResidueBlock(sql, HEAD)
    await readKnownResidues(sql, REFS)
    await isDust(sql, hashOf(7))
    await takeKey(sql, 'test', 'key', 'x')
  },
  repairs: async (sql) => {
    await nodes.readNodes(sql, 7, 3)
    await nodes.readEventBlocks(sql, 7n, 1)
    await nodes.readKnownNodes(sql, [7n])
    await readHappenings(sql, 700, 700)
    await readCreditBlocks(sql, 7, 1)
    await nodes.readMintedTo(sql, [7n, 8n])
    await countUnbackedNodes(sql, [7])
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

test('every statement of a pass, an act and a read uses an index in a large ledger', async () => {
  await playEverything()
  recorded.stop()
  await believeLarge(pool)
  const faults: Record<string, string[]> = {}
  const spared = new Set<string>()
  let planned = 0
  for (const statement of recorded.sent.values()) {
    const text = statement.text.replaceAll(/\s+/g, ' ').trim()
    // What the tests ask of the server itself.
    if (/information_schema|fresh\.|pg_(type|trigger|database|attribute|stat_xact)/.test(text)) continue
    const plan = await planOf(pool, statement)
    if (!plan) continue
    planned++
    const found = faultsOf(plan)
    const reason = Object.keys(MAY_READ_MUCH).find((part) => text.includes(part))
    if (found.length > 0 && reason) spared.add(reason)
    else if (found.length > 0) faults[text] = found
  }
  assert.deepEqual(faults, {})
  assert.deepEqual([...spared].sort(), Object.keys(MAY_READ_MUCH).sort(), 'every exception is needed')
  assert.ok(planned > 350, `only ${planned} statements were sent`)
})
