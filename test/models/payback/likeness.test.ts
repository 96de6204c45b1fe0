// `readInBrief` of src/db/payments/decisions.ts agrees with the second reading about what looks like a refund, over payments and transfers whose payer,
// value and block are the same, one less or one more, and of which some are recorded.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readInBrief } from '../../../src/db/payments/decisions.ts'
import { account, at, openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type Held, lookalikes, type Outflow } from './likeness.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const payer = fc.constantFrom(account(5), account(5), account(6), null)
const valueWei = fc.constantFrom(9n, 10n, 10n, 11n)
const drawn = fc.record({
  payments: fc.array(fc.record({ payer, valueWei, block: fc.constantFrom(4, 5) }), { minLength: 1, maxLength: 3 }),
  outflows: fc.array(
    fc.record({
      ...{ to: payer, valueWei, block: fc.nat(12) },
      hasTransaction: fc.constantFrom(true, true, true, false),
      proves: fc.constantFrom('nothing', 'nothing', 'refund', 'commission'),
    }),
    { maxLength: 12 },
  ),
})

test('a transfer of a payment’s value to its payer looks like its refund until it is recorded', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (given) => {
      const payments = given.payments.map((one, n): Held => ({ ...one, id: 1 + n }))
      // One in a block, so that their order is known.
      const blocks = new Map(given.outflows.map((one) => [one.block, one]))
      const all = [...blocks.values()].map((one, n) => ({ ...one, txHash: one.hasTransaction ? word(100 + n) : null }))
      const recorded = all.filter(({ proves, txHash }) => proves !== 'nothing' && txHash !== null)
      const rows = {
        payments: payments.map(
          (one): Row => ({
            ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: account(1), from_address: one.payer },
            ...{ value_wei: one.valueWei, succeeded: true, state: 'held', reason: 'walletLimit', tx_index: one.id },
            ...{ block_number: one.block, block_hash: word(one.block), block_time: at(500) },
          }),
        ),
        wallet_outflows: all.map(
          (one, n): Row => ({
            ...{ ref: word(200 + n), tx_hash: one.txHash, wallet: account(1), to_address: one.to, fee_wei: 0 },
            ...{ value_wei: one.valueWei, from_block: one.txHash === null ? one.block : null },
            ...{ block_number: one.block, block_hash: word(one.block), block_time: at(500) },
          }),
        ),
        refunds: recorded.map(
          (one, n): Row => ({
            ...{ payment_ref: one.proves === 'refund' ? word(900 + n) : null, tx_hash: one.txHash },
            ...{ commission_of: one.proves === 'commission' ? 'ann' : null, from_address: account(1) },
            ...{ to_address: one.to ?? account(7), value_wei: one.valueWei, recorded_by: 'ada' },
            ...{ block_number: one.block, block_hash: word(one.block) },
          }),
        ),
      }
      await tables.within(rows, async (sql) => {
        const shown = await readInBrief(
          sql,
          payments.map(({ id }) => id),
        )
        const found = shown.map(({ id, looksRefundedBy }) => [
          id,
          looksRefundedBy.map(({ blockNumber, txHash }) => `${blockNumber} ${txHash}`),
        ])
        const hashes = new Set(recorded.map(({ txHash }) => txHash ?? ''))
        const outflows: Outflow[] = all
        assert.deepEqual(
          found,
          payments.map((payment) => [payment.id, lookalikes(payment, outflows, hashes)]),
        )
      })
    }),
    { numRuns: cases(80) },
  )
})
