// GET /api/openapi.json: the hand-written description of the public surface, as JSON.
import { readFileSync } from 'node:fs'
import { type Page, pageOf } from '../memo.ts'
import type { Route } from '../route.ts'

const DOCUMENT = new URL('../../../api/openapi.yaml', import.meta.url)

export const openapi = (): Route => {
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
      page ??= read().catch((error) => {
        // What failed may go well the next time.
        page = undefined
        throw error
      })
      return page
    },
  }
}

async function read(): Promise<Page> {
  const { parse } = await import('yaml')
  return pageOf(JSON.stringify(parse(readFileSync(DOCUMENT, 'utf8'), { merge: true })))
}
