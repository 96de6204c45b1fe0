// What a node's page and the list of distributions show of the rows: each field, in its order, with the price of the row's hour, whenever it came.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inTransaction, type Pool } from '../../src/db/core/sql.ts'
import {
  insertFailedWithdrawals,
  insertNodes,
  insertOwnershipChanges,
  insertWithdrawals,
} from '../../src/db/nodes/nodes.ts'
import { insertRounds } from '../../src/db/nodes/rounds.ts'
import { readDistributions, readNode } from '../../src/db/reads/public-api.ts'
import { address, hash, wei } from '../../src/domain/units.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

const word = (n: number) => hash(`0x${n.toString(16).padStart(64, '0')}`)
const OWNER = address(`0x${'a'.repeat(40)}`)
const ZERO = address(`0x${'0'.repeat(40)}`)
/** 2026-10-01T00:00:00Z. */
const MIDNIGHT = 1_790_812_800
const PRICED = MIDNIGHT + 90
const LATE = MIDNIGHT + 3_600 + 90
const NEVER = MIDNIGHT + 7_200 + 90

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
  await pool`INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, size, per_node_wei, turn_count, block_number, block_hash)
    SELECT n, 1, 100, 1, 1, 0, 0, 1, ${word(1)} FROM generate_series(1, 2) n`
  const at = { blockNumber: 1, blockHash: word(1), blockTime: MIDNIGHT, txHash: word(1) }
  const node = { owner: OWNER, cohort: 1, tierNo: 1, ref: word(9), perNodeAtMintWei: wei(0n), turnsAtMint: 0 }
  await insertNodes(pool, [{ ...at, ...node, nodeId: 1n }])
  await insertOwnershipChanges(pool, [{ ...at, nodeId: 1n, from: ZERO, to: OWNER, logIndex: 1 }])
  await price(PRICED, 2345.5)
  for (const [at, blockTime] of [PRICED, LATE, NEVER].entries()) await credit(at + 1, blockTime)
  for (const [at, blockTime] of [PRICED, LATE, NEVER].entries()) await withdraw(at + 1, blockTime)
  await price(LATE, 1_000_000)
})
after(() => database.close())

const price = (sec: number, usd: number) => pool`
  INSERT INTO price_history (hour, usd, quoted_at) VALUES (date_trunc('hour', to_timestamp(${sec}), 'UTC'), ${usd}, now())`

const blockOf = (round: number, blockTime: number) => {
  const number = 10 + round
  return { blockNumber: number, blockHash: word(number), blockTime, txHash: word(100 + number) }
}

/** A round of two cohorts: a turn of the first with its terms, two turns of the second without. Its own row has none of the turns' prices. */
async function credit(round: number, blockTime: number): Promise<void> {
  const none = { tierId: null, seedBlock: null, seed: null, proof: null, minWei: null, maxWei: null, payoutBps: null }
  const range = { proof: 'agreed' as const, minWei: wei(1n), maxWei: wei(9n), payoutBps: 20_000 }
  const terms = { tierId: 'basic', seedBlock: 7, seed: word(7), ...range }
  const turn = {
    round,
    tierNo: 1,
    turnNo: round,
    due: blockTime - 60,
    turns: 1,
    intervalSec: 100,
    nodeCount: 1,
    singles: [],
  }
  await inTransaction(pool, (sql) =>
    insertRounds(sql, {
      rounds: [
        { ...blockOf(round, blockTime), round, mode: 'treasury', totalWei: wei(30n), nodeCount: 3 },
        { ...blockOf(round, blockTime), round: 100 + round, mode: 'treasury', totalWei: wei(0n), nodeCount: 0 },
      ],
      turns: [
        { ...turn, ...none, cohort: 2, turns: 2, amountWei: wei(10n ** 30n), nodeCount: 2 },
        { ...turn, ...terms, cohort: 1, amountWei: wei(1_000n) },
      ],
      skips: [],
    }),
  )
}

async function withdraw(n: number, blockTime: number): Promise<void> {
  const at = { ...blockOf(n, blockTime), to: OWNER }
  const amounts = { amountWei: wei(5n), withdrawnTotalWei: wei(BigInt(5 * n)) }
  await insertWithdrawals(pool, [{ ...at, ...amounts, nodeId: 1n, logIndex: 3 }])
  await insertFailedWithdrawals(pool, [
    { ...at, txHash: word(200 + n), txIndex: 0, caller: OWNER, amountWei: wei(7n), nodeIds: [1n] },
  ])
}

async function shown() {
  const { credits, withdrawals } = (await readNode(pool, 1n, 50)) ?? assert.fail()
  return { credits, withdrawals, distributions: await readDistributions(pool, 50) }
}

test('a price that came later is shown, and an hour without one has none', async () => {
  const { credits, withdrawals, distributions } = await shown()
  const usd = (rows: { usdPerEther: number | null }[]) => rows.map(({ usdPerEther }) => usdPerEther)
  assert.deepEqual(usd(credits), [null, 1_000_000, 2345.5])
  assert.deepEqual(usd(withdrawals), [null, null, 1_000_000, 1_000_000, 2345.5, 2345.5])
  assert.deepEqual(
    distributions.map(({ id }) => id),
    [3, 2, 1],
    'a round that only skipped is no distribution',
  )
})

test('what is shown', async () => {
  const { credits, withdrawals, distributions } = await shown()
  const last = (rows: readonly object[]) => JSON.stringify(rows.at(-1))
  assert.equal(
    last(credits),
    '{"id":1,"distributionId":1,"amountWei":"1000","createdAt":"2026-10-01T00:01:30.000Z","usdPerEther":2345.5}',
  )
  assert.equal(
    last(withdrawals),
    `{"id":1,"amountWei":"5","cumulativeSignedWei":"0","toAddress":"${OWNER}","deadline":0,"txHash":"${word(111)}","status":"sent",` +
      `"createdAt":"2026-10-01T00:01:30.000Z","confirmedAt":"2026-10-01T00:01:30.000Z","usdPerEther":2345.5}`,
  )
  assert.equal(
    last(distributions),
    `{"id":1,"mode":"treasury","totalWei":"30","nodeCount":3,"createdAt":"2026-10-01T00:01:30.000Z","txHash":"${word(111)}","blockNumber":11,` +
      `"turns":[{"cohort":1,"tierId":"basic","due":"2026-10-01T00:00:30.000Z","dueSec":1790812830,"seedBlock":7,"seed":"${word(7)}","minWei":"1",` +
      `"maxWei":"9","payoutBps":20000,"assurance":"agreed","count":1,"amountWei":"1000","nodeCount":1},{"cohort":2,"tierId":null,"due":"2026-10-01T00:00:30.000Z",` +
      `"dueSec":1790812830,"seedBlock":null,"seed":null,"minWei":null,"maxWei":null,"payoutBps":null,"assurance":null,"count":2,` +
      `"amountWei":"1000000000000000000000000000000","nodeCount":2}]}`,
  )
})
