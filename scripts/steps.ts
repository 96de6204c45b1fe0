// The one list of what must be green: format and lint, types, generated files, contract tests, tests. `npm test` and
// `npm run check` both run it; a step that is added here is in both, and in continuous integration.
import { spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNodeTests } from './node-tests.ts'
import { withTestServer } from './test-server.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
/** In a file or a log, its colours are line noise. */
const COLOURS = process.stdout.isTTY ? [] : ['--colors=off']

export interface Step {
  readonly name: string
  readonly run: (signal: AbortSignal) => Promise<boolean>
}

export interface StepOptions {
  /** Leave the contract tests out, which take the longest. */
  readonly contracts: boolean
}

/** Everything but the tests under test/, in the order of what fails fastest. */
export function staticSteps({ contracts }: StepOptions): Step[] {
  return [
    {
      name: 'format and lint',
      run: (signal) => runProgram('@biomejs/biome', 'biome', ['ci', ...COLOURS, '.'], signal),
    },
    { name: 'types', run: (signal) => runProgram('typescript', 'tsc', ['--noEmit'], signal) },
    {
      name: 'types of the pages',
      run: (signal) => runProgram('typescript', 'tsc', ['--noEmit', '--project', 'web'], signal),
    },
    { name: 'types of the client', run: checkClient },
    { name: 'generated files', run: checkGenerated },
    ...(contracts ? [{ name: 'contract tests', run: testContracts }] : []),
  ]
}

/** Fails, where CI is set, when the steps before have changed or made a file that git knows or would take. */
export const cleanTree: Step = {
  name: 'clean tree',
  run: async () => {
    const { CI } = process.env
    if (CI !== 'true') return true
    const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' })
    if (stdout !== '') console.error(`Not as committed:\n${stdout}`)
    return stdout === ''
  },
}

/**
 * Runs all steps, whatever fails, then the tests under test/ whose path contains one of `filters` (all when there are
 * none), then `after`; prints what failed, and the test runner's closing lines last. True when everything passed.
 */
export async function runAll(
  steps: readonly Step[],
  filters: readonly string[],
  after: readonly Step[],
): Promise<boolean> {
  let closing: readonly string[] = []
  const tests: Step = {
    name: 'tests',
    run: async (signal) => {
      const outcome = await runNodeTests(filters, signal)
      closing = outcome.closing
      return outcome.passed
    },
  }
  const failed = await withTestServer(async (signal) => {
    const names: string[] = []
    for (const step of [...steps, tests, ...after]) {
      if (signal.aborted || !(await runStep(step, signal))) names.push(step.name)
    }
    return names
  })
  if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
  console.log(`\n${closing.join('\n')}`)
  return failed.length === 0
}

async function runStep(step: Step, signal: AbortSignal): Promise<boolean> {
  console.log(`\n== ${step.name}`)
  const startedAt = performance.now()
  let passed = false
  try {
    passed = await step.run(signal)
  } catch (error) {
    console.error(error)
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`== ${step.name}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`)
  return passed
}

// Loaded only when their turn comes: a module that is broken fails its own step and no other.
async function checkGenerated(): Promise<boolean> {
  const { checkContracts } = await import('./contracts.ts')
  const { checkSchema } = await import('./schema.ts')
  const { checkClientTypes } = await import('./client.ts')
  const contractsCode = checkContracts()
  const current = [await checkClientTypes(), await checkSchema(), contractsCode === 0]
  return current.every(Boolean)
}

async function checkClient(): Promise<boolean> {
  const { compileClient } = await import('./client.ts')
  return compileClient()
}

async function testContracts(): Promise<boolean> {
  const contracts = await import('./contracts.ts')
  return (await contracts.testContracts()) === 0
}

/** Runs a program of an installed package with this Node: the links under .bin would take the system's. */
function runProgram(
  packageName: string,
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const manifest = require.resolve(`${packageName}/package.json`)
  const { bin } = require(manifest) as { bin: Record<string, string> }
  const path = join(dirname(manifest), bin[program] ?? '')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path, ...args], { cwd: ROOT, stdio: 'inherit', signal })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0))
  })
}
