// Every document names only what exists: commands with their options, npm scripts, settings, routes, files and sections.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { SECRET_SETTINGS, SETTINGS } from '../../src/config/names.ts'
import { buildRoutes } from '../../src/http/routes.ts'
import { buildTools } from '../../src/http/tools.ts'
import { callsIn, mistakeOf } from './calls.ts'
import { anchorsOf, blocksOf, commandLines, type Page, proseOf, ROOT, readPage, readPages, spansOf } from './pages.ts'

const PAGES = readPages()
const { scripts: SCRIPTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
/** A path of the service, not of a file below a folder; with the method, if one precedes it. */
const ROUTE =
  /(?:^|\b(GET|POST) |[\s"'`(]|localhost:\d+|\$\{?url\}?)(\/(?:api|docs|\.well-known|healthz|readyz|owner|console)\b[^\s"'`),;?]*)/gm
const SHELLS = ['sh', 'bash', 'shell']

test('documents, commands and routes are found in them', () => {
  assert.ok(PAGES.length > 15)
  assert.ok(PAGES.flatMap(callsOf).length > 150)
  assert.ok(PAGES.flatMap(routesIn).length > 50)
})

for (const page of PAGES) {
  describe(page.path, () => {
    test('links to files and sections that are there', () => assert.deepEqual(brokenLinks(page), []))
    test('mentions only existing commands and options', () => assert.deepEqual(wrongCommands(page), []))
    test('mentions only existing npm scripts', () => assert.deepEqual(wrongScripts(page), []))
    test('mentions only existing settings', () => assert.deepEqual(unknownVariables(page), []))
    test('mentions only existing routes', () => assert.deepEqual(unknownRoutes(page), []))
  })
}

test('each command of the runbook has its arguments, so that it can be typed at night', () => {
  const calls = spansOf(readPage('docs/RUNBOOK.md')).flatMap(callsIn)
  assert.ok(calls.length > 100)
  assert.deepEqual(
    calls.flatMap((words) => mistakeOf(words, true)).filter((mistake) => mistake.includes('is missing')),
    [],
  )
})

test('docs/README.md lists every document', () => {
  const { text } = readPage('docs/README.md')
  const documents = globSync('docs/*.md', { cwd: ROOT }).map((path) => path.replace('docs/', ''))
  assert.deepEqual(
    documents.filter((name) => name !== 'README.md' && !text.includes(`](${name}`)),
    [],
  )
})

test('test/README.md lists every test package of continuous integration, and existing tests only', () => {
  const rows = [...readPage('test/README.md').text.matchAll(/^\| `([\w.-]+)` \| (`[^|]+`) \|/gm)]
  const [, installed = ''] =
    /install .*--no-install-recommends ([^>]+)/.exec(readFileSync(join(ROOT, '.ci/run'), 'utf8')) ?? []
  for (const name of installed.trim().split(' '))
    assert.ok(
      rows.some(([, row]) => row === name),
      name,
    )
  for (const [, , files = ''] of rows)
    for (const [, file = ''] of files.matchAll(/`([^`]+)`/g))
      assert.notDeepEqual(globSync(`test/${file}.test.ts`, { cwd: ROOT }), [], file)
})

function brokenLinks(page: Page): string[] {
  const prose = proseOf(page)
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
  return links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const path = file === '' ? page.path : normalize(join(dirname(page.path), file))
    if (!existsSync(join(ROOT, path))) return true
    return anchor !== undefined && path.endsWith('.md') && !anchorsOf(readPage(path)).includes(anchor)
  })
}

const wrongCommands = (page: Page) => callsOf(page).flatMap(({ words, whole }) => mistakeOf(words, whole))

/** Commands of shell blocks, complete as typed; and those in backticks, which may omit arguments. */
function callsOf(page: Page): { words: string[]; whole: boolean }[] {
  const blocks = blocksOf(page).filter(({ language }) => SHELLS.includes(language))
  const inBlocks = blocks.flatMap(commandLines).flatMap(callsIn)
  const inText = spansOf(page).flatMap(callsIn)
  return [...inBlocks.map((words) => ({ words, whole: true })), ...inText.map((words) => ({ words, whole: false }))]
}

function wrongScripts(page: Page): string[] {
  const code = [...blocksOf(page).map(({ text }) => text), ...spansOf(page)].join('\n')
  const named = [...code.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
  return named.filter((name) => !Object.hasOwn(SCRIPTS, name))
}

/** Variables that are no setting of the service, but that a command, a script, a test or Node reads; and constants of the rules. */
const OTHER_VARIABLES = new Set([
  // The documents' notation for the file that can hold any secret.
  'NAME_FILE',
  'NODE_OPTIONS',
  // OpenTelemetry's own: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_SERVICE_NAME', 'OTEL_METRICS_EXPORTER', 'OTEL_LOGS_EXPORTER'],
  ...['OTEL_PROPAGATORS', 'OTEL_NODE_ENABLED_INSTRUMENTATIONS', 'OTEL_NODE_RESOURCE_DETECTORS'],
  ...globSync(
    [
      'src/cli/**/*.ts',
      'src/domain/*.ts',
      'scripts/**/*.ts',
      'bench/**/*.ts',
      'test/**/*.ts',
      'contracts/foundry.toml',
      'ops/**/*',
    ],
    {
      cwd: ROOT,
    },
  )
    .filter((path) => /\.\w+$/.test(path))
    .flatMap((path) => readFileSync(join(ROOT, path), 'utf8').match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? []),
])

function unknownVariables(page: Page): string[] {
  const code = [...blocksOf(page).map(({ text }) => text), ...spansOf(page)].join('\n')
  const named = code.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b(?!…)/g) ?? []
  return named.filter((name) => {
    const isFile = SECRET_SETTINGS.some((secret) => name === `${secret}_FILE`)
    return !isFile && !SETTINGS.some((setting) => setting === name) && !OTHER_VARIABLES.has(name)
  })
}

const secrets = { sessionSecret: 'x'.repeat(32), previousSessionSecret: null, adminKeys: [] }
const settings = { publicUrl: 'http://x', frameAncestors: [], ...secrets }
const ROUTES = buildRoutes(buildTools({ settings, changes: null, clock: () => 0 } as never)).map(
  ({ path, methods }) => ({ parts: path.split('/'), methods: methods === 'any' ? ['GET', 'POST'] : [...methods] }),
)

const unknownRoutes = (page: Page) =>
  routesIn(page)
    .filter(({ method, path }) => !isRoute(method, path))
    .map(({ method, path }) => `${method ?? ''} ${path}`)

/** Routes named in full, in code; a placeholder is `:id`, `{id}`, `<id>`, `…` or a value. */
function routesIn(page: Page): { method: string | undefined; path: string }[] {
  const code = [...blocksOf(page).map(({ text }) => text), ...spansOf(page)].join('\n')
  return [...code.matchAll(ROUTE)].map(([, method, path = '']) => ({ method, path }))
}

function isRoute(method: string | undefined, path: string): boolean {
  const parts = path.split('#')[0]?.split('/') ?? []
  const isOpen = parts.some((part) => part === '…' || part === '*')
  return ROUTES.some(
    (route) =>
      (method === undefined || route.methods.some((own) => own === method)) &&
      (isOpen || parts.length <= route.parts.length) &&
      parts.every((part, i) => ['…', '*'].includes(part) || route.parts[i]?.startsWith(':') || route.parts[i] === part),
  )
}
