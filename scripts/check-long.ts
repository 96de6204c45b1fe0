// `npm run check:long -- NAME ...`: the long checks whose name contains one of the words.
//   --slice     the slice that the checked-out commit's hash chooses, for continuous integration
//   --all       every long check, for a release
//   --list      only lists them, with the newest commit whose slice had each
// Prints a table of what ran, and 'N passed, N failed' last.
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type CommandCheck, isWanted, type LongCheck, longChecks } from './long/checks.ts'
import { sliceOfCommit, slicesOf } from './long/slices.ts'
import { runNodeTests } from './tests/run.ts'
import { withTestServer } from './tests/server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** How many commits `--list` looks back. */
const COMMITS_MAX = 300

interface Run {
  readonly check: LongCheck
  readonly passed: boolean
  readonly seconds: number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    slice: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
if (values.list) {
  listChecks()
  process.exit(0)
}
const chosen = choose()
const runs = await withTestServer(async (signal) => {
  const done: Run[] = []
  for (const check of chosen) if (!signal.aborted) done.push(await runCheck(check, signal))
  return done
})
console.log(`\n${table(runs)}`)
// A release should know what nothing has covered for long.
if (values.all) listChecks()
const failed = runs.filter(({ passed }) => !passed).length
console.log(`\n${runs.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 && runs.length === chosen.length ? 0 : 1)

function choose(): LongCheck[] {
  const all = longChecks()
  if (values.all) return all
  if (values.slice) {
    const slices = slicesOf(all)
    const [hash = ''] = commits(1)
    const index = sliceOfCommit(hash, slices.length)
    const slice = slices[index] ?? []
    console.log(`Slice ${index + 1} of ${slices.length}, by commit ${hash.slice(0, 12)}:`)
    for (const { name } of slice) console.log(`  ${name}`)
    return slice
  }
  const named = positionals.length === 0 ? [] : all.filter((check) => isWanted(check, positionals))
  if (named.length > 0) return named
  console.error('Name a long check, or give --slice or --all. npm run check:long -- --list shows the names.')
  process.exit(2)
}

/** Hashes of the newest commits, newest first. */
function commits(count: number): string[] {
  const { stdout, status } = spawnSync('git', ['log', `-${count}`, '--format=%H'], { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error('This is not a git checkout, so no commit chooses a slice. Name the checks.')
  return stdout.trim().split('\n')
}

/** Prints each check with the number of commits since its slice was last chosen, the longest ago first. */
function listChecks(): void {
  const slices = slicesOf(longChecks())
  const chosenBy = commits(COMMITS_MAX).map((hash) => sliceOfCommit(hash, slices.length))
  const ages = slices.map((_, index) => chosenBy.indexOf(index))
  const age = (index: number) => ages[index] ?? -1
  const order = [...slices.keys()].sort(
    (a, b) => (age(b) < 0 ? COMMITS_MAX : age(b)) - (age(a) < 0 ? COMMITS_MAX : age(a)),
  )
  console.log(
    '\nCommits since a slice with this check was chosen. Not every commit was a run of continuous integration.',
  )
  for (const index of order) {
    const since = age(index) < 0 ? `${COMMITS_MAX}+` : String(age(index))
    for (const { name, minutes } of slices[index] ?? []) console.log(`${since.padStart(5)}  ${name} (${minutes} min)`)
  }
}

async function runCheck(check: LongCheck, signal: AbortSignal): Promise<Run> {
  const startedAt = performance.now()
  const passed =
    check.kind === 'file' ? (await runNodeTests([check.file], signal)).passed : await runCommand(check, signal)
  return { check, passed, seconds: (performance.now() - startedAt) / 1000 }
}

/** Runs a command that keeps the whole machine busy. */
async function runCommand({ name, args, env }: CommandCheck, signal: AbortSignal): Promise<boolean> {
  console.log(`\n== ${name}`)
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env }, signal })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}

function table(done: readonly Run[]): string {
  const rows = done.map(({ check, passed, seconds }) => {
    const minutes = (seconds / 60).toFixed(1).padStart(6)
    return `${minutes} min  ${passed ? 'passed' : 'FAILED'}  ${check.name}`
  })
  return rows.join('\n')
}
