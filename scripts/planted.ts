// Plants the bugs of test/planted, one at a time, into a copy of the project, and runs the tests that must notice. A harness
// that lets one through proves nothing. Prints 'N passed, N failed': passed is caught.
//   npm run planted -- [--check | --refresh] [part of a bug's name ...]
// --check    only tells which patches do not apply exactly once, or name a test that is not there
// --refresh  rewrites patches for the sources as they are: moved paths, line numbers, context
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SERVER_VARIABLE } from '../test/support/postgres.ts'
import { signalGroup } from '../test/support/process-group.ts'
import { copyProject } from './copy-project.ts'
import { findProblems, forgetMoved, readBugs, refreshBugs } from './planted/bugs.ts'
import { applyHunks, type PlantedBug } from './planted/patch.ts'
import { withTestServer } from './test-server.ts'

/** A bug that makes the tests hang is noticed, too. Generous: the slowest file takes two minutes on an idle machine. */
const FILE_MS = 900_000
/** Bugs planted at once: a test keeps a chain and a database busy beside itself. */
const AT_ONCE_MAX = 4

/** Plants the bug; gives what takes it out again. Throws when its place is not there exactly once. */
function plant(copy: string, bug: PlantedBug): () => void {
  const files = bug.edits.map(({ file, hunks }) => {
    const path = join(copy, file)
    const before = readFileSync(path, 'utf8')
    return { path, before, after: applyHunks(before, hunks) }
  })
  for (const { path, after } of files) writeFileSync(path, after)
  return () => {
    for (const { path, before } of files) writeFileSync(path, before)
  }
}

/** Runs a test file of the copy up to the first test that fails; gives what failed, or null where all passed. */
async function runTests(copy: string, file: string, ownServer: boolean, signal: AbortSignal): Promise<string | null> {
  // So many seeds of the simulation are enough to notice.
  const env: NodeJS.ProcessEnv = { NL_SIM_SEEDS: '100', ...process.env }
  // A changed migration needs a server whose template it makes itself.
  if (ownServer) delete env[SERVER_VARIABLE]
  const args = ['--test', '--test-force-exit', '--test-reporter=tap', file]
  // A group of its own, which ends as one: a service that a test had started, or stopped half way, would stay behind.
  const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const endAll = () => signalGroup(child.pid, 'SIGKILL')
  signal.addEventListener('abort', endAll, { once: true })
  let output = ''
  let failed: string | null = null
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    failed ??= /^not ok \d+ - (.*)\n/m.exec(output)?.[1] ?? null
    // One is enough: the chains and databases of the tests go when their process goes.
    if (failed !== null) child.kill('SIGTERM')
  })
  const late = setTimeout(endAll, FILE_MS)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearTimeout(late)
  signal.removeEventListener('abort', endAll)
  endAll()
  return code === 0 ? null : (failed ?? `${file} ended with ${code ?? 'no answer in time'}`)
}

async function isCaught(copy: string, bug: PlantedBug, signal: AbortSignal): Promise<string | null> {
  const takeOut = plant(copy, bug)
  try {
    const ownServer = bug.edits.some(({ file }) => file.startsWith('migrations/'))
    for (const file of bug.tests) {
      const failed = await runTests(copy, file, ownServer, signal)
      if (failed) return `${file}: ${failed}`
    }
    return null
  } finally {
    takeOut()
  }
}

/** Works on the items in order, as many at once as there are copies, each in a copy of its own. */
async function inCopies<T>(
  copies: readonly string[],
  items: Iterable<T>,
  signal: AbortSignal,
  work: (copy: string, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items]
  const workIn = async (copy: string) => {
    for (;;) {
      const item = signal.aborted ? undefined : waiting.shift()
      if (item === undefined) return
      await work(copy, item)
    }
  }
  await Promise.all(copies.map(workIn))
}

/** Plants each bug; returns how many were caught. */
async function runBugs(bugs: readonly PlantedBug[], signal: AbortSignal): Promise<number> {
  const copies = Array.from({ length: Math.min(AT_ONCE_MAX, availableParallelism()) }, copyProject)
  // What fails without a bug would catch every bug.
  const unusable = new Set<string>()
  await inCopies(copies, new Set(bugs.flatMap(({ tests }) => tests)), signal, async (copy, file) => {
    // Twice, since a machine that is busy with other things can make one fail.
    const broken = (await runTests(copy, file, false, signal)) && (await runTests(copy, file, false, signal))
    if (broken) unusable.add(file)
    console.log(broken ? `UNUSABLE  ${file} fails without any bug: ${broken}` : `usable    ${file}`)
  })
  let count = 0
  await inCopies(copies, bugs, signal, async (copy, bug) => {
    try {
      const tests = bug.tests.filter((file) => !unusable.has(file))
      const by = await isCaught(copy, { ...bug, tests }, signal)
      console.log(by ? `caught    ${bug.name}\n          by ${by}` : `SURVIVED  ${bug.name}`)
      if (by) count++
    } catch (error) {
      console.log(`STALE     ${bug.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
  return count
}

/** Tells which patches are stale; returns how many bugs have a problem. */
function check(bugs: readonly PlantedBug[]): number {
  const stale = bugs.filter((bug) => {
    const problems = findProblems([bug])
    for (const problem of problems) console.log(problem)
    return problems.length > 0
  })
  if (stale.length > 0)
    console.log('\nSee test/planted/README.md; npm run planted -- --refresh mends what is only displaced.')
  return stale.length
}

function refresh(bugs: readonly PlantedBug[], all: boolean): number {
  for (const line of refreshBugs(bugs)) console.log(line)
  if (all) forgetMoved()
  return check(readBugs().filter(({ name }) => bugs.some((bug) => bug.name === name)))
}

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, refresh: { type: 'boolean' } },
})
const bugs = readBugs().filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
const failed = options.refresh
  ? refresh(bugs, wanted.length === 0)
  : options.check
    ? check(bugs)
    : bugs.length - (await withTestServer((signal) => runBugs(bugs, signal)))
console.log(`\n${bugs.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
