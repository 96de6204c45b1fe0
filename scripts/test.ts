// `npm test`: everything a contributor must keep green. `npm test -- test/embed` runs just the tests whose path
// contains that, long ones too where no quick one does; `--no-contracts` leaves the contract tests out.

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
