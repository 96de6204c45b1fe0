// Answers requests that no route takes, for people who look at pages: a slash too many at the end of a page's path leads to the page, and what
// is not there says so as a page. Programs get the error envelope, as ever.
import type { IncomingMessage } from 'node:http'
import { bodyOf } from './memo.ts'
import type { Reply } from './reply.ts'
import type { Router } from './router.ts'

/** Answers a request. @returns false where the caller did not ask for a page. */
export type AnswerAsPage = (reply: Reply, request: IncomingMessage) => boolean

/** How requests for a page that is not there are answered. */
export function pageAnswers(router: Router, notFound: { html: string; policy: string }): AnswerAsPage {
  const body = bodyOf(Buffer.from(notFound.html))
  return (reply, { method, url = '', headers }) => {
    if ((method !== 'GET' && method !== 'HEAD') || !headers.accept?.includes('text/html')) return false
    const target = withoutSlash(url)
    const found = target === null ? 'unknownRoute' : router.find(target)
    reply.header('cache-control', 'no-store')
    if (target !== null && typeof found !== 'string' && found.route.contentType?.startsWith('text/html'))
      reply.header('location', target).send(308)
    else
      reply
        .header('content-security-policy', notFound.policy)
        .header('content-type', 'text/html; charset=utf-8')
        .send(404, body)
    return true
  }
}

/** A target without the slashes at its path's end; null where there is none, or what is left would name another host. */
function withoutSlash(url: string): string | null {
  const [, path = '', query = ''] = /^(\/[^/?\\][^?]*?)\/+(\?.*)?$/s.exec(url) ?? []
  return path === '' ? null : `${path}${query}`
}
