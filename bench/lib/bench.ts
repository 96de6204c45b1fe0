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
  run(options: BenchOptions): Promise<Row[]>
}
