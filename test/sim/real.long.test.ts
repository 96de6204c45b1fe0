// The simulation on a real chain with the real contract: fewer seeds, because each takes ten times as long.
import { testSeeds } from './suite.ts'

testSeeds({ from: 1, count: 100, backend: 'real', met: 0.6 })
