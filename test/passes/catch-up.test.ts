// Turns that were missed: caught up in few rounds, to the wei; skipped where the contract's owner has said that they are not owed; and paid
// without the cohort that the ledger has wrong. Each test has a world of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnDigest } from '../../src/chain/digest.ts'
import { readDistributions, readTurns } from '../../src/db/reads.ts'
import { connect, inTransaction, jsonRows } from '../../src/db/sql.ts'
import { insertTerms, readCreditTerms } from '../../src/db/terms.ts'
import { seedOf, turnAmountWei } from '../../src/domain/credit.ts'
import { type Hash, hash } from '../../src/domain/units.ts'
import { verifyLedger } from '../../src/operator/verify.ts'
import { checkInvariants } from '../support/invariants.ts'
import { createDatabase } from '../support/postgres.ts'
import { ETHER, INTERVAL_SEC, paymentOf, SLOT_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
/** The latest time that the contract can hold. */
const EVER = 2n ** 40n - 1n

/** The invariants look at old states, which the chain of a test forgets after some hundreds of blocks: then not `atRest`. */
function inWorld(sentence: string, body: (world: World) => Promise<void>, { atRest = true } = {}): void {
  test(sentence, async () => {
    const world = await startWorld()
    try {
      await world.settle()
      await body(world)
      if (atRest) await checkInvariants(world)
    } finally {
      await world.close()
    }
  })
}

const roundsSent = async (world: World) => (await world.pool`SELECT FROM outbox WHERE kind = 'credit'`).length
const creditedOf = async (world: World, nodeId: number) =>
  (await world.read<bigint[]>('nodeInfo', [BigInt(nodeId)]))[2] ?? assert.fail()
/** Enters terms that differ from the first ones in the switch alone. */
const switchPayouts = (world: World, fromTime: number, payouts: boolean) =>
  inTransaction(world.pool, async (sql) => {
    const [terms = assert.fail()] = await readCreditTerms(sql)
    await insertTerms(sql, { ...terms, fromTime, payouts }, 'test')
  })
const cohortsOf = (world: World) => world.pool<{ cohort: number; next: number }[]>`
  SELECT cohort, next_due AS next FROM cohorts WHERE size > 0 ORDER BY cohort`

interface Header {
  timestamp: string
  hash: Hash
  mixHash: Hash
}

/** What a turn of a cohort comes to by the chain's own headers. */
async function amountOn(headers: readonly Header[], cohort: number, due: number, payoutBps: number): Promise<bigint> {
  const at = headers.findIndex(({ timestamp }) => Number(timestamp) >= due)
  const [block, parent] = [headers[at] ?? assert.fail(), headers[at - 1] ?? assert.fail()]
  const seed = seedOf({ hash: block.hash, prevrandao: block.mixHash }, { prevrandao: parent.mixHash })
  const terms = { minWei: ETHER / 2000n, maxWei: (ETHER * 3n) / 2000n }
  return turnAmountWei(turnDigest(hash(seed), cohort, due), terms, payoutBps)
}

inWorld('a year without rounds is caught up in a handful of transactions, to the wei', aYearLater, { atRest: false })

async function aYearLater(world: World): Promise<void> {
  await world.pay(5, BASIC)
  await world.pay(5, BASIC)
  await world.pay(6, PLUS)
  await world.settle()
  await world.chain.mine(1, 4 * SLOT_SEC)
  await world.pay(7, BASIC)
  await world.settle()
  const cohorts = await cohortsOf(world)
  assert.equal(cohorts.length, 3)
  const turns = 365
  for (let i = 0; i < 5; i++) {
    // Followed all along, as by an instance without a key: the headers of most turns are forgotten by the time they are paid.
    await world.chain.mine((turns / 5) * 2, INTERVAL_SEC / 2)
    await world.payments()
    await world.pool`DELETE FROM blocks WHERE number < (SELECT max(number) FROM blocks) - 10`
  }
  await world.chain.setBalance(world.at(2), 10_000n * ETHER)
  let asked = 0
  const chain = {
    ...world.ctx.chain,
    firstBlockAt: (time: number, notAfter: number) => {
      asked++
      return world.ctx.chain.firstBlockAt(time, notAfter)
    },
  }
  const service = world.instance({ chain })
  for (let i = 0; i < 4; i++) {
    await service.credit()
    await world.chain.mine()
  }
  assert.equal((await service.credit()).reason, 'nothingDue')
  assert.equal(asked, 0, 'no seed was searched for')
  assert.ok((await roundsSent(world)) <= 2, `${await roundsSent(world)} rounds`)

  const headers = await Promise.all(
    Array.from({ length: Number((await world.chain.block()).number) + 1 }, (_, i) =>
      world.chain.rpc<Header>('eth_getBlockByNumber', [`0x${i.toString(16)}`, false]),
    ),
  )
  const nodes = await world.pool<{ id: number; cohort: number; bps: number; next: number }[]>`
    SELECT n.node_id AS id, n.cohort, t.payout_bps AS bps, c.next_due AS next
    FROM nodes n JOIN cohorts c USING (cohort) JOIN payments p ON p.id = n.payment_id JOIN tiers t USING (tier_id)`
  assert.equal(nodes.length, 4)
  for (const { id, cohort, bps, next } of nodes) {
    const first = cohorts.find((known) => known.cohort === cohort)?.next ?? assert.fail()
    let sum = 0n
    for (let due = first; due < next; due += INTERVAL_SEC) sum += await amountOn(headers, cohort, due, bps)
    assert.ok((next - first) / INTERVAL_SEC >= turns)
    assert.equal(await creditedOf(world, id), sum)
  }
  await world.payments()
  const verified = await verifyLedger({ readPool: world.pool, chain: world.ctx.chain, contract: world.ctx.contract })
  assert.deepEqual('drifts' in verified && verified.drifts, [])
  await isRebuilt(world)
}

/** A ledger that follows the chain again from its first block has the same rounds and turns. */
async function isRebuilt(world: World): Promise<void> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 5, prepare: true, applicationName: 'test' })
  try {
    const copied = {
      tiers: '*',
      credit_terms: 'from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by',
    }
    for (const [table, columns] of Object.entries(copied)) {
      const rows = await world.pool.unsafe(`SELECT ${columns} FROM ${table}`)
      const named = columns === '*' ? '' : `(${columns})`
      await pool.unsafe(
        `INSERT INTO ${table} ${named} SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
        [jsonRows(rows)],
      )
    }
    await world.instance({ pool, directUrl: database.url }).payments()
    for (const table of ['rounds', 'turns', 'single_turns', 'skips', 'cohorts']) {
      const rows = async (sql: typeof pool) =>
        (await sql`SELECT row_to_json(t)::text AS row FROM ${sql(table)} t ORDER BY 1`).map(({ row }) => row)
      assert.deepEqual(await rows(pool), await rows(world.pool), table)
    }
  } finally {
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

inWorld('turns within a window are skipped with the first round after it, and stay unpaid', async (world) => {
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort, next } = assert.fail()] = await cohortsOf(world)
  await switchPayouts(world, next, false)
  await switchPayouts(world, next + 3 * INTERVAL_SEC, true)
  await world.act(0, 'addNotOwed', [1n, BigInt(next), BigInt(next + 3 * INTERVAL_SEC)])
  await world.chain.setNextTime(next + 2 * INTERVAL_SEC + 1)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, 'nothingDue', 'nobody waits for it: no gas is spent on skipping')
  assert.equal(await roundsSent(world), 0)
  await world.chain.setNextTime(next + 4 * INTERVAL_SEC + 1)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, null)
  await world.rest()
  assert.equal(await roundsSent(world), 1)
  assert.deepEqual([...(await world.pool`SELECT cohort, due, turns FROM skips`)], [{ cohort, due: next, turns: 3 }])
  const [turn] = await world.pool`SELECT due, turns, amount_wei AS amount FROM turns`
  assert.deepEqual([turn?.due, turn?.turns], [next + 3 * INTERVAL_SEC, 2])
  assert.equal(await creditedOf(world, 1), turn?.amount)
  const page = JSON.parse((await readTurns(world.pool, { round: 1n, limit: 1, offset: 1 })) ?? assert.fail())
  assert.deepEqual([page.total, page.turns.length, page.turns[0].dueSec], [2, 1, next + 4 * INTERVAL_SEC])
  const [listed] = JSON.parse(await readDistributions(world.pool, 1))
  assert.deepEqual(
    [listed.turns[0].count, listed.turns[0].dueSec, listed.turns[0].seed],
    [2, next + 3 * INTERVAL_SEC, null],
  )
  assert.equal(await readTurns(world.pool, { round: 2n, limit: 1, offset: 0 }), null)
})

inWorld(
  'where payouts are off, a cohort is skipped for who buys, so that none is opened; it is no distribution',
  async (world) => {
    await world.pay(5, BASIC)
    await world.settle()
    await switchPayouts(world, 1, false)
    await world.act(0, 'addNotOwed', [1n, 1n, EVER])
    const [{ cohort, next } = assert.fail()] = await cohortsOf(world)
    const [opened] = await world.pool`SELECT count(*) AS cohorts FROM cohorts`
    await world.chain.setNextTime(next + INTERVAL_SEC + 1)
    await world.chain.mine()
    const paid = await world.pay(6, BASIC)
    await world.rest()
    const [node] =
      await world.pool`SELECT cohort FROM nodes WHERE node_id = ${(await paymentOf(world, paid))?.nodeId ?? 0}`
    assert.equal(node?.cohort, cohort)
    assert.deepEqual(
      [...(await world.pool`SELECT round, cohort, due, turns FROM skips`)],
      [{ round: 1, cohort, due: next, turns: 2 }],
    )
    assert.deepEqual([...(await world.pool`SELECT count(*) AS cohorts FROM cohorts`)], [opened])
    assert.equal(await readDistributions(world.pool, 10), '[]')
    assert.equal(await creditedOf(world, 1), 0n)
  },
)

inWorld('a payment waits for no skip where the contract names no distributor', async (world) => {
  await world.pay(5, BASIC)
  await world.settle()
  await switchPayouts(world, 1, false)
  await world.act(0, 'addNotOwed', [1n, 1n, EVER])
  await world.act(0, 'setDistributor', [`0x${'00'.repeat(20)}`, 0n, 0n])
  const [{ cohort, next } = assert.fail()] = await cohortsOf(world)
  await world.chain.setNextTime(next + 1)
  await world.chain.mine()
  const paid = await world.pay(6, BASIC)
  await world.settle()
  const [node] =
    await world.pool`SELECT cohort FROM nodes WHERE node_id = ${(await paymentOf(world, paid))?.nodeId ?? 0}`
  assert.notEqual(node?.cohort, cohort)
})

inWorld('a cohort that is wrong in the ledger keeps no other from being paid, and is set right', async (world) => {
  for (const price of [BASIC, PLUS]) await world.pay(5, price)
  await world.settle()
  await world.chain.mine(1, 4 * SLOT_SEC)
  await world.pay(6, BASIC)
  await world.settle()
  const [wrong = assert.fail()] = await cohortsOf(world)
  // As if a skip of it had never been followed.
  await world.pool`UPDATE cohorts SET next_due = next_due - ${INTERVAL_SEC} WHERE cohort = ${wrong.cohort}`
  await world.chain.mine(1, INTERVAL_SEC)
  const outcome = await world.credit()
  assert.deepEqual([outcome.reason, outcome.nodeCount], [null, 2])
  await world.chain.mine()
  const [refused] = await world.pool`SELECT detail FROM audit WHERE action = 'cohortsRefused'`
  assert.deepEqual(refused?.detail, { cohorts: [wrong.cohort] })
  await world.payments()
  const [mended] = await world.pool`SELECT subject FROM audit WHERE action = 'cohortReconciled'`
  assert.equal(mended?.subject, String(wrong.cohort))
  await world.rest()
  const paid = await world.pool`SELECT cohort, due FROM turns WHERE cohort = ${wrong.cohort}`
  assert.deepEqual([...paid], [{ cohort: wrong.cohort, due: wrong.next }])
})

inWorld('a round that the purse cannot pay at once is paid in parts', async (world) => {
  await world.pay(5, BASIC)
  await world.settle()
  await world.chain.mine(1, 20 * INTERVAL_SEC)
  await world.chain.setBalance(world.at(2), ETHER / 100n)
  const outcome = await world.credit()
  assert.equal(outcome.reason, null)
  await world.chain.mine()
  await world.payments()
  const [{ turns } = assert.fail()] = await world.pool<{ turns: number }[]>`SELECT turns FROM turns`
  assert.ok(turns >= 4 && turns < 20, `${turns} turns`)
  await world.chain.setBalance(world.at(2), ETHER)
  await world.rest()
})
