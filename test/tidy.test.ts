// Files, functions and folders stay small, and the list of exceptions can only shrink.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkComments, checkLocals, checkNames, checkTexts } from '../scripts/comment-words.ts'
import { findDead } from '../scripts/dead-exports.ts'
import { GROUPS } from '../scripts/mutation/scope.ts'
import { checkTidy, type Exceptions, functionsOf, LIMITS, measure, readTidied } from '../scripts/tidy.ts'
import { EXCEPTIONS, SMALL } from '../scripts/tidy-exceptions.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const NONE: Exceptions = { file: {}, function: {}, folder: {} }
const lines = (count: number) => 'x()\n'.repeat(count)
const check = (files: Record<string, string>, exceptions: Partial<Exceptions> = {}) =>
  checkTidy(measure(new Map(Object.entries(files))), { ...NONE, ...exceptions })

test('no file, function or folder is above its limit without a reason', () => {
  const sources = readTidied()
  assert.ok(sources.size > 500, `only ${sources.size} files were found`)
  assert.deepEqual(checkTidy(measure(sources), EXCEPTIONS), [])
})

test('no file of src has fewer than a dozen lines without a reason', () => {
  const small = [...readTidied()].filter(([path, text]) => path.startsWith('src/') && text.split('\n').length <= 12)
  assert.deepEqual(
    small.map(([path]) => path).filter((path) => !(path in SMALL)),
    [],
  )
})

test('a file, a function and a folder that are too large are reported', () => {
  assert.deepEqual(check({ 'src/a.ts': lines(LIMITS.file) }), [])
  assert.match(check({ 'src/a.ts': lines(LIMITS.file + 1) }).join(), /^src\/a\.ts: 401 lines are more than 400/)
  const long = `function f() {\n${lines(LIMITS.function - 1)}}\n`
  assert.match(check({ 'src/a.ts': long }).join(), /^src\/a\.ts: f: 61 lines are more than 60/)
  const folder = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`src/a/${i}.ts`, '']))
  assert.match(check(folder).join(), /^src\/a: 25 files are more than 24/)
})

test('an exception fits exactly, and goes when it is not needed', () => {
  const large = { 'src/a.ts': lines(450) }
  assert.deepEqual(check(large, { file: { 'src/a.ts': [450, 'why'] } }), [])
  assert.match(check(large, { file: { 'src/a.ts': [449, 'why'] } }).join(), /more than the 449 of its exception/)
  assert.match(check(large, { file: { 'src/a.ts': [451, 'why'] } }).join(), /lower it/)
  assert.match(check({}, { file: { 'src/a.ts': [450, 'why'] } }).join(), /no longer needed/)
})

test('comments express conditions, reasons and actors in plain English', () => {
  assert.deepEqual(checkComments(readTidied()), [])
})

test('the words of comments are counted, those of code and strings are not', () => {
  const faults = (text: string) => checkComments(new Map([['src/a.ts', text]])).map((fault) => fault.split(':')[0])
  const plain = '// If it fails, the pass stops because the next run reads again.\n'
  assert.deepEqual(faults(`${plain}const where = 'nobody is asked where'`), [])
  assert.deepEqual(faults(`${plain}// Where nobody is asked.`), [
    'where (for a place only)',
    'is asked, told, known or had',
    'nobody, somebody, whoever, anew',
  ])
  assert.deepEqual(faults('/** Stops. */'), ['if', 'because'])
})

test('each name of a test is short and in plain English', () => {
  assert.deepEqual(checkNames(readTidied()), [])
})

test('a local is named by what it is, hardly ever by what was done to it', () => {
  assert.deepEqual(checkLocals(readTidied()), [])
})

test('participles are counted among the names that the code chooses, by room', () => {
  const faults = (text: string, path = 'src/a/b.ts') => checkLocals(new Map([[path, text]]))
  for (const chosen of ['const found = 1', 'const [found] = a', 'const { a: found = 1 } = b', '((...found) => 1)(1)'])
    assert.match(faults(chosen).join(), /^src\/a: 100\.0 % of 1 locals .*: found$/, chosen)
  for (const other of ['const { found } = b', 'const seed = a.found', 'type A = (found: 1) => 1'])
    assert.deepEqual(faults(other), [], other)
  assert.deepEqual(faults('const found = 1', 'test/a/b.ts'), [])
  const locals = Array.from({ length: 99 }, (_, i) => `const n${i} = 1`).join('\n')
  assert.deepEqual(faults(`${locals}\nconst found = 1`), [], 'one in a hundred')
})

test('a long name of a test is reported, with only the fixed part of a template counted', () => {
  const faults = (text: string, path = 'test/a.test.ts') => checkNames(new Map([[path, text]]))
  const named = (name: string, more = '') => `test(${name}, async () => {})\n${more}`
  assert.deepEqual(faults(named(`'${'x'.repeat(90)}'`)), [])
  assert.match(faults(named(`'${'x'.repeat(91)}'`)).join(), /^test\/a\.test\.ts: 91 letters, at most 90: x/)
  assert.deepEqual(faults(named(`\`${'x'.repeat(80)} \${values.longer.than.ten}\``)), [])
  assert.equal(faults(`t.test('${'x'.repeat(91)}', { skip }, function () {})`).length, 1)
  assert.match(faults(named("'where nobody is told'")).join(), /where.*\bis asked.*\bnobody/)
  assert.match(faults(named("'a page tells why'")).join(), /a page tells why$/)
  assert.deepEqual(faults(`assert.equal('where nobody is told', () => {})`), [], 'not a name')
  assert.deepEqual(faults(named("'where nobody is told'"), 'src/a.ts'), [], 'not a test')
})

