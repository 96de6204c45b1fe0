// The interface of every bench: its input and its result.
import type { Row } from './report.ts'

export interface BenchOptions {
  /** Short runs that only show that the bench works: their figures mean nothing. */
  quick: boolean
  /** Also the sizes that take long to build. */
  full: boolean
  /** Says what is under way. */
  progress(text: string): void
}

export interface Bench {
  name: string
  /** Description of the measurement, in a sentence. */
  about: string
  /** True if its figures are times of this machine, so that it must run alone. False where it counts, or waits for what is no faster on a better machine. */
  isTimed: boolean
  run(options: BenchOptions): Promise<Row[]>
}
