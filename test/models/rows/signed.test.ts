// Which signed mints a refund has to wait for: the statement in PostgreSQL and the second reading (../refunds.ts) agree about random transactions of ours.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readSignedUntil } from '../../../src/db/payments/refunds.ts'
import type { Hash } from '../../../src/domain/units.ts'
import { account, at, openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { safeAfter } from '../refunds.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const NOW = 1_000
const signed = fc.record({
  kind: fc.constantFrom('mint', 'mint', 'mint', 'openCohorts', 'foreign'),
  state: fc.constantFrom('pending', 'mined', 'reverted', 'displaced'),
  until: fc.constantFrom(NOW - 1, NOW, NOW + 1, NOW + 900),
  refs: fc.subarray([7, 8, 9]),
})
type Signed = typeof signed extends fc.Arbitrary<infer One> ? One : never

const rowOf = ({ kind, state, until, refs }: Signed, n: number): Row => ({
  ...{ id: 1 + n, kind, state, sender: account(3), nonce: n, gas_limit: 1 },
  call: JSON.stringify({ kind, orders: refs.map((ref) => ({ to: account(5), cohort: 1, ref: word(ref) })) }),
  valid_until: kind === 'foreign' ? null : until,
  ...(state !== 'pending' && {
    ...{ block_number: 10, block_hash: word(10), block_time: at(NOW), tx_hash: word(100 + n) },
  }),
})

test('a refund waits for the latest mint with its ref, with any outcome of the transaction', async () => {
  const compare = async (all: Signed[], ref: number) => {
    const outbox = all.map(rowOf)
    const code = await tables.within({ outbox }, (sql) => readSignedUntil(sql, word(ref) as Hash, NOW))
    const mints = all.filter(({ kind, refs, until }) => kind === 'mint' && refs.includes(ref) && until >= NOW)
    assert.equal(code, safeAfter({ mintsUntil: mints.map(({ until }) => until), block: null }))
  }
  const property = fc.asyncProperty(fc.array(signed, { maxLength: 5 }), fc.constantFrom(7, 8), compare)
  await fc.assert(property, { numRuns: cases(80) })
})
