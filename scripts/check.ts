// `npm run check`: everything that neither `npm test` nor the long checks cover, each test once. With CI=true it fails if the checks
// changed a file.

import { isTreeClean, runAll, slowSteps } from './steps.ts'
import { findTestFiles } from './tests/files.ts'

const passed = await runAll(slowSteps(), findTestFiles('other'))
process.exit(isTreeClean() && passed ? 0 : 1)
