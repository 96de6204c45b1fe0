// GET /api/openapi.json and GET /api/admin/openapi.json: the hand-written descriptions of the public routes and the operator's routes, as JSON.
// Cookies are named as this service sets them.
import { readFileSync } from 'node:fs'
import { type CachedResponse, cachedResponseOf } from '../edge/memo.ts'
import type { Route } from '../route.ts'
import type { Sessions } from '../session/session.ts'
import type { Tools } from '../tools.ts'
import { adminGuard } from './admin/guard.ts'

type Document = { components: { securitySchemes: Record<string, { name: string }> } }

export const openapi = ({ sessions }: Tools): Route => ({
  path: '/api/openapi.json',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=300',
  cors: true,
  deadlineMs: null,
  handle: madeOnce(async () => nameCookies(await read('openapi.yaml'), sessions)),
})

export const adminOpenapi = (tools: Tools): Route => ({
  ...adminGuard(tools, { GET: 'read' }),
  path: '/api/admin/openapi.json',
  methods: ['GET'],
  deadlineMs: null,
  handle: madeOnce(() => read('admin.yaml')),
})

/** Builds the description at the first request, because reading it takes longer than starting all other routes together. */
function madeOnce(make: () => Promise<Document>): () => Promise<CachedResponse> {
  let response: Promise<CachedResponse> | undefined
  return () => {
    response ??= make()
      .then((document) => cachedResponseOf(document))
      .catch((error) => {
        // A read that failed may succeed next time.
        response = undefined
        throw error
      })
    return response
  }
}

async function read(name: string): Promise<Document> {
  const { parse } = await import('yaml')
  return parse(readFileSync(new URL(`../../../api/${name}`, import.meta.url), 'utf8'), { merge: true })
}

function nameCookies(document: Document, { sessionCookie, nonceCookie }: Sessions): Document {
  const { sessionCookie: session, nonceCookie: nonce } = document.components.securitySchemes
  if (session) session.name = sessionCookie
  if (nonce) nonce.name = nonceCookie
  return document
}
