// GET /api/openapi.json: the hand-written description of the public surface, as JSON.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { pageOf } from '../memo.ts'
import type { Route } from '../route.ts'

const DOCUMENT = new URL('../../../api/openapi.yaml', import.meta.url)

export const openapi = (): Route => {
  const page = pageOf(JSON.stringify(parse(readFileSync(DOCUMENT, 'utf8'), { merge: true })))
  return {
    path: '/api/openapi.json',
    methods: ['GET'],
    limitPerMinute: 60,
    cache: 'public, max-age=300',
    cors: true,
    deadlineMs: null,
    handle: () => page,
  }
}
