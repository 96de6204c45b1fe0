// The stored totals and owners under rewinds: after any insert, update, delete or rewind they equal a recount, and a
// rewound ledger equals what it was at that height.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Pool, Sql } from '../../src/db/core/sql.ts'
import { rewindCohorts, writeCohorts } from '../../src/db/nodes/cohorts.ts'
import { insertNodes, insertOwnershipChanges, insertWithdrawals, rewindNodes } from '../../src/db/nodes/nodes.ts'
import { insertRounds, rewindRounds } from '../../src/db/nodes/rounds.ts'
import { adoptNodes, insertIncomingTransfers as insertPayments, rewindPayments } from '../../src/db/payments/rows.ts'
import type { LedgerCohort } from '../../src/domain/replay.ts'
import { type Address, address, hash, wei, ZERO_ADDRESS } from '../../src/domain/units.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

const word = (n: number) => hash(`0x${n.toString(16).padStart(64, '0')}`)
const account = (n: number) => address(`0x${n.toString(16).padStart(40, '0')}`)
const PRICE = 100n

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
  await pool`
    INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, from_block, from_time, entered_by)
    VALUES ('basic', 1, 1, 'Basic', 100, 10, 10000, true, 0, 1, 'test')`
})
after(() => database.close())

interface Known {
  owners: Address[]
  withdrawn: bigint[]
  cohort: LedgerCohort
  rounds: number
}

/** A ledger of one cohort, written through the passes' own modules, with its state after each block. */
class Ledger {
  block = 1
  logIndex = 0
  /** Never reset, because events after a rewind are new. */
  private serial = 0
  /** The ledger after each block. */
  readonly after: Known[] = []
  now: Known

  constructor() {
    this.now = {
      owners: [],
      withdrawn: [],
      rounds: 0,
      cohort: {
        cohort: 1,
        tierNo: 1,
        intervalSec: 100,
        nextDue: 1_000,
        size: 0,
        perNodeWei: wei(0n),
        turnCount: 0,
        lastTurnAt: null,
        openedBlock: 0,
        openedHash: word(0),
      },
    }
    this.after[0] = structuredClone(this.now)
  }

  stamp(txHash = word(1_000_000 + ++this.serial)) {
    return { blockNumber: this.block, blockHash: word(this.block), blockTime: 1_000 + this.block, txHash, txIndex: 0 }
  }

  async saveCohort(sql: Sql, change: Partial<LedgerCohort>): Promise<void> {
    this.now.cohort = { ...this.now.cohort, ...change }
    await sql`DELETE FROM cohort_states WHERE cohort = 1 AND block_number = ${this.block}`
    await writeCohorts(sql, [this.now.cohort], [{ blockNumber: this.block, state: this.now.cohort }])
  }

  /** Several payments and their minted nodes, in one statement each. */
  async mint(sql: Sql, buyers: readonly Address[]): Promise<void> {
    const minted = buyers.map((owner, i) => {
      const ref = word(5_000_000 + ++this.serial)
      return { ...this.stamp(ref), owner, ref, nodeId: BigInt(this.now.owners.length + i + 1), cohort: 1, tierNo: 1 }
    })
    await insertPayments(
      sql,
      minted.map((node) => ({
        ...node,
        wallet: word(7).slice(0, 42) as Address,
        from: node.owner,
        valueWei: wei(PRICE),
        succeeded: true,
      })),
    )
    const { perNodeWei, turnCount } = this.now.cohort
    await insertNodes(
      sql,
      minted.map((node) => ({ ...node, perNodeAtMintWei: perNodeWei, turnsAtMint: turnCount })),
    )
    await insertOwnershipChanges(
      sql,
      minted.map((node) => ({ ...node, from: ZERO_ADDRESS, to: node.owner, logIndex: ++this.logIndex })),
    )
    await adoptNodes(
      sql,
      minted.map(({ ref }) => ref),
    )
    await this.saveCohort(sql, { size: this.now.cohort.size + buyers.length })
    this.now.owners.push(...buyers)
    this.now.withdrawn.push(...buyers.map(() => 0n))
  }

