// GET /api/openapi.json: the hand-written description of the public surface, as JSON, with the cookies named as this service sets them.
import { readFileSync } from 'node:fs'
import { type Page, pageOf } from '../memo.ts'
import type { Route } from '../route.ts'
import type { Sessions } from '../session.ts'
import type { Tools } from '../tools.ts'

const DOCUMENT = new URL('../../../api/openapi.yaml', import.meta.url)

export const openapi = ({ sessions }: Tools): Route => {
  // Made when first asked for: reading it takes longer than all other routes together.
  let page: Promise<Page> | undefined
  return {
    path: '/api/openapi.json',
    methods: ['GET'],
    limitPerMinute: 60,
    cache: 'public, max-age=300',
    cors: true,
    deadlineMs: null,
    handle: () => {
      page ??= read(sessions).catch((error) => {
        // What failed may go well the next time.
        page = undefined
        throw error
      })
      return page
    },
  }
}

async function read({ sessionCookie, nonceCookie }: Sessions): Promise<Page> {
  const { parse } = await import('yaml')
  const document = parse(readFileSync(DOCUMENT, 'utf8'), { merge: true })
  const schemes = document.components.securitySchemes
  schemes.sessionCookie.name = sessionCookie
  schemes.nonceCookie.name = nonceCookie
  return pageOf(JSON.stringify(document))
}
