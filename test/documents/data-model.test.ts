// Compares docs/DATA-MODEL.md with the schema of a migrated database (tables, keys, references, triggers) and with the
// functions that change the state of a send.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { connect } from '../../src/db/core/sql.ts'
import { createDatabase } from '../support/postgres.ts'
import { blocksOf, ROOT, readPage } from './pages.ts'

const PAGE = readPage('docs/DATA-MODEL.md')
/** The ledger's schema in PostgreSQL's catalogue. */
interface Table {
  name: string
  /** The columns of its key. */
  key: string
  hasBlock: boolean
  /** Each `referred table, referring table, columns`. */
  references: string[]
  /** Each `trigger on table`. */
  triggers: string[]
}
let tables: Table[]
let states: string[]
before(async () => {
  const database = await createDatabase()
  const sql = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
  tables = await sql<Table[]>`
    SELECT c.relname AS name, coalesce(max(columns) FILTER (WHERE contype = 'p'), '') AS key,
      EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'block_hash') AS "hasBlock",
      coalesce(json_agg(concat_ws(' ', k.confrelid::regclass, c.relname, columns)) FILTER (WHERE contype = 'f'), '[]') AS references,
      (SELECT coalesce(json_agg(tgname || ' on ' || c.relname), '[]') FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) AS triggers
    FROM pg_class c LEFT JOIN pg_constraint k ON k.conrelid = c.oid
    LEFT JOIN LATERAL (SELECT string_agg(attname, ', ' ORDER BY place) AS columns FROM unnest(k.conkey) WITH ORDINALITY AS u(attnum, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum) named ON true
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY c.oid, c.relname`
  const [check] = await sql<{ text: string }[]>`
    SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'outbox_state_check'`
  states = [...(check?.text ?? '').matchAll(/'(\w+)'/g)].map(([, name = '']) => name)
  await sql.end({ timeout: 1 })
  await database.drop()
})
const ROWS = PAGE.text
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
const namesIn = (text = '') => [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
const diagram = (kind: string) => blocksOf(PAGE).find(({ text }) => text.startsWith(kind))?.text ?? ''

test('lists each table once, with its key', () => {
  const rows = ROWS.filter((cells) => cells.length === 4)
  assert.deepEqual(rows.map(([name]) => namesIn(name)[0]).sort(), tables.map(({ name }) => name).sort())
  for (const [cell = '', , key, from] of rows) {
    const [name = ''] = namesIn(cell)
    assert.equal(key, tables.find((table) => table.name === name)?.key, name)
    assert.match(from ?? '', /^(chain|operator|service|kept)$/, name)
  }
})

test('marks each table with a block as from the chain, except the operator’s and sending’s', () => {
  const fromChain = ROWS.filter((cells) => cells[3] === 'chain').flatMap(([name]) => namesIn(name))
  const withBlock = tables.filter(({ hasBlock }) => hasBlock).map(({ name }) => name)
  assert.deepEqual(withBlock.filter((name) => !fromChain.includes(name)).sort(), ['outbox', 'refunds'])
})

test('lists each trigger once, with its table', () => {
  const inSchema = tables.flatMap(({ triggers }) => triggers)
  const onPage = ROWS.filter((cells) => cells.length === 3).flatMap(([names, table]) =>
    namesIn(names).map((name) => `${name} on ${namesIn(table)[0]}`),
  )
  assert.ok(inSchema.length > 20)
  assert.deepEqual(onPage.sort(), inSchema.sort())
})

test('draws each reference between tables, and no other', () => {
  const inSchema = tables.flatMap(({ references }) => references)
  const drawn = [...diagram('erDiagram').matchAll(/^ {2}(\w+) \S+ (\w+) : "?([\w, ]+)"?$/gm)].map(
    ([, to, from, columns]) => `${to} ${from} ${columns}`,
  )
  assert.deepEqual(drawn.sort(), inSchema.sort())
})

test('draws the states of a send, and each function that changes one', () => {
  const source = readFileSync(join(ROOT, 'src/db/sends/outbox.ts'), 'utf8')
  const functions = source
    .split(/^export (?=async function)/m)
    .slice(1)
    .filter((text) => /INSERT INTO outbox \(|UPDATE outbox (o )?SET|DELETE FROM outbox /.test(text))
    .map((text) => /function (\w+)/.exec(text)?.[1])
  const arrows = [...diagram('stateDiagram').matchAll(/^ {2}(\S+) --> (\S+) : (.+)$/gm)]
  const labels = new Set(arrows.flatMap(([, , , label = '']) => label.split(', ')))
  assert.deepEqual([...labels].sort(), functions.sort())
  const drawn = new Set(arrows.flatMap(([, from, to]) => [from, to]).filter((state) => state !== '[*]'))
  assert.deepEqual([...drawn].sort(), states.sort())
})
