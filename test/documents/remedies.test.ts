// Remedies that the service's own messages name: each command, option, setting and value is one that the program takes.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { COMMON } from '../../src/cli/arguments.ts'
import { inspectConfig } from '../../src/config/load.ts'
import { SETTINGS } from '../../src/config/names.ts'
import { COMMANDS, callsIn, mistakeOf } from './calls.ts'
import { blocksOf, ROOT, readPages, spansOf } from './pages.ts'

/** The lines of code of each source, with what is put into a template as `<…>`. */
const SOURCES = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => ({
  path,
  lines: readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .map((line) => line.replaceAll(/\$\{[^}]*\}/g, '<x>')),
}))
const named = (form: RegExp) =>
  SOURCES.flatMap(({ path, lines }) =>
    lines.flatMap((line) => [...line.matchAll(form)].map(([, found = '']) => ({ path, found }))),
  )

test('commands in messages exist, with their options', () => {
  const calls = named(/"((?:node-)?ledger [a-z][^"]*)"/g)
  assert.ok(calls.length > 60, `${calls.length} calls`)
  const mistakes = calls.flatMap(({ path, found }) =>
    callsIn(found).flatMap((words) => mistakeOf(words, false).map((mistake) => `${path}: ${mistake}`)),
  )
  assert.deepEqual(mistakes, [])
})

test('options in messages belong to a command', () => {
  const known = new Set([
    ...Object.keys(COMMON).map((name) => `--${name}`),
    ...COMMANDS.flatMap(({ options = {} }) => Object.keys(options).map((name) => `--${name}`)),
  ])
  const options = named(/(?:add|without|with|leave|use|and|or|name) (--[a-z][a-z-]+)/g)
  assert.ok(options.length > 5, `${options.length} options`)
  assert.deepEqual(
    options.filter(({ found }) => !known.has(found)),
    [],
  )
})

/** The settings that a text sets to a value, without what stands for one. */
const setIn = (text: string) =>
  [...text.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)=([^\s'"`<>…$,;)&|]+)(?![^\s.]*[<…$])/g)].map(
    ([, name = '', value = '']) => ({ name, value: value.replace(/[.:]+$/, '') }),
  )
const isSetting = ({ name }: { name: string }) => (SETTINGS as readonly string[]).includes(name)

test('values in messages and documents are valid for their setting', () => {
  const inMessages = SOURCES.flatMap(({ path, lines }) => lines.flatMap(setIn).map((set) => ({ path, ...set })))
  const inPages = readPages().flatMap((page) =>
    [...blocksOf(page).map(({ text }) => text), ...spansOf(page)]
      .flatMap(setIn)
      .map((set) => ({ path: page.path, ...set })),
  )
  const all = [...inMessages, ...inPages].filter(isSetting)
  assert.ok(all.length > 30, `${all.length} settings`)
  const refused = all.filter(({ name, value }) =>
    inspectConfig({ [name]: value }, { readFile: () => 'x' }).problems.some(({ setting }) => setting === name),
  )
  assert.deepEqual(refused, [])
})

test('levels of the log are words in every document', () => {
  const numbers = readPages().flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:level|LOG_LEVEL)[`"']?[ =:]+[`"']?(\d+)/g)].map(([found]) => `${path}: ${found}`),
  )
  assert.deepEqual(numbers, [])
})
