// The one list of what must be green: format and lint, types, generated files, contract tests, tests. `npm test` and
// `npm run check` both run it; a step that is added here is in both, and in continuous integration.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runNodeTests } from './node-tests.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)

/** In a file or a log, its colours are line noise. */
const COLOURS = process.stdout.isTTY ? [] : ['--colors=off']

export interface Step {
  readonly name: string
  readonly run: () => Promise<boolean>
}

export interface StepOptions {
  /** Leave the contract tests out, which take the longest. */
  readonly contracts: boolean
}

/** Everything but the tests under test/, in the order of what fails fastest. */
export function staticSteps({ contracts }: StepOptions): Step[] {
  return [
    { name: 'format and lint', run: () => runProgram('@biomejs/biome', 'biome', ['ci', ...COLOURS, '.']) },
    { name: 'types', run: () => runProgram('typescript', 'tsc', ['--noEmit']) },
    { name: 'generated files', run: checkGenerated },
    ...(contracts ? [{ name: 'contract tests', run: () => callScript('contracts.ts', 'test') }] : []),
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
 * Runs all steps, whatever fails, then the tests under test/, then `after`; prints what failed, and the test runner's
 * closing lines last. True when everything passed.
 */
export async function runAll(
  steps: readonly Step[],
  filters: readonly string[],
  after: readonly Step[],
): Promise<boolean> {
  let closing: readonly string[] = []
  const tests: Step = {
    name: 'tests',
    run: async () => {
      const outcome = await runNodeTests(filters)
      closing = outcome.closing
      return outcome.passed
    },
  }
  const failed: string[] = []
  for (const step of [...steps, tests, ...after]) if (!(await runStep(step))) failed.push(step.name)
  if (failed.length > 0) console.error(`\nFailed: ${failed.join(', ')}`)
  console.log(`\n${closing.join('\n')}`)
  return failed.length === 0
}

async function runStep(step: Step): Promise<boolean> {
  console.log(`\n== ${step.name}`)
  const startedAt = performance.now()
  let passed = false
  try {
    passed = await step.run()
  } catch (error) {
    console.error(error)
  }
  console.log(
    `== ${step.name}: ${passed ? 'passed' : 'FAILED'} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  )
  return passed
}

async function checkGenerated(): Promise<boolean> {
  const contracts = await callScript('contracts.ts', 'check')
  const schema = await callScript('schema.ts', 'checkSchema')
  return contracts && schema
}

/**
 * Calls what `scripts/<file>` exports as `name`, loading it only now: a broken module fails its own step and no other.
 * False, or an exit code other than 0, is a failure. A file that is not there yet is said and passed over.
 */
export async function callScript(file: string, name: string): Promise<boolean> {
  const path = join(ROOT, 'scripts', file)
  if (!existsSync(path)) {
    console.log(`scripts/${file} is not there yet: passed over`)
    return true
  }
  const module = (await import(path)) as Record<string, (() => unknown) | undefined>
  const call = module[name]
  if (call === undefined) throw new Error(`scripts/${file} exports no ${name}`)
  const result = await call()
  return result !== false && (typeof result !== 'number' || result === 0)
}

/** Runs a program of an installed package with this Node: the links under .bin would take the system's. */
async function runProgram(packageName: string, program: string, args: readonly string[]): Promise<boolean> {
  const manifest = require.resolve(`${packageName}/package.json`)
  const { bin } = require(manifest) as { bin: Record<string, string> }
  return runNode([join(dirname(manifest), bin[program] ?? ''), ...args])
}

function runNode(args: readonly string[]): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0))
  })
}
