// Who takes a place that becomes free, and what of an allocation is used: the statements in PostgreSQL and the second reading agree about random rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { waitsForPlace } from '../../../src/db/payments/waiting.ts'
import { readUsed } from '../../../src/db/sale/allowlists.ts'
import type { Address } from '../../../src/domain/units.ts'
import { account, at, openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './waiting.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const NOW = 200_000
const DAY_SEC = 86_400
const TIERS = [1, 2]
const PAYERS = [5, 6]
const block = (number: number) => ({ block_number: number, block_hash: word(number) })

const SELLING: model.Selling = { onSale: true, opensAt: null, closesAt: null, ladder: 'none' }
const tierRows = ({ onSale, opensAt, closesAt, ladder }: model.Selling): Row[] =>
  TIERS.map((tierNo) => ({
    ...{
      tier_id: `t${tierNo}`,
      version: 1,
      tier_no: tierNo,
      label: 'a tier',
      price_wei: BigInt(tierNo),
      max_per_wallet: 9,
    },
    ...{ payout_bps: 10_000, on_sale: onSale, from_block: 0, from_time: 0, entered_by: 'test', live: true },
    ...{ opens_at: opensAt, closes_at: closesAt, opens_after: ladder === 'none' ? null : 't0' },
  }))
const paid = (n: number, { tierNo, from }: { tierNo: number; from: number }): Row => ({
  ...{ id: n, ref: word(n), tx_hash: word(n), wallet: account(1), from_address: account(from), succeeded: true },
  ...{ tier_id: `t${tierNo}`, tier_version: 1 },
})

const waiting = fc.record({
  tierNo: fc.constantFrom(...TIERS),
  from: fc.constantFrom(...PAYERS),
  valueWei: fc.constantFrom(10n, 11n),
  block: fc.integer({ min: 100, max: 102 }),
  time: fc.constantFrom(NOW, NOW - DAY_SEC + 1, NOW - DAY_SEC, NOW - DAY_SEC - 1),
  decisions: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    fc.array(fc.record({ verdict: fc.constantFrom('accepted', 'dismissed', 'held'), isWithdrawn: fc.boolean() }), {
      maxLength: 3,
    }),
  ),
})
const outflow = fc.record({
  to: fc.constantFrom(...PAYERS),
  valueWei: fc.constantFrom(0n, 1n, 10n),
  block: fc.integer({ min: 99, max: 103 }),
  isCommission: fc.boolean(),
})
const selling: fc.Arbitrary<model.Selling> = fc
  .record({
    onSale: fc.constantFrom(true, true, true, false),
    opensAt: fc.constantFrom(null, null, NOW - 1, NOW, NOW + 1),
    closesAt: fc.constantFrom(null, null, NOW - 1, NOW, NOW + 1),
    ladder: fc.constantFrom('none' as const, 'none' as const, 'shut' as const, 'open' as const),
  })
  .filter(({ opensAt, closesAt }) => opensAt === null || closesAt === null || opensAt < closesAt)

