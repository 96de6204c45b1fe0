// Decisions are short, have one form, and are all in the index.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { ROOT, readPage } from './pages.ts'

const LINES_MAX = 25
const paths = globSync('docs/decisions/0*.md', { cwd: ROOT }).sort()

test('each decision has its number, context, decision and consequences, on 25 lines at most', () => {
  assert.ok(paths.length >= 10)
  for (const [i, path] of paths.entries()) {
    const { text } = readPage(path)
    const number = String(i + 1).padStart(4, '0')
    assert.ok(basename(path).startsWith(`${number}-`), path)
    assert.ok(text.startsWith(`# ${number}: `), path)
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    assert.deepEqual(headings, ['Context', 'Decision', 'Consequences'], path)
    assert.ok(text.split('\n').length - 1 <= LINES_MAX, path)
  }
})

test('the index lists each decision by its title', () => {
  const listed = [...readPage('docs/decisions/README.md').text.matchAll(/^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$/gm)]
  assert.deepEqual(
    listed.map(([, number, file, title]) => [`docs/decisions/${file}`, `# ${number}: ${title}`]),
    paths.map((path) => [path, readPage(path).text.split('\n')[0]]),
  )
})
