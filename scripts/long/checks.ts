// The long checks: repetitions for confidence, beyond the single runs of `npm test`. Every `*.long.test.ts` file is a
// long check. The others are quick tests with more cases, and bugs planted in copies of the project.
import { basename } from 'node:path'
import { findTestFiles } from '../tests/files.ts'

/**
 * Into how many runs we split the planted bugs, so that each run fits into continuous integration's time beside others.
 */
const PLANTED_SLICES = { contract: 4, service: 5 } as const

interface Check {
  readonly name: string
  /** Typical minutes on two quiet cores, from which the slices are made. */
  readonly minutes: number
}

interface TestFileCheck extends Check {
  readonly kind: 'file'
  readonly file: string
}

/** A script of the repository, run by this Node. It keeps the whole machine busy. */
export interface CommandCheck extends Check {
  readonly kind: 'command'
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type LongCheck = TestFileCheck | CommandCheck

/** All long checks, in execution order. */
export function longChecks(): LongCheck[] {
  return [...findTestFiles('long').map(fileCheck), ...MORE_CASES, ...plantedSlices()]
}

/** Files that take longer than the others. */
const MINUTES: Readonly<Record<string, number>> = {
  'test/e2e/benches.long.test.ts': 4,
  'test/evidence/table.long.test.ts': 6,
  'test/faults/soak.long.test.ts': 15,
  'test/books/orders.long.test.ts': 2,
  'test/client/crowd-verdicts.long.test.ts': 3,
  'test/sim/model-a.long.test.ts': 7,
  'test/sim/model-b.long.test.ts': 8,
  'test/sim/real.long.test.ts': 2,
}
/** Minutes of any other file. */
const MINUTES_OF_FILE = 1

function fileCheck(file: string): TestFileCheck {
  return { kind: 'file', name: file, file, minutes: MINUTES[file] ?? MINUTES_OF_FILE }
}

const test = (filter: string) => ['scripts/test.ts', filter]
const command = (
  name: string,
  minutes: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): CommandCheck => ({ kind: 'command', name, minutes, args, env })

const MORE_CASES: readonly CommandCheck[] = [
  command('malformed requests, 500,000', 2, test('test/http/campaign'), { NL_REQUESTS: '500000' }),
  command('properties, ten times the cases', 4, test('property'), { PROPERTY_SCALE: '10' }),
  command('conformance of the model chain, 60 histories', 2, test('test/sim/conformance'), {
    NL_CONFORMANCE_SEEDS: '60',
  }),
  command('coverage of the contract', 3, ['scripts/contracts.ts', 'coverage']),
  command('contract invariants in depth', 15, ['scripts/contracts.ts', 'test'], { FOUNDRY_PROFILE: 'deep' }),
]

/** Typical minutes of a slice of planted bugs. */
const MINUTES_OF_PLANTED = 8

function plantedSlices(): CommandCheck[] {
  return Object.entries(PLANTED_SLICES).flatMap(([of, slices]) =>
    Array.from({ length: slices }, (_, i) => {
      const slice = `${i + 1}/${slices}`
      const args = ['scripts/planted.ts', '--of', of, '--slice', slice]
      return command(`planted bugs of the ${of}, slice ${slice}`, MINUTES_OF_PLANTED, args)
    }),
  )
}

/** True if the check's name contains one of the parts. */
export function isWanted({ name }: LongCheck, parts: readonly string[]): boolean {
  return parts.length === 0 || parts.some((part) => name.includes(part) || basename(name) === part)
}
