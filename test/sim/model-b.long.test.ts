// Half of the simulation on the model chain. It is in two files, so two cores share it.
import { testSeeds } from './suite.ts'

testSeeds({ from: 1001, count: 1_000, backend: 'model', met: 0.95 })
