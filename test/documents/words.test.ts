// Limits the documents to an evening's reading, and to short sentences.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { type Page, proseOf, ROOT, readPage } from './pages.ts'

/** Most words of a document. One that is not here has at most 1,250. A change that needs more takes something out. */
const LIMITS: Readonly<Record<string, number>> = {
  'CONTRIBUTING.md': 1_750,
  'bench/README.md': 1_400,
  'docs/ADMIN.md': 4_500,
  'docs/ARCHITECTURE.md': 3_850,
  'docs/CONTRACT.md': 6_000,
  'docs/DATA-MODEL.md': 1_650,
  'docs/FAQ.md': 1_600,
  'docs/GLOSSARY.md': 1_450,
  'docs/RUNBOOK.md': 7_400,
  'docs/THREATS.md': 3_400,
  'docs/WEBHOOKS.md': 1_500,
}
const LIMIT = 1_250
/** All of them together, for one evening. */
const LIMIT_IN_ALL = 43_000
/** Half of a document's sentences have at most so many words. */
const MEDIAN_SENTENCE = 15
/** As long as the tables that they are generated from. */
const GENERATED = ['docs/CLI.md', 'docs/SETTINGS.md']

const PAGES = globSync(['*.md', 'docs/*.md', 'test/README.md', 'bench/README.md'], { cwd: ROOT })
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
