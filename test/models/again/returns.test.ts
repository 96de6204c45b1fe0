// Transfers that come back after a reorganisation: `enter` of src/db/payments/moves.ts, over payments of every state with every run of decisions, in another
// block, failed, or from another sender, agrees with the second reading about the whole row.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { enter } from '../../../src/db/payments/moves.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './returns.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const REASON = { accepted: null, held: 'recheck', ignored: 'failed', refunded: null, dismissed: null }
const tier = fc.constantFrom({ tierId: 't1', version: 1 }, { tierId: 't1', version: 2 }, { tierId: 't2', version: 1 })
const verdict = fc
  .record({
    verdict: fc.constantFrom('accepted', 'accepted', 'held', 'refunded', 'dismissed', 'ignored'),
    tier: fc.option(tier),
    isByHand: fc.constantFrom(true, true, true, false),
    isWithdrawn: fc.constantFrom(false, false, false, true),
  })
  .map((one): model.Verdict => {
    // Only the judge ignores. A release names its tier.
    const isByHand = one.verdict === 'ignored' ? false : one.isByHand
    const named = one.verdict === 'accepted' ? (one.tier ?? { tierId: 't1', version: 1 }) : null
    return { ...one, verdict: one.verdict as 'held', reason: REASON[one.verdict as 'held'], isByHand, tier: named }
  })
