// Answers a person's request for a page if no route matches. A path with an extra trailing slash redirects to the page, and an unknown path gets a
// page that says so. Programs get the error envelope as usual.
import type { IncomingMessage } from 'node:http'
import type { CachedOutcome } from '../route.ts'
import { encoded } from './encoding.ts'
import { cachedResponseOf } from './memo.ts'
import type { Reply } from './reply.ts'
import type { Router } from './router.ts'

/** Answers a request. @returns false if the caller did not ask for a page. */
export type AnswerAsPage = (reply: Reply, request: IncomingMessage) => Promise<boolean>

/** Builds the answers to requests for pages that do not exist. */
export function pageAnswers(router: Router, notFound: { html: string; policy: string }): AnswerAsPage {
  const page: CachedOutcome = { ...cachedResponseOf(notFound.html), isFixed: true }
  return async (reply, { method, url = '', headers }) => {
    if ((method !== 'GET' && method !== 'HEAD') || !headers.accept?.includes('text/html')) return false
    const target = withoutSlash(url)
    const match = target === null ? 'unknownRoute' : router.find(target)
    reply.header('cache-control', 'no-store')
    if (target !== null && typeof match !== 'string' && match.route.contentType?.startsWith('text/html'))
      reply.header('location', target).send(308)
    else {
      const { body, encoding } = await encoded(page, headers['accept-encoding']?.toString() ?? '')
      reply
        .header('content-security-policy', notFound.policy)
        .header('content-type', 'text/html; charset=utf-8')
        .header('vary', 'accept-encoding')
      if (encoding && encoding !== 'identity') reply.header('content-encoding', encoding)
      reply.send(404, body)
    }
    return true
  }
}

/** A target without the trailing slashes of its path; null if there are no slashes to remove, or if the rest would name another host. */
function withoutSlash(url: string): string | null {
  const [, path = '', query = ''] = /^(\/[^/?\\][^?]*?)\/+(\?.*)?$/s.exec(url) ?? []
  return path === '' ? null : `${path}${query}`
}
