// What a run of mutations prints: each survivor, and the score of each file.
import { EXCEPTIONS, type Exception } from './exceptions.ts'
import type { Group } from './scope.ts'

export interface Mutant {
  /** Killed, Timeout, Survived and NoCoverage count. */
  status: string
  mutatorName: string
  replacement: string
  /** From line 1. */
  location: { start: { line: number } }
}

export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

/** Prints the survivors, and adds the scores of each file and of the group to `lines`. @returns true if the goal is met, and no exception is needless. */
export function show({ name, goal }: Pick<Group, 'name' | 'goal'>, { files }: Report, lines: string[]): boolean {
  const sum = { noticed: 0, excepted: 0, all: 0 }
  let needless = 0
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const noticed = mutants.filter(isNoticed).length
    const unnoticed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    const known = EXCEPTIONS.filter((exception) => exception.file === file)
    const missed = unnoticed.filter((mutant) => !known.some((exception) => isOf(exception, source, mutant)))
    for (const mutant of missed) console.log(describeMutant(file, source, mutant))
    for (const exception of known.filter((each) => isNeedless(each, source, mutants))) {
      console.log(`needless exception: ${file} ${exception.mutator}\n    ${exception.line}\n    with ${exception.put}`)
      needless += 1
    }
    const excepted = unnoticed.length - missed.length
    const all = noticed + unnoticed.length
    lines.push(scoreOf({ noticed, excepted, all }, file))
    sum.noticed += noticed
    sum.excepted += excepted
    sum.all += all
  }
  const good = sum.noticed + sum.excepted >= sum.all * (goal / 100)
  const word = good ? 'met' : 'MISSED'
  const more = needless === 0 ? '' : `, ${needless} needless exceptions`
  lines.push(`${scoreOf(sum, name)}: goal ${goal} %, ${word}${more}\n`)
  return good && needless === 0
}

/** A line of scores. Changes that no test can notice count as noticed. */
function scoreOf({ noticed, excepted, all }: { noticed: number; excepted: number; all: number }, of: string): string {
  const known = excepted === 0 ? '' : ` and ${excepted} exceptions`
  return `${percent(noticed + excepted, all)}  ${noticed}${known} of ${all}  ${of}`
}

/** An exception is needless if the tests notice its mutants, or if it has none. */
function isNeedless(exception: Exception, source: string, mutants: readonly Mutant[]): boolean {
  return mutants.filter((mutant) => isOf(exception, source, mutant)).every((mutant) => isNoticed(mutant))
}

const isNoticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout'

function isOf({ line, mutator, put }: Exception, source: string, mutant: Mutant): boolean {
  return mutator === mutant.mutatorName && line === lineOf(source, mutant) && put === putBy(mutant)
}

function lineOf(source: string, { location }: Mutant): string {
  return source.split('\n')[location.start.line - 1]?.trim() ?? ''
}

function putBy({ replacement }: Mutant): string {
  return replacement.replaceAll(/\s+/g, ' ').slice(0, 100)
}

export function describeMutant(file: string, source: string, mutant: Mutant): string {
  const { status, location, mutatorName } = mutant
  const word = status === 'NoCoverage' ? 'untested' : 'survived'
  return `${word} ${file}:${location.start.line} ${mutatorName}\n    ${lineOf(source, mutant)}\n    with ${putBy(mutant)}`
}

function percent(part: number, all: number): string {
  return `${((100 * part) / Math.max(1, all)).toFixed(1).padStart(5)} %`
}
