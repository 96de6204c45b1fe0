// The operator's acts as their document has them: the path of each under /api/admin, the parameters in it, and the fields of its body.
import { adminDocument } from '../../support/http-contract.ts'

const PREFIX = '/api/admin/'

interface Operation {
  requestBody?: { content: { 'application/json': { schema: { properties?: object } } } }
}

export const ACTS = Object.entries(adminDocument.paths as Record<string, { post?: Operation }>).flatMap(
  ([path, { post }]) => {
    if (!post || !path.startsWith(PREFIX)) return []
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const fields = Object.keys(post.requestBody?.content['application/json'].schema.properties ?? {})
    return [{ path: path.slice(PREFIX.length), params, fields }]
  },
)

/** Every field of every act. */
export const FIELDS = [...new Set(ACTS.flatMap(({ fields, params }) => [...fields, ...params]))]

/** The fields that the act at a target takes in its body. */
export function fieldsAt(target: string): string[] {
  const words = target.split('/')
  const found = ACTS.find(({ path }) => {
    const named = path.split('/')
    return named.length === words.length && named.every((word, i) => word.startsWith('{') || word === words[i])
  })
  return found?.fields ?? []
}
