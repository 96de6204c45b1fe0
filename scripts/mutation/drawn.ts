// Mutants of files that need real parts, so that a test file costs seconds: a seed draws some of each file. One run of each candidate test finds which
// mutants it reaches; each mutant then runs only those tests, the fastest first, up to the first failure. A test that takes too long has noticed.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { copyProject } from '../copy-project.ts'
import { runTests } from '../planted/node-bench.ts'
import { withTestServer } from '../tests/server.ts'
import { describeMutant, type Mutant, type Report, show } from './report.ts'
import { candidateTests, DRAWN_GOAL } from './scope.ts'
import { type SqlMutant, wrapSql } from './sql.ts'
import { ROOT, STRYKER } from './tool.ts'

/** If a test takes this much longer than without the change, it hangs. */
const LIMIT = { ms: 20_000, factor: 4 }

interface DrawnMutant extends Mutant {
  readonly id: string
  readonly file: string
}

/** A test file, what it took, and the mutants that it reached. */
interface Candidate {
  readonly test: string
  readonly ms: number
  readonly reached: ReadonlySet<string>
}

/** Draws, runs and prints the mutants. @returns true if the tests notice enough of them. */
export async function mutateDrawn(args: readonly string[]): Promise<boolean> {
  const { values, positionals: files } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      drawn: { type: 'boolean' },
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '40' },
      by: { type: 'string', multiple: true, default: [''] },
      list: { type: 'boolean' },
    },
  })
  const drawing = { files, seed: values.seed, count: Number(values.count) }
  if (values.list) return await listDrawn(drawing)
  // The same cases in every run, so that a score is reproducible.
  Object.assign(process.env, { PROPERTY_SEED: '1', PROPERTY_SHRINK: 'off' })
  process.env.NODE_COMPILE_CACHE ??= resolve(ROOT, 'node_modules/.cache/compiled')
  const lines: string[] = []
  const good = await withTestServer(async (signal) => {
    const tests = candidateTests(files).filter((test) => values.by.some((part) => test.includes(part)))
    const report = await runDrawn({ ...drawing, tests, signal })
    return !signal.aborted && show({ name: `drawn by seed ${values.seed}`, goal: DRAWN_GOAL }, report, lines)
  })
  console.log(`\n${lines.join('\n')}`)
  return good
}

interface Drawing {
  files: readonly string[]
  seed: string
  count: number
}

/** Prints the mutants that a run would draw. */
async function listDrawn({ files, seed, count }: Drawing): Promise<true> {
  const all = await instrument(copyProject(), files)
  for (const file of files) {
    const source = readFileSync(join(ROOT, file), 'utf8')
    const mutants = all.filter((mutant) => mutant.file === file)
    console.log(`${mutants.length} mutants of ${file}`)
    for (const mutant of draw(mutants, source, seed, count))
      console.log(describeMutant(file, source, { ...mutant, status: 'NoCoverage' }))
  }
  return true
}

/** Runs the drawn mutants of each file, in a copy of the project, and prints what becomes of each. */
async function runDrawn({
  files,
  tests,
  seed,
  count,
  signal,
}: Drawing & { tests: readonly string[]; signal: AbortSignal }): Promise<Report> {
  const copy = copyProject()
  const all = await instrument(copy, files)
  const candidates = await findReached(copy, tests, signal)
  const report: Report = { files: {} }
  for (const file of files) {
    const started = Date.now()
    const mutants = all.filter((mutant) => mutant.file === file)
    const source = readFileSync(join(ROOT, file), 'utf8')
    report.files[file] = { source, mutants }
    for (const mutant of draw(mutants, source, seed, count)) {
      const able = candidates.filter(({ reached }) => reached.has(mutant.id))
      const by = await findNoticing(copy, mutant, able, signal)
      if (signal.aborted) return report
      mutant.status = by !== null ? 'Killed' : able.length > 0 ? 'Survived' : 'NoCoverage'
      console.log(by === null ? describeMutant(file, source, mutant) : `noticed ${file} by ${by}`)
    }
    console.log(`${Math.round((Date.now() - started) / 1000)} s  ${file}`)
  }
  return report
}

