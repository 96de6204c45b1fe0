// Limits the documents to an evening's reading, and to short sentences.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { type Page, proseOf, ROOT, readPage } from './pages.ts'

/** Most words of a document. One that is not here has at most 1,250. A change that needs more takes something out. */
const LIMITS: Readonly<Record<string, number>> = {
  'CONTRIBUTING.md': 1_350,
  'docs/ADMIN.md': 2_700,
  'docs/ARCHITECTURE.md': 2_550,
  'docs/CONTRACT.md': 3_250,
  'docs/RUNBOOK.md': 6_300,
  'docs/THREATS.md': 2_100,
  'test/faults/README.md': 2_300,
}
const LIMIT = 1_250
/** All of them together, for one evening. */
const LIMIT_IN_ALL = 36_000
/** Half of a document's sentences have at most so many words. */
const MEDIAN_SENTENCE = 15
/** The runbook's sections whose entries a person reads at night: what it means, what to check, what to do, when it is resolved. */
const ENTRIES = ['Held payments', 'What each alert means', 'Events that need a person']
const ENTRY_LIMIT = 120
/** As long as the tables that they are generated from. */
const GENERATED = ['docs/CLI.md', 'docs/SETTINGS.md']

const PAGES = globSync(['*.md', 'docs/**/*.md', '{ops,test,bench}/**/README.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
})
  .filter((path) => !GENERATED.includes(path))
  .sort()
  .map(readPage)

/** A mark that stands alone, such as between the cells of a table, is no word. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))

/** The lengths of a document's sentences, in words. Skips tables, headings and blocks. */
function sentencesOf(page: Page): number[] {
  const lines = proseOf(page)
    .split('\n')
    .filter((line) => !/^\s*(\||#|<)/.test(line))
    .map((line) => line.replace(/^\s*(?:[-*]|\d+\.) /, '\n\n'))
  return lines
    .join('\n')
    .split(/\n\s*\n|(?<=[.!?])["*)]*\s+/)
    .map((sentence) => wordsOf(sentence).length)
    .filter((length) => length > 1)
}

test('each document is as short as its limit', () => {
  assert.ok(PAGES.length > 20)
  const long = PAGES.map(({ path, text }) => ({ path, words: wordsOf(text).length, limit: LIMITS[path] ?? LIMIT }))
  assert.deepEqual(
    long.filter(({ words, limit }) => words > limit),
    [],
  )
})

test('all documents together can be read in an evening', () => {
  const words = PAGES.reduce((sum, { text }) => sum + wordsOf(text).length, 0)
  assert.ok(words <= LIMIT_IN_ALL, `${words} words`)
})

test('the runbook first prepares a refund of what may still be minted, before anything is sent', () => {
  const runbook = PAGES.find(({ path }) => path === 'docs/RUNBOOK.md')?.text ?? ''
  for (const reason of ['soldOut', 'supplySpent']) {
    const entry = runbook.split(`\n### ${reason}\n`)[1]?.split('\n### ')[0] ?? ''
    assert.match(entry, /^\*\*First:\*\* prepare a refund before you send ether from any wallet/, reason)
  }
})

test('each entry of the runbook is as short as its reader needs it at night', () => {
  const runbook = PAGES.find(({ path }) => path === 'docs/RUNBOOK.md')?.text ?? ''
  const entries = ENTRIES.flatMap((title) =>
    (runbook.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '').split('\n### ').slice(1),
  )
  assert.ok(entries.length > 60)
  const long = entries.map((entry) => [entry.split('\n')[0], wordsOf(entry).length - 1] as const)
  assert.deepEqual(
    long.filter(([, words]) => words > ENTRY_LIMIT),
    [],
  )
})

test('half of the sentences of each document have at most 15 words', () => {
  const medians = PAGES.map((page) => {
    const lengths = sentencesOf(page).sort((a, b) => a - b)
    return { path: page.path, median: lengths[Math.floor(lengths.length / 2)] ?? 0 }
  })
  assert.deepEqual(
    medians.filter(({ median }) => median > MEDIAN_SENTENCE),
    [],
  )
})
