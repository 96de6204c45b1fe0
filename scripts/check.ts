// `npm run check`: what continuous integration runs. `npm test`, and no file changed by it.

import { isTreeClean, runAll, staticSteps } from './steps.ts'
import { findTestFiles } from './tests/run.ts'

const passed = await runAll(staticSteps({ contracts: true }), findTestFiles('quick'))
process.exit(isTreeClean() && passed ? 0 : 1)
