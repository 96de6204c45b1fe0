// Changes of the mutated files that no test can notice, because the code does the same with them. `npm run mutation` counts them apart, and fails if a
// test notices one after all.

export interface Exception {
  file: string
  /** The changed line, without the spaces around it. */
  line: string
  /** Stryker's name for the kind of change. */
  mutator: string
  /** What Stryker puts there, in one line, as the run prints it. */
  put: string
  reason: string
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    file: 'src/domain/units.ts',
    line: 'return a > b ? a : b',
    mutator: 'EqualityOperator',
    put: 'a >= b',
    reason: 'Of two equal amounts either is the larger.',
  },
  {
    file: 'src/domain/units.ts',
    line: 'return a < b ? a : b',
    mutator: 'EqualityOperator',
    put: 'a <= b',
    reason: 'Of two equal amounts either is the smaller.',
  },
  {
    file: 'src/domain/turns.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a line
    line: 'const phase = `${intervalSec} ${nextDue % intervalSec}`',
    mutator: 'ArithmeticOperator',
    put: 'nextDue * intervalSec',
    reason: 'Cohorts of one phase have the same blocks. Looking at each of them only takes longer.',
  },
]
