// The runner of these tests reports every result, even of a file that ends at once.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TEST_PROCESS } from '../scripts/tests/run.ts'
import { temporaryDirectory } from './support/temporary.ts'

const FILES = 4
const TESTS = 1000

test('no result of many quick tests is lost', () => {
  const directory = temporaryDirectory()
  const files = Array.from({ length: FILES }, (_, index) => join(directory, `${index}.test.mjs`))
  const quick = `import { test } from 'node:test'
    for (let n = 0; n < ${TESTS}; n++) test('a test whose name takes its room in the pipe, with number ' + n, () => {})`
  for (const file of files) writeFileSync(file, quick)
  // In a separate process, because node refuses to run test files from within one.
  const counting = `import { run } from 'node:test'
    let told = 0
    for await (const { type } of run(${JSON.stringify({ files, execArgv: TEST_PROCESS, concurrency: true })}))
      if (type === 'test:pass') told++
    console.log(told)`
  const script = join(directory, 'count.mjs')
  writeFileSync(script, counting)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const told = execFileSync(process.execPath, [script], { env, encoding: 'utf8' })
  assert.equal(Number(told), FILES * TESTS)
})

test('a file whose last hook fails is reported as failed by its name, even if its tests pass', () => {
  const directory = temporaryDirectory()
  const passing = `import { after, test } from 'node:test'
    test('passes', () => {})`
  writeFileSync(join(directory, 'good.test.mjs'), passing)
  writeFileSync(join(directory, 'hook.mjs'), `export const fail = () => { throw new Error('the end was not well') }`)
  writeFileSync(
    join(directory, 'bad.test.mjs'),
    `${passing}
    import { fail } from './hook.mjs'
    after(fail)`,
  )
  const files = ['good', 'bad'].map((name) => join(directory, `${name}.test.mjs`))
  const [passed, outcomes] = outcomesOf(directory, files)
  assert.equal(passed, false)
  assert.deepEqual(Object.values(outcomes), [false, true])
})

test('of files that share a process each has its own hooks and its own outcome', () => {
  const directory = temporaryDirectory()
  const file = (name: string, fails: boolean) => `import { before, test } from 'node:test'
    let ready = 0
    before(() => ready++)
    test('passes in ${name}', (t) => t.assert.equal(ready, 1))
    test('the other one in ${name}', (t) => t.assert.equal(ready, ${fails ? 2 : 1}))`
  const files = ['good', 'bad', 'last'].map((name) => join(directory, `${name}.test.mjs`))
  for (const path of files) writeFileSync(path, file(path, path.includes('bad')))
  const [passed, outcomes] = outcomesOf(directory, files)
  assert.equal(passed, false)
  assert.deepEqual(Object.values(outcomes), [false, true, true])
})

test('the list of failures has each failed test with its file and suites', () => {
  const directory = temporaryDirectory()
  const file = join(directory, 'sale.test.mjs')
  writeFileSync(
    file,
    `import { describe, it } from 'node:test'
    describe('a tier', () => {
      it('sells', () => {})
      describe('that is closed', () => it('sells nothing', (t) => t.assert.equal(1, 2)))
    })`,
  )
  const closing = resultOf<string[]>(directory, [file], 'closing')
  assert.deepEqual(
    closing.filter((line) => line.includes(' > ')).map((line) => line.trim().split(' > ').slice(-3)),
    [['a tier', 'that is closed', 'sells nothing']],
  )
})

const outcomesOf = (directory: string, files: readonly string[]) =>
  resultOf<[passed: boolean, outcomes: Record<string, boolean>]>(
    directory,
    files,
    '[passed, Object.fromEntries([...files].sort().map(([file, outcome]) => [file, outcome.passed]))]',
  )

/** Has the runner run `files` in a separate process, because node refuses to run test files from within one. Returns what `wanted` says of the outcome. */
function resultOf<T>(directory: string, paths: readonly string[], wanted: string): T {
  const script = join(directory, 'result.mjs')
  const runner = new URL('../scripts/tests/run.ts', import.meta.url).href
  writeFileSync(
    script,
    `import { runNodeTests } from ${JSON.stringify(runner)}
    const { passed, files, closing } = await runNodeTests(${JSON.stringify(paths)}, new AbortController().signal)
    console.log('result ' + JSON.stringify(${wanted}))`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const said = execFileSync(process.execPath, [script], { env, encoding: 'utf8' })
  return JSON.parse(/^result (.*)$/m.exec(said)?.[1] ?? 'null')
}
