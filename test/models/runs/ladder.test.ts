// Ladders in a run of the judge: the steps open at the blocks of the second reading, and the payments that it names buy, whatever the size of a page and
// the order in which wallets come.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { judge } from '../../../src/passes/steps/judge.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './ladder.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [HEIGHT, NOW] = [1_000, 5_000]
const BUYERS = [5, 6, 7, 8, 9, 10, 11, 12].map(account)
const BLOCKS = [100, 105, 110, 115]
const supply = fc.constantFrom(null, 1, 2, 2, 3)
const drawn = fc.record({
  supplies: fc.tuple(fc.constantFrom(1, 2, 2, 3), supply, supply),
  /** Nodes of the first tier before, if that leaves it a place. */
  nodes: fc.constantFrom(0, 0, 0, 1),
  paidIn: fc.constantFrom(90, 107, 112),
  payments: fc.array(
    fc.record({
      step: fc.constantFrom(0, 0, 0, 1, 1, 2),
      block: fc.constantFrom(100, 105, 110, 110, 115),
      txIndex: fc.nat(3),
      from: fc.constantFrom(...BUYERS),
      isInner: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 2, maxLength: 10 },
  ),
  page: fc.constantFrom(1, 2, 3, 500),
  /** Ages of the four blocks in seconds, which are sorted: an earlier block is as old or older. */
  ages: fc.array(fc.constantFrom(0, 900, 3_599, 3_600, 4_000), { minLength: 4, maxLength: 4 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function ladderOf(given: Drawn): model.Ladder {
  const places = new Set<string>()
  const ages = given.ages.toSorted((a, b) => b - a)
  const payments = given.payments.flatMap(({ isInner, ...one }, n): model.Payment[] => {
    const place = `${one.block} ${one.txIndex}`
    if (places.has(place)) return []
    places.add(place)
    const age = ages[BLOCKS.indexOf(one.block)] ?? 0
    return [{ id: 1 + n, ...one, innerIndex: isInner ? 1 : 0, age }]
  })
  const steps = given.supplies.map((most, n) => {
    return { supply: most, paidIn: given.paidIn, nodes: n === 0 && (most ?? 9) > 1 ? given.nodes : 0 }
  })
  return { steps, payments }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

const rowsOf = ({ steps, payments }: model.Ladder): Rows => ({
  cursors: [{ name: 'follow', block_time: NOW, ...inBlock(HEIGHT) }],
  credit_terms: [
    { from_time: 0, payouts: true, min_wei: 1n, max_wei: 2n, interval_sec: 60, slot_sec: 60, entered_by: 'test' },
  ],
  tiers: steps.map((one, n) => ({
    ...{ tier_id: `t${n}`, version: 1, tier_no: 1 + n, label: 'T', price_wei: BigInt(10 + n), supply: one.supply },
    ...{ max_per_wallet: 9, payout_bps: 10_000, on_sale: true, opens_after: n === 0 ? null : `t${n - 1}`, live: true },
    ...{ from_block: 0, from_time: 0, entered_by: 'test' },
  })),
  payment_wallets: [{ id: 1, wallet: account(1), from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
  contract_wallet_modes: [{ from_block: 0, mode: 'all', entered_by: 'test' }],
  cohorts: steps.map(({ nodes }, n) => ({
    ...{ cohort: 1 + n, tier_no: 1 + n, interval_sec: 60, next_due: 0, size: nodes, ...inBlock(1) },
  })),
  nodes: steps.flatMap(({ nodes }, n) =>
    Array.from({ length: nodes }, () => ({
      ...{ node_id: 1 + n, owner: account(3), cohort: 1 + n, ref: word(100), payment_id: 100, turns_at_mint: 0 },
      ...{ per_node_at_mint_wei: 0n, mint_tx_hash: word(9), minted_at: at(900), ...inBlock(113) },
    })),
  ),
  payments: [...payments.map(paymentRow), ...steps.flatMap(({ nodes, paidIn }) => (nodes > 0 ? [minted(paidIn)] : []))],
})

const paid = (id: number) => ({ id, ref: word(id), tx_hash: word(id), wallet: account(1), succeeded: true })
const minted = (height: number): Row => ({
  ...{ ...paid(100), from_address: account(3), value_wei: 10n, state: 'minted', node_id: 1, tier_id: 't0' },
  ...{
    tier_version: 1,
    inner_index: model.NODE_AT.innerIndex,
    proof: 'proven',
    tx_index: model.NODE_AT.txIndex,
    block_time: at(NOW - 900),
    ...inBlock(height),
  },
})
const paymentRow = (one: model.Payment): Row => ({
  ...{ ...paid(one.id), from_address: one.from, value_wei: BigInt(10 + one.step), state: 'seen' },
  ...{ inner_index: one.innerIndex, proof: one.innerIndex > 0 ? 'agreed' : 'proven', tx_index: one.txIndex },
  ...{ block_time: at(NOW - one.age), ...inBlock(one.block) },
})

async function judgeAll(sql: Sql, page: number): Promise<void> {
  const context = {
    ...{ pool: poolWithin(sql), log: silentLog, rules: { trustsProvider: false } },
    chain: {
      providers: ['one', 'two'],
      holding: async () => null,
      minedTransaction: async () => null,
      payerCode: async () => ({ kind: 'contract', codeHash: word(77), implementation: null }),
    },
    contract: { maxPerWallet: async () => 20 },
    ...{ minter: { address: account(90) }, distributor: null },
  }
  const run = { checkLock: () => undefined, outOfTime: () => false, page }
  for (let i = 0; i < 4; i++) {
    // Pauses between two looks at a payment are over.
    await sql`DELETE FROM payment_retries`
    await judge(context as never, { number: HEIGHT, hash: word(HEIGHT), time: NOW } as never, HEIGHT, run)
  }
}

test('a step sells behind the payment that took the last place before it', async () => {
  const compare = async (given: Drawn) => {
    const ladder = ladderOf(given)
    await tables.within(rowsOf(ladder), async (sql) => {
      await judgeAll(sql, given.page)
      const rows = await sql<{ id: number; state: string; reason: string | null }[]>`
        SELECT id::int, state, reason FROM payments WHERE id < 100 ORDER BY id`
      const buyers = new Set(rows.flatMap(({ id, state }) => (state === 'accepted' ? id : [])))
      const { fates, openings } = model.fatesOf(ladder, buyers)
      assert.deepEqual(
        rows.map(({ id, state, reason }) => [id, reason ?? state]),
        ladder.payments.map(({ id }) => [id, fates.get(id)]).toSorted((a, b) => Number(a[0]) - Number(b[0])),
      )
      const opened = await sql<{ id: string; block: number; txIndex: number; innerIndex: number }[]>`
        SELECT tier_id AS id, from_block AS block, tx_index AS "txIndex", inner_index AS "innerIndex" FROM tier_openings ORDER BY tier_id`
      assert.deepEqual(
        opened.map(({ id, ...place }) => [id, place]),
        openings.flatMap((place, n) => (place === null ? [] : [[`t${1 + n}`, place]])),
      )
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(80) })
})
