// `npm run mutation`: changes the rules about money and auth, and the code around them, one small change at a time, and counts how many changes the
// tests notice (Stryker). Exits with 1 if a goal is not met. Works on a copy, and leaves nothing behind.
//   node bin/with-runtime.mjs scripts/mutation.ts [--changed [<git ref>]] [part of a path ...]
// `--changed` mutates only files changed since this branch left the ref (by default main), or since the commit before.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyProject } from './copy-project.ts'
import { EXCEPTIONS, type Exception } from './mutation/exceptions.ts'
import { GROUPS, type Group } from './mutation/scope.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Stryker's own small package, installed on first use, so that the project's own dependencies stay few. */
const TOOL = join(ROOT, 'toolchain/mutation')
const STRYKER = join(TOOL, 'node_modules/@stryker-mutator')
/** If a test takes this much longer than without the change, Stryker counts it as an endless loop. */
const TIMEOUT = { timeoutMS: 20_000, timeoutFactor: 4 }

interface Mutant {
  status: string
  mutatorName: string
  replacement: string
  location: { start: { line: number } }
}
interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

const wanted = fileFilter(process.argv.slice(2))
install()
const lines: string[] = []
let met = true
for (const group of GROUPS) {
  const files = globSync([...group.files], { cwd: ROOT }).filter(wanted)
  if (files.length === 0) continue
  met = show(group, await mutate(group, files), lines) && met
}
console.log(lines.length === 0 ? 'Nothing to mutate: no file of the scope was asked for.' : `\n${lines.join('\n')}`)
process.exit(met ? 0 : 1)

/** Selects the files of the scope by the given names. */
function fileFilter(given: readonly string[]): (file: string) => boolean {
  const at = given.indexOf('--changed')
  if (at < 0) return (file) => given.length === 0 || given.some((part) => file.includes(part))
  const changed = changedSince(given[at + 1] ?? null)
  return (file) => changed.has(file)
}

/** Files changed since this branch left `ref` (by default main). On that branch itself, files changed since the commit before. */
function changedSince(ref: string | null): Set<string> {
  const git = (...words: string[]) => {
    const { stdout, status } = spawnSync('git', words, { cwd: ROOT, encoding: 'utf8' })
    return status === 0 ? stdout.trim() : null
  }
  const base = git('merge-base', 'HEAD', ref ?? 'main')
  const onIt = base === git('rev-parse', 'HEAD') || (base === null && ref === null)
  const from = onIt ? 'HEAD~1' : (base ?? ref ?? 'main')
  const names = git('diff', '--name-only', from)
  if (names === null) {
    console.error(`Cannot compare with ${from}: fetch more of the history, or name another ref after --changed.`)
    process.exit(2)
  }
  return new Set(names.split('\n'))
}

function install(): void {
  if (existsSync(STRYKER)) return
  console.log('Installing Stryker into toolchain/mutation, once.')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: TOOL,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(2)
}

/** Runs Stryker in a copy of the project. */
async function mutate(group: Group, files: readonly string[]): Promise<Report> {
  const directory = copyProject()
  const options = {
    mutate: files,
    inPlace: true,
    testRunner: 'tap',
    plugins: [join(STRYKER, 'tap-runner/dist/src/index.js')],
    tap: { testFiles: group.tests, nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'] },
    coverageAnalysis: 'perTest',
    concurrency: availableParallelism(),
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: 'mutation.json' },
    ...TIMEOUT,
  }
  writeFileSync(join(directory, 'stryker.json'), JSON.stringify(options))
  const env = {
    ...process.env,
    // The runner starts tests with the first `node` on the path.
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    // The same cases in every run, so that a score is reproducible. There are fewer of them, because there are thousands of runs.
    PROPERTY_SEED: '1',
    PROPERTY_SCALE: '0.2',
    PROPERTY_SHRINK: 'off',
  }
  const program = [join(STRYKER, 'core/bin/stryker.js'), 'run', 'stryker.json']
  const child = spawn(process.execPath, program, { cwd: directory, env, stdio: 'inherit' })
  const code = await new Promise<number | null>((done) => child.once('exit', done))
  if (code !== 0) throw new Error(`Stryker ended with ${code}`)
  return JSON.parse(readFileSync(join(directory, 'mutation.json'), 'utf8')) as Report
}

/** Prints the survivors, and adds the scores of each file and of the group to `lines`. @returns true if the goal is met, and no exception is needless. */
function show({ name, goal }: Group, { files }: Report, lines: string[]): boolean {
  const sum = { noticed: 0, excepted: 0, all: 0 }
  let needless = 0
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const noticed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
    const unnoticed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    const known = EXCEPTIONS.filter((exception) => exception.file === file)
    const missed = unnoticed.filter((mutant) => !known.some((exception) => isOf(exception, source, mutant)))
    for (const mutant of missed) console.log(described(file, source, mutant))
    for (const exception of known.filter((each) => !unnoticed.some((mutant) => isOf(each, source, mutant)))) {
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

function isOf({ line, mutator, put }: Exception, source: string, mutant: Mutant): boolean {
  return mutator === mutant.mutatorName && line === lineOf(source, mutant) && put === putBy(mutant)
}

function lineOf(source: string, { location }: Mutant): string {
  return source.split('\n')[location.start.line - 1]?.trim() ?? ''
}

function putBy({ replacement }: Mutant): string {
  return replacement.replaceAll(/\s+/g, ' ').slice(0, 100)
}

function described(file: string, source: string, mutant: Mutant): string {
  const { status, location, mutatorName } = mutant
  const word = status === 'NoCoverage' ? 'untested' : 'survived'
  return `${word} ${file}:${location.start.line} ${mutatorName}\n    ${lineOf(source, mutant)}\n    with ${putBy(mutant)}`
}

function percent(part: number, all: number): string {
  return `${((100 * part) / Math.max(1, all)).toFixed(1).padStart(5)} %`
}
