// The interface of every bench: its input and its result.
import type { Row } from './report.ts'

export interface BenchOptions {
  /** Short runs that only show that the bench works; their figures mean nothing. */
  quick: boolean
  /** Also the sizes that take long to build. */
  full: boolean
  /** Reports progress. */
  progress(text: string): void
}

export interface Bench {
  name: string
  /** Description of the measurement, in a sentence. */
  about: string
  /** True if its figures are times of this machine, so it must run alone. False if it counts, or if a faster machine would not change its waits. */
  isTimed: boolean
  run(options: BenchOptions): Promise<Row[]>
}
