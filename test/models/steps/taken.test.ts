// Accepting a higher nonce: src/passes/steps/nonce.ts, with mints, rounds and openings below, at and above it, of this account and of another, gives up what the second reading
// gives up, and no payment more.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { readNonce } from '../../../src/passes/steps/nonce.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './taken.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [SENDER, OTHER, WALLET, HEIGHT] = [account(8), account(9), account(1), 200]
const drawnIntent = fc.record({
  kind: fc.constantFrom<model.Intent['kind']>('mint', 'mint', 'credit', 'openCohorts'),
  isOurs: fc.constantFrom(true, true, true, true, false),
  nonce: fc.constantFrom(4, 5, 6, 7, 8),
  state: fc.constantFrom<model.Intent['state']>('pending', 'pending', 'pending', 'mined', 'displaced'),
  /** The states of its payments, if it is a mint. */
  pays: fc.array(fc.constantFrom('minting', 'minting', 'held'), { minLength: 1, maxLength: 2 }),
})
const drawn = fc.record({
  intents: fc.uniqueArray(drawnIntent, { selector: ({ nonce, isOurs }) => `${nonce} ${isOurs}`, maxLength: 6 }),
  base: fc.constantFrom(0, 4, 5, 6),
  doubtSince: fc.constantFrom(null, HEIGHT - 65, HEIGHT - 64, HEIGHT - 63, HEIGHT, HEIGHT + 1, 10, 10),
  isTold: fc.constantFrom(true, true, false),
  said: fc.oneof(
    fc.constantFrom(4, 5, 6, 7, 8, 9, 9).map((one) => [one, one]),
    fc.tuple(fc.constantFrom(6, 7), fc.constantFrom(7, 8)).map((two) => [...two]),
  ),
  isCurrent: fc.constantFrom(true, true, true, true, true, false),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function accountOf({ intents, base, doubtSince, isTold }: Drawn): model.Account {
  const all = intents.map(({ pays: _, ...one }, n) => ({ ...one, id: 1 + n }))
  const payments = intents.flatMap(({ kind, state, pays }, n) =>
    (kind === 'mint' && state === 'pending' ? pays : []).map((one) => ({ intent: 1 + n, state: one as 'minting' })),
  )
  // Accepted, but in no transaction yet.
  const waiting = { intent: null, state: 'accepted' as const }
  return {
    intents: all,
    payments: [...payments, waiting].map((one, n) => ({ ...one, id: 1 + n })),
    base,
    doubtSince,
    isTold,
  }
}

const TIER: Row = {
  ...{ tier_id: 't0', version: 1, tier_no: 1, label: 't0', price_wei: 5, max_per_wallet: 9, payout_bps: 10_000 },
  ...{ on_sale: true, live: true, holding_wei: 0, holding_retry_sec: 0, grace_sec: 0 },
  ...{ from_block: 0, from_time: 0, entered_by: 'test' },
}
const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

function rowsOf({ intents, payments, base, doubtSince, isTold }: model.Account, isCurrent: boolean): Rows {
  const outbox = intents.map((one): Row => {
    const isPending = one.state === 'pending'
    const place = isPending ? { block_number: null, block_hash: null } : inBlock(90)
    return {
      ...{
        id: one.id,
        kind: one.kind,
        sender: one.isOurs ? SENDER : OTHER,
        nonce: one.nonce,
        call: '{}',
        gas_limit: 1,
      },
      ...{ valid_until: 9_999, state: one.state, tx_hash: isPending ? null : word(700 + one.id), ...place },
    }
  })
  const paid = payments.map((one): Row => {
    const isHeld = one.state === 'held'
    return {
      ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: WALLET, from_address: account(5) },
      ...{ value_wei: 5, succeeded: true, state: one.state, reason: isHeld ? 'refunding' : null, inner_index: 0 },
      ...{ tier_id: 't0', tier_version: 1, outbox_id: one.intent, proof: 'proven', tx_index: 0, block_time: at(500) },
      ...inBlock(80),
    }
  })
  const doubt = { reported: 30, known: 5, sinceBlock: doubtSince, takeOver: isTold }
  return {
    // Another instance may have followed on since the run read the cursor.
    cursors: [{ name: 'follow', block_time: 600, ...inBlock(isCurrent ? HEIGHT : HEIGHT + 1) }],
    ...{ tiers: [TIER], outbox, payments: paid, sender_bases: [{ sender: SENDER, nonce: base, block_number: 10 }] },
    troubles: doubtSince === null ? [] : [{ name: `nonceAhead ${SENDER}`, value: JSON.stringify(doubt) }],
  }
}

test('an intent dropped for a higher nonce is below it, and its payments wait for another mint', async () => {
  const met = { nothing: 0, none: 0, some: 0 }
  const compare = async (given: Drawn) => {
    const ledger = accountOf(given)
    const all = async () => [30, 30]
    const sender = { address: SENDER, nonce: async () => 30, nonces: all, noncesAt: async () => given.said }
    await tables.within(rowsOf(ledger, given.isCurrent), async (sql) => {
      const known = model.knownOf(ledger)
      const cursor = { number: HEIGHT, hash: word(HEIGHT), time: 600 }
      const ctx = { pool: poolWithin(sql), log: silentLog, chain: {} }
      assert.equal((await readNonce(ctx as never, { sender, cursor } as never)).kind, 'unknown')
      const gave = model.takeOver(ledger, given.said, given.isCurrent, HEIGHT)
      const rows = await sql`SELECT id, state, block_number AS block FROM outbox ORDER BY id`
      assert.deepEqual(
        rows.map(({ id, state, block }) => ({ id: Number(id), state, block: block === null ? null : Number(block) })),
        ledger.intents.map(({ id, state }) => {
          const isNew = state === 'displaced' && given.intents[id - 1]?.state === 'pending'
          return { id, state, block: state === 'pending' ? null : isNew ? HEIGHT : 90 }
        }),
      )
      const paid = await sql`SELECT id, state, outbox_id AS intent FROM payments ORDER BY id`
      assert.deepEqual(
        paid.map(({ id, state, intent }) => ({
          intent: intent === null ? null : Number(intent),
          state,
          id: Number(id),
        })),
        ledger.payments,
      )
      const [base] = await sql`SELECT nonce, block_number AS block FROM sender_bases`
      assert.deepEqual({ ...base }, { nonce: ledger.base, block: gave === null ? 10 : HEIGHT })
      const [doubt] = await sql`SELECT value FROM troubles WHERE name = ${`nonceAhead ${SENDER}`}`
      assert.equal(doubt?.value.sinceBlock ?? null, ledger.doubtSince)
      const audit = await sql`SELECT detail FROM audit WHERE action = 'nonceTakenOver'`
      const told = gave === null ? [] : [{ nonce: ledger.base, known, displaced: gave }]
      assert.deepEqual(
        audit.map(({ detail }) => detail),
        told,
      )
      met[gave === null ? 'nothing' : gave === 0 ? 'none' : 'some'] += 1
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
  assert.ok(Math.min(met.nothing, met.some) >= cases(8), JSON.stringify(met))
})
