// The other examples of the documents: options of npm scripts, filters of tests, blocks of code and data, and the
// operator's routes.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { buildRoutes } from '../../src/http/routes.ts'
import { buildTools } from '../../src/http/tools.ts'
import { blocksOf, commandLines, type Page, ROOT, readPage, readPages, spansOf } from './pages.ts'

const PAGES = readPages()
const { scripts: SCRIPTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

/** The file that an npm script runs, with those of the folder of the same name. */
function sourcesOf(script: string): string {
  const [main = ''] = /(?:scripts|bench)\/[\w/-]+\.ts/.exec(SCRIPTS[script] ?? '') ?? []
  const folder = main.startsWith('bench/') ? 'bench' : main.replace(/\.ts$/, '')
  const beside = script === 'soak' ? ['test/faults/*.ts'] : script === 'sim' ? ['test/sim/*.ts'] : []
  return [main, ...globSync([`${folder}/*.ts`, ...beside], { cwd: ROOT })]
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')
}

const commandsIn = (page: Page) => [...blocksOf(page).flatMap(commandLines), ...spansOf(page)]

test('npm scripts are called with options that they read', () => {
  const calls = PAGES.flatMap(commandsIn).flatMap((line) => [...line.matchAll(/npm run ([\w:-]+) -- ([^|`]+)/g)])
  assert.ok(calls.length > 30)
  const wrong = calls.flatMap(([call, script = '', args = '']) => {
    const source = sourcesOf(script)
    return [...args.matchAll(/--([a-z-]+)/g)]
      .filter(([, option = '']) => !new RegExp(`--${option}\\b|'${option}'|\\b${option}: \\{`).test(source))
      .map(([option]) => `${call}: ${option}`)
  })
  assert.deepEqual(wrong, [])
})

test('filters of tests find tests', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT })
  const filters = PAGES.flatMap(commandsIn)
    .flatMap((line) => [...line.matchAll(/npm test -- ([^|`]+)/g)])
    .flatMap(([, args = '']) => args.trim().split(/\s+/))
    .filter((word) => !word.startsWith('--'))
  assert.ok(filters.length > 8)
  assert.deepEqual(
    filters.filter((filter) => !tests.some((path) => path.includes(filter))),
    [],
  )
})

test('a shell can read the blocks of shell, once the placeholders are filled in', () => {
  const blocks = PAGES.flatMap((page) => blocksOf(page).map((block) => ({ ...block, path: page.path })))
  const shell = blocks.filter(({ language }) => language === 'sh' || language === 'bash')
  assert.ok(shell.length > 40)
  const wrong = shell.flatMap(({ text, path }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], {
      input: text.replaceAll(/<[\w -]+>/g, 'x'),
      encoding: 'utf8',
    })
    return status === 0 ? [] : [`${path}:\n${text}${stderr}`]
  })
  assert.deepEqual(wrong, [])
})

test('each listed action, reason or status is a word of the code', () => {
  const source = globSync('src/**/*.ts', { cwd: ROOT })
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')
  const values = PAGES.flatMap(commandsIn)
    .flatMap((line) => [...line.matchAll(/ledger [\w -]*list [^|]*?--(?:action|reason|status|state) (\w+)/g)])
    .map(([, value = '']) => value)
  assert.ok(values.length > 8)
  assert.deepEqual(
    values.filter((value) => !source.includes(`'${value}'`)),
    [],
  )
})

describe('a block of', () => {
  const readers: Record<string, (text: string) => unknown> = {
    json: (text) => JSON.parse(text.includes('{') && !text.startsWith('{') ? `{${text}}` : text),
    yaml: (text) => parse(text),
    js: (text) => stripTypeScriptTypes(text),
    ts: (text) => stripTypeScriptTypes(text),
  }
  for (const [language, read] of Object.entries(readers)) {
    test(`${language} can be read`, () => {
      const blocks = PAGES.flatMap((page) => blocksOf(page).map((block) => ({ ...block, path: page.path })))
      const own = blocks.filter((block) => block.language === language)
      assert.ok(own.length > 0)
      for (const { text, path } of own) assert.doesNotThrow(() => read(text), `${path}:\n${text}`)
    })
  }
})

/** Documents that name the operator's routes. They may omit `/api/admin/`. */
const ADMIN_PAGES = ['docs/ADMIN.md', 'docs/BOOKS.md', 'docs/WEBHOOKS.md', 'docs/RUNBOOK.md']

test('every route of the operator that is documented is there', () => {
  const secrets = { sessionSecret: 'x'.repeat(32), previousSessionSecret: null, adminKeys: [] }
  const settings = { publicUrl: 'http://x', frameAncestors: [], ...secrets }
  const served = buildRoutes(buildTools({ settings, changes: null, clock: () => 0 } as never))
    .filter(({ path, methods }) => path.startsWith('/api/admin/') && methods !== 'any')
    .flatMap(({ path, methods }) => [...methods].map((method) => `${method} ${path.replace('/api/admin/', '')}`))
  const documented = ADMIN_PAGES.map(readPage)
    .flatMap(spansOf)
    .flatMap((span) => [...span.matchAll(/^(GET|POST) (?:\/api\/admin\/)?([\w.:/<>-]+)/g)])
    .map(([, method, path = '']) => `${method} ${path}`)
    .filter((route) => !/ (?:\/|api\/)/.test(route))
  const fits = (route: string, pattern: string) =>
    new RegExp(`^${pattern.replace('.', '\\.').replace(/<\w+>/, '\\w+')}$`).test(route)
  assert.ok(documented.length > 4)
  assert.deepEqual(
    documented.filter((pattern) => !served.some((route) => fits(route, pattern))),
    [],
  )
})

test('the pictures of the README are there, for both themes', () => {
  const { text } = readPage('README.md')
  const pictures = [...text.matchAll(/(?:src|srcset)="([^"]+)"/g)].map(([, path = '']) => path)
  assert.equal(pictures.length, 2)
  for (const path of pictures) assert.ok(existsSync(join(ROOT, path)), path)
  assert.ok(text.split('\n').length <= 121, 'the README has at most 120 lines')
})
