// The payments pass's answer: src/passes/payments.ts on a ledger with payments of every kind, a former key, pauses, a provider that is behind and a pending call
// answers, mints, records and reports what the second reading does.
import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { MINT_BATCH_MAX } from '../../../src/domain/send.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { paymentsPass } from '../../../src/passes/payments.ts'
import type { FactoryCall } from '../../../src/ports/sending.ts'
import { account, at, fromNow, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './payments.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [NOW, CURSOR, INTERVAL, SLOT] = [1_000_245, 100, 120, 60]
const [MINTER, FORMER, WALLET] = [account(8), account(9), account(1)]
const seldom = fc.nat(11).map((n) => n === 0)
const drawn: fc.Arbitrary<model.Given> = fc.record({
  ...{ isLocked: seldom, isHalted: seldom, hasKey: seldom.map((isIt) => !isIt), isPending: seldom },
  head: fc.constantFrom(0, 0, 0, 0, 0, -1),
  mendingTo: fc.constantFrom(null, null, null, 0, 1),
  finality: fc.constantFrom(0, 0, 1),
  followed: fc.constant(CURSOR),
  payments: fc.array(
    fc.record({
      kind: fc.constantFrom<model.Payment['kind']>('sale', 'sale', 'odd', 'fault', 'accepted', 'former'),
      block: fc.constantFrom(90, CURSOR - 1, CURSOR),
    }),
    { maxLength: 5 },
  ),
  budget: fc.constantFrom(0, 1, 2, 99, 99),
  spentBefore: fc.constantFrom(null, null, 'nodes'),
  answer: fc.constantFrom('ok', 'ok', 'ok', 'roleLost', 'reverts'),
})

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const timeOf = (block: number) => NOW - 12 * (CURSOR - block)
const PRICE = 10

function paymentRow({ kind, block }: model.Payment, n: number): Row {
  const isJudged = kind === 'accepted' || kind === 'former'
  return {
    ...{ id: 1 + n, ref: word(1 + n), tx_hash: word(1 + n), wallet: WALLET, from_address: account(100 + n) },
    ...{ value_wei: kind === 'odd' ? PRICE + 1 : PRICE, succeeded: true, proof: 'proven', tx_index: n },
    ...{ state: isJudged ? (kind === 'former' ? 'minting' : kind) : 'seen', block_time: at(timeOf(block)) },
    ...{ tier_id: isJudged ? 't1' : null, tier_version: isJudged ? 1 : null },
    ...{ outbox_id: kind === 'former' ? 9_001 : null, ...inBlock(block) },
  }
}

/** A mint that a former key signed, and one of this key. Neither is in a block. */
function sentRows({ payments, isPending }: model.Given): Rows {
  const call = JSON.stringify({ kind: 'mint', orders: [], guard: null, validUntil: NOW + 900 })
  const intent = { kind: 'mint', call, gas_limit: 1, valid_until: NOW + 900, state: 'pending' }
  const isFormer = payments.some(({ kind }) => kind === 'former')
  const outbox = [
    ...(isFormer ? [{ ...intent, id: 9_001, sender: FORMER, nonce: 7 }] : []),
    ...(isPending ? [{ ...intent, id: 9_002, sender: MINTER, nonce: 4 }] : []),
  ]
  const attempts = outbox.map(({ id }) => ({
    ...{ tx_hash: word(id), outbox_id: id, attempt: 1, raw: '0x02', max_fee_wei: 1, max_priority_fee_wei: 1 },
    signed_at_block: CURSOR,
  }))
  return { outbox, outbox_attempts: attempts, sender_bases: [{ sender: MINTER, nonce: 4, block_number: 1 }] }
}

function rowsOf(given: model.Given): Rows {
  const halt = { reason: 'chainId', since: at(1), detail: {}, looks: 9, sealed: true }
  const budget = { nodes: 500, cohorts: 9, low: [], spent: given.spentBefore, soldOut: false }
  const due = Math.floor((NOW + INTERVAL) / SLOT) * SLOT
  return {
    ...sentRows(given),
    cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: NOW }],
    blocks: [CURSOR - 1, CURSOR].map((number) => ({
      ...{ number, hash: word(number), parent_hash: word(number - 1), time: timeOf(number), prevrandao: word(1) },
    })),
    ledger_state: [
      {
        mending_to: given.mendingTo === null ? null : CURSOR + given.mendingTo,
        budget: JSON.stringify(budget),
      },
    ],
    // Neither is due for a comparison.
    passes: ['reconcile', 'budget'].map((name) => ({ name, started_at: fromNow(-10) })),
    troubles: given.isHalted ? [{ name: 'halted', value: JSON.stringify(halt) }] : [],
    evidence_modes: [{ from_block: 0, mode: 'agreed', set_by: 'test' }],
    credit_terms: [
      {
        from_time: 0,
        payouts: true,
        min_wei: 1,
        max_wei: 2,
        interval_sec: INTERVAL,
        slot_sec: SLOT,
        entered_by: 'eve',
      },
    ],
    tiers: [
      {
        ...{ tier_id: 't1', version: 1, tier_no: 1, label: 'T', price_wei: PRICE, max_per_wallet: 9, live: true },
        ...{ payout_bps: 10_000, on_sale: true, from_block: 0, from_time: 0, entered_by: 'eve' },
      },
    ],
    payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'eve' }],
    cohorts: [0, SLOT].map((before, n) => ({
      ...{ cohort: 1 + n, tier_no: 1, interval_sec: INTERVAL, next_due: due - before, size: 0, ...inBlock(50) },
      ...{ opened_interval_sec: INTERVAL, first_due: due - before, opened_at: 2_000 },
    })),
    payments: given.payments.map(paymentRow),
  }
}

