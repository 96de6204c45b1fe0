// Releases and dismissals: src/operator/acts/decide.ts, with tiers that changed their price around the payment's block, named or not, and with amounts
// around the lowest price ever. It agrees with the second reading about each answer, each verdict and each row.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { dismissAllDust, releasePayment } from '../../../src/operator/acts/decide.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './releasing.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const ACTOR = { name: 'ada', requestId: null }
const REASONS = ['wrongAmount', 'soldOut', 'supplySpent', 'recheck', 'mintedElsewhere', 'walletLimit', 'refunding']
const held = fc.record({
  state: fc.constantFrom('held', 'held', 'held', 'held', 'held', 'dismissed', 'refunded', 'seen'),
  reason: fc.constantFrom('wrongAmount', 'wrongAmount', 'recheck', ...REASONS),
  hasSender: fc.constantFrom(true, true, true, true, false),
  valueWei: fc.constantFrom(1n, 4n, 5n, 6n, 10n),
  block: fc.constantFrom(49, 50, 50, 51),
  own: fc.constantFrom(null, null, 0, 1, 2),
  named: fc.constantFrom(null, 't1', 't1', 't2', 't2', 't9'),
  hasForeignNode: fc.boolean(),
  mayMint: fc.constantFrom(false, false, false, false, false, true),
})
const version = fc.record({ priceWei: fc.constantFrom(4n, 5n, 6n, 10n), later: fc.constantFrom(0, 1, 1, 2) })
const limit = fc.record({
  supply: fc.constantFrom(null, null, null, 1, 2),
  cap: fc.constantFrom(null, null, null, 1, 2),
  sold: fc.constantFrom(0, 0, 1, 2),
})
const drawn = fc.record({
  held: fc.array(held, { minLength: 2, maxLength: 5 }),
  tiers: fc.tuple(...[0, 1].map(() => fc.array(version, { minLength: 1, maxLength: 3 }))),
  firstBlock: fc.constantFrom(0, 48, 49, 50, 51),
  limits: fc.tuple(limit, limit),
  belowWei: fc.constantFrom(1n, 4n, 5n, 6n, 7n, 10n, 11n),
  dryRun: fc.constantFrom(false, false, true),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** Two versions of one tier may be of one block; versions of several tiers have one price at different times. */
function versionsOf({ tiers, firstBlock }: Drawn): model.Version[] {
  return tiers.flatMap((versions, n) => {
    let fromBlock = firstBlock
    return versions.map(({ priceWei, later }, k) => {
      if (k > 0) fromBlock += later
      return { tierId: `t${1 + n}`, version: 1 + k, tierNo: 1 + n, priceWei, fromBlock }
    })
  })
}

const heldOf = (given: Drawn, versions: model.Version[]): model.Held[] =>
  given.held.map(({ own, named: _, hasSender, ...one }, n) => {
    const found = own === null ? undefined : versions[own % versions.length]
    const tier = found === undefined ? null : { tierId: found.tierId, version: found.version }
    const state = !hasSender && one.state === 'seen' ? 'held' : one.state
    const reason = state === 'held' ? one.reason : null
    return { ...one, id: 1 + n, state, reason, from: hasSender ? account(100 + n) : null, tier }
  })

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf(held: model.Held[], versions: model.Version[], { limits }: Drawn): Rows {
  const isLive = (one: model.Version) =>
    !versions.some((other) => other.tierId === one.tierId && other.version > one.version)
  const minted = held.filter(({ mayMint }) => mayMint)
  return {
    cursors: [{ name: 'follow', block_time: 1_000, ...inBlock(100) }],
    tiers: versions.map((one) => ({
      ...{ tier_id: one.tierId, version: one.version, tier_no: one.tierNo, label: 't', price_wei: one.priceWei },
      ...{ max_per_wallet: 9, payout_bps: 1, on_sale: false, live: isLive(one), from_block: one.fromBlock },
      ...{ supply: isLive(one) ? (limits[one.tierNo - 1]?.supply ?? null) : null, from_time: 0, entered_by: 'eve' },
    })),
    cohorts: limits.map(({ sold }, n) => ({
      ...{ cohort: 1 + n, tier_no: 1 + n, interval_sec: 60, next_due: 0, size: sold, ...inBlock(1) },
    })),
    owner_acts: limits.flatMap(({ cap }, n): Row[] => {
      const act = { log_index: n, name: 'TierCapped', at: at(400), tx_hash: word(9), ...inBlock(40) }
      return cap === null ? [] : [{ ...act, detail: JSON.stringify({ tier: 1 + n, most: cap }) }]
    }),
    payments: held.map((one) => ({
      ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: account(1), from_address: one.from },
      ...{ value_wei: one.valueWei, succeeded: true, state: one.state, reason: one.reason, tx_index: one.id },
      ...{ tier_id: one.tier?.tierId ?? null, tier_version: one.tier?.version ?? null },
      ...{ block_time: at(500), ...inBlock(one.block) },
    })),
    // Undecided payments reserve no place, because their value is no price on sale.
    nodes: held.flatMap(({ id, hasForeignNode }): Row[] => {
      const node = {
        node_id: id,
        owner: account(9),
        cohort: 9,
        ref: word(id),
        payment_id: null,
        per_node_at_mint_wei: 0,
      }
      return hasForeignNode
        ? [{ ...node, turns_at_mint: 0, mint_tx_hash: word(9), minted_at: at(10), ...inBlock(1) }]
        : []
    }),
    outbox: minted.map(({ id }) => ({
      ...{ kind: 'mint', sender: account(8), nonce: id, gas_limit: 1, valid_until: 1_000 },
      call: JSON.stringify({ orders: [{ ref: word(id) }], guard: null }),
    })),
  }
}

const readRows = (sql: Sql) => sql<{ id: number; state: string; tierId: string | null; version: number | null }[]>`
  SELECT id, state, tier_id AS "tierId", tier_version AS version FROM payments ORDER BY id`
const asRead = ({ id, state, tier }: model.Held) => {
  return { id, state, tierId: tier?.tierId ?? null, version: tier?.version ?? null }
}

/** Releases one payment in both, and compares answer and verdict. */
async function releaseOne(
  sql: Sql,
  one: model.Held,
  named: string | null,
  [versions, limits]: [model.Version[], Map<number, model.Limits>],
) {
  const input = { payment: String(one.id), ...(named === null ? {} : { tierId: named }) }
  const found = await releasePayment.unguarded({ pool: poolWithin(sql) } as never, ACTOR as never, input)
  const expected = model.release(one, named, versions, limits)
  if ('refused' in expected) {
    assert.equal(isOperatorRefusal(found) && found.because, expected.refused, `payment ${one.id}`)
    return
  }
  assert.ok(!isOperatorRefusal(found), isOperatorRefusal(found) ? found.message : '')
  const { tierId, version, priceWei } = expected.tier
  Object.assign(one, { state: 'accepted', tier: { tierId, version } })
  const ofTier = limits.get(Number(tierId.slice(1)))
  if (ofTier) ofTier.sold += 1
  const [verdict] = await sql<{ tierId: string; version: number; expected: string }[]>`
    SELECT evidence ->> 'tierId' AS "tierId", (evidence ->> 'tierVersion')::int AS version, evidence ->> 'expectedWei' AS expected
    FROM payment_verdicts WHERE payment_id = ${one.id}`
  assert.deepEqual({ ...verdict }, { tierId, version, expected: String(priceWei) })
}

const compareRows = async (sql: Sql, held: model.Held[]) =>
  assert.deepEqual(
    [...(await readRows(sql))].map((row) => ({ ...row })),
    held.map(asRead),
  )

test('a payment is released in its block’s version, unless its tier is full', async () => {
  const compare = async (given: Drawn) => {
    const versions = versionsOf(given)
    const held = heldOf(given, versions)
    const limits = new Map(given.limits.map((one, n) => [1 + n, { ...one }]))
    await tables.within(rowsOf(held, versions, given), async (sql) => {
      for (const [n, one] of held.entries())
        await releaseOne(sql, one, given.held[n]?.named ?? null, [versions, limits])
      await compareRows(sql, held)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(100) })
})

/** Dismisses in both, and compares the answers. */
async function dismissAll(sql: Sql, held: model.Held[], versions: model.Version[], { belowWei, dryRun }: Drawn) {
  const input = { belowWei: String(belowWei), dryRun }
  const found = await dismissAllDust({ pool: poolWithin(sql) } as never, ACTOR as never, input)
  const expected = model.dust(held, belowWei, versions)
  if (expected === null) {
    assert.equal(isOperatorRefusal(found) && found.because, 'invalid')
    return 0
  }
  const sumWei = expected.reduce((sum, { valueWei }) => sum + valueWei, 0n)
  assert.deepEqual(found, { dryRun, count: expected.length, sumWei, remaining: dryRun ? expected.length : 0 })
  if (dryRun) return 0
  for (const one of expected) one.state = 'dismissed'
  return expected.length
}

test('one act dismisses what is held below an amount, which is at most the lowest price ever', async () => {
  const compare = async (given: Drawn) => {
    const versions = versionsOf(given)
    const held = heldOf(given, versions)
    await tables.within(rowsOf(held, versions, given), async (sql) => {
      const dismissed = await dismissAll(sql, held, versions, given)
      await compareRows(sql, held)
      const told = await sql`SELECT FROM audit WHERE action = 'dustDismissed'`
      assert.equal(told.count, dismissed > 0 ? 1 : 0)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(100) })
})
