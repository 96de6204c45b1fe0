// The steps of `npm test` and `npm run check`: format and lint, types, generated files, contracts, tests. A check of the repository
// itself is a step here, so it runs in continuous integration too.
import { spawn, spawnSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { minutesAndSeconds, readProcessorSeconds } from './tests/processor-time.ts'
import { QUICK_BUDGET_SEC } from './tests/quick.ts'
import { runNodeTests, type TestOutcome } from './tests/run.ts'
import { withTestServer } from './tests/server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLIENT = join(ROOT, 'client')
/** In a file or a log, Biome's colours are noise. */
const COLOURS = process.stdout.isTTY ? [] : ['--colors=off']

/**
 * With several threads the compiler checks many types more than once: 22 s of processor time instead of 13. The tests
 * beside it keep the cores busy anyway.
 */
const ONE_THREAD = ['--singleThreaded']

/** Everything from which the pages are built. */
const OF_PAGES = ['web/*.*', 'web/public/*.*', 'web/src/**/*.*', 'client/src/**/*.ts', 'api/*.*', 'docs/RUNBOOK.md']

/** Builds the pages again if they are older than their source, because tests would wait for texts that they do not have. */
const BUILD: Step = { name: 'pages', command: [join(ROOT, 'bin/prepare.mjs')] }

/** A check of the repository itself, run by this Node in its own process. */
export interface Step {
  readonly name: string
  /** The path of a script, and its arguments. */
  readonly command: readonly string[]
  /** The working directory. Default: the project's root. */
  readonly cwd?: string
}

export interface StepOptions {
  /** False leaves out the contract's unit tests, which take the longest. */
  readonly contracts: boolean
}

/** What `npm test` checks beside its tests, fastest first. */
export function staticSteps({ contracts }: StepOptions): Step[] {
  const compiler = programOf('typescript', 'tsc')
  return [
    { name: 'format and lint', command: [programOf('@biomejs/biome', 'biome'), 'ci', ...COLOURS, '.'] },
    { name: 'types', command: [compiler, '--noEmit', ...ONE_THREAD] },
    { name: 'types of the pages', command: [compiler, '--noEmit', ...ONE_THREAD, '--project', 'web'] },
    // Uses the client's own compiler.
    { name: 'types of the client', command: [join(CLIENT, 'node_modules/typescript/bin/tsc')], cwd: CLIENT },
    { name: 'generated files', command: [join(ROOT, 'scripts/generate.ts'), '--check'] },
    ...(contracts ? [{ name: 'contract tests', command: [join(ROOT, 'scripts/contracts.ts'), 'units'] }] : []),
  ]
}

/** What `npm run check` checks beside its tests. */
export function slowSteps(): Step[] {
  return [{ name: 'contract invariants, proofs and gas', command: [join(ROOT, 'scripts/contracts.ts'), 'rest'] }]
}

/** True if git sees no file that the earlier steps changed or created. Checked only if CI is set. */
export function isTreeClean(): boolean {
  const { CI } = process.env
  if (CI !== 'true') return true
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' })
  if (stdout !== '') console.error(`Not as committed:\n${stdout}`)
  return stdout === ''
}

export interface RunAllOptions {
  /** True for the whole quick run, which has a budget. */
  readonly isQuickRun?: boolean
}

/**
 * Runs the steps one after the other, and the tests of these files beside them. Continues after a failure. Prints
 * failures, then the processor time, and the test runner's closing lines last. True if everything passed.
 */
export async function runAll(
  steps: readonly Step[],
  files: readonly string[],
  { isQuickRun = false }: RunAllOptions = {},
): Promise<boolean> {
  if (!arePagesNew() && !(await runStep(BUILD, new AbortController().signal))) return false
  const startedAt = performance.now()
  const [failed, outcome] = await withTestServer((signal) =>
    Promise.all([runSteps(steps, signal), runNodeTests(files, signal)]),
  )
  const all = outcome.passed ? failed : [...failed, 'tests']
  if (all.length > 0) console.error(`\nFailed: ${all.join(', ')}`)
  const budget = isQuickRun ? `, of ${QUICK_BUDGET_SEC} s` : ''
  console.log(`\n${[...timeLines(outcome, startedAt, budget), ...outcome.closing].join('\n')}`)
  return all.length === 0
}

/** How long the run took, and its processor time, which hardly depends on what else the machine does. */
function timeLines({ processorSeconds }: TestOutcome, startedAt: number, budget: string): string[] {
  const elapsed = `Time: ${minutesAndSeconds((performance.now() - startedAt) / 1000)}`
  const total = readProcessorSeconds()
  if (total === null) return [elapsed]
  const ofTests = Math.round([...processorSeconds.values()].reduce((sum, seconds) => sum + seconds, 0))
  return [elapsed, `Processor time: ${minutesAndSeconds(total)}, for test files ${ofTests} s${budget}`]
}

/** False if the pages were built before their source changed. */
function arePagesNew(): boolean {
  const timeOf = (path: string) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const builtAt = timeOf('web/dist/index.html')
  return globSync(OF_PAGES, { cwd: ROOT }).every((path) => timeOf(path) <= builtAt)
}

/** The names of the failed steps. */
async function runSteps(steps: readonly Step[], signal: AbortSignal): Promise<string[]> {
  const failed: string[] = []
  for (const step of steps) {
    if (signal.aborted || !(await runStep(step, signal))) failed.push(step.name)
  }
  return failed
}

/** Runs a step, and prints its output in one piece at its end, because tests print at the same time. */
async function runStep({ name, command, cwd = ROOT }: Step, signal: AbortSignal): Promise<boolean> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, command, { cwd, stdio: ['ignore', 'pipe', 'pipe'], signal })
  let output = ''
  const collect = (part: Buffer) => {
    output += part.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const passed = await new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      output += `${error.message}\n`
      resolve(false)
    })
    child.once('close', (code) => resolve(code === 0))
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`\n== ${name}\n${output}== ${name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s\n`)
  return passed
}

/** The path of a program in an installed package. The links under .bin would run it with the system's Node. */
function programOf(packageName: string, program: string): string {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve(`${packageName}/package.json`)
  const { bin } = require(manifest) as { bin: Record<string, string> }
  return join(dirname(manifest), bin[program] ?? '')
}