  /** Several moves in one statement: some to the present owner, some of one node twice. */
  async move(sql: Sql, picks: readonly number[], to: Address): Promise<void> {
    const count = this.now.owners.length
    if (count === 0) return
    const moves = picks.map((pick) => {
      const index = pick % count
      const from = this.now.owners[index] ?? ZERO_ADDRESS
      this.now.owners[index] = to
      return { ...this.stamp(), nodeId: BigInt(index + 1), from, to, logIndex: ++this.logIndex }
    })
    await insertOwnershipChanges(sql, moves)
  }

  async credit(sql: Sql, amount: number): Promise<void> {
    const { size, perNodeWei, turnCount, nextDue } = this.now.cohort
    if (size === 0) return
    const round = ++this.now.rounds
    const totalWei = wei(BigInt(amount) * BigInt(size))
    const none = { tierId: null, seedBlock: null, seed: null, proof: null, minWei: null, maxWei: null, payoutBps: null }
    const turn = { round, cohort: 1, tierNo: 1, turnNo: turnCount + 1, due: nextDue, turns: 1, nodeCount: size }
    await insertRounds(sql, {
      rounds: [{ ...this.stamp(), round, mode: 'treasury', totalWei, nodeCount: size }],
      turns: [{ ...none, ...turn, intervalSec: 100, amountWei: wei(BigInt(amount)), singles: [] }],
      skips: [],
    })
    await this.saveCohort(sql, {
      perNodeWei: wei(perNodeWei + BigInt(amount)),
      turnCount: turnCount + 1,
      nextDue: nextDue + 100,
    })
  }

  async withdraw(sql: Sql, pick: number, share: number): Promise<void> {
    const index = pick % Math.max(1, this.now.owners.length)
    const [row] = await sql<{ balance: bigint }[]>`
      SELECT c.per_node_wei - n.per_node_at_mint_wei - n.withdrawn_wei AS balance FROM nodes n JOIN cohorts c USING (cohort)
      WHERE node_id = ${index + 1}`
    const amountWei = ((row?.balance ?? 0n) * BigInt(share)) / 100n
    if (amountWei === 0n) return
    const total = (this.now.withdrawn[index] ?? 0n) + amountWei
    this.now.withdrawn[index] = total
    const to = this.now.owners[index] ?? ZERO_ADDRESS
    const logIndex = ++this.logIndex
    const nodeId = BigInt(index + 1)
    await insertWithdrawals(sql, [
      { ...this.stamp(), nodeId, to, amountWei: wei(amountWei), withdrawnTotalWei: wei(total), logIndex },
    ])
  }

  nextBlock(): void {
    this.after[this.block] = structuredClone(this.now)
    this.block++
    this.logIndex = 0
  }

  async rewind(sql: Sql, back: number): Promise<void> {
    this.nextBlock()
    const height = Math.max(0, this.block - 1 - back)
    await rewindPayments(sql, height)
    await rewindNodes(sql, height)
    await rewindRounds(sql, height)
    await rewindCohorts(sql, height)
    this.now = structuredClone(this.after[height] ?? assert.fail())
    this.block = height + 1
  }

  async check(sql: Sql): Promise<void> {
    const [kept] = await sql`SELECT nodes, owners, rounds, distributed_wei, withdrawn_wei, sales_wei FROM totals`
    const [counted] = await sql`
      SELECT (SELECT count(*) FROM nodes) AS nodes, (SELECT count(DISTINCT owner) FROM nodes) AS owners,
        (SELECT count(*) FROM rounds) AS rounds, (SELECT coalesce(sum(total_wei), 0) FROM rounds) AS distributed_wei,
        (SELECT coalesce(sum(withdrawn_wei), 0) FROM nodes) AS withdrawn_wei,
        (SELECT coalesce(sum(value_wei), 0) FROM payments WHERE state = 'minted') AS sales_wei`
    assert.deepEqual(kept, counted)
    const owners = await sql`SELECT owner, nodes FROM owners ORDER BY owner`
    assert.deepEqual(owners, await sql`SELECT owner, count(*)::int AS nodes FROM nodes GROUP BY owner ORDER BY owner`)
    const rows = await sql<{ owner: Address; withdrawn: bigint }[]>`
      SELECT owner, withdrawn_wei AS withdrawn FROM nodes ORDER BY node_id`
    assert.deepEqual(
      rows.map((row) => row.owner),
      this.now.owners,
    )
    assert.deepEqual(
      rows.map((row) => row.withdrawn),
      this.now.withdrawn,
    )
    assert.equal(kept?.rounds, this.now.rounds)
    const sold = await sql<{ id: number }[]>`SELECT node_id AS id FROM payments WHERE state = 'minted' ORDER BY node_id`
    assert.deepEqual(
      sold.map((row) => row.id),
      rows.map((_, i) => i + 1),
    )
    const [cohort] =
      await sql`SELECT size, per_node_wei AS "perNodeWei", next_due AS "nextDue", turn_count AS "turnCount" FROM cohorts`
    const { size, perNodeWei, nextDue, turnCount } = this.now.cohort
    assert.deepEqual(cohort, { size, perNodeWei, nextDue, turnCount })
  }
}

