// What holds for every answer there is, and the OpenAPI document that says what holds for each. Every response that any
// test receives is brought before this.
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
  /** The body as JSON; undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it at will
  json: any
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, read by path
export const document: any = parse(readFileSync(new URL('../../api/openapi.yaml', import.meta.url), 'utf8'), {
  merge: true,
})

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(closed(document), 'openapi')
const validators = new Map<string, ValidateFunction>()

/** Holds an answer to the rules of all answers, and to the document where the document knows the path. */
export function assertAnswer(method: string, path: string, answer: Answer): void {
  const where = `${method} ${path} -> ${answer.status}`
  assertCommon(where, method, answer)
  const template = templateOf(path.split('?')[0] ?? '')
  const operation = template && document.paths[template][(method === 'HEAD' ? 'GET' : method).toLowerCase()]
  if (!template || !operation) return
  const pointer = `#/paths/${escapePointer(template)}/${(method === 'HEAD' ? 'GET' : method).toLowerCase()}/responses`
  const described = operation.responses[answer.status]
  assert.ok(described, `${where}: a status that the document does not name`)
  const response = described.$ref ? resolve(described.$ref) : described
  for (const name of Object.keys(response.headers ?? {}))
    if (header(response.headers[name]).required)
      assert.ok(answer.headers[name.toLowerCase()], `${where}: lacks the header ${name}`)
  if (answer.text === '' || method === 'HEAD') return
  const target = described.$ref ?? `${pointer}/${answer.status}`
  const validate = validatorOf(`openapi${target}/content/application~1json/schema`)
  assert.ok(validate(answer.json), `${where}: ${ajv.errorsText(validate.errors)}\n${answer.text.slice(0, 500)}`)
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

/** An object with the single field `error`, a text that gives nothing away. */
export function assertEnvelope(where: string, json: unknown): void {
  assert.ok(typeof json === 'object' && json !== null && !Array.isArray(json), where)
  assert.deepEqual(Object.keys(json), ['error'], where)
  const { error } = json as { error: unknown }
  assert.equal(typeof error, 'string', where)
  assert.doesNotMatch(error as string, /https?:|postgres|node:|\bat .*\.ts|[A-Z]{2,}_[A-Z]{2,}/, where)
}

/** A copy in which no object may have fields that it does not name: an answer with an undocumented field is drift. */
// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
function closed(part: any): any {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const copy: { type?: unknown; properties?: unknown } = {}
  for (const key in part) Object.assign(copy, { [key]: closed(part[key]) })
  return copy.properties && copy.type === 'object' ? { additionalProperties: false, ...copy } : copy
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
const header = (described: any) => (described.$ref ? resolve(described.$ref) : described)

/** The document's path that a request path falls under, if any. */
function templateOf(path: string): string | undefined {
  return Object.keys(document.paths).find((template) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]*')}$`).test(path),
  )
}

const escapePointer = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape, read by path
function resolve(ref: string): any {
  return ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key], document)
}

function validatorOf(pointer: string): ValidateFunction {
  const known = validators.get(pointer)
  if (known) return known
  const made = ajv.getSchema(pointer)
  assert.ok(made, `the document has no schema at ${pointer}`)
  validators.set(pointer, made)
  return made
}
