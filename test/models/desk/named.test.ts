// Acts on several payments: hashes that name several, unknown ones, and the same one twice. src/operator/acts/payments.ts and decide.ts agree with the second
// reading about which row each name means, and about all rows and the audit log after.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { decideMany } from '../../../src/operator/acts/decide.ts'
import { findRows, namedAs } from '../../../src/operator/acts/payments.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder, plain } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './named.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HASHES = [word(0xabc), word(0xabd), word(0xabe)]
const drawnPayment = fc.record({
  hash: fc.constantFrom(0, 0, 1, 2, null),
  state: fc.constantFrom('held', 'held', 'held', 'accepted', 'dismissed', 'refunded'),
  reason: fc.constantFrom('wrongAmount', 'soldOut', 'refunding'),
  tierId: fc.constantFrom(null, 't1'),
  valueWei: fc.constantFrom(5n, 6n),
  mayMint: fc.constantFrom(false, false, false, false, true),
})
const name = fc.oneof(
  fc.constantFrom(...HASHES, HASHES[0] ?? '', (HASHES[0] ?? '').toUpperCase().replace('X', 'x'), word(9)),
  fc.constantFrom('1', '2', '3', '4', '9', '0', '01', 'x', '0x12', '9007199254740993'),
)
const drawn = fc.record({
  payments: fc.array(drawnPayment, { minLength: 1, maxLength: 4 }),
  names: fc.array(name, { minLength: 1, maxLength: 4 }),
  dryRun: fc.constantFrom(false, false, false, true),
  note: fc.constantFrom(null, 'agreed'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const paymentsOf = ({ payments }: Drawn): model.Paid[] =>
  payments.map(({ hash, reason, mayMint, ...one }, n) => {
    // Without a payer nothing is accepted.
    const state = hash === null && one.state === 'accepted' ? 'held' : one.state
    return {
      ...{ ...one, id: 1 + n, txHash: hash === null ? null : (HASHES[hash] ?? null), state, mayMint },
      ...{ from: hash === null ? null : account(5), reason: state === 'accepted' ? null : reason },
      tierId: state === 'accepted' ? 't1' : one.tierId,
    }
  })

const inBlock = { block_number: 50, block_hash: word(50) }
function rowsOf(payments: model.Paid[]): Rows {
  const call = (id: number) => JSON.stringify({ orders: [{ ref: word(100 + id) }], guard: null })
  const tier = { tier_id: 't1', version: 1, tier_no: 1, label: 't', price_wei: 7n, max_per_wallet: 1, payout_bps: 1 }
  return {
    cursors: [{ name: 'follow', block_number: 60, block_hash: word(60), block_time: 6_000 }],
    tiers: [{ ...tier, on_sale: true, from_block: 0, from_time: 0, entered_by: 'eve' }],
    payments: payments.map(
      (one): Row => ({
        ...{ id: one.id, ref: word(100 + one.id), tx_hash: one.txHash, wallet: account(1), from_address: one.from },
        ...{ value_wei: one.valueWei, succeeded: true, state: one.state, reason: one.reason, inner_index: one.id },
        ...{ tier_id: one.tierId, tier_version: one.tierId === null ? null : 1, block_time: at(5_000), ...inBlock },
      }),
    ),
    payment_verdicts: payments.map(({ id, reason }) => ({
      ...{ payment_id: id, verdict: 'held', reason, evidence: '{}', decided_by: 'pass' },
    })),
    outbox: payments.flatMap(({ id, mayMint }): Row[] => {
      if (!mayMint) return []
      return [{ kind: 'mint', sender: account(8), nonce: id, call: call(id), gas_limit: 1, valid_until: 6_000 }]
    }),
  }
}

test('each name means one payment, and none that is unknown, named twice, or one of several', async () => {
  const compare = async (given: Drawn) => {
    const payments = paymentsOf(given)
    const found = await tables.within(rowsOf(payments), (sql) => findRows(sql, given.names.map(namedAs)))
    const expected = model.namedRows(payments, given.names)
    const told = found.map(({ row }) => (isOperatorRefusal(row) ? row.because : row.id))
    const because = { invalid: 'invalid', notFound: 'notFound', several: 'conflict', twice: 'conflict' }
    const wanted = expected.map((one) => ('row' in one ? one.row : because[one.refused]))
    assert.deepEqual(told, wanted)
    assert.deepEqual(
      found.map(({ payment }) => payment),
      given.names,
    )
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
})

test('several payments are dismissed one by one, each with its own verdict and row in the log', async () => {
  const compare = async (given: Drawn) => {
    const payments = paymentsOf(given)
    const { names, dryRun, note } = given
    const expected = model.dismissEach(payments, names, { by: 'ada', note, dryRun })
    await tables.within(rowsOf(payments), async (sql) => {
      const input = { decision: 'dismiss', payments: names, dryRun, ...(note === null ? {} : { reason: note }) }
      const actor = { name: 'ada', requestId: 'r1' }
      const answer = await decideMany.unguarded({ pool: poolWithin(sql) } as never, actor as never, input)
      assert.ok(!isOperatorRefusal(answer))
      const results = answer.results.map(({ payment: _, refusal, ...one }) => ({ ...one, isRefused: refusal !== null }))
      assert.deepEqual(results, expected.results)
      assert.equal(answer.decided, expected.results.filter(({ isRefused }) => !isRefused).length)
      const rows = await sql<{ id: number; state: string }[]>`SELECT id, state FROM payments ORDER BY id`
      assert.deepEqual(
        rows.map(({ id, state }) => [id, state]),
        [...expected.states],
      )
      const audit = await sql<
        { actor: string; action: string; subject: string; detail: { before: object; after: object } }[]
      >`
        SELECT actor, action, subject, detail FROM audit WHERE request_id = 'r1' ORDER BY id`
      const log = audit.map(({ actor, subject, detail: { before, after } }) => {
        const { blockHash: _, ...rest } = after as { blockHash: string }
        return { actor, subject, before, after: rest }
      })
      assert.deepEqual(inOrder(plain(log) as object[]), inOrder(expected.told as object[]))
      const verdicts = await sql<{ id: number }[]>`
        SELECT payment_id AS id FROM payment_verdicts WHERE verdict = 'dismissed' AND decided_by = 'ada' ORDER BY 1`
      assert.deepEqual(
        verdicts.map(({ id }) => id),
        payments.filter(({ id, state }) => expected.states.get(id) !== state).map(({ id }) => id),
      )
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(100) })
})
