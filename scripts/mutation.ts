// `npm run mutation`: changes the rules about money and auth, and the code around them, one small change at a time, and counts how many changes the
// tests notice (Stryker). Exits with 1 if a goal is not met. Works on a copy, and leaves nothing behind.
//   npm run mutation -- [--changed [<git ref>]] [part of a path ...]
//   npm run mutation -- --drawn [--seed <number>] [--count <number>] [--by <part of a test's path>] ... [--list] <file> ...
// `--changed` mutates only files changed since this branch left the ref (by default main), or since the commit before.
// `--drawn` mutates any files of src, and draws mutants by a seed, because each may need tests on real parts (mutation/drawn.ts). `--list` only prints
// them. Only tests with a `--by` in their path run.
import { spawn, spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { copyProject } from './copy-project.ts'
import { mutateDrawn } from './mutation/drawn.ts'
import { type Report, show } from './mutation/report.ts'
import { GROUPS, type Group } from './mutation/scope.ts'
import { install, ROOT, STRYKER } from './mutation/tool.ts'

/** If a test takes this much longer than without the change, Stryker counts it as an endless loop. */
const TIMEOUT = { timeoutMS: 20_000, timeoutFactor: 4 }

const args = process.argv.slice(2)
install()
if (args.includes('--drawn')) process.exit((await mutateDrawn(args)) ? 0 : 1)
const wanted = fileFilter(args)
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
