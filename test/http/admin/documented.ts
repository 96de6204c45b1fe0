// The operator's acts by their API document: the path of each under /api/admin, its parameters, and the fields of its body.
import { adminDocument } from '../../support/http-contract.ts'

const PREFIX = '/api/admin/'

export interface FieldSchema {
  $ref?: string
  type?: unknown
  maxLength?: number
  maxItems?: number
  items?: FieldSchema
}

interface Operation {
  requestBody?: { content: { 'application/json': { schema: { properties?: Record<string, FieldSchema> } } } }
}

const resolved = (schema: FieldSchema): FieldSchema =>
  schema.$ref === undefined ? schema : adminDocument.components.schemas[schema.$ref.split('/').at(-1) ?? '']

export const ACTS = Object.entries(adminDocument.paths as Record<string, { post?: Operation }>).flatMap(
  ([path, { post }]) => {
    if (!post || !path.startsWith(PREFIX)) return []
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const properties = Object.entries(post.requestBody?.content['application/json'].schema.properties ?? {})
    const schemas = Object.fromEntries(properties.map(([name, schema]) => [name, resolved(schema)]))
    return [{ path: path.slice(PREFIX.length), params, fields: Object.keys(schemas), schemas }]
  },
)

/** Every field of every act. */
export const FIELDS = [...new Set(ACTS.flatMap(({ fields, params }) => [...fields, ...params]))]

/** The body fields of the act at a target. */
export function fieldsAt(target: string): string[] {
  const words = target.split('/')
  const found = ACTS.find(({ path }) => {
    const named = path.split('/')
    return named.length === words.length && named.every((word, i) => word.startsWith('{') || word === words[i])
  })
  return found?.fields ?? []
}
