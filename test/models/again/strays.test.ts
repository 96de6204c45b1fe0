// `withdrawStrayVerdicts` of src/db/payments/inner.ts agrees with the second reading, over payments in every state whose decisions name the same block
// and payer as the booked transfer, one of them, neither or none.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { withdrawStrayVerdicts } from '../../../src/db/payments/inner.ts'
import { account, at, openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type Booked, type Decision, isStray } from './strays.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const block = fc.constantFrom(word(50), word(60))
const payer = fc.constantFrom(account(5), account(6))
const decision: fc.Arbitrary<Decision> = fc.record({
  verdict: fc.constantFrom('accepted', 'accepted', 'dismissed', 'dismissed', 'refunded', 'held', 'ignored'),
  isByHand: fc.constantFrom(true, true, true, false),
  isWithdrawn: fc.constantFrom(false, false, false, true),
  block: fc.option(block, { freq: 6 }),
  payer: fc.option(payer, { freq: 6 }),
})
const drawn = fc.array(
  fc.record({
    state: fc.constantFrom('orphaned', 'orphaned', 'orphaned', 'accepted', 'held', 'dismissed'),
    decisions: fc.array(decision, { maxLength: 3 }),
    booked: fc.option(fc.record({ block, payer }), { freq: 4 }),
  }),
  { minLength: 1, maxLength: 5 },
)
const REASON = { accepted: null, held: 'recheck', ignored: 'failed', refunded: null, dismissed: null }

test('a decision by hand ends when its transfer is booked in another block or from another payer', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (payments) => {
      const ref = (n: number) => word(100 + n)
      const booked: Booked[] = payments.flatMap((one, payment) => (one.booked ? [{ payment, ...one.booked }] : []))
      const all = payments.flatMap(({ state, decisions }, payment) =>
        decisions.map((one) => ({ ...one, payment, state })),
      )
      const rows = {
        payments: payments.map(({ state }, n): Row => {
          const place = state === 'orphaned' ? [null, null] : [50, word(50)]
          return {
            ...{
              id: 1 + n,
              ref: ref(n),
              tx_hash: word(n),
              inner_index: 1,
              wallet: account(1),
              from_address: account(5),
            },
            ...{ value_wei: 10, succeeded: true, state, reason: state === 'held' ? 'walletLimit' : null },
            ...{ block_number: place[0] ?? null, block_hash: place[1] ?? null, block_time: at(500) },
            ...(state === 'accepted' ? { tier_id: 'basic', tier_version: 1 } : {}),
          }
        }),
        payment_verdicts: all.map(
          (one, n): Row => ({
            ...{ id: 1 + n, payment_id: 1 + one.payment, verdict: one.verdict, reason: REASON[one.verdict] },
            evidence: JSON.stringify({
              ...(one.block === null ? {} : { blockHash: one.block }),
              ...(one.payer === null ? {} : { from: one.payer }),
            }),
            decided_by: one.isByHand ? 'ada' : 'pass',
            ...(one.isWithdrawn ? { withdrawn_at: at(600), withdrawn_by: 'eve' } : {}),
          }),
        ),
      }
      await tables.within(rows, async (sql) => {
        const transfers = booked.map((one) => ({ ref: ref(one.payment), blockHash: one.block, from: one.payer }))
        await withdrawStrayVerdicts(sql, transfers as never)
        const found = await sql<{ id: number; by: string | null }[]>`
          SELECT id, withdrawn_by AS by FROM payment_verdicts ORDER BY id`
        const expected = all.map((one, n) => {
          const stray = isStray(
            one,
            one.state,
            booked.find(({ payment }) => payment === one.payment),
          )
          return { id: 1 + n, by: stray ? 'pass' : one.isWithdrawn ? 'eve' : null }
        })
        assert.deepEqual(
          [...found].map((row) => ({ ...row })),
          expected,
        )
      })
    }),
    { numRuns: cases(60) },
  )
})
