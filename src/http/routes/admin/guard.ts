// The door of /api/admin: 404 for everything beneath it while no key is configured, 401 without the right one. The label of the
// key that opens it (setting ADMIN_KEY, header x-admin-key) is the actor in the audit log. What is not routed elsewhere ends here.
import { type Refusal, refuse } from '../../refusals.ts'
import type { Call, Route } from '../../route.ts'
import { headerOnce, sameSecret } from '../../secrets.ts'
import type { Tools } from '../../tools.ts'

const KEY_HEADER = 'x-admin-key'
/** A hand that mistypes, and a script whose key has been changed, stay below. */
const WRONG_KEYS_PER_MINUTE = 20

/** The rules shared by every route under /api/admin. */
export function adminGuard({ deps, isOwnOrigin }: Tools) {
  // Read at each call: they may change while the service runs.
  const keys = () => deps.settings.adminKeys
  return {
    // An operator is not limited. Wrong keys are: a random key cannot be guessed, but trying must not be free.
    limitPerMinute: null,
    wrongKeys: { header: KEY_HEADER, perMinute: WRONG_KEYS_PER_MINUTE },
    countedUnkeyedAs: '/api/admin',
    cache: 'private, no-store',
    cors: false,
    configured: () => (keys().length === 0 ? refuse('unknownRoute') : null),
    authorize: (call: Call) => {
      // A page of another origin must not act with a key that a browser was made to send.
      const foreign = call.method === 'POST' && !isOwnOrigin(call.raw.headers.origin)
      return foreign || labelOf(call, keys()) === null ? refuse('wrongKey') : null
    },
  } satisfies Partial<Route>
}

/** The label of the key that the call carries; null: no match. Compares with every key, so that the time does not reveal which one matched. */
export function labelOf({ raw }: Call, keys: Tools['deps']['settings']['adminKeys']): string | null {
  const given = headerOnce(raw, KEY_HEADER) ?? ''
  let label: string | null = null
  for (const key of keys) {
    if (sameSecret(given, key.key)) label = key.label
  }
  return label
}

/** Answers paths under /api/admin that have no route. */
const nowhere =
  (path: string) =>
  (tools: Tools): Route => ({
    ...adminGuard(tools),
    path,
    methods: 'any',
    deadlineMs: null,
    handle: (): Refusal => refuse('unknownRoute'),
  })

export const notFoundBelow = [nowhere('/api/admin'), nowhere('/api/admin/*')]
