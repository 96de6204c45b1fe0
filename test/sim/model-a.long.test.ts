// Half of the simulation on the model chain, in two files so that two cores share it.
import { testSeeds } from './suite.ts'

testSeeds({ from: 1, count: 1_000, backend: 'model', met: 0.95 })
