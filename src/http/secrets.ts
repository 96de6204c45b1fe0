// Compares callers' values with secrets, in a time that reveals nothing about either. The admin key is compared in routes/admin/guard.ts
// (inEnvironment), the cron key in routes/cron.ts, cookies in session/session.ts.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** True if both are the same text. Hashing first makes the lengths equal, so that even the lengths stay secret. */
export function sameSecret(text: string, secret: string): boolean {
  return timingSafeEqual(digest(text), digest(secret))
}

/** A header's value if it was sent exactly once, else null. A key sent twice does not count. */
export function headerOnce(request: IncomingMessage, name: string): string | null {
  const [value = null, ...more] = request.headersDistinct[name] ?? []
  return more.length === 0 ? value : null
}
