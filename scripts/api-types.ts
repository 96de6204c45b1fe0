// The types of what the routes take and answer: the client's from api/openapi.yaml, the operator's from api/admin.yaml. openapi-typescript generates
// them, and needs the client's own TypeScript 5. Also generates the declarations of the operator's acts, for the console.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Field } from '../src/operator/input.ts'
import { OPERATIONS } from '../src/operator/operations.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const CLIENT = join(ROOT, 'client')
const GENERATOR = join(CLIENT, 'node_modules/openapi-typescript/bin/cli.js')

/** The generated files, each with its source document. */
const MADE = [
  { file: 'client/src/schema.ts', document: 'api/openapi.yaml', make: answers },
  { file: 'api/admin.ts', document: 'api/admin.yaml', make: routes },
  { file: 'api/admin-acts.ts', document: 'src/operator/operations.ts', make: acts },
]

/** Writes all generated files. */
export async function writeApiTypes(): Promise<void> {
  for (const { file, document, make } of MADE) await writeFile(join(ROOT, file), make(document))
}

/** Checks that the files match the documents. If not, says what to do. */
export async function checkApiTypes(): Promise<boolean> {
  let isCurrent = true
  for (const { file, document, make } of MADE) {
    if ((await readFile(join(ROOT, file), 'utf8')) === make(document)) continue
    console.error(`${file} is not what ${document} makes: run "npm run generate" and commit it.`)
    isCurrent = false
  }
  return isCurrent
}

/** The scope of each act by its route, the fields of its form with their labels, and the columns of each list. */
function acts(source: string): string {
  const routes = OPERATIONS.filter(({ kind, path }) => kind === 'act' && path !== null).map(
    ({ path, scope, fields, leavesOut = [] }) => {
      const inPath = [...(path ?? '').matchAll(/:(\w+)/g)].map(([, name = '']) => name)
      const asked = Object.entries(fields).filter(([name]) => ![...inPath, ...leavesOut].includes(name))
      return [
        `  ${quotedIfNeeded(path?.replaceAll(/:(\w+)/g, '{$1}') ?? '')}: {`,
        `    scope: '${scope ?? 'any'}',`,
        '    fields: {',
        ...asked.map(([name, field]) => `      ${name}: ${formOf(field)},`),
        '    },',
        ...(leavesOut.length > 0 ? [`    leavesOut: [${leavesOut.map((name) => `'${name}'`).join(', ')}],`] : []),
        '  },',
      ].join('\n')
    },
  )
  return `// The scope that a key must have for each act of the operator's, the fields that it takes, and the columns of each list. Written by
// "npm run generate" from what the modules of ${source} declare; never edit it.

export const ACTS = {
${routes.join('\n')}
} as const

/** The lists by their readings: the field of the answer that has the rows, and their columns. */
export const LISTS = {
${lists().join('\n')}
} as const
`
}

function lists(): string[] {
  const { paths, components } = read('api/admin.yaml')
  const resolved = (schema: Schema = {}): Schema =>
    typeof schema.$ref === 'string' ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
  return OPERATIONS.flatMap(({ path, columns }) => {
    if (path === null || columns === undefined) return []
    const { properties = {} } = resolved(answerOf(paths[`/api/admin/${path}`]?.get))
    const rows = Object.entries(properties as Record<string, Schema>).find(
      ([, schema]) => resolved(schema).type === 'array',
    )?.[0]
    return [`  ${quotedIfNeeded(path)}: { rows: '${rows}', columns: ${JSON.stringify(columns)} },`]
  })
}

const quotedIfNeeded = (name: string) => (/^\w+$/.test(name) ? name : `'${name}'`)

const formOf = ({ help, value, words, required }: Field) =>
  `{ help: ${JSON.stringify(help)}, value: ${JSON.stringify(value)}, required: ${required}${words ? `, words: ${JSON.stringify(words)}` : ''} }`

type Schema = Readonly<Record<string, unknown>>
type Content = { readonly content?: { readonly 'application/json'?: { readonly schema: Schema } } }
type Operation = { readonly responses: Readonly<Record<string, Content>> }
interface Document {
  readonly paths: Readonly<Record<string, { readonly get?: Operation; readonly post?: Operation }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const read = (path: string): Document => parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true })
/** The JSON that a route answers; undefined if it answers something else. */
const answerOf = (operation: Operation | undefined): Schema | undefined =>
  operation?.responses[200]?.content?.['application/json']?.schema
const COMMENT = /^ +\/\*\*(?:.|\n)*?\*\/\n/gm

/** The shapes in the public answers, with their descriptions. */
function answers(path: string): string {
  const { paths, components } = read(path)
  const roots = Object.values(paths).flatMap(({ get, post }) => [answerOf(get), answerOf(post)])
  return typesOf(reached(components.schemas, roots))
}

/**
 * What each of the operator's routes answers, and the shapes in it, without comments: `Readings` has the GETs, `Acts` the POSTs. Paths are relative to
 * /api/admin. What an act takes is in admin-acts.ts.
 */
function routes(path: string): string {
  const { paths, components } = read(path)
  const readings: Record<string, Schema> = {}
  const acts: Record<string, Schema> = {}
  for (const [full, { get, post }] of Object.entries(paths)) {
    const route = full.replace('/api/admin/', '')
    const answer = answerOf(get)
    if (answer) readings[route] = answer
    const outcome = answerOf(post)
    if (outcome) acts[route] = outcome
  }
  const tables = { Readings: objectOf(readings), Acts: objectOf(acts) }
  const { Error: refusal = {} } = components.schemas
  const schemas = reached(components.schemas, [tables, refusal])
  return typesOf({ ...schemas, Error: refusal, ...tables }).replaceAll(COMMENT, '')
}

const objectOf = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})

/** The schemas to which these refer, directly or through others, in the document's order. */
function reached(schemas: Document['components']['schemas'], roots: readonly unknown[]): Record<string, Schema> {
  const names = new Set<string>()
  const follow = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (names.has(name)) continue
      names.add(name)
      follow(schemas[name])
    }
  }
  roots.forEach(follow)
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => names.has(name)))
}

/** The types of these schemas. */
function typesOf(schemas: Readonly<Record<string, Schema>>): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [GENERATOR], {
    cwd: CLIENT,
    encoding: 'utf8',
    input: JSON.stringify({ openapi: '3.1.0', info: { title: 'types', version: '1' }, components: { schemas } }),
    maxBuffer: 16 << 20,
  })
  if (status !== 0) throw new Error(`openapi-typescript failed:\n${stderr}`)
  const [head = '', ...parts] = stdout.split(/^(?=export )/m)
  return [head, ...parts.filter((part) => part.startsWith('export interface components '))]
    .join('')
    .replaceAll(/^ {4}\w+: never;\n/gm, '')
}
