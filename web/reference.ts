// The API's reference for people: api/openapi.yaml as HTML, made at build time. It reads without a script; public/document.js sends its requests.
import { readFileSync } from 'node:fs'
import { marked } from 'marked'
import { parse } from 'yaml'
import { anchored, framed } from './contents.ts'

interface Schema {
  $ref?: string
  pattern?: string
  minimum?: number
  example?: unknown
  examples?: readonly unknown[]
  type?: string | readonly string[]
  format?: string
  description?: string
  enum?: readonly unknown[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  oneOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  allOf?: readonly Schema[]
}
interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  description?: string
  example?: unknown
  schema: Schema
}
interface Content {
  schema?: Schema
  example?: unknown
}
interface Answer {
  $ref?: string
  description: string
  content?: Readonly<Record<string, Content>>
}
interface Operation {
  tags: readonly string[]
  operationId: string
  summary: string
  description?: string
  parameters?: readonly Parameter[]
  requestBody?: { content: Readonly<Record<string, Content>> }
  responses: Readonly<Record<string, Answer>>
}
interface Api {
  info: { description: string }
  tags: readonly { name: string; description: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: { schemas: Readonly<Record<string, Schema>> }
}

const METHODS = ['get', 'post']

/** The reference as the content of a page. */
export function referenceOf(file: string): string {
  const api = parse(readFileSync(file, 'utf8'), { merge: true }) as Api
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => (methods[method] ? [{ path, method, ...methods[method] }] : [])),
  )
  const groups = api.tags.map(({ name, description }) => {
    const own = operations.filter(({ tags }) => tags.includes(name))
    return `<h2 id="${name.toLowerCase()}">${name}</h2><p>${text(description)}</p><div class="card">${own.map((one) => operationOf(api, one)).join('')}</div>`
  })
  const schemas = Object.entries(api.components.schemas).map(([name, schema]) =>
    folded(
      `schema-${name}`,
      `<h3><code>${name}</code></h3>`,
      `${prose(schema.description)}${fieldsOf(schema) || `<p>${typeOf(schema)}</p>`}`,
    ),
  )
  return framed(
    '<h1>API</h1><p class="lead">Nodes, rounds and payments as JSON. Reading needs no key. <a href="/api/openapi.json">OpenAPI 3.1</a></p>',
    `${firstOf(api, operations)}${anchored(prose(api.info.description))}${groups.join('')}<h2 id="schemas">Schemas</h2><div class="card schemas">${folded('all-schemas', `All ${schemas.length} schemas`, schemas.join(''))}</div>`,
  )
}

type Listed = Operation & { path: string; method: string }

/** The route with which a reader begins. */
const FIRST = '/api/stats'

/** A first request, and its answer. */
function firstOf(api: Api, operations: readonly Listed[]): string {
  const first = operations.find(({ path }) => path === FIRST)
  if (!first) throw new Error(`the document has no ${FIRST}`)
  return `<h2 id="first-request">First request</h2><p>All paths are below <code>{origin}</code>.</p><div class="card first">${commandOf('get', FIRST, [], undefined)}${exampleOf(api, contentOf(first.responses['200']))}</div>`
}

const contentOf = (answer: Answer | undefined) => Object.values(answer?.content ?? {})[0]

function operationOf(api: Api, { method, path, operationId, summary, description, parameters = [], ...rest }: Listed) {
  const asked = parameters.map((one) => resolved<Parameter>(api, one))
  const body = Object.values(rest.requestBody?.content ?? {})[0]
  const answers = Object.entries(rest.responses).map(([status, one]) => [status, resolved<Answer>(api, one)] as const)
  return folded(
    operationId,
    `<h3 class="route"><code class="method ${method}">${method.toUpperCase()}</code> <code>${path.replaceAll('/', '/<wbr>')}</code> <span class="note">${text(summary)}</span></h3>`,
    `<div class="calls">${commandOf(method, path, asked, body?.example)}${answers
      .filter(([status]) => status.startsWith('2'))
      .map(([, one]) => exampleOf(api, contentOf(one)))
      .join('')}</div><div class="says">` +
      prose(description) +
      table(
        ['Parameter', 'Type', 'What it is'],
        asked.map((one) => [
          `<code>${one.name}</code>${one.required ? '' : ', optional'}`,
          `${typeOf(one.schema)}, in the ${one.in}`,
          text(one.description),
        ]),
      ) +
      (body?.schema ? `<p>Body: ${typeOf(body.schema)}</p>` : '') +
      table(
        ['Status', 'Answer', 'What it says'],
        answers.map(([status, { description: said, content }]) => {
          const [only] = Object.values(content ?? {})
          return [status, only?.schema ? typeOf(only.schema) : '–', text(said)]
        }),
      ) +
      '</div>',
  )
}

