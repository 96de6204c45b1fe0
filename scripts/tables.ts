// Writes the generated tables of documents: the operator's routes from their document, and the kinds of events. A table
// is written between a mark that names it and the next empty line.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { KINDS } from '../src/domain/webhooks/kinds.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const PAGES = ['docs/ADMIN.md', 'docs/WEBHOOKS.md']
const MARK = /(<!-- made by npm run generate: (\w+)([^\n]*?) -->\n)(?:\|.*\n)*/g

// biome-ignore lint/suspicious/noExplicitAny: parts of a document of any shape, read by path
type Part = any

/** The routes below /api/admin with these prefixes, in the order of their document. */
function routes(beginnings: readonly string[]): string[] {
  const document: Part = parse(readFileSync(join(ROOT, 'api/admin.yaml'), 'utf8'), { merge: true })
  const resolved = (part: Part): Part =>
    part.$ref ? part.$ref.split('/').reduce((at: Part, key: string) => (key === '#' ? document : at[key]), null) : part
  const named = Object.entries(document.paths).flatMap(([path, methods]) => {
    const route = path.replace('/api/admin/', '')
    const isMeant = beginnings.some((beginning) => route === beginning || route.startsWith(`${beginning}/`))
    return isMeant ? Object.entries(methods as Part).map(([method, of]) => ({ route, method, of: of as Part })) : []
  })
  const rows = named.map(({ route, method, of }) => {
    const query = (of.parameters ?? []).map(resolved).filter(({ in: place }: Part) => place === 'query')
    const { properties = {}, required = [] } = of.requestBody?.content['application/json'].schema ?? {}
    const fields = [
      ...query.map(({ name, required: isRequired }: Part) => `${name}${isRequired ? '' : '?'}`),
      ...Object.keys(properties).map((name) => `${name}${required.includes(name) ? '' : '?'}`),
    ].filter((name) => name !== 'reason?')
    return [
      `\`${method.toUpperCase()} ${route.replaceAll(/\{(\w+)\}/g, ':$1')}\``,
      of['x-scope'],
      fields.length === 0 ? '' : `\`${fields.join(', ')}\``,
    ].join(' | ')
  })
  return ['route | scope | fields', '---|---|---', ...rows]
}

const events = (): string[] => [
  '`type` | what it says | asks for somebody',
  '---|---|---',
  ...Object.entries(KINDS).map(([type, { words, asks }]) => `\`${type}\` | ${words} | ${asks ? 'yes' : ''}`),
]

const TABLES: Readonly<Record<string, (words: readonly string[]) => string[]>> = { routes, events }

/** A page with its tables filled in from the code. */
const withTables = (page: string): string =>
  page.replaceAll(MARK, (_all, mark: string, table: string, words: string) => {
    const make = TABLES[table]
    if (!make) throw new Error(`there is no table ${table}`)
    const lines = make(words.split(' ').filter((word) => word !== ''))
    return `${mark}${lines.map((line) => `| ${line} |\n`.replace(/^\| ---/, '|---').replace(/--- \|$/m, '---|')).join('')}`
  })

export function writeTables(): void {
  for (const path of PAGES) writeFileSync(join(ROOT, path), withTables(readFileSync(join(ROOT, path), 'utf8')))
}

/** Checks that each page's tables match the code. If not, says what to do. */
export function checkTables(): boolean {
  const stale = PAGES.filter((path) => {
    const page = readFileSync(join(ROOT, path), 'utf8')
    return withTables(page) !== page
  })
  for (const path of stale)
    console.error(`${path} has a table that is not what the code makes: run "npm run generate".`)
  return stale.length === 0
}
