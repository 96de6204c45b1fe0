// What a rebuild does with each table, held against the schema and the documents: a table that nobody has thought of fails here.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type Pool } from '../../../src/db/core/sql.ts'
import { PROJECTIONS } from '../../../src/mending/rebuild/compare.ts'
import { copiedAt, rowsOf, TABLES } from '../../../src/mending/rebuild/tables.ts'
import { readPage } from '../../documents/pages.ts'
import { createDatabase } from '../../support/postgres.ts'

type Name = keyof typeof TABLES
const names = Object.keys(TABLES) as Name[]

let sql: Pool
let drop: () => Promise<void>
let columns: Map<string, string[]>
before(async () => {
  const database = await createDatabase()
  drop = database.drop
  sql = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
  const rows = await sql<{ table: string; columns: string[] }[]>`
    SELECT c.relname AS table, jsonb_agg(attname) AS columns FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped GROUP BY 1`
  columns = new Map(rows.map((row) => [row.table, row.columns]))
})
after(async () => {
  await sql.end({ timeout: 1 })
  await drop()
})

test('the list has each table of the schema', () => {
  assert.deepEqual([...names].sort(), [...columns.keys()].sort())
})

test('docs/DATA-MODEL.md gives the same origin of each table', () => {
  const cells = readPage('docs/DATA-MODEL.md')
    .text.split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(({ length }) => length === 6)
  const documented = cells.map(([, name = '', , , from]) => [name.replaceAll('`', ''), from])
  assert.deepEqual(documented.sort(), names.map((name) => [name, TABLES[name].from]).sort())
})

test('the rows that are copied are a condition that the database understands', async () => {
  for (const stage of ['terms', 'lists', 'wallets', 'verdicts', 'records', 'endpoints'] as const)
    for (const name of copiedAt(stage)) await sql.unsafe(`SELECT FROM ${name} WHERE ${rowsOf(name)}`)
})

test('all that the operator decided is copied, but for open proposals', () => {
  const copied = new Set<string>(
    (['terms', 'lists', 'wallets', 'verdicts', 'records', 'endpoints'] as const).flatMap(copiedAt),
  )
  assert.deepEqual(
    names.filter((name) => TABLES[name].from === 'operator' && !copied.has(name)),
    ['proposals'],
  )
  assert.deepEqual(
    names.filter((name) => TABLES[name].from === 'chain' && copied.has(name)),
    [],
  )
})

/** What is of the chain or the operator's and not compared after a rebuild, with the reason. */
const NOT_COMPARED: readonly Name[] = [
  // Only the last headers' prices of gas, and the seeds of turns to come: the rebuild may have begun later.
  ...(['block_fees', 'seed_blocks'] as const),
  // Read again when a payment is judged.
  'payer_codes',
  // Copied as they are, and nothing that a rebuild derives.
  ...(['tier_openings', 'proven_wallets', 'price_history', 'audit', 'webhook_endpoints', 'proposals'] as const),
]

test('a rebuild compares everything else, and leaves out only columns that exist', () => {
  const compared = PROJECTIONS.map(({ table }) => table)
  const expected = names.filter((name) => TABLES[name].from !== 'service' && !NOT_COMPARED.includes(name))
  assert.deepEqual([...compared].sort(), [...expected].sort())
  for (const { table, but = '' } of PROJECTIONS)
    for (const column of but.split(', ').filter((one) => one !== ''))
      assert.ok(columns.get(table)?.includes(column), `${table}.${column}`)
})
