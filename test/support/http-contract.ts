// Checks every answer against the rules for all answers, and against the two OpenAPI documents, the public one and the
// operator's. Every response that any test receives goes through this.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON; undefined if there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it at will
  json: any
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, read by path
type Document = any

const readDocument = (name: string): Document =>
  parse(readFileSync(new URL(`../../api/${name}`, import.meta.url), 'utf8'), { merge: true })

/** The public document. */
export const document = readDocument('openapi.yaml')
/** The operator's. */
export const adminDocument = readDocument('admin.yaml')
const DOCUMENTS = { openapi: document, admin: adminDocument }

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
for (const [name, each] of Object.entries(DOCUMENTS)) ajv.addSchema(closed(each), name)
const validators = new Map<string, ValidateFunction>()

/** Checks an answer against the rules for all answers, and against the document that has its path, if any. */
export function assertAnswer(method: string, path: string, answer: Answer): void {
  const where = `${method} ${path} -> ${answer.status}`
  assertCommon(where, method, answer)
  const asked = operationOf(method, path)
  if (!asked) return
  const { name, pointer, operation } = asked
  const described = operation.responses[answer.status]
  assert.ok(described, `${where}: a status that the document does not name`)
  const response = described.$ref ? resolve(DOCUMENTS[name], described.$ref) : described
  for (const [title, each] of Object.entries<Document>(response.headers ?? {}))
    if ((each.$ref ? resolve(DOCUMENTS[name], each.$ref) : each).required)
      assert.ok(answer.headers[title.toLowerCase()], `${where}: lacks the header ${title}`)
  if (answer.text === '' || method === 'HEAD') return
  const target = described.$ref ?? `${pointer}/responses/${answer.status}`
  const validate = validatorOf(`${name}${target}/content/application~1json/schema`)
  assert.ok(validate(answer.json), `${where}: ${ajv.errorsText(validate.errors)}\n${answer.text.slice(0, 500)}`)
}

/** Checks a command's --json output against the answer of the operator's route for the same reading. */
export function assertPrinted(route: string, json: unknown): void {
  const pointer = `#/paths/${escapePointer(`/api/admin/${route}`)}/get/responses/200/content/application~1json/schema`
  const validate = validatorOf(`admin${pointer}`)
  assert.ok(validate(json), `printed as ${route}: ${ajv.errorsText(validate.errors)}`)
}

/** Checks a request's fields against the operator's document: it lists them all, and requires none that was not sent. */
export function assertAsked(method: 'GET' | 'POST', path: string, body: unknown = {}): void {
  const asked = operationOf(method, path)
  assert.ok(asked, `${method} ${path} is not in the document`)
  const { operation } = asked
  const described = (operation.parameters ?? []).map((each: Document) =>
    each.$ref ? resolve(adminDocument, each.$ref) : each,
  )
  const named: string[] = described.filter((each: Document) => each.in === 'query').map((each: Document) => each.name)
  const schema = operation.requestBody?.content['application/json'].schema ?? {}
  const known = method === 'GET' ? named : Object.keys(schema.properties ?? {})
  const sent = Object.keys(
    method === 'GET' ? Object.fromEntries(new URL(path, 'http://x').searchParams) : (body as object),
  )
  assert.deepEqual(
    sent.filter((field) => !known.includes(field)),
    [],
    `${method} ${path}: fields that the document does not name`,
  )
  const required: string[] = method === 'GET' ? [] : (schema.required ?? [])
  assert.deepEqual(
    required.filter((field) => !sent.includes(field)),
    [],
    `${method} ${path}: was done without fields that the document requires`,
  )
}

/** Checks that a document requires every field that its shapes and answers name, but for the optional ones of each shape. */
export function assertRequired(document: Document, optional: Readonly<Record<string, readonly string[]>>): void {
  const check = (part: Document, place: string): void => {
    if (typeof part !== 'object' || part === null) return
    const { properties, required = [] } = part
    const [name = ''] = place.split('/')
    if (properties && !Array.isArray(part))
      assert.deepEqual([...required, ...(optional[name] ?? [])].sort(), Object.keys(properties).sort(), place)
    for (const [key, inner] of Object.entries(part)) check(inner, `${place}/${key}`)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) check(schema, name)
  for (const operations of Object.values<Document>(document.paths))
    for (const { operationId, responses } of Object.values<Document>(operations)) check(responses, operationId)
}

function assertCommon(where: string, method: string, { status, headers, json, text }: Answer): void {
  assert.equal(headers['x-content-type-options'], 'nosniff', where)
  assert.equal(headers['referrer-policy'], 'no-referrer', where)
  assert.match(headers['x-request-id']?.toString() ?? '', /^[A-Za-z0-9._-]{1,128}$/, where)
  const cache = headers['cache-control'] ?? ''
  assert.notEqual(cache, '', `${where}: no cache-control`)
  if (headers['set-cookie']) assert.doesNotMatch(cache, /public/, `${where}: a cookie that caches may keep`)
  if (method === 'HEAD' || status === 304 || status === 204) {
    assert.equal(text, '', where)
    return
  }
  assert.equal(headers['content-type'], 'application/json', where)
  if (status < 400) return
  assert.match(cache, /^(private, )?no-store$/, `${where}: an error that caches may keep`)
  assertEnvelope(where, json)
  if (status === 429) assert.match(headers['retry-after'] ?? '', /^[1-9][0-9]?$/, where)
}

/** An object with the single field `error`, a text that reveals nothing; for the operator's acts also with `problems`. */
export function assertEnvelope(where: string, json: unknown): void {
  assert.ok(typeof json === 'object' && json !== null && !Array.isArray(json), where)
  const isOperators = / \/api\/(admin|passkeys)\b/.test(where)
  assert.deepEqual(Object.keys(json), isOperators && 'problems' in json ? ['error', 'problems'] : ['error'], where)
  const { error } = json as { error: unknown }
  assert.equal(typeof error, 'string', where)
  assert.doesNotMatch(error as string, /https?:|postgres|node:|\bat .*\.ts|[A-Z]{2,}_[A-Z]{2,}/, where)
}

/** A copy in which no object may have undocumented fields, because an answer with one is drift. */
function closed(part: Document): Document {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const copy: { type?: unknown; properties?: unknown } = {}
  for (const key in part) Object.assign(copy, { [key]: closed(part[key]) })
  return copy.properties && copy.type === 'object' ? { additionalProperties: false, ...copy } : copy
}

/** A request's description in a document, and its pointer; null if no document has it. */
function operationOf(method: string, path: string) {
  const [plain = ''] = path.split('?')
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase()
  for (const name of ['openapi', 'admin'] as const) {
    const { paths } = DOCUMENTS[name]
    const template = Object.keys(paths).find((each) =>
      new RegExp(`^${each.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]*')}$`).test(plain),
    )
    const operation = template && paths[template][verb]
    if (operation) return { name, pointer: `#/paths/${escapePointer(template)}/${verb}`, operation }
  }
  return null
}

const escapePointer = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

function resolve(within: Document, ref: string): Document {
  return ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key], within)
}

function validatorOf(pointer: string): ValidateFunction {
  const known = validators.get(pointer)
  if (known) return known
  const made = ajv.getSchema(pointer)
  assert.ok(made, `the document has no schema at ${pointer}`)
  validators.set(pointer, made)
  return made
}
