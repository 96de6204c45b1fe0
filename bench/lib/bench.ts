// The interface of every bench: what it gets and what it returns.
import type { Row } from './report.ts'

export interface BenchOptions {
  /** Short runs that only show that the bench works. Their figures mean nothing. */
  quick: boolean
  /** Also runs the sizes that take long to build. */
  full: boolean
  /** Reports progress. */
  progress(text: string): void
}

export interface Bench {
  name: string
  /** What the bench measures, in a sentence. */
  about: string
  /** True if its figures are times on this machine, so it must run alone. False if it counts, or if a faster machine would not shorten its waits. */
  isTimed: boolean
  run(options: BenchOptions): Promise<Row[]>
}