/** These answers never end, or are a sign-in's. A command shows them, but a press does not. */
const NOT_TRIED = /events|auth/

/** A route as a command, with examples for what it asks, and a form that sends it from the page. */
function commandOf(method: string, path: string, asked: readonly Parameter[], body: unknown): string {
  const exampleIn = ({ example }: Parameter) => String(example ?? '')
  const query = asked.filter((one) => one.in === 'query' && one.required)
  const target =
    path.replace(/\{(\w+)\}/g, (_, name) =>
      asked
        .filter((one) => one.name === name)
        .map(exampleIn)
        .join(''),
    ) + query.map((one, index) => `${index === 0 ? '?' : '&'}${one.name}=${exampleIn(one)}`).join('')
  const data = body === undefined ? '' : ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
  const command = `<pre tabindex="0" aria-label="Command">${escaped(`curl -s${method === 'post' ? ' -X POST' : ''} '{origin}${target}'${data}`)}</pre>`
  if (method !== 'get' || NOT_TRIED.test(path)) return command
  return `${command}<form class="inline"><input name="path" value="${escaped(target)}" aria-label="Path" spellcheck="false"><button class="button">Try it</button></form><pre hidden tabindex="0" aria-label="Answer"></pre>`
}

/** A part that opens at a press. A link to `id` opens it, because that is inside. */
const folded = (id: string, title: string, content: string) =>
  `<details><summary>${title}</summary><div id="${id}">${content}</div></details>`

/** What an answer looks like: its own example, or one made from its schema. */
function exampleOf(api: Api, content: Content | undefined): string {
  const example = content?.example ?? (content?.schema && sampleOf(api, content.schema))
  if (example === undefined) return ''
  const shown = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return `<pre tabindex="0" aria-label="Example">${escaped(shown)}</pre>`
}

/** Samples of texts, by the pattern or format of their schema. */
const TEXTS: readonly (readonly [form: RegExp, sample: string])[] = [
  [/\{40\}/, '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'],
  [/\{64\}/, '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060'],
  [/date-time/, '2026-01-02T03:04:05.000Z'],
  [/\[1-9\]/, '42'],
]

/** A value that fits a schema. */
function sampleOf(api: Api, schema: Schema): unknown {
  const { $ref, example, examples, enum: values, type, items, properties, oneOf, anyOf, allOf } = schema
  const own = example ?? examples?.[0] ?? values?.[0]
  if (own !== undefined) return own
  if ($ref) return sampleOf(api, resolved<Schema>(api, { $ref }))
  const [some] = oneOf ?? anyOf ?? []
  if (some) return sampleOf(api, some)
  if (allOf) return Object.assign({}, ...allOf.map((part) => sampleOf(api, part)))
  if (items) return [sampleOf(api, items)]
  if (properties)
    return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, sampleOf(api, field)]))
  const [kind] = [type].flat()
  if (kind === 'boolean') return true
  if (kind === 'integer' || kind === 'number') return Math.max(schema.minimum ?? 1, 1)
  return TEXTS.find(([form]) => form.test(`${schema.pattern} ${schema.format}`))?.[1] ?? 'text'
}

function fieldsOf(schema: Schema): string {
  const parts = [schema, ...(schema.allOf ?? [])]
  const fields = parts.flatMap(({ properties }) => Object.entries(properties ?? {}))
  return table(
    ['Field', 'Type', 'What it is'],
    fields.map(([name, field]) => [`<code>${name}</code>`, typeOf(field), text(field.description)]),
  )
}

/** A type in a few words. A named one links to its fields. */
function typeOf({ $ref, type, format, enum: values, items, properties, oneOf, anyOf, allOf }: Schema): string {
  if ($ref) {
    const name = $ref.split('/').at(-1)
    return `<a href="#schema-${name}"><code>${name}</code></a>`
  }
  const some = oneOf ?? anyOf ?? allOf
  if (some) return some.map(typeOf).join(allOf ? ' and ' : ' or ')
  if (values) return values.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(' or ')
  if (items) return `list of ${typeOf(items)}`
  if (properties)
    return `{ ${Object.entries(properties)
      .map(([name, field]) => `<code>${name}</code>: ${typeOf(field)}`)
      .join(', ')} }`
  return [type].flat().join(' or ') + (format ? ` (${format})` : '')
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const head = heads.map((one) => `<th scope="col">${one}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')
  return `<div class="wide-table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
}

const resolved = <T>(api: Api, part: T & { $ref?: string }): T =>
  part.$ref === undefined
    ? part
    : (part.$ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], api) as T)

const escaped = (raw: string) =>
  raw.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign)
const prose = (markdown = '') => marked(markdown) as string
const text = (markdown = '') => marked.parseInline(markdown) as string