test('a place goes to those whose payment waits for it, and to no other', async () => {
  const compare = async (
    payments: model.Waiting[],
    outflows: model.Outflow[],
    sale: model.Selling,
    tierNos: number[],
  ) => {
    const rows = {
      tiers: tierRows(sale),
      tier_openings:
        sale.ladder === 'open'
          ? TIERS.map((n) => ({ tier_id: `t${n}`, opens_after: 't0', from_block: 1, tx_index: 0, inner_index: 0 }))
          : [],
      cursors: [{ name: 'follow', block_number: 1_000, block_hash: word(1_000), block_time: NOW }],
      payments: payments.map((one, n) => ({
        ...{ ...paid(1 + n, one), value_wei: one.valueWei, state: 'held', reason: 'soldOut' },
        ...{ block_time: at(one.time), ...block(one.block) },
      })),
      payment_verdicts: payments.flatMap(({ decisions }, n): Row[] => [
        { payment_id: 1 + n, verdict: 'held', reason: 'soldOut', evidence: '{}', decided_by: 'pass' },
        ...decisions.map(({ verdict, isWithdrawn }) => ({
          ...{ payment_id: 1 + n, verdict, reason: null, evidence: '{}', decided_by: 'ada' },
          ...{ withdrawn_at: isWithdrawn ? at(NOW) : null, withdrawn_by: isWithdrawn ? 'pass' : null },
        })),
      ]),
      wallet_outflows: outflows.map((one, n) => ({
        ...{ ref: word(900 + n), tx_hash: word(900 + n), wallet: account(1), to_address: account(one.to) },
        ...{ value_wei: one.valueWei, fee_wei: 0n, block_time: at(NOW), ...block(one.block) },
      })),
      refunds: outflows.flatMap((one, n) =>
        one.isCommission
          ? {
              ...{ tx_hash: word(900 + n), from_address: account(1), to_address: account(one.to) },
              ...{ commission_of: 'ada', value_wei: one.valueWei, recorded_by: 'test', ...block(one.block) },
            }
          : [],
      ),
    }
    const found = await tables.within(
      rows,
      (sql) => sql<{ id: number }[]>`
        SELECT p.id FROM payments p JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
        WHERE ${waitsForPlace(sql, tierNos)} ORDER BY p.id`,
    )
    const expected = payments.flatMap((one, n) =>
      model.waitsForPlace(one, { tierNos, now: NOW, selling: sale, outflows }) ? [1 + n] : [],
    )
    assert.deepEqual(
      found.map(({ id }) => id),
      expected,
    )
  }
  const numbers = fc.subarray(TIERS, { minLength: 1 })
  const property = fc.asyncProperty(
    fc.array(waiting as fc.Arbitrary<model.Waiting>, { maxLength: 6 }),
    fc.array(outflow, { maxLength: 2 }),
    selling,
    numbers,
    compare,
  )
  await fc.assert(property, { numRuns: cases(100) })
})

const bought = fc.record({
  tierNo: fc.constantFrom(...TIERS),
  from: fc.constantFrom(...PAYERS),
  state: fc.constantFrom('accepted', 'minting', 'minted', 'held', 'held', 'refunded', 'dismissed', 'ignored'),
  isRefunding: fc.boolean(),
  hasMint: fc.boolean(),
})

test('an allocation is used by what was accepted, and by what a signed mint may still mint', async () => {
  const compare = async (payments: model.Bought[], tierNos: number[], wallets: number[]) => {
    const rows = {
      tiers: tierRows(SELLING),
      payments: payments.map((one, n) => ({
        ...{ ...paid(1 + n, one), value_wei: 10n, state: one.state, block_time: at(NOW), ...block(100) },
        ...{
          reason:
            one.state === 'ignored'
              ? 'failed'
              : one.state !== 'held'
                ? null
                : one.isRefunding
                  ? 'refunding'
                  : 'soldOut',
          outbox_id: one.hasMint || one.state === 'minting' ? 1 : null,
          node_id: one.state === 'minted' ? 1 + n : null,
        },
      })),
    }
    const addresses = wallets.map((wallet) => account(wallet) as Address)
    const used = await tables.within(rows, (sql) => readUsed(sql, tierNos, addresses))
    for (const tierNo of TIERS)
      for (const from of PAYERS) {
        const isAsked = tierNos.includes(tierNo) && wallets.includes(from)
        const expected = isAsked ? model.usedOf(payments, tierNo, from) : 0
        assert.equal(used.get(`${tierNo} ${account(from)}`) ?? 0, expected, `${from} of tier ${tierNo}`)
      }
  }
  const property = fc.asyncProperty(
    fc.array(bought as fc.Arbitrary<model.Bought>, { maxLength: 8 }),
    fc.subarray(TIERS),
    fc.subarray(PAYERS),
    compare,
  )
  await fc.assert(property, { numRuns: cases(60) })
})