/** Every history has credited nodes of several owners. */
const beginning = [
  ['mint', [account(1), account(2), account(3)], 0],
  ['nextBlock', 0, 0],
  ['credit', 500, 0],
  ['nextBlock', 0, 0],
] as const

const buyer = fc.integer({ min: 1, max: 4 }).map(account)
const pick = fc.nat({ max: 5 })
const act = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constant('mint'), fc.array(buyer, { minLength: 1, maxLength: 5 }), fc.constant(0)),
  },
  { weight: 4, arbitrary: fc.tuple(fc.constant('move'), fc.array(pick, { minLength: 1, maxLength: 4 }), buyer) },
  fc.tuple(fc.constant('credit'), fc.integer({ min: 0, max: 1_000 }), fc.constant(0)),
  { weight: 2, arbitrary: fc.tuple(fc.constant('withdraw'), pick, fc.integer({ min: 1, max: 100 })) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('nextBlock'), fc.constant(0), fc.constant(0)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('rewind'), fc.integer({ min: 0, max: 3 }), fc.constant(0)) },
)

test('totals, owners, nodes and cohort are exact after any acts, blocks and rewinds', async () => {
  const done = new Error('taken back')
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 30, size: 'max' }), async (acts) => {
      await pool
        .begin(async (sql: Sql) => {
          const ledger = new Ledger()
          await writeCohorts(sql, [ledger.now.cohort], [{ blockNumber: 0, state: ledger.now.cohort }])
          for (const [name, a, b] of [...beginning, ...acts]) {
            const run = ledger[name as keyof Ledger] as (...args: unknown[]) => Promise<void>
            await (name === 'nextBlock' ? ledger.nextBlock() : run.call(ledger, sql, a, b))
            if (name === 'nextBlock' || name === 'rewind') await ledger.check(sql)
          }
          await ledger.check(sql)
          throw done
        })
        .catch((error: unknown) => {
          if (error !== done) throw error
        })
    }),
    { numRuns: 12 },
  )
})

test('owners are counted right if one statement moves many nodes together, also back and forth', async () => {
  await pool
    .begin(async (sql: Sql) => {
      const ledger = new Ledger()
      await writeCohorts(sql, [ledger.now.cohort], [{ blockNumber: 0, state: ledger.now.cohort }])
      await ledger.mint(sql, [1, 1, 2, 3, 3].map(account))
      await sql`UPDATE nodes SET owner = CASE owner WHEN ${account(1)} THEN ${account(2)} WHEN ${account(2)} THEN ${account(1)} ELSE owner END`
      const owners = await sql`SELECT owner, nodes FROM owners ORDER BY owner`
      assert.deepEqual(
        owners.map((row) => [row.owner, row.nodes]),
        [
          [account(1), 1],
          [account(2), 2],
          [account(3), 2],
        ],
      )
      await sql`UPDATE nodes SET owner = owner`
      await sql`UPDATE payments SET node_id = NULL, state = 'accepted'`
      await sql`DELETE FROM nodes`
      const [kept] = await sql`SELECT nodes, owners, sales_wei FROM totals`
      assert.deepEqual(kept, { nodes: 0, owners: 0, sales_wei: 0n })
      assert.equal((await sql`SELECT FROM owners`).length, 0)
      throw new Error('taken back')
    })
    .catch((error: unknown) => assert.match(String(error), /taken back/))
})