/** Puts every mutant of the files into the copy, each behind a switch (hook.ts). None is active. */
async function instrument(copy: string, files: readonly string[]): Promise<DrawnMutant[]> {
  const { Instrumenter } = createRequire(join(STRYKER, 'core/package.json'))('@stryker-mutator/instrumenter')
  const quiet = { debug: () => {}, info: () => {}, isDebugEnabled: () => false }
  const hook = pathToFileURL(join(copy, 'scripts/mutation/hook.ts')).href
  const sql: SqlMutant[] = []
  let templates = 0
  const sources: { name: string; mutate: true; content: string }[] = []
  const mutants: DrawnMutant[] = []
  for (const file of files) {
    const {
      text,
      mutants: own,
      wrapped: count,
    } = wrapSql(file, readFileSync(join(ROOT, file), 'utf8'), hook, templates)
    templates += count
    sql.push(...own)
    mutants.push(...own.map((mutant) => ({ ...mutant, file, status: 'Undrawn' })))
    sources.push({ name: file, mutate: true, content: text })
  }
  const options = { plugins: null, excludedMutations: [], ignorers: [{ shouldIgnore: isForPeople }] }
  const result = await new Instrumenter(quiet).instrument(sources, options)
  for (const { name, content } of result.files) writeFileSync(join(copy, name), content)
  writeFileSync(
    join(copy, 'sql-mutants.json'),
    JSON.stringify(Object.groupBy(sql, ({ id }) => id.split(':')[0] as string)),
  )
  for (const mutant of result.mutants as (DrawnMutant & { fileName: string; location: Span })[]) {
    const { content } = sources.find(({ name }) => name === mutant.fileName) as { content: string }
    if (mutant.status === 'Ignored' || (mutant.mutatorName === 'StringLiteral' && isText(content, mutant.location)))
      continue
    const { line } = mutant.location.start
    mutants.push({ ...mutant, file: mutant.fileName, status: 'Undrawn', location: { start: { line: line + 1 } } })
  }
  return mutants
}

/** From line 0. */
interface Span {
  start: { line: number; column: number }
  end: { line: number; column: number }
}

interface AstNode {
  type: string
  callee?: { name?: string; object?: { name?: string; property?: { name?: string } } }
  expression?: AstNode
  consequent?: AstNode
  alternate?: AstNode | null
}

/** Texts of log entries and errors are for people, and failpoints are for tests, so no test needs to notice a change of them. */
function isForPeople({ node }: { node: AstNode }): string | undefined {
  return isOnlyForPeople(node) ? 'for people' : undefined
}

function isOnlyForPeople({ type, callee, expression, consequent, alternate }: AstNode): boolean {
  if (type === 'ExpressionStatement') return expression !== undefined && isOnlyForPeople(expression)
  if (type === 'IfStatement') return !alternate && consequent !== undefined && isOnlyForPeople(consequent)
  const target = callee?.object?.name ?? callee?.object?.property?.name
  if (type === 'CallExpression') return target === 'log' || target === 'performance' || callee?.name === 'failpoint'
  return type === 'NewExpression' && /(Error|Fault)$/.test(callee?.name ?? '')
}

/** A text with spaces is for people, and a template with a tag is SQL, which has mutants of its own (sql.ts). */
function isText(content: string, { start, end }: Span): boolean {
  const lines = content.split('\n').slice(start.line, end.line + 1)
  const before = lines[0]?.slice(0, start.column) ?? ''
  const text = lines.join('\n').slice(start.column)
  return /[\w)>]$/.test(before) || start.line !== end.line || text.slice(0, end.column - start.column).includes(' ')
}

/** Runs each candidate once, without any mutant. One that fails could notice nothing, and is left out. */
async function findReached(copy: string, tests: readonly string[], signal: AbortSignal): Promise<Candidate[]> {
  const directory = join(copy, 'reached')
  const candidates: Candidate[] = []
  for (const test of tests) {
    mkdirSync(directory)
    const started = Date.now()
    const failed = await runTests(copy, test, signal)
    const ms = Date.now() - started
    const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
    rmSync(directory, { recursive: true })
    if (signal.aborted) return []
    if (failed) console.log(`left out, because it fails without any mutant: ${test}: ${failed}`)
    else candidates.push({ test, ms, reached: new Set(files.flatMap((text) => JSON.parse(text) as string[])) })
  }
  return candidates.sort((a, b) => a.ms - b.ms)
}

/** The first `count` in an order that rests on the seed and each mutant's own text, so that a change elsewhere leaves it. */
function draw(mutants: readonly DrawnMutant[], source: string, seed: string, count: number): DrawnMutant[] {
  const lines = source.split('\n')
  const seen = new Map<string, number>()
  const places = mutants.map((mutant) => {
    const text = [mutant.mutatorName, lines[mutant.location.start.line - 1], mutant.replacement].join('\n')
    const again = seen.get(text) ?? 0
    seen.set(text, again + 1)
    return { mutant, place: createHash('sha256').update(`${seed} ${again} ${text}`).digest('hex') }
  })
  return places
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant)
}

/** The first of these tests that notices the mutant; null if none does. */
async function findNoticing(
  copy: string,
  { id }: DrawnMutant,
  able: readonly Candidate[],
  signal: AbortSignal,
): Promise<string | null> {
  writeFileSync(join(copy, 'active-mutant'), id)
  for (const { test, ms } of able) {
    const failed = await runTests(copy, test, signal, { limitMs: LIMIT.ms + LIMIT.factor * ms })
    if (failed) return test
  }
  return null
}