const drawnPayment = fc.record({
  state: fc.constantFrom(
    'orphaned',
    'orphaned',
    'orphaned',
    'orphaned',
    'seen',
    'accepted',
    'held',
    'refunded',
    'dismissed',
  ),
  isResidue: fc.constantFrom(false, false, false, true),
  tier: fc.option(tier),
  hasMint: fc.boolean(),
  verdicts: fc.array(verdict, { maxLength: 3 }),
  failed: fc.constantFrom(false, false, false, true),
  isOtherSender: fc.constantFrom(false, false, false, false, true),
  isOtherValue: fc.constantFrom(false, false, false, false, true),
  wasFailed: fc.constantFrom(false, false, false, true),
  hasCome: fc.constantFrom(true, true, true, true, false),
})
const drawn = fc.record({
  payments: fc.array(drawnPayment, { minLength: 3, maxLength: 8 }),
  /** What limits each tier now. */
  limits: fc.tuple(fc.constantFrom(null, null, 'supply', 'cap', 'former'), fc.constantFrom(null, 'supply', 'cap')),
  block: fc.constantFrom(50, 60),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const VALUE = 10n
const paymentsOf = ({ payments }: Drawn) =>
  payments.map((one, n) => {
    const isHeld = one.state === 'held'
    // A residue cannot be released, and only a reorganisation takes its block.
    const isResidue = one.isResidue && !['seen', 'accepted'].includes(one.state)
    const payment: model.Payment = {
      ...{ state: one.state, reason: isHeld ? 'walletLimit' : null, hasMint: one.hasMint, succeeded: !one.wasFailed },
      tier: one.state === 'accepted' ? (one.tier ?? { tierId: 't1', version: 1 }) : one.tier,
      ...{ from: isResidue ? null : account(100 + n), valueWei: VALUE, block: one.state === 'orphaned' ? null : 50 },
    }
    return { payment, verdicts: one.verdicts, id: 1 + n, isResidue }
  })

function comingOf({ block, payments }: Drawn, n: number, isResidue: boolean): model.Coming {
  const one = payments[n] ?? assert.fail()
  const from = isResidue ? null : account(one.isOtherSender ? 77 : 100 + n)
  const valueWei = one.isOtherValue ? VALUE + 1n : VALUE
  return { kind: isResidue ? 'fileResidue' : 'observe', from, valueWei, succeeded: !one.failed || isResidue, block }
}

const inBlock = (number: number | null) => ({ block_number: number, block_hash: number === null ? null : word(number) })

function rowsOf(payments: ReturnType<typeof paymentsOf>, [first, second]: Drawn['limits']): Rows {
  const version = (tier_id: string, number: number, tier_no: number, live: boolean, limit: string | null): Row => ({
    ...{
      tier_id,
      version: number,
      tier_no,
      label: 't',
      price_wei: 10 * tier_no + number,
      max_per_wallet: 1,
      payout_bps: 1,
      on_sale: true,
    },
    ...{ supply: limit === 'supply' ? 5 : null, from_block: number, from_time: 0, entered_by: 'eve', live },
  })
  return {
    tiers: [
      version('t1', 1, 1, false, first === 'former' ? 'supply' : null),
      version('t1', 2, 1, true, first),
      version('t2', 1, 2, true, second),
    ],
    owner_acts: [first, second].flatMap((limit, n): Row[] => {
      const act = { log_index: n, name: 'TierCapped', at: at(400), tx_hash: word(9), ...inBlock(40) }
      return limit === 'cap' ? [{ ...act, detail: JSON.stringify({ tier: 1 + n, most: 5 }) }] : []
    }),
    outbox: [{ id: 7, kind: 'mint', sender: account(8), nonce: 1, gas_limit: 1, valid_until: 900, call: '{}' }],
    payments: payments.map(({ id, isResidue, payment }) => ({
      ...{ id, ref: word(id), tx_hash: isResidue ? null : word(id), wallet: account(1), from_address: payment.from },
      ...{ value_wei: payment.valueWei, succeeded: payment.succeeded, state: payment.state, reason: payment.reason },
      ...{ tier_id: payment.tier?.tierId ?? null, tier_version: payment.tier?.version ?? null },
      ...{ outbox_id: payment.hasMint ? 7 : null, block_time: at(500), ...inBlock(payment.block) },
    })),
    payment_verdicts: payments.flatMap(({ id, verdicts }) =>
      verdicts.map((one): Row => {
        const evidence = one.tier && { tierId: one.tier.tierId, tierVersion: one.tier.version }
        const withdrawn = {
          withdrawn_at: one.isWithdrawn ? at(600) : null,
          withdrawn_by: one.isWithdrawn ? 'eve' : null,
        }
        return {
          ...{ payment_id: id, verdict: one.verdict, reason: one.reason, evidence: JSON.stringify(evidence ?? {}) },
          ...{ decided_by: one.isByHand ? 'ada' : 'pass', ...withdrawn },
        }
      }),
    ),
  }
}

async function come(sql: Sql, id: number, { kind, from, valueWei, succeeded, block }: model.Coming): Promise<number> {
  const place = sql`${succeeded}::boolean AS succeeded, ${block}::bigint AS block_number, ${word(block)} AS block_hash, to_timestamp(900) AS block_time`
  if (kind === 'fileResidue') {
    const columns = sql`ref, wallet, value_wei, succeeded, block_number, block_hash, block_time`
    return enter(sql, kind, {
      columns,
      rows: sql`SELECT ${word(id)}, ${account(1)}, ${String(valueWei)}::numeric, ${place}`,
    })
  }
  const columns = sql`tx_hash, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, block_time`
  const rows = sql`SELECT ${word(id)}, ${word(id)}, ${account(1)}, ${from}, ${String(valueWei)}::numeric, ${place}`
  return enter(sql, kind, { columns, rows })
}

test('a transfer that returns keeps a person’s last decision, if it is the same and moved value', async () => {
  const compare = async (given: Drawn) => {
    const payments = paymentsOf(given)
    const limited = given.limits.flatMap((limit, n) => (limit === 'supply' || limit === 'cap' ? [`t${1 + n}`] : []))
    await tables.within(rowsOf(payments, given.limits), async (sql) => {
      const expected: [number, model.Payment][] = []
      for (const [n, { id, payment, verdicts, isResidue }] of payments.entries()) {
        const coming = comingOf(given, n, isResidue)
        const hasCome = given.payments[n]?.hasCome
        if (hasCome) assert.equal(await come(sql, id, coming), payment.state === 'orphaned' ? 1 : 0)
        expected.push([id, hasCome ? model.returned(payment, verdicts, coming, limited) : payment])
      }
      const rows = await sql<(Omit<model.Payment, 'tier'> & { id: number; tierId: string | null; version: number })[]>`
        SELECT id, state, reason, outbox_id IS NOT NULL AS "hasMint", from_address AS from, value_wei AS "valueWei", succeeded,
          block_number AS block, tier_id AS "tierId", tier_version AS version FROM payments ORDER BY id`
      const found = rows.map(({ id, tierId, version, ...one }) => {
        return [id, { ...one, tier: tierId === null ? null : { tierId, version } }]
      })
      assert.deepEqual(found, expected)
      assert.equal((await sql`SELECT FROM payment_verdicts`).count, payments.flatMap(({ verdicts }) => verdicts).length)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(100) })
})