test('a text for users has no word that only this project knows', () => {
  assert.deepEqual(checkTexts(readTidied()), [])
  const faults = (text: string, path = 'web/src/a.tsx') => checkTexts(new Map([[path, text]])).length
  for (const text of ["'Take back'", "'The act waits.'", '`It holds from today on.`', '<p>Sent at once.</p>'])
    assert.equal(faults(`const text = ${text}`), 1, text)
  assert.equal(faults("// The act waits.\nconst text = 'It takes effect. Act now: wait.'"), 0, 'a comment, and a verb')
  assert.equal(faults('// It reads the rest at once.'), 1, 'a comment')
  assert.equal(faults("const text = 'Take back'", 'test/a.ts'), 0, 'not for users')
})

test('functions are found by their names', () => {
  const text = `function a() {}
    const b = () => {}
    class C { d() {} e = () => {} }
    const o = { f() {}, g: function () {} }
    test('a story', () => {})`
  assert.deepEqual(
    functionsOf('src/a.ts', text).map(({ name }) => name),
    ['a', 'b', 'd', 'e', 'f', 'g'],
  )
})

test('no program waits for a receipt by viem, which polls at each new block only', () => {
  const waiting = [...readTidied()].filter(([, text]) => /\.waitForTransactionReceipt\(/.test(text))
  assert.deepEqual(Object.keys(Object.fromEntries(waiting)), [], 'use untilMined of test/support/until.ts')
})

test('no file and no export is dead', () => {
  assert.deepEqual(findDead(readTidied()), [])
})

test('an export that nothing imports is found, and a file that nothing starts', () => {
  const dead = (files: Record<string, string>) => findDead(new Map(Object.entries(files)))
  const main = `import { a } from './a.ts'\nimport * as b from './b.ts'\nconst c = () => import('./c.ts')`
  const used = {
    'src/main.ts': main,
    'src/a.ts': 'export const a = 1',
    'src/b.ts': 'export const b = 1',
    'src/c.ts': 'export class C {}',
  }
  assert.deepEqual(dead(used), [])
  assert.deepEqual(
    dead({ ...used, 'src/a.ts': 'export const a = 1\nexport function spare() {}\nexport interface Shape {}' }),
    ['src/a.ts: nothing imports spare'],
  )
  assert.deepEqual(dead({ ...used, 'src/d.ts': '' }), ['src/d.ts is imported by nothing'])
})

test('each path of the scope of mutation and coverage has a file', () => {
  const alternatives = (pattern: string): string[] => {
    const [, before = '', words, behind = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? []
    return words === undefined ? [pattern] : words.split(',').map((word) => before + word + behind)
  }
  const paths = GROUPS.flatMap(({ files, tests }) => [...files, ...tests]).flatMap(alternatives)
  assert.deepEqual(
    paths.filter((path) => globSync(path, { cwd: ROOT }).length === 0),
    [],
  )
})

/** Other programs' texts, which have no code for their meaning: providers', and the kernel's. */
const WORDS_OF_OTHERS = [
  'src/http/edge/connections.ts',
  'src/chain/rpc/absence.ts',
  'src/chain/rpc/provider.ts',
  'src/chain/send/send-errors.ts',
  'src/chain/factory/check-deployment.ts',
]
/** Code that compares with, searches for or splits at an English sentence or an error's message. */
const BY_WORDS = [
  /\.(?:startsWith|endsWith|includes|indexOf|replace|replaceAll|split|match|matchAll)\(\s*[/'"`][^/'"`\n]*[A-Za-z]{2,} [A-Za-z]{2,}/,
  /[!=]== ?['"`][^'"`\n]*[A-Za-z]{2,} [a-z]{2,}/,
  /\/[^/\n*]*[A-Za-z]{2,} [a-z]{2,}[^/\n]*\/[a-z]*\.(?:test|exec)\(/,
  /\b(?:message|error)\.(?:startsWith|endsWith|includes|indexOf|replace|replaceAll|match|matchAll)\(/,
  /\.(?:test|exec)\((?:\w+\.)?message\)/,
  /\bcase ['"`][^'"`\n]*[A-Za-z]{2,} [a-z]{2,}/,
  /\.(?:has|get)\(['"`][^'"`\n]*[A-Za-z]{2,} [a-z]{2,}/,
  /\bnew RegExp\(['"`][^'"`\n]*[A-Za-z]{2,} [a-z]{2,}/,
  /['"`][^'"`\n]*[A-Za-z]{2,} [a-z]{2,}[^'"`\n]*['"`] ?[!=]==? /,
  /^\s*['"][^'"\n]*(?:[A-Za-z’]{2,},? ){2,}[a-z]{2,}[^'"\n]*['"]: (?![<(])/,
]

test('no code goes by an English sentence', () => {
  const tells = (text: string) => text.split('\n').filter((line) => BY_WORDS.some((pattern) => pattern.test(line)))
  for (const line of [
    "message.replace('Node Ledger cannot start', trouble)",
    "if (said === 'The tier is off sale.') return",
    "error.message.startsWith('halted')",
    '/must be a number/.test(said)',
    'const found = /halted/.exec(error.message)',
    "case 'the tier is off sale':",
    "words.get('The tier is off sale.')",
    "new RegExp('must be a number')",
    "if ('The tier is off sale.' === said) return",
    "  'The tier is off sale.': refuse,",
  ])
    assert.equal(tells(line).length, 1, line)
  for (const [path, text] of readTidied()) {
    if (!/^(src|web\/src|client\/src)\//.test(path) || WORDS_OF_OTHERS.includes(path)) continue
    assert.deepEqual(tells(text), [], path)
  }
})
