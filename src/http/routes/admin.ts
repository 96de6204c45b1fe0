// /api/admin: the operator's own surface. 404 for everything beneath it while no key is configured, 401 without the right
// one. What is not routed elsewhere ends here.
import { type Refusal, refuse } from '../refusals.ts'
import type { Call, Route } from '../route.ts'
import { headerOnce, sameSecret } from '../secrets.ts'
import type { Tools } from '../tools.ts'

/** The route for one path pattern under /api/admin. */
export const admin =
  (path: string) =>
  ({ deps }: Tools): Route => {
    const keys = deps.settings.adminKeys
    return {
      path,
      methods: 'any',
      limitPerMinute: null,
      cache: 'no-store',
      cors: false,
      deadlineMs: null,
      configured: () => (keys.length === 0 ? refuse('unknownRoute') : null),
      authorize: (call) => (labelOf(call, keys) === null ? refuse('wrongKey') : null),
      handle: (): Refusal => refuse('unknownRoute'),
    }
  }

/** Whose key the call carries; null: nobody's. Compares with every key, so that the time does not tell which one matched. */
function labelOf({ raw }: Call, keys: Tools['deps']['settings']['adminKeys']): string | null {
  const given = headerOnce(raw, 'x-admin-key') ?? ''
  let label: string | null = null
  for (const key of keys) {
    if (sameSecret(given, key.key)) label = key.label
  }
  return label
}
