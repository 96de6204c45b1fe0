// The long checks: repetitions for confidence, beyond the single runs of `npm test`. Every `*.long.test.ts` file is a
// long check. The others are quick tests with more cases, and bugs planted in copies of the project.
import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { findTestFiles } from '../tests/run.ts'

/**
 * Into how many runs we split the planted bugs, so that each run fits into continuous integration's time beside others.
 */
const PLANTED_SLICES = { contract: 4, service: 5 } as const

export interface TestFileCheck {
  readonly kind: 'file'
  readonly name: string
  readonly file: string
  readonly atOnce: number
}

/** A script of the repository, run by this Node. It keeps the whole machine busy. */
export interface CommandCheck {
  readonly kind: 'command'
  readonly name: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly atOnce: 1
}

export type LongCheck = TestFileCheck | CommandCheck

/** All long checks, in execution order. */
export function longChecks(): LongCheck[] {
  return [...findTestFiles('long').map(fileCheck), ...MORE_CASES, ...plantedSlices()]
}

function fileCheck(file: string): TestFileCheck {
  return { kind: 'file', name: file, file, atOnce: availableParallelism() }
}

const test = (filter: string) => ['scripts/test.ts', filter]
const command = (name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): CommandCheck => ({
  kind: 'command',
  name,
  args,
  env,
  atOnce: 1,
})

const MORE_CASES: readonly CommandCheck[] = [
  command('malformed requests, 500,000', test('test/http/campaign'), { NL_REQUESTS: '500000' }),
  command('properties, ten times the cases', test('property'), { PROPERTY_SCALE: '10' }),
  command('conformance of the model chain, 60 histories', test('test/sim/conformance'), { NL_CONFORMANCE_SEEDS: '60' }),
  command('coverage of the contract', ['scripts/contracts.ts', 'coverage']),
  command('contract invariants in depth', ['scripts/contracts.ts', 'test'], { FOUNDRY_PROFILE: 'deep' }),
]

function plantedSlices(): CommandCheck[] {
  return Object.entries(PLANTED_SLICES).flatMap(([of, slices]) =>
    Array.from({ length: slices }, (_, i) => {
      const slice = `${i + 1}/${slices}`
      return command(`planted bugs of the ${of}, slice ${slice}`, ['scripts/planted.ts', '--of', of, '--slice', slice])
    }),
  )
}

/** True if the check's name contains one of the parts. */
export function isWanted({ name }: LongCheck, parts: readonly string[]): boolean {
  return parts.length === 0 || parts.some((part) => name.includes(part) || basename(name) === part)
}
