// `npm run check`: what continuous integration runs. `npm test`, and no file changed by it.
import { cleanTree, runAll, staticSteps } from './steps.ts'

process.exit((await runAll(staticSteps({ contracts: true }), [], [cleanTree])) ? 0 : 1)
