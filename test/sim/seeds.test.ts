// The simulation in brief, on the model chain and on real parts. Its long runs are model-*.long and real.long.
import { testSeeds } from './suite.ts'

testSeeds({ from: 1, count: 4, backend: 'model' })
testSeeds({ from: 1, count: 2, backend: 'real' })
