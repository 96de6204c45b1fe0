// Metrics, health and doctor: what they read of random ledgers is what the second reading counts in the same rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import * as doctor from '../../../src/db/reads/doctor.ts'
import { readHealth } from '../../../src/db/reads/public-api.ts'
import { createMetricsReader } from '../../../src/metrics/readings.ts'
import { account, at, fromNow, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './figures.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const DAY_SEC = 86_400
const HEAD_TIME = 10_000
const SENDERS = { minter: account(1), distributor: account(2), former: account(3) }
const aDay = fc.constantFrom(0, DAY_SEC - 2, DAY_SEC - 1, DAY_SEC, DAY_SEC + 1, 2 * DAY_SEC)
const payment = fc.record({
  state: fc.constantFrom('seen', 'accepted', 'minting', 'held', 'held', 'held', 'dismissed', 'ignored'),
  reason: fc.constantFrom('soldOut', 'wrongAmount', 'refunding', 'refunding', 'mintedElsewhere'),
  block: fc.integer({ min: 50, max: 53 }),
  age: fc.constantFrom(100, 200, 300),
  valueWei: fc.constantFrom(7n, 7n, 8n),
  succeeded: fc.constantFrom(true, true, false),
  proof: fc.constantFrom('believed', 'believed', 'proven', null),
  updatedAge: fc.constantFrom(0, 599, 600, 601),
  refundingAge: fc.constantFrom(null, 10, 20),
  isWithdrawn: fc.constantFrom(false, false, true),
})
const sent = fc.record({
  sender: fc.constantFrom<model.Sent['sender']>('minter', 'minter', 'distributor', 'former'),
  state: fc.constantFrom('pending', 'pending', 'mined', 'reverted'),
  age: aDay,
  attempts: fc.array(fc.constantFrom(null, 'known', 'insufficientFunds'), { minLength: 1, maxLength: 3 }),
})
const actions = fc.constantFrom(
  ...['foreignTransaction', 'restored', 'refTaken', 'mintedElsewhere', 'proofFailed', 'guardRefused', 'senderRests'],
  ...[
    'paidNodeExpelled',
    'mintedThoughRefunding',
    'refundOfOrphaned',
    'refundGone',
    'drift',
    'senderRests',
    'tierUnfit',
  ],
  ...['mintedThoughRefunded', 'refundTooEarly', 'refundOfMinted'],
)
const passRow = fc.record({
  name: fc.constantFrom('credit', 'payments', 'funds'),
  startedAge: fc.constantFrom(1, 60),
  succeededAge: fc.constantFrom(null, 1, 60, 90),
  error: fc.constantFrom(null, 'a fault'),
})
const role = ['minter', 'distributor']
const drawn: fc.Arbitrary<model.Ledger> = fc.record({
  headTime: fc.constant(HEAD_TIME),
  payments: fc
    .array(payment, { maxLength: 6 })
    .map((all) =>
      all.map((one) => ({ ...one, reason: ['held', 'dismissed', 'ignored'].includes(one.state) ? one.reason : null })),
    ),
  sent: fc.array(sent, { maxLength: 5 }),
  audit: fc.array(
    fc.record({
      action: actions,
      age: fc.oneof(aDay, fc.constantFrom(899, 900, 901, 7 * DAY_SEC - 1, 7 * DAY_SEC, 7 * DAY_SEC + 1)),
    }),
    { maxLength: 8 },
  ),
  cohorts: fc.array(fc.record({ size: fc.nat(3), due: fc.constantFrom(HEAD_TIME - 1, HEAD_TIME, HEAD_TIME + 1) }), {
    maxLength: 3,
  }),
  nodes: fc.array(
    fc.record({
      isPaid: fc.boolean(),
      isGranted: fc.constantFrom(false, false, true),
      isExpelled: fc.constantFrom(false, false, true),
    }),
    { maxLength: 4 },
  ),
  passes: fc.uniqueArray(passRow, { selector: ({ name }) => name, maxLength: 3 }),
  deliveries: fc.array(
    fc.record({
      state: fc.constantFrom('pending', 'pending', 'failed', 'delivered'),
      age: fc.constantFrom(30, 40, 50),
    }),
    {
      maxLength: 4,
    },
  ),
  endpoints: fc.array(fc.record({ active: fc.boolean(), isDisabled: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  books: fc.array(fc.record({ dust: fc.nat(3), zero: fc.nat(3) }), { maxLength: 2 }),
  traces: fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5)).map(([asked, failed, before]) => [
    { asked, failed, isToday: true },
    { asked: before, failed: 1, isToday: false },
  ]),
  paused: fc.constantFrom(null, true, false),
  halted: fc.constantFrom(null, { reason: 'tooDeep' }, { reason: 'unproven' }),
  stuck: fc.constantFrom(null, { lasts: false }, { lasts: true }),
  drifts: fc.constantFrom(null, 0, 2),
  notSigning: fc.subarray(role),
  lostRoles: fc.subarray(role),
  funds: fc
    .subarray(role)
    .chain((roles) =>
      fc
        .boolean()
        .map((low) => roles.map((one) => ({ role: one, low: low === (one === 'minter'), neededWei: 5n * 10n ** 17n }))),
    ),
  budget: fc.option(
    fc.record({
      ...{ nodes: fc.nat(9), cohorts: fc.nat(9), low: fc.subarray(['nodes', 'cohorts']) },
      spent: fc.constantFrom(null, 'nodes', 'cohorts'),
    }),
  ),
  identityAge: fc.constantFrom(500, 600),
})

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const trouble = (name: string, value: unknown): Row => ({ name, value: JSON.stringify(value) })

function stateOf(ledger: model.Ledger): Row {
  const drift = ledger.drifts === null ? null : JSON.stringify(Array(ledger.drifts).fill({}))
  const budget = ledger.budget && JSON.stringify({ ...ledger.budget, nodesPerWeek: 1, cohortsPerTier: 1 })
  const identity = { chain_id: 1, genesis_hash: '0x', factory: account(7), start_block: 0 }
  return { ...identity, started_at: fromNow(-ledger.identityAge), paused: ledger.paused ?? false, drift, budget }
}

function troublesOf(ledger: model.Ledger): Row[] {
  const some = (name: string, value: unknown) => (value === null ? [] : [trouble(name, value)])
  return [
    ...some('halted', ledger.halted && { ...ledger.halted, since: 'then', sealed: false }),
    ...some('stuck', ledger.stuck && { ...ledger.stuck, block: 61, since: 'then' }),
    // What a check no longer sees stays on record for a while.
    ...role.map((one) =>
      trouble(`trouble signer ${one}`, ledger.notSigning.includes(one) ? {} : { calmSince: 'then' }),
    ),
    ...role.map((one) => trouble(`trouble role ${one}`, ledger.lostRoles.includes(one) ? {} : { calmSince: 'then' })),
    ...ledger.funds.map(({ role, low, neededWei }) => trouble(`funds ${role}`, { low, neededWei: String(neededWei) })),
    trouble('trouble funds minter', {}),
  ]
}

function paymentRows({ payments }: model.Ledger): Rows {
  return {
    payments: payments.map((one, n) => ({
      ...{ id: 1 + n, ref: word(1 + n), tx_hash: word(1 + n), wallet: account(9), from_address: account(8) },
      ...{ value_wei: one.valueWei, succeeded: one.succeeded, state: one.state, reason: one.reason, proof: one.proof },
      ...{ tier_id: 't', tier_version: 1, outbox_id: 1, block_time: fromNow(-one.age), ...inBlock(one.block) },
      updated_at: fromNow(-one.updatedAge),
    })),
    payment_verdicts: payments.flatMap(({ refundingAge, isWithdrawn }, n): Row[] => {
      if (refundingAge === null) return []
      const withdrawn = { withdrawn_at: isWithdrawn ? fromNow(0) : null, withdrawn_by: isWithdrawn ? 'ada' : null }
      const verdict = { payment_id: 1 + n, verdict: 'held', reason: 'refunding', evidence: '{}', decided_by: 'ada' }
      return [{ ...verdict, ...withdrawn, decided_at: fromNow(-refundingAge) }]
    }),
  }
}

function sentRows({ sent }: model.Ledger): Rows {
  return {
    outbox: sent.map(({ sender, state, age }, n) => ({
      ...{
        id: 1 + n,
        kind: 'mint',
        sender: SENDERS[sender],
        nonce: n,
        call: '{}',
        gas_limit: 1,
        valid_until: 1,
        state,
      },
      ...{ created_at: fromNow(-age), block_number: null, block_hash: null, tx_hash: null },
      ...(state === 'pending' ? {} : { ...inBlock(50), tx_hash: word(200 + n) }),
    })),
    outbox_attempts: sent.flatMap(({ attempts }, n) =>
      attempts.map((last_outcome, m) => ({
        ...{ tx_hash: word(200 + n + 100 * m), outbox_id: 1 + n, attempt: 1 + m, raw: '0x1', max_fee_wei: 1n },
        ...{ max_priority_fee_wei: 1n, signed_at_block: 50, last_outcome },
      })),
    ),
  }
}

function rowsOf(ledger: model.Ledger): Rows {
  const tier = { tier_id: 't', version: 1, tier_no: 1, label: 't', price_wei: 7n, max_per_wallet: 1, payout_bps: 1 }
  return {
    ...{ ...paymentRows(ledger), ...sentRows(ledger), ledger_state: [stateOf(ledger)], troubles: troublesOf(ledger) },
    cursors: [{ name: 'follow', ...inBlock(60), block_time: HEAD_TIME }],
    tiers: [{ ...tier, on_sale: false, from_block: 0, from_time: 0, entered_by: 'eve' }],
    audit: ledger.audit.map(({ action, age }) => ({ actor: 'pass', action, at: fromNow(-age), subject: 'x' })),
    cohorts: ledger.cohorts.map(({ size, due }, n) => ({
      ...{ cohort: 1 + n, tier_no: 1, interval_sec: 60, next_due: due, size, ...inBlock(1) },
    })),
    nodes: ledger.nodes.map(({ isPaid, isExpelled }, n) => ({
      ...{
        node_id: 1 + n,
        owner: account(1),
        cohort: isExpelled ? null : 1,
        ref: word(500 + n),
        mint_tx_hash: word(9),
      },
      ...{
        payment_id: isPaid ? 100 + n : null,
        per_node_at_mint_wei: 0n,
        turns_at_mint: 0,
        minted_at: at(900),
        ...inBlock(9),
      },
    })),
    grants: ledger.nodes.flatMap(({ isGranted }, n) =>
      isGranted ? [{ ref: word(500 + n), reason: 'a gift', granted_by: 'ada' }] : [],
    ),
    passes: ledger.passes.map(({ name, startedAge, succeededAge, error }) => ({
      ...{ name, started_at: fromNow(-startedAge), error },
      succeeded_at: succeededAge === null ? null : fromNow(-succeededAge),
    })),
    webhook_events: ledger.deliveries.map(({ age }, n) => ({
      ...{ seq: 1 + n, id: `e${n}`, type: 'x', body: '{}', created_at: fromNow(-age) },
    })),
    webhook_endpoints: ledger.endpoints.map(({ active, isDisabled }, n) => ({
      ...{
        endpoint: `e${n}`,
        url: 'x',
        secrets: '{a}',
        active,
        added_by: 'a',
        disabled_at: isDisabled ? fromNow(0) : null,
      },
    })),
    webhook_deliveries: ledger.deliveries.map(({ state }, n) => ({ seq: 1 + n, endpoint: 'e0', state })),
    wallet_books: ledger.books.map(({ dust, zero }, n) => ({
      ...{ wallet: account(20 + n), dust_transfers: dust, zero_transfers: zero },
    })),
    trace_days: [],
  }
}

/** Days by the database's own clock. */
async function setTraces(sql: Sql, { traces }: model.Ledger): Promise<void> {
  for (const { asked, failed, isToday } of traces)
    await sql`INSERT INTO trace_days (day, traced, failed) VALUES (current_date - ${isToday ? 0 : 1}::int, ${asked}, ${failed})`
}

const whole = (seconds: number | null | undefined) => (seconds == null ? null : Math.floor(seconds))

/** What the second reading names, as a scrape shows it: ages in whole seconds. */
async function scrape(sql: Sql, names: string[]): Promise<model.Samples> {
  const reader = (address: string) => ({ address, balance: async () => 0n, nonce: async () => 0 })
  const [row] = await sql<{ now: number }[]>`SELECT extract(epoch FROM now())::float8 AS now`
  const read = createMetricsReader({
    ...{ pool: poolWithin(sql), chain: { head: async () => ({ number: 60, time: HEAD_TIME }) } },
    ...{
      readings: { cover: async () => null },
      minter: reader(SENDERS.minter),
      distributor: reader(SENDERS.distributor),
    },
  } as never)
  const found = (await read()).flatMap(({ name, labels = {}, value }): [string, number][] => {
    if (value === null) return []
    const label = Object.entries(labels).map(([key, one]) => `${key}=${one}`)
    const short = name.replace('node_ledger_', '') + (label.length > 0 ? `{${label.join()}}` : '')
    const number = Number(value)
    if (short.includes('timestamp')) return [[short, Math.round(number - (row?.now ?? 0))]]
    return [[short, short.includes('age_seconds') ? Math.floor(number) : number]]
  })
  const families = new Set(names.map((name) => name.replace(/\{.*/, '')))
  return Object.fromEntries(found.filter(([name]) => families.has(name.replace(/\{.*/, ''))))
}

test('every figure of a scrape matches the rows', async () => {
  const compare = async (ledger: model.Ledger) => {
    const expected = model.samplesOf(ledger)
    const families = [...Object.keys(expected), 'drift', 'minter_budget', 'payments_held', 'sender_funds_low']
    const found = await tables.within(rowsOf(ledger), async (sql) => {
      await setTraces(sql, ledger)
      return scrape(sql, families)
    })
    assert.deepEqual(found, expected)
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(60) })
})

test('health and doctor report figures that match the rows', async () => {
  const compare = async (ledger: model.Ledger, ours: ('minter' | 'distributor')[] | null) => {
    await tables.within(rowsOf(ledger), async (sql) => {
      const { halted, stuck, secondsWithoutSuccess, payouts: _, lastTickAt: _at, ...health } = await readHealth(sql)
      const told = { ...health, secondsWithoutSuccess: whole(secondsWithoutSuccess), isStuck: stuck !== null }
      const expected = model.healthOf(ledger)
      // Without a pass it counts from the ledger's first start.
      assert.deepEqual({ ...told, halted: halted?.reason ?? null }, expected)
      const runs = await doctor.readRuns(sql)
      const names = Object.fromEntries(Object.entries(SENDERS).map(([name, address]) => [address, name]))
      const { oldestPendingSec, unfunded, ...trouble } = await doctor.readRecentTrouble(
        sql,
        ours && (ours.map((one) => SENDERS[one]) as never),
      )
      const thefts = { foreign: await doctor.readForeign(sql), refs: await doctor.readTakenRefs(sql) }
      const found = {
        runs: runs.map(({ secondsAgo, secondsWithoutSuccess: without, ...one }) => ({
          ...{ ...one, secondsAgo: whole(secondsAgo), secondsWithoutSuccess: whole(without) },
        })),
        held: (await doctor.readHeldReasons(sql)).map((one) => ({ ...one })),
        trouble: {
          ...{ ...trouble, oldestPendingSec: whole(oldestPendingSec) },
          unfunded: unfunded.map((address) => names[address]).sort(),
        },
        thefts: { foreign: thefts.foreign.length, refs: thefts.refs.length },
        unproven: (await doctor.readUnproven(sql)).length,
      }
      assert.deepEqual(found, model.doctorOf(ledger, ours))
    })
  }
  const ours = fc.constantFrom<('minter' | 'distributor')[] | null>(null, ['minter'], ['minter', 'distributor'], [])
  await fc.assert(fc.asyncProperty(drawn, ours, compare), { numRuns: cases(60) })
})
