// docs/DATA-MODEL.md, held to schema.sql (tables, keys, references, triggers) and to the functions that change the state of a send.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { blocksOf, ROOT, readPage } from './pages.ts'

const PAGE = readPage('docs/DATA-MODEL.md')
const SCHEMA = readFileSync(join(ROOT, 'schema.sql'), 'utf8')
const TABLES = new Map(
  [...SCHEMA.matchAll(/^CREATE TABLE (\w+) \(\n([\s\S]*?)\n\)/gm)].map(([, name = '', body = '']) => [name, body]),
)
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

test('names each table once, with its key', () => {
  const rows = ROWS.filter((cells) => cells.length === 5)
  assert.deepEqual(rows.map(([name]) => namesIn(name)[0]).sort(), [...TABLES.keys()].sort())
  for (const [name = '', , key, from] of rows) {
    const body = TABLES.get(namesIn(name)[0] ?? '') ?? ''
    assert.equal(key, /PRIMARY KEY \(([^)]*)\)/.exec(body)?.[1], name)
    assert.match(from ?? '', /^(chain|operator|service|kept)$/, name)
  }
})

test('says of each table with a block that it comes from the chain, but for those of the operator and of sending', () => {
  const fromChain = ROWS.filter((cells) => cells[3] === 'chain').flatMap(([name]) => namesIn(name))
  const withBlock = [...TABLES].filter(([, body]) => /^ {2}block_hash /m.test(body)).map(([name]) => name)
  assert.deepEqual(
    withBlock.filter((name) => !fromChain.includes(name)),
    ['outbox', 'refunds'],
  )
})

test('names each trigger once, with its table', () => {
  const inSchema = [...SCHEMA.matchAll(/^CREATE (?:CONSTRAINT )?TRIGGER (\w+) .*? ON public\.(\w+) /gm)].map(
    ([, name, table]) => `${name} on ${table}`,
  )
  const onPage = ROWS.filter((cells) => cells.length === 3).flatMap(([names, table]) =>
    namesIn(names).map((name) => `${name} on ${namesIn(table)[0]}`),
  )
  assert.ok(inSchema.length > 20)
  assert.deepEqual(onPage.sort(), inSchema.sort())
})

test('draws each reference between tables, and no other', () => {
  const inSchema = [...TABLES].flatMap(([name, body]) =>
    [...body.matchAll(/FOREIGN KEY \(([^)]*)\) REFERENCES (\w+)/g)].map(
      ([, columns, to]) => `${to} ${name} ${columns}`,
    ),
  )
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
  const states = [...(/outbox_state_check CHECK .*/.exec(SCHEMA)?.[0] ?? '').matchAll(/'(\w+)'/g)].map(
    ([, name]) => name,
  )
  const drawn = new Set(arrows.flatMap(([, from, to]) => [from, to]).filter((state) => state !== '[*]'))
  assert.deepEqual([...drawn].sort(), states.sort())
})
