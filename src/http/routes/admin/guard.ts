// Guards /api/admin. Every path below it returns 404 while there is no key in ADMIN_KEY and neither key nor passkey in the ledger. It returns 401
// without the right key (header x-admin-key), and 403 if the key lacks the scope. The key's label is the actor in the audit log. Keys of ADMIN_KEY
// have every scope, and work while the database is down. Unknown paths under /api/admin end here.
import { type KeyHolder, SCOPES } from '../../../domain/keys/admin-key.ts'
import { digestOfKey } from '../../../operator/acts/keys/secret.ts'
import { type Refusal, refuse } from '../../refusals.ts'
import type { Call, Route } from '../../route.ts'
import { headerOnce, sameSecret } from '../../secrets.ts'
import type { Tools } from '../../tools.ts'

const KEY_HEADER = 'x-admin-key'
/** How many wrong keys a caller may send. A person who mistypes stays below this, and so does a script whose key was changed. */
const WRONG_KEYS_PER_MINUTE = 20

/** The rules shared by every route under /api/admin; `scopes` are the scopes that the key must have. */
export function adminGuard(tools: Tools, scopes: NonNullable<Route['scopes']> | null) {
  return {
    scopes,
    // Operators are not limited, only wrong keys: a random key cannot be guessed, but attempts must not be free.
    limitPerMinute: null,
    wrongKeys: { header: KEY_HEADER, perMinute: WRONG_KEYS_PER_MINUTE, tell: tools.tellWrongKey },
    countedUnkeyedAs: '/api/admin',
    cache: 'private, no-store',
    cors: false,
    authorize: (call, isLimited) => {
      // A page of another origin must not act with a key that it made a browser send.
      const foreign = call.method === 'POST' && !tools.isOwnOrigin(call.raw.headers.origin)
      const text = foreign ? '' : (headerOnce(call.raw, KEY_HEADER) ?? '')
      // Read at each call, because the keys may change while the service runs.
      call.holder = inEnvironment(text, tools.deps.settings.adminKeys)
      return call.holder ? null : findInLedger(tools, call, text, isLimited)
    },
  } satisfies Partial<Route>
}

/** Compares the text with every key, so that the time does not reveal which one matched. */
function inEnvironment(text: string, keys: Tools['deps']['settings']['adminKeys']): KeyHolder | null {
  let label: string | null = null
  for (const key of keys) {
    if (sameSecret(text, key.key)) label = key.label
  }
  if (label === null) return null
  return { label, digest: digestOfKey(text), scopes: SCOPES, keyId: null, expiresAt: null, passkey: null }
}

async function findInLedger(
  { deps, ledgerKeys }: Tools,
  call: Call,
  text: string,
  isLimited: () => boolean,
): Promise<Refusal | null> {
  const ledgerKey = await ledgerKeys.find(text, isLimited)
  if (ledgerKey) {
    const { id: keyId, label, digest, scopes, expiresAt, passkeyId, passkeyEndsAt, madeAt } = ledgerKey
    const passkey =
      passkeyId === null || passkeyEndsAt === null ? null : { id: passkeyId, endsAt: passkeyEndsAt, signedInAt: madeAt }
    call.holder = { keyId, label, digest, scopes, expiresAt, passkey }
    return null
  }
  const hasKeys = deps.settings.adminKeys.length > 0 || (await ledgerKeys.hasAny())
  return refuse(hasKeys ? 'wrongKey' : 'unknownRoute')
}

/** Answers unknown paths under /api/admin. */
const nowhere =
  (path: string) =>
  (tools: Tools): Route => ({
    ...adminGuard(tools, null),
    path,
    methods: 'any',
    deadlineMs: null,
    handle: (): Refusal => refuse('unknownRoute'),
  })

export const notFoundBelow = [nowhere('/api/admin'), nowhere('/api/admin/*')]
