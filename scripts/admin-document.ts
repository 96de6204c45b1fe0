// Writes the declarations of the operator's acts and readings into api/admin.yaml: each route's scope, summary, parameters and fields. Tags, names
// and answers are written there by hand. If the document lacks a declared route, the script stops.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PERIOD } from '../src/operator/acts/books/period.ts'
import type { Operation } from '../src/operator/define-act.ts'
import { type Field, PAGE } from '../src/operator/input.ts'
import { OPERATIONS } from '../src/operator/operations.ts'

const PATH = join(fileURLToPath(new URL('../', import.meta.url)), 'api/admin.yaml')
/** Parameters that many readings share, by their field. */
const SHARED = new Map<Field, string>([
  ...[...Object.entries(PAGE), ...Object.entries(PERIOD)].map(([name, field]): [Field, string] => [
    field,
    `${name[0]?.toUpperCase()}${name.slice(1)}`,
  ]),
])

/** The document with the declarations filled in. Throws if the document lacks a route. */
function withDeclared(document: string): string {
  let text = document
  for (const operation of OPERATIONS) {
    if (operation.path === null) continue
    const path = `/api/admin/${operation.path.replaceAll(/:(\w+)/g, '{$1}')}`
    const method = operation.kind === 'act' ? 'post' : 'get'
    // Matches one method: its tags and name, its declarations, and its answers.
    const place = new RegExp(
      `(\\n  ${path.replaceAll(/[{}.]/g, '\\$&')}:\\n(?:    .*\\n)*?    ${method}:\\n(?: {6}(?:tags|operationId): .*\\n)+)(?: {6}(?!responses:).*\\n)*`,
    )
    const found = place.exec(text)
    if (!found) throw new Error(`${path} has no ${method} in api/admin.yaml: give it tags, a name and its answers`)
    const [answers = ''] = /^ {6}responses:\n(?: {8}.*\n)+/.exec(text.slice(found.index + found[0].length)) ?? []
    if (answers.includes("'202'") !== operation.mayWait)
      throw new Error(`${path}: answer 202 is for acts that may wait for a second person, and for no other`)
    text = text.replace(place, (_all, before: string) => `${before}${declared(operation).join('\n')}\n`)
  }
  return text
}

function declared({ kind, path, scope, summary, fields }: Operation): string[] {
  const inPath = [...(path ?? '').matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const entries = Object.entries(fields)
  const others = entries.filter(([name]) => !inPath.includes(name))
  const parameters = [
    ...entries.filter(([name]) => inPath.includes(name)).map(([name, field]) => parameterOf(name, field, 'path')),
    ...(kind === 'act' ? ["{ $ref: '#/components/parameters/IdempotencyKey' }"] : []),
    ...(kind === 'reading' ? others.map(([name, field]) => parameterOf(name, field, 'query')) : []),
  ]
  return [
    `      x-scope: ${scope ?? 'any'}`,
    `      summary: ${quoted(summary[0]?.toUpperCase() + summary.slice(1))}`,
    ...(parameters.length > 0 ? ['      parameters:', ...parameters.map((line) => `        - ${line}`)] : []),
    ...(kind === 'act' && others.length > 0 ? bodyOf(others) : []),
  ]
}

function parameterOf(name: string, field: Field, place: 'path' | 'query'): string {
  const shared = SHARED.get(field)
  if (shared !== undefined) return `{ $ref: '#/components/parameters/${shared}' }`
  const required = field.required ? ' required: true,' : ''
  return `{ name: ${name}, in: ${place},${required} description: ${helpOf(field)}, schema: ${schemaOf(field)} }`
}

function bodyOf(fields: readonly (readonly [string, Field])[]): string[] {
  const required = fields.filter(([, field]) => field.required).map(([name]) => name)
  return [
    '      requestBody:',
    ...(required.length > 0 ? ['        required: true'] : []),
    ...['        content:', '          application/json:', '            schema:', '              type: object'],
    ...(required.length > 0 ? [`              required: [${required.join(', ')}]`] : []),
    '              properties:',
    ...fields.map(([name, field]) => {
      // A reason needs no description of its own, because its component has one.
      const described = field.schema === 'ReasonInput' ? '' : `, description: ${helpOf(field)} }`
      return `                ${name}: ${described === '' ? schemaOf(field) : schemaOf(field).replace(/ }$/, described)}`
    }),
  ]
}

/** The help of a field, with fields named like options. */
const helpOf = ({ help }: Field) =>
  quoted(
    help.replaceAll(
      /--([a-z-]+)/g,
      (_all, name: string) => `\`${name.replaceAll(/-([a-z])/g, (_, l: string) => l.toUpperCase())}\``,
    ),
  )

const schemaOf = ({ schema }: Field): string =>
  typeof schema === 'string' ? `{ $ref: '#/components/schemas/${schema}' }` : flow(schema)

/** A JSON value in YAML's flow style. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${name}: ${flow(inner)}`)
      .join(', ')} }`
  return typeof value === 'string' && !/^[a-zA-Z]\w*$/.test(value) ? quoted(value) : String(value)
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Writes the document. */
export const writeAdminDocument = () => writeFileSync(PATH, withDeclared(readFileSync(PATH, 'utf8')))

/** Checks that the document has the declarations. If not, says what to do. */
export function checkAdminDocument(): boolean {
  const document = readFileSync(PATH, 'utf8')
  if (withDeclared(document) === document) return true
  console.error('api/admin.yaml is not what the acts of src/operator declare: run "npm run generate" and commit it.')
  return false
}
