// `npm run check:long`: every long check, or those whose name contains a given word. Writes test/RESULTS.md.
//   --minutes 30   only as many as fit into this time, those with the oldest last run first
//   --list         only lists them, with their last runs
// Prints 'N passed, N failed' last.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type CommandCheck, isWanted, longChecks, type TestFileCheck } from './long/checks.ts'
import { type LastRun, lastRun, readRecord, recordRuns } from './long/record.ts'
import { countSlices, takeSlice } from './long/slice.ts'
import { runNodeTests } from './tests/run.ts'
import { withTestServer } from './tests/server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, list: { type: 'boolean', default: false } },
})
const chosen = choose(positionals, values.minutes)
if (values.list) {
  const record = readRecord()
  for (const { name } of chosen) console.log(`${record.get(name)?.date ?? 'never'.padEnd(17)}  ${name}`)
  process.exit(0)
}
const results = await withTestServer(async (signal) => {
  const files = chosen.filter((check) => check.kind === 'file')
  const runs = files.length > 0 ? await runFiles(files, signal) : []
  for (const check of chosen.filter((check) => check.kind === 'command')) {
    if (!signal.aborted) runs.push(await runCommand(check, signal))
  }
  return runs
})
const failed = results.filter(({ result }) => result !== 'passed')
for (const { check, result } of failed) console.error(`FAILED ${check}: ${result}`)
console.log(`\n${results.length - failed.length} passed, ${failed.length} failed`)
process.exit(failed.length === 0 && results.length === chosen.length ? 0 : 1)

function choose(words: readonly string[], minutes: string | undefined) {
  const checks = longChecks().filter((check) => isWanted(check, words))
  if (checks.length === 0) {
    console.error(`No long check is called ${words.join(' or ')}. npm run check:long -- --list names them.`)
    process.exit(2)
  }
  if (minutes === undefined) return checks
  const most = Number(minutes)
  if (!(most > 0)) {
    console.error(`--minutes takes a number above zero, not ${minutes}.`)
    process.exit(2)
  }
  const record = readRecord()
  const taken = new Set(takeSlice(checks, record, most))
  const slices = countSlices(checks, record, most)
  console.log(
    `${taken.size} of ${checks.length} long checks, those that ran the longest ago; all of them in ${slices} such runs, each with its test/RESULTS.md committed.`,
  )
  return checks.filter((check) => taken.has(check))
}

/** Runs the test files, several at once. */
async function runFiles(checks: readonly TestFileCheck[], signal: AbortSignal): Promise<LastRun[]> {
  const { files } = await runNodeTests(
    checks.map(({ file }) => file),
    signal,
    checks[0]?.atOnce,
  )
  const runs = checks.map(({ file, name }) => {
    const outcome = files.get(file)
    return lastRun(name, outcome?.seconds ?? 0, outcome?.passed === true ? 'passed' : 'failed')
  })
  recordRuns(runs)
  return runs
}

/** Runs a command that keeps the whole machine busy. */
async function runCommand({ name, args, env }: CommandCheck, signal: AbortSignal): Promise<LastRun> {
  console.log(`\n== ${name}`)
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env }, signal })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  const run = lastRun(name, (performance.now() - startedAt) / 1000, code === 0 ? 'passed' : 'failed')
  recordRuns([run])
  return run
}
