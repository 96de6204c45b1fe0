// Judging again: src/passes/steps/judge.ts and src/db/payments/waiting.ts, with payments in every state and held for every reason, before and after a
// restore, with places, caps and decisions at their edges. They agree with the second reading about each payment and each verdict written.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { HELD_REASONS } from '../../../src/domain/judgement.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { judge } from '../../../src/passes/steps/judge.ts'
import { account, at, fromNow, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './again.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [BLOCK, TIME, DAY] = [model.BLOCK, model.TIME, model.DAY]
const AGAIN = ['walletLimit', 'soldOut', 'supplySpent']
// A contract's payment is judged again by facts of its own (runs/judging.test.ts).
const REASONS = HELD_REASONS.filter((reason) => reason !== 'contractWallet')
const drawnState = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...AGAIN).map((reason) => ({ state: 'held', reason })) },
  { weight: 2, arbitrary: fc.constantFrom(...REASONS).map((reason) => ({ state: 'held', reason })) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('seen', 'seen', 'accepted', 'accepted', 'dismissed', 'refunded', 'minting')
      .map((state) => {
        return { state, reason: null }
      }),
  },
  { weight: 1, arbitrary: fc.constant({ state: 'ignored', reason: 'failed' }) },
)
const decision = fc.record({
  verdict: fc.constantFrom('accepted', 'accepted', 'held', 'dismissed'),
  isWithdrawn: fc.constantFrom(false, false, true),
})
const drawnRoom = fc.record({
  end: drawnState,
  decided: fc.oneof(
    fc.constant<model.Room['decided']>([]),
    fc.constant<model.Room['decided']>([]),
    fc.array(decision, { minLength: 1, maxLength: 2 }),
  ),
  skipped: fc.record({ times: fc.constantFrom(0, 0, 2, 3, 4), agoSec: fc.constantFrom(DAY - 60, DAY + 60) }),
  supplyThen: fc.constantFrom(null, null, 1, 2),
  supply: fc.constantFrom(null, null, 1, 2, 3),
  cap: fc.constantFrom(null, null, null, 1, 2),
  onSale: fc.constantFrom(true, true, true, true, false),
  opens: fc.constantFrom(null, null, null, 0, 1),
  closes: fc.constantFrom(null, null, null, 0, 1),
  sold: fc.constantFrom(0, 1, 1, 2),
  ofWallet: fc.constantFrom(0, 0, 1, 2),
  outflows: fc.oneof(
    fc.constant<model.Room['outflows']>([]),
    fc.array(
      fc.record({
        block: fc.constantFrom(BLOCK - 1, BLOCK, BLOCK + 1),
        valueWei: fc.constantFrom(0n, 1n),
        isCommission: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
  ),
})
const drawn = fc.record({
  rooms: fc.array(drawnRoom, { minLength: 4, maxLength: 8 }),
  age: fc.constantFrom(100, 100, DAY - 1, DAY, DAY + 1),
  recheckUpTo: fc.constantFrom(null, null, BLOCK - 1, BLOCK, BLOCK + 1),
  walletCap: fc.constantFrom(1, 2),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const roomsOf = ({ rooms, age }: Drawn): model.Room[] =>
  rooms.map(({ end, opens, closes, ...one }) => {
    const edge = (off: number | null) => (off === null ? null : TIME + age + off)
    return { ...one, ...end, opensAt: closes === null ? edge(opens) : null, closesAt: edge(closes) }
  })

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const WALLET = account(1)
const payer = (n: number) => account(100 + n)

/** The first version sells the payment's block. The second, from a later block, is what the operator has changed the tier to. */
const tierRows = (room: model.Room, n: number): Row[] => {
  const both = { tier_id: `t${n}`, tier_no: n, label: 't', max_per_wallet: 9, payout_bps: 1, entered_by: 'eve' }
  const now = { on_sale: room.onSale, supply: room.supply, opens_at: room.opensAt, closes_at: room.closesAt }
  return [
    {
      ...both,
      version: 1,
      price_wei: n,
      on_sale: true,
      supply: room.supplyThen,
      from_block: 0,
      from_time: 0,
      live: false,
    },
    { ...both, ...now, version: 2, price_wei: 1_000 + n, from_block: 80, from_time: 600, live: true },
  ]
}

const verdictRows = ({ decided, skipped }: model.Room, n: number): Row[] => [
  ...Array.from({ length: skipped.times }, () => ({
    ...{ payment_id: n, verdict: 'held', reason: 'walletLimit', evidence: '{"by": "contract"}', decided_by: 'pass' },
    ...{ decided_at: fromNow(-skipped.agoSec), withdrawn_at: null, withdrawn_by: null },
  })),
  ...decided.map(({ verdict, isWithdrawn }) => ({
    ...{ payment_id: n, verdict, reason: verdict === 'held' ? 'recheck' : null, evidence: '{}', decided_by: 'ada' },
    ...{
      decided_at: fromNow(-10),
      withdrawn_at: isWithdrawn ? fromNow(-5) : null,
      withdrawn_by: isWithdrawn ? 'ada' : null,
    },
  })),
]

function rowsOf(rooms: model.Room[], given: Drawn): Rows {
  const each = (make: (room: model.Room, n: number) => Row[]) => rooms.flatMap((room, n) => make(room, 1 + n))
  const paidOut = (n: number, k: number) => word(1_000 + 10 * n + k)
  return {
    cursors: [{ name: 'follow', block_time: TIME + given.age, ...inBlock(100) }],
    credit_terms: [
      { from_time: 0, payouts: true, min_wei: 1, max_wei: 2, interval_sec: 60, slot_sec: 60, entered_by: 'eve' },
    ],
    payment_wallets: [
      { id: 1, wallet: WALLET, from_block: 0, from_time: 0, grace_sec: 0, watched_from: 0, entered_by: 'e' },
    ],
    tiers: each(tierRows),
    cohorts: each(({ sold }, n) => [
      { cohort: n, tier_no: n, interval_sec: 60, next_due: 0, size: sold, ...inBlock(1) },
    ]),
    // Of no other tier, so that the wallet's allowance in its own has room.
    nodes: each(({ ofWallet }, n) =>
      Array.from({ length: ofWallet }, (_, k) => ({
        ...{ node_id: 10 * n + k, owner: payer(n), cohort: 99, ref: word(5_000 + 10 * n + k), payment_id: null },
        ...{ per_node_at_mint_wei: 0, turns_at_mint: 0, mint_tx_hash: word(9), minted_at: at(10), ...inBlock(1) },
      })),
    ),
    owners: each(({ ofWallet }, n) => (ofWallet === 0 ? [] : [{ owner: payer(n), nodes: ofWallet }])),
    owner_acts: each(({ cap }, n) =>
      [cap, cap === null ? null : cap + 5].flatMap((most, k): Row[] => {
        const act = { log_index: 10 * n + k, name: 'TierCapped', at: at(400), tx_hash: word(9), ...inBlock(40) }
        return most === null ? [] : [{ ...act, detail: JSON.stringify({ tier: n, most }) }]
      }),
    ),
    wallet_outflows: each(({ outflows }, n) =>
      outflows.map(({ block, valueWei }, k) => ({
        ...{ ref: paidOut(n, k), tx_hash: paidOut(n, k), wallet: WALLET, to_address: payer(n), value_wei: valueWei },
        ...{ fee_wei: 0, block_time: at(TIME), ...inBlock(block) },
      })),
    ),
    refunds: each(({ outflows }, n) =>
      outflows.flatMap(({ block, valueWei, isCommission }, k): Row[] => {
        const of = { commission_of: 'ann', tx_hash: paidOut(n, k), from_address: WALLET, to_address: payer(n) }
        return isCommission ? [{ ...of, value_wei: valueWei, recorded_by: 'ada', ...inBlock(block) }] : []
      }),
    ),
    payments: each(({ state, reason }, n) => [
      {
        ...{ id: n, ref: word(n), tx_hash: word(n), wallet: WALLET, from_address: payer(n), value_wei: n },
        ...{ succeeded: true, proof: 'proven', state, reason, outbox_id: state === 'minting' ? 1 : null },
        ...{ tier_id: state === 'seen' ? null : `t${n}`, tier_version: state === 'seen' ? null : 1 },
        ...{ tx_index: n, block_time: at(TIME), ...inBlock(BLOCK) },
      },
    ]),
    payment_verdicts: each(verdictRows),
  }
}

async function runOnce(sql: Sql, given: Drawn) {
  const context = {
    ...{
      pool: poolWithin(sql),
      log: silentLog,
      rules: { trustsProvider: false },
      chain: { providers: ['one', 'two'] },
    },
    contract: { maxPerWallet: async () => given.walletCap },
    ...{ minter: { address: account(90) }, distributor: null },
  }
  const cursor = { number: 100, hash: word(100), time: TIME + given.age }
  return await judge(context as never, cursor as never, 100, { checkLock: () => {}, outOfTime: () => false } as never)
}

test('payments in every state are judged again once their obstacle has changed, and no others', async () => {
  const compare = async (given: Drawn) => {
    const rooms = roomsOf(given)
    const sale = { ...given, now: TIME + given.age }
    await tables.within(rowsOf(rooms, given), async (sql) => {
      if (given.recheckUpTo !== null) await sql`UPDATE ledger_state SET recheck_up_to = ${given.recheckUpTo}`
      const [{ last } = { last: 0 }] = await sql<
        { last: number }[]
      >`SELECT coalesce(max(id), 0) AS last FROM payment_verdicts`
      const result = await runOnce(sql, given)
      const found = await sql`
        SELECT id, state, reason, to_jsonb(ARRAY(SELECT verdict || ' ' || decided_by FROM payment_verdicts v
          WHERE v.payment_id = p.id AND v.id > ${last})) AS told FROM payments p ORDER BY id`
      const ends = rooms.map((room) => model.judgeAgain(room, sale))
      const expected = ends.map(({ state, reason }, n) => {
        const isSame = rooms[n]?.state === state && rooms[n]?.reason === reason
        return { id: 1 + n, state, reason, told: isSame ? [] : [`${state} pass`] }
      })
      assert.deepEqual(
        found.map((row) => ({ ...row })),
        expected,
      )
      const told = (state: string) => expected.filter((one) => one.told[0] === `${state} pass`).length
      assert.deepEqual(result, { accepted: told('accepted'), held: told('held'), failed: 0 })
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(80) })
})
