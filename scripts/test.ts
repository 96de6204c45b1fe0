// `npm test`: the quick run, what a contributor keeps passing while working (scripts/tests/quick.ts). `npm test -- test/embed` runs every
// test whose path contains "test/embed", quick or not; long ones only if it matches no other.
//   --no-contracts   leaves out the contract tests
//   --times          runs each quick file alone, and prints its processor seconds for scripts/tests/quick.ts

import { runAll, staticSteps } from './steps.ts'
import { findTestFiles, isOf, selectTestFiles } from './tests/files.ts'
import { QUICK } from './tests/quick.ts'
import { runNodeTests } from './tests/run.ts'
import { withTestServer } from './tests/server.ts'

const OPTIONS = ['--no-contracts', '--times']
const args = process.argv.slice(2)
const filters = args.filter((arg) => !arg.startsWith('--'))
const unknown = args.filter((arg) => arg.startsWith('--') && !OPTIONS.includes(arg))
if (unknown.length > 0) {
  const usage = `npm test [-- ${OPTIONS.map((option) => `[${option}]`).join(' ')} [part of a path ...]]`
  console.error(`Unknown option ${unknown.join(' ')}. Usage: ${usage}`)
  process.exit(2)
}
if (args.includes('--times')) process.exit((await printTimes()) ? 0 : 1)
const steps = filters.length > 0 ? [] : staticSteps({ contracts: !args.includes('--no-contracts') })
const files = filters.length > 0 ? selectTestFiles(filters) : findTestFiles('quick')
process.exit((await runAll(steps, files, { isQuickRun: filters.length === 0 })) ? 0 : 1)

/** Prints the processor seconds of each entry of quick.ts, or of each file that the filters select. */
async function printTimes(): Promise<boolean> {
  const files = filters.length > 0 ? selectTestFiles(filters) : findTestFiles('quick')
  const { passed, processorSeconds } = await withTestServer((signal) => runNodeTests(files, signal, { alone: true }))
  const entries = filters.length > 0 ? files : QUICK.map(({ path }) => path)
  for (const entry of entries) {
    const own = [...processorSeconds].filter(([file]) => isOf(entry, file)).map(([, seconds]) => seconds)
    const sum = own.reduce((total, seconds) => total + seconds, 0)
    console.log(`${sum.toFixed(1).padStart(7)}  ${entry}`)
  }
  return passed
}
