// `npm test`: everything that a contributor must keep passing. `npm test -- test/embed` runs only the tests whose path
// contains "test/embed". If no quick test matches, it runs matching long tests. `--no-contracts` leaves out the
// contract tests.

import { runAll, staticSteps } from './steps.ts'
import { selectTestFiles } from './tests/run.ts'

const args = process.argv.slice(2)
const filters = args.filter((arg) => !arg.startsWith('--'))
const unknown = args.filter((arg) => arg.startsWith('--') && arg !== '--no-contracts')
if (unknown.length > 0) {
  console.error(`Unknown option ${unknown.join(' ')}. Usage: npm test [-- --no-contracts] [-- part of a path ...]`)
  process.exit(2)
}
const steps = filters.length > 0 ? [] : staticSteps({ contracts: !args.includes('--no-contracts') })
process.exit((await runAll(steps, selectTestFiles(filters))) ? 0 : 1)
