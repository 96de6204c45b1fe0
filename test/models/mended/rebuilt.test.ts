// What a rebuild compares: src/mending/rebuild/compare.ts finds what the second reading finds in two ledgers that differ in one column of a table, or in drawn payments.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { compareLedgers } from '../../../src/mending/rebuild/compare.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './rebuilt.ts'

let olds: Tables
let news: Tables
before(async () => {
  ;[olds, news] = await Promise.all([openTables(), openTables()])
})
after(() => Promise.all([olds.close(), news.close()]))

const within = <T>(rows: [Rows, Rows], read: (before: Sql, after: Sql) => Promise<T>): Promise<T> =>
  olds.within(rows[0], (old) => news.within(rows[1], (own) => read(old, own)))

/** What is found, but for the texts of the examples. */
async function found(old: Sql, own: Sql): Promise<model.Found> {
  const tables: string[] = []
  const { differences, ...rest } = await compareLedgers(old, own, (table) => void tables.push(table))
  assert.deepEqual(tables.toSorted(), Object.keys(model.TABLES).toSorted())
  return {
    ...rest,
    differences: differences.map(({ examples, ...one }) => {
      assert.equal(examples.length, Math.min(5, one.missing + one.extra + one.differing), examples.join())
      const count = (start: RegExp) => examples.filter((text) => start.test(text)).length
      const seen: number[] = [
        count(/^only in the old one: \{/),
        count(/^only in the new one: \{/),
        count(/^\{.*\} is now \{/),
      ]
      assert.equal(
        seen.reduce((sum, some) => sum + some, 0),
        examples.length,
        examples.join(),
      )
      if (examples.length < 5) assert.deepEqual(seen, [one.missing, one.extra, one.differing])
      return one
    }),
  }
}

interface Column {
  table: string
  name: string
  type: string
  isGenerated: boolean
}
const readColumns = async (sql: Sql) =>
  await sql<Column[]>`
    SELECT c.relname AS table, attname AS name, format_type(atttypid, NULL) AS type, attgenerated <> '' AS "isGenerated"
    FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
      AND c.relname = ANY(${Object.keys(model.TABLES)}::text[]) ORDER BY 1, attnum`

/** A value of this type, another one for each number. */
function valueAs(type: string, n: number): string {
  if (type === 'boolean') return String(n % 2 === 1)
  if (type === 'hash') return `'${word(n)}'`
  if (type === 'address') return `'${account(n)}'`
  if (type === 'bytea') return `'\\x${String(n).padStart(2, '0')}'`
  if (type === 'jsonb') return `'{"a": ${n}}'`
  if (type.endsWith('[]')) return type === 'text[]' ? `'{${n}}'` : `ARRAY[${n}]::${type}`
  if (type.startsWith('timestamp')) return `'${at(1_000 + n)}'`
  return type === 'text' ? `'x${n}'` : String(n)
}

/** Columns whose change moves other rows: what they mean is drawn below. */
const DRAWN = ['payments.id', 'payments.state', 'payment_verdicts.payment_id', 'payment_verdicts.withdrawn_at']
const FIXED: Record<string, string> = {
  'payments.state': `'minted'`,
  // Of a payment that is not changed.
  'payment_verdicts.payment_id': '1',
  'payment_verdicts.withdrawn_at': 'NULL',
}

/** What would forbid a change of a column, whatever it is. */
const FORBIDS = `
  SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop, contype = 'f' AS first
  FROM pg_constraint WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conrelid <> 0
  UNION ALL SELECT format('ALTER TABLE %s ALTER %I DROP IDENTITY', attrelid::regclass, attname), false
  FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE attidentity <> '' AND relnamespace = 'public'::regnamespace ORDER BY first DESC`

/** Fills each table with rows of any values, and takes away what would forbid them. */
async function fill(sql: Sql, columns: Column[]): Promise<void> {
  const checks = await sql.unsafe<{ drop: string }[]>(FORBIDS)
  await sql.unsafe(
    `SET LOCAL session_replication_role = replica; ${checks.map((one) => one.drop).join('; ')}; DELETE FROM totals`,
  )
  for (const [table, all] of Map.groupBy(columns, (one) => one.table)) {
    const own = all.filter(({ isGenerated }) => !isGenerated)
    const rows = (table === 'totals' ? [1] : [1, 2, 3]).map((n) =>
      own.map(({ name, type }) => FIXED[`${table}.${name}`] ?? valueAs(type, n)).join(', '),
    )
    const names = own.map(({ name }) => name).join(', ')
    await sql.unsafe(
      `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE VALUES ${rows.map((row) => `(${row})`).join(', ')}`,
    )
  }
}

class Undone extends Error {}
const undone = (error: unknown) => {
  if (!(error instanceof Undone)) throw error
}

test('a change of any one column is found, unless equal ledgers may differ there', async () => {
  await within([{}, {}], async (old, own) => {
    const columns = await readColumns(own)
    await Promise.all([fill(old, columns), fill(own, columns)])
    const byTable = Map.groupBy(
      columns.filter(({ table, name, isGenerated }) => !isGenerated && !DRAWN.includes(`${table}.${name}`)),
      ({ table }) => table,
    )
    const most = Math.max(...[...byTable.values()].map(({ length }) => length))
    for (let round = 0; round < most; round++) {
      const changed = [...byTable.values()].flatMap((all) => all.slice(round, round + 1))
      const expected = changed.flatMap(({ table, name }) => {
        const { key, free } = model.TABLES[table] ?? assert.fail(table)
        if (key.includes(name)) return [{ table, missing: 1, extra: 1, differing: 0 }]
        return free.includes(name) ? [] : [{ table, missing: 0, extra: 0, differing: 1 }]
      })
      const change = async (sql: Sql) => {
        for (const { table, name, type } of changed) {
          const which = table === 'totals' ? '' : `WHERE ${name} = ${valueAs(type, 2)}`
          await sql.unsafe(`UPDATE ${table} SET ${name} = ${valueAs(type, table === 'totals' ? 52 : 51)} ${which}`)
        }
        const { differences, rows } = await found(old, own)
        const sort = (some: { table: string }[]) => some.toSorted((a, b) => (a.table < b.table ? -1 : 1))
        assert.deepEqual(sort(differences), sort(expected), changed.map(({ table, name }) => `${table}.${name}`).join())
        assert.equal(rows, 3 * Object.keys(model.TABLES).length - 2 - expected.filter(({ missing }) => missing).length)
        throw new Undone()
      }
      await (own as never as { savepoint: (body: (sql: Sql) => Promise<void>) => Promise<void> })
        .savepoint(change)
        .catch(undone)
    }
  })
})

const block = fc.constantFrom(4, 5, 6)
const verdict = fc.record({
  by: fc.constantFrom('ada', 'ada', 'eve', 'pass'),
  isWithdrawn: fc.constantFrom(false, false, false, true),
  verdict: fc.constantFrom('held', 'accepted'),
})
const payment = fc.record({
  id: fc.integer({ min: 1, max: 8 }),
  state: fc.constantFrom('seen', 'accepted', 'held', 'held', 'minting', 'minted', 'ignored', 'dismissed', 'orphaned'),
  reason: fc.constantFrom(null, 'soldOut', 'operator'),
  tier: fc.constantFrom('t1', 't2'),
  succeeded: fc.constantFrom(true, true, false),
  block,
  verdicts: fc.array(verdict, { maxLength: 2 }),
})
const ledger = fc.record({
  payments: fc.uniqueArray(payment, { maxLength: 8, selector: ({ id }) => id }),
  withdrawals: fc.uniqueArray(
    fc.record({ id: fc.integer({ min: 1, max: 4 }), status: fc.constantFrom('sent', 'failed'), block }),
    { maxLength: 3, selector: ({ id }) => id },
  ),
  zeros: fc.uniqueArray(fc.record({ block, count: fc.constantFrom(1, 2) }), {
    maxLength: 3,
    selector: (one) => one.block,
  }),
  zeroTransfers: fc.constantFrom(1, 2),
  surveyedTo: fc.constantFrom(null, null, -1, 4, 5),
})
/** Most of the other ledger is the same. */
const pairs = fc
  .tuple(ledger, ledger, fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }))
  .map(([one, other, own]): [model.Ledger, model.Ledger] => [
    one,
    {
      ...other,
      payments: [...one.payments.filter(({ id }) => own[id]), ...other.payments.filter(({ id }) => !own[id])],
    },
  ])

function rowsOf({ payments, withdrawals, zeros, zeroTransfers, surveyedTo }: model.Ledger): Rows {
  return {
    payments: payments.map(
      ({ id, state, reason, tier, succeeded, block: number }): Row => ({
        ...{ id, ref: word(100 + id), tx_hash: word(200 + id), wallet: account(1), from_address: account(2) },
        ...{ value_wei: 1, succeeded, block_time: at(1_000), tier_id: tier, tier_version: 1, tx_index: 1 },
        ...{ state, reason: state === 'held' || state === 'ignored' ? (reason ?? 'soldOut') : null },
        outbox_id: state === 'minting' ? 1 : null,
        node_id: state === 'minted' ? id : null,
        block_number: state === 'orphaned' ? null : number,
        block_hash: state === 'orphaned' ? null : word(number),
      }),
    ),
    payment_verdicts: payments.flatMap(({ id, verdicts }) =>
      verdicts.map((one, n) => ({
        ...{ payment_id: id, verdict: one.verdict, reason: one.verdict === 'held' ? 'soldOut' : null, evidence: '{}' },
        ...{ decided_by: one.by, decided_at: at(1_000 + n), withdrawn_at: one.isWithdrawn ? at(2_000) : null },
        withdrawn_by: one.isWithdrawn ? 'eve' : null,
      })),
    ),
    withdrawals: withdrawals.map(({ id, status, block: number }) => ({
      ...{
        node_id: id,
        amount_wei: 1,
        withdrawn_total_wei: status === 'sent' ? 1 : null,
        to_address: account(1),
        status,
      },
      ...{ tx_hash: word(300 + id), log_index: status === 'sent' ? 1 : null, created_at: at(1_000) },
      ...{ block_number: number, block_hash: word(number) },
    })),
    zero_transfers: zeros.map(({ block: number, count }) => ({ block_number: number, wallet_id: 1, transfers: count })),
    wallet_books: [{ wallet: account(1), zero_transfers: zeroTransfers }],
    ledger_state: surveyedTo === null ? [] : [{ surveyed_to: surveyedTo }],
  }
}

/** Payments as the rows have them: only some states have a reason. */
const asStored = (one: model.Ledger): model.Ledger => ({
  ...one,
  payments: one.payments.map((own) => ({
    ...own,
    reason: own.state === 'held' || own.state === 'ignored' ? (own.reason ?? 'soldOut') : null,
  })),
})

test('payments, verdicts and what moved nothing differ as far as the chain and people decide', async () => {
  const compare = async ([one, other]: [model.Ledger, model.Ledger]) => {
    const expected = model.compare(asStored(one), asStored(other))
    const { rows, ...rest } = await within([rowsOf(one), rowsOf(other)], found)
    // Both have one row of totals.
    assert.deepEqual({ ...rest, rows: rows - 1 }, expected)
  }
  await fc.assert(fc.asyncProperty(pairs, compare), { numRuns: cases(25) })
})
