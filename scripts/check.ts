// `npm run check`: the same as continuous integration. Runs `npm test`, then checks that it changed no file.

import { isTreeClean, runAll, staticSteps } from './steps.ts'
import { findTestFiles } from './tests/run.ts'

const passed = await runAll(staticSteps({ contracts: true }), findTestFiles('quick'))
process.exit(isTreeClean() && passed ? 0 : 1)