interface Played {
  orders: number[]
  heads: number
  /** How many payments had been judged when the mint was signed. */
  judgedBefore: number
}

function minterOf(sql: Sql, { answer }: model.Given, played: Played) {
  const nonces = async () => [4]
  return {
    ...{ address: MINTER, nonce: async () => 4, nonces, noncesAt: nonces, balance: async () => 9n ** 20n },
    ...{ fees: async () => ({ maxFeeWei: 1n, maxPriorityFeeWei: 1n }), broadcast: async () => ({ kind: 'accepted' }) },
    estimate: async () => {
      if (answer === 'ok') return { kind: 'ok', gas: 1n }
      return { kind: 'reverts', error: answer === 'roleLost' ? 'NotMinter' : 'Paused' }
    },
    sign: async (call: FactoryCall) => {
      const [row] = await sql<
        { judged: number }[]
      >`SELECT count(*) AS judged FROM payment_verdicts WHERE decided_by = 'pass'`
      Object.assign(played, { judgedBefore: Number(row?.judged) })
      for (const { ref } of call.kind === 'mint' ? call.orders : []) played.orders.push(Number(ref))
      return { txHash: word(999), raw: '0x01' }
    },
  }
}

function passOf(sql: Sql, given: model.Given, played: Played, log: object = silentLog) {
  const block = (number: number) => ({
    ...{ number, hash: word(number), parentHash: word(number - 1), time: timeOf(number), prevrandao: word(1) },
  })
  const chain = {
    ...{ providers: [], chainId: async () => 1, proofs: { require: () => undefined }, finalized: async () => null },
    ...{ block: async (number: number) => block(number), firstBlockAt: async () => null },
    head: async () => {
      played.heads += 1
      return block(CURSOR + given.head)
    },
  }
  const budget = async () => ({ nodes: given.budget, cohorts: 9, lastCohort: 2 })
  const contract = {
    ...{ budget, bounds: async () => ({ floorWei: 1n, ceilingWei: 9n }), maxPerWallet: async () => 9 },
    ...{ isDeployed: async () => true, distributor: async () => account(7) },
  }
  const rules = {
    ...{ finality: given.finality, startBlock: 1, rewindsToShorterChain: false, feeCapWei: 10n, tipMaxWei: 1n },
    ...{ trustsProvider: true, validForSec: 900, reconcileEverySec: 9_999, fundsWarnTransactions: 0 },
  }
  return paymentsPass({
    ...{ pool: poolWithin(sql), chain, log, contract, rules, distributor: null },
    minter: given.hasKey ? minterOf(sql, given, played) : null,
    lock: async (_name: string, body: (signal: AbortSignal) => unknown) =>
      given.isLocked ? null : await body(new AbortController().signal),
    preflight: async () => ({ guardUsable: false }),
  } as never)
}

/** No verdict on these payments can be stored. */
async function failFor(sql: Sql, { payments }: model.Given): Promise<void> {
  const ids = payments.flatMap(({ kind }, n) => (kind === 'fault' ? [1 + n] : []))
  if (ids.length > 0)
    await sql.unsafe(`
      CREATE FUNCTION fail_to_judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cannot be judged'; END $$;
      CREATE TRIGGER fail_to_judge BEFORE UPDATE OF state ON payments
        FOR EACH ROW WHEN (OLD.id IN (${ids})) EXECUTE FUNCTION fail_to_judge()`)
}

