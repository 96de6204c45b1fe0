// What documents name beside references.test.ts: commands in their short form, options alone, files in backticks, metrics
// and alerts.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { COMMANDS } from './calls.ts'
import { type Page, ROOT, readPages, spansOf } from './pages.ts'

const PAGES = readPages()
const read = (paths: readonly string[]) =>
  globSync(paths, { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')

const GROUPS = new Set(COMMANDS.filter(({ name }) => name.includes(' ')).map(({ name }) => name.split(' ')[0] ?? ''))

/** Commands without `ledger` before them, such as `payments refund`. */
function wrongShortCommands(page: Page): string[] {
  const spans = spansOf(page).filter(
    (span) => /^[a-z-]+ [a-z-]+( |$)/.test(span) && GROUPS.has(span.split(' ')[0] ?? ''),
  )
  return spans.filter((span) => !COMMANDS.some(({ name }) => span === name || span.startsWith(`${name} `)))
}

/** An argument with choices is one of them, in a command in any form. */
function wrongChoices(page: Page): string[] {
  return spansOf(page).filter((span) => {
    const words = span.replace(/^(npx )?(node-)?ledger /, '').split(' ')
    const command = COMMANDS.find(({ name, args }) => name === words[0] && args?.[0]?.choices)
    return (
      command !== undefined && /^[a-z]+$/.test(words[1] ?? '') && !command.args?.[0]?.choices?.includes(words[1] ?? '')
    )
  })
}

const OWN_OPTIONS = read(['scripts/**/*.ts', 'bench/**/*.ts'])
/** Options of npm, forge and the like. */
const OTHER_OPTIONS = ['--omit', '--import', '--experimental-loader', '--max-old-space-size']

function wrongOptions(page: Page): string[] {
  return spansOf(page)
    .flatMap((span) => /^(--[a-z][a-z-]+)/.exec(span)?.[1] ?? [])
    .filter(
      (option) =>
        !['--json', '--help', '--version', ...OTHER_OPTIONS].includes(option) &&
        !COMMANDS.some(({ options = {} }) => Object.hasOwn(options, option.slice(2))) &&
        !new RegExp(`'${option.slice(2)}'|\\b${option.slice(2)}: \\{|${option}\\b`).test(OWN_OPTIONS),
    )
}

/** Where a path may begin. A name without a folder may be anywhere below them. */
const BASES = ['.', 'src', 'test', 'contracts', 'contracts/test', 'contracts/src', 'bench', 'web']
const FILE = /^\.{0,2}\/?[\w.-]+(\/[\w.*-]+)*\.(ts|tsx|sol|md|sql|toml|yml|yaml|mjs)$/

function missingFiles(page: Page): string[] {
  const isThere = (path: string) => {
    const places = [dirname(page.path), ...BASES].map((base) => join(base, path))
    if (!path.includes('/')) places.push(`{${['scripts', ...BASES.slice(1)].join(',')}}/**/${path}`)
    return places.some((place) => existsSync(join(ROOT, place)) || globSync(place, { cwd: ROOT }).length > 0)
  }
  return spansOf(page).filter((span) => FILE.test(span) && !isThere(span))
}

const METRICS = read(['src/metrics/*.ts', 'src/db/reads/metrics.ts'])
const ALERTS = read(['ops/prometheus/alerts.yaml'])

const unknownMetrics = ({ text }: Page) =>
  [...text.matchAll(/\bnode_ledger_[a-z_]+/g)].map(([name]) => name).filter((name) => !METRICS.includes(name))
const unknownAlerts = ({ text }: Page) =>
  [...text.matchAll(/\bNodeLedger[A-Z]\w+/g)]
    .map(([name]) => name)
    .filter((name) => !ALERTS.includes(`alert: ${name}\n`))

for (const page of PAGES) {
  describe(page.path, () => {
    test('mentions only existing short commands and choices', () =>
      assert.deepEqual([...wrongShortCommands(page), ...wrongChoices(page)], []))
    test('mentions only existing options', () => assert.deepEqual(wrongOptions(page), []))
    test('mentions only existing files', () => assert.deepEqual(missingFiles(page), []))
    test('mentions only existing metrics and alerts', () =>
      assert.deepEqual([...unknownMetrics(page), ...unknownAlerts(page)], []))
  })
}

test('a command, an option and a file that are not there are found', () => {
  const page = {
    path: 'docs/x.md',
    text: '`payments mend`, `pass reconcile`, `--no-such`, `follower/none.ts`, `NodeLedgerNone`',
  }
  assert.deepEqual(wrongShortCommands(page), ['payments mend'])
  assert.deepEqual(wrongChoices(page), ['pass reconcile'])
  assert.deepEqual(wrongOptions(page), ['--no-such'])
  assert.deepEqual(missingFiles(page), ['follower/none.ts'])
  assert.deepEqual(unknownAlerts(page), ['NodeLedgerNone'])
})
