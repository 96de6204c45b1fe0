// Reads and writes the last results of `npm run check:long`, the table of test/RESULTS.md. It must never drop a row
// that it cannot read, because a person may have edited it.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FILE = fileURLToPath(new URL('../../test/RESULTS.md', import.meta.url))
const HEAD = `# Last results of the long checks

Written by \`npm run check:long\`, \`npm run soak\` and \`npm run mutation\`; never edit it by hand. A row is the last run of a check:
the commit it ran on, and how long it took. [README.md](README.md) says what these checks are for.

| check | date (UTC) | commit | minutes | result |
|---|---|---|---|---|
`
const ROW = /^\| (.+) \| (\S+) \| (\S+) \| ([\d.]+) \| (.+) \|$/

/** The last run of one check. */
export interface LastRun {
  readonly check: string
  /** When it ran, such as 2026-01-31T12:00Z. */
  readonly date: string
  /** The short hash of the commit; a trailing `+` means uncommitted changes. */
  readonly commit: string
  readonly minutes: number
  /** `passed`, or the failure in a few words. */
  readonly result: string
}

/** The entry for a run that has just ended, on the current commit. */
export function lastRun(check: string, seconds: number, result: string): LastRun {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
  const changed = git('status', '--porcelain', '--', ':!test/RESULTS.md') === '' ? '' : '+'
  return {
    check,
    date: `${new Date().toISOString().slice(0, 16)}Z`,
    commit: git('rev-parse', '--short', 'HEAD') + changed,
    minutes: seconds / 60,
    result,
  }
}

/** The rows by check, oldest run first. Throws if it cannot read a row of the table. */
export function parseRecord(text: string): Map<string, LastRun> {
  const lines = text.split('\n').filter((line) => line.startsWith('| '))
  const rows = lines.slice(1).map((line) => {
    const [, check = '', date = '', commit = '', minutes = '', result = ''] = ROW.exec(line) ?? fail(line)
    return { check, date, commit, minutes: Number(minutes), result }
  })
  return new Map(rows.sort(byDate).map((row) => [row.check, row]))
}

/** The whole document, with rows sorted by name. */
export function formatRecord(record: ReadonlyMap<string, LastRun>): string {
  const rows = [...record.values()].sort((a, b) => (a.check < b.check ? -1 : 1))
  const line = (row: LastRun) =>
    `| ${row.check} | ${row.date} | ${row.commit} | ${row.minutes.toFixed(1)} | ${row.result} |\n`
  return HEAD + rows.map(line).join('')
}

/** The record as it is; empty if there is none yet. */
export function readRecord(): Map<string, LastRun> {
  try {
    return parseRecord(readFileSync(FILE, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
}

/** Replaces the earlier runs of the same checks with these. */
export function recordRuns(runs: readonly LastRun[]): void {
  const record = readRecord()
  for (const run of runs) record.set(run.check, run)
  writeFileSync(FILE, formatRecord(record))
}

function byDate(a: LastRun, b: LastRun): number {
  if (a.date === b.date) return 0
  return a.date < b.date ? -1 : 1
}

function fail(line: string): never {
  throw new Error(`test/RESULTS.md has a row that cannot be read: ${line}`)
}