async function compareRecord(sql: Sql, told: object, { failed }: model.Result, isLocked: boolean): Promise<void> {
  const [row] = await sql<{ outcome: object | null; error: string | null }[]>`
    SELECT outcome, error FROM passes WHERE name = 'payments'`
  if (isLocked) return assert.equal(row, undefined)
  const fault = failed === 0 ? null : `${failed} payments could not be judged: see the log`
  if (row?.outcome) assert.deepEqual(row, { outcome: told, error: fault })
}

async function compareLedger(sql: Sql, expected: model.Result): Promise<void> {
  const rows = await sql<{ state: string; reason: string | null }[]>`SELECT state, reason FROM payments ORDER BY id`
  assert.deepEqual(
    rows.map(({ state, reason }) => [state, reason].filter(Boolean).join(' ')),
    expected.payments,
  )
  const [state] = await sql`SELECT budget ->> 'spent' AS spent FROM ledger_state`
  assert.equal(state?.spent, expected.spent, 'the budget on record')
  const [unsent] = await sql`SELECT value ->> 'why' AS why FROM troubles WHERE name = 'unsent payments'`
  assert.equal(unsent?.why ?? null, expected.unsent)
}

test('a payments pass reports what it held and what waits, and mints what it may', async () => {
  const compare = async (given: model.Given) => {
    await tables.within(rowsOf(given), async (sql) => {
      await failFor(sql, given)
      const played: Played = { orders: [], heads: 0, judgedBefore: 0 }
      const answer = await passOf(sql, given, played)()
      const { durationMs, ...told } = answer
      const expected = model.runOf(given)
      assert.deepEqual(told, { fromBlock: null, toBlock: null, ...expected.outcome })
      assert.deepEqual(played.orders, expected.orders)
      const isCut = given.isLocked || given.isHalted
      assert.ok(isCut ? durationMs === null : durationMs !== null && durationMs >= 0 && durationMs < 10_000)
      if (!isCut && given.head === 0) assert.equal(played.heads, 1, 'the chain is followed once')
      await compareLedger(sql, expected)
      await compareRecord(sql, answer, expected, given.isLocked)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
})

const ALL: model.Given = {
  ...{ isLocked: false, isHalted: false, hasKey: true, isPending: false, head: 0, mendingTo: null, finality: 0 },
  ...{ followed: CURSOR, payments: [], budget: 999, spentBefore: null, answer: 'ok' },
}
/** The most payments that the judge takes at a time. */
const PAGE = 500
const rush = { payments: Array.from({ length: PAGE + 1 }, () => ({ kind: 'sale' as const, block: 90 })), afterMs: 0 }
/** What buys nothing is judged last. */
const late = [
  { kind: 'odd' as const, block: 90 },
  { kind: 'sale' as const, block: CURSOR },
]

for (const { payments, afterMs, before: judgedBefore, orders, all } of [
  { ...rush, before: PAGE, orders: MINT_BATCH_MAX, all: PAGE + 1 },
  { payments: late, afterMs: 1_999, before: 2, orders: 1, all: 2 },
  { payments: late, afterMs: 2_000, before: 1, orders: 1, all: 2 },
  { payments: late, afterMs: 20_000, before: 1, orders: 1, all: 2 },
  { payments: late, afterMs: 20_001, before: 1, orders: 1, all: 1 },
])
  test(`a run mints before it judges the others, ${afterMs} ms after its start, of ${payments.length}`, async () => {
    let now = 1_000
    const clock = mock.method(performance, 'now', () => now)
    const info = () => {
      now = 1_000 + afterMs
    }
    const given = { ...ALL, payments }
    try {
      await tables.within(rowsOf(given), async (sql) => {
        const played: Played = { orders: [], heads: 0, judgedBefore: 0 }
        const { durationMs } = await passOf(sql, given, played, { info, warn() {}, error() {} })()
        assert.equal(durationMs, afterMs)
        assert.deepEqual([played.orders.length, played.judgedBefore], [orders, judgedBefore])
        const [row] = await sql<{ judged: number }[]>`SELECT count(*) AS judged FROM payment_verdicts`
        assert.equal(row?.judged, all)
      })
    } finally {
      clock.mock.restore()
    }
  })
