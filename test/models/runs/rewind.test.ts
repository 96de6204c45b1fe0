// Going back to a block: rewindTo leaves every table's rows equal to those of a ledger that never saw a later block, and tells of what was taken back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { rewindTo } from '../../../src/follower/rewind.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openTables, type Row, type Rows, snapshotsIn, type Tables } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './rewind.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HEAD = 8
const block = fc.constantFrom(2, 3, 4, 5, 6, 7, 8)
/** Oldest first, so that a fact keeps its number when later ones are gone. */
const blocks = fc.array(block, { maxLength: 3 }).map((some) => some.toSorted())
/** Payments come early, so that there is time for what becomes of them. */
const early = fc.constantFrom(2, 2, 2, 2, 3, 4, 5, 6, 7, 8)
const few = fc.constantFrom(0, 0, 1, 2)

const verdict = fc.constantFrom(
  null,
  { verdict: 'accepted' as const, reason: null },
  { verdict: 'accepted' as const, reason: null },
  { verdict: 'held' as const, reason: 'soldOut' },
  { verdict: 'held' as const, reason: 'refunding' },
  { verdict: 'ignored' as const, reason: 'operator' },
  { verdict: 'refunded' as const, reason: 'wrongAmount' },
  { verdict: 'dismissed' as const, reason: 'soldOut' },
)
const payment = fc.record({
  ...{ block: early, wallet: fc.constantFrom(0, 0, 1), wei: fc.constantFrom(1n, 10n), verdict },
  succeeded: fc.constantFrom(true, true, true, false),
  mint: fc.option(
    fc.record({ after: few, isOurs: fc.boolean(), owner: fc.constantFrom(0, 1), cohort: fc.constantFrom(0, 1) }),
    { freq: 5 },
  ),
  refund: fc.option(fc.record({ block, isFinal: fc.boolean() }), { freq: 2 }),
  isAttributed: fc.constantFrom(false, false, false, true),
})
const wallet = fc.record({
  base: fc.constantFrom(null, 1, 1, 3, 5, 7),
  audited: block,
  watchedFrom: fc.constantFrom(1, 1, 4, 9),
})
const cohort = fc.record({ opened: fc.constantFrom(2, 2, 2, 4, 6), changed: blocks, ownerSet: fc.option(block) })
const drawn = fc.record({
  head: fc.constant(HEAD),
  payments: fc.array(payment, { minLength: 1, maxLength: 5 }),
  nodeFacts: fc.array(
    fc.record({
      payment: fc.constantFrom(0, 0, 0, 0, 1, 1),
      kind: fc.constantFrom(
        'transfer',
        'transfer',
        'withdrawal',
        'withdrawal',
        'withdrawal',
        'failed',
        'failed',
        'expulsion',
      ),
      ...{ after: fc.constantFrom(0, 1, 1, 2, 3, 3), to: fc.constantFrom(0, 1, 2) },
    }),
    { minLength: 5, maxLength: 14 },
  ),
  ...{ outflows: blocks, dust: blocks, zeros: blocks, acts: blocks, seeds: blocks, openings: blocks, foreign: blocks },
  bases: blocks,
  rounds: fc.array(fc.record({ block, nodes: fc.constantFrom(0, 1, 2) }), { maxLength: 3 }),
  wallets: fc.tuple(wallet, wallet),
  cohorts: fc.tuple(cohort, cohort),
  surveyedTo: fc.constantFrom(null, 2, 5, 8),
  /** Null: to before the first block. */
  to: fc.constantFrom(null, 2, 3, 4, 5, 6, 7),
  isRescan: fc.constantFrom(false, false, true),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** What its refund needs, a payment has: no part of it is ours to send. Nodes have what they withdraw from the first round on. */
function factsOf({ payments, rounds, to, isRescan, ...rest }: Drawn): model.Facts {
  const plain = payments.map((drawnOne, n): model.Payment => {
    // The first one has its node, if it has a mint: most of what becomes of nodes is about it.
    const one = n === 0 && drawnOne.mint ? { ...drawnOne, succeeded: true, isAttributed: false } : drawnOne
    const isHeld = one.verdict === null || one.verdict.verdict === 'accepted'
    if (one.isAttributed && isHeld)
      return { ...one, succeeded: true, mint: null, verdict: { verdict: 'dismissed', reason: 'unattributed' } }
    return { ...one, mint: one.succeeded && !one.isAttributed ? one.mint : null }
  })
  return { ...rest, payments: plain, rounds: [{ block: 2, nodes: 1 }, ...rounds] }
}

/** Times of the database's own clock. */
const CLOCK = ['updated_at']

/** The rows of all tables but those that tell of acts. */
async function readAll(sql: Sql): Promise<Map<string, unknown[]>> {
  const named = await sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('audit', 'webhook_events', 'migrations') ORDER BY 1`
  const reads = named.map(
    ({ name }) => `SELECT '${name}' AS name, (to_jsonb(t) - '{${CLOCK}}'::text[])::text AS row FROM ${name} t`,
  )
  const rows = await sql.unsafe<{ name: string; row: string }[]>(`${reads.join(' UNION ALL ')} ORDER BY 1, 2`)
  const found = new Map<string, unknown[]>()
  for (const { name, row } of rows) found.set(name, [...(found.get(name) ?? []), JSON.parse(row)])
  return found
}

/** A ledger of these rows: the one row of totals is there already. */
async function within<T>({ totals, ...rows }: Rows, read: (sql: Sql) => Promise<T>): Promise<T> {
  return await tables.within(rows, async (sql) => {
    const { single, ...sums } = (totals as [Row])[0]
    const written = Object.entries(sums).map(([name, value]) => `${name} = ${value}`)
    await sql.unsafe(`UPDATE totals SET ${written.join(', ')}`)
    return await read(sql)
  })
}

async function compare(given: Drawn): Promise<void> {
  const facts = factsOf(given)
  const at = given.to ?? 0
  const back: model.Back = { at, isEmpty: given.to === null, isRescan: given.isRescan }
  const head: model.Back = { at: HEAD, isEmpty: false, isRescan: true }
  const found = await within(model.rowsOf(facts, head), async (sql) => {
    const ctx = { pool: snapshotsIn(sql), rules: { startBlock: 1 }, log: silentLog }
    const fork = given.to === null ? null : { number: at, hash: model.hashOf(at), time: 1_000 + 10 * at }
    const cause = given.isRescan ? { actor: 'ada', action: 'rescan' } : undefined
    const expected = { number: HEAD, hash: model.hashOf(HEAD), time: 0 }
    const other = { ...expected, hash: 'other' }
    assert.equal(await rewindTo(ctx as never, { ...fork, hash: 'of another' } as never, other as never), false)
    // No other session may move the cursor from then on.
    assert.equal((await sql`SELECT FROM cursors WHERE xmax <> 0`).count, 1)
    assert.equal(await rewindTo(ctx as never, fork as never, expected as never, cause), true)
    const told = await sql<Row[]>`
      SELECT actor, action, subject, detail FROM audit WHERE action <> 'foreignTransaction' ORDER BY id`
    return { rows: await readAll(sql), told: told.map((row) => ({ ...row })) }
  })
  const never = await within(model.rowsOf(facts, back), readAll)
  for (const name of new Set([...found.rows.keys(), ...never.keys()]))
    assert.deepEqual(found.rows.get(name) ?? [], never.get(name) ?? [], name)
  assert.deepEqual(found.told, model.toldOf(facts, back))
}

test('a rewound ledger has the rows of one that never went on, and reports refunds that are gone', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, (given) => compare(given as Drawn)),
    { numRuns: cases(90) },
  )
})

test('a ledger without a cursor does not go back', async () => {
  await tables.within({}, async (sql) => {
    const ctx = { pool: snapshotsIn(sql), rules: { startBlock: 1 }, log: silentLog }
    assert.equal(await rewindTo(ctx as never, null, { number: HEAD, hash: model.hashOf(HEAD) } as never), false)
  })
})
