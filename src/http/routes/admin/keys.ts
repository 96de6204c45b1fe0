// /api/admin/keys: the admin keys and passkeys of the ledger, and the key that asks.
import { toJson } from '../../../lib/json.ts'
import { createKey, listKeys, revokeKey } from '../../../operator/keys/admin-keys.ts'
import { invite, revokeInvitation, revokePasskey } from '../../../operator/keys/passkeys.ts'
import { signOut } from '../../../operator/keys/sign-in.ts'
import { refuse } from '../../refusals.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminGuard } from './guard.ts'
import { actRoute, bothOf, readingRoute } from './route.ts'

/** Answered to any key: what it is, and what it may do. */
const self = (tools: Tools): Route => ({
  ...adminGuard(tools, null),
  path: '/api/admin/keys/self',
  methods: ['GET'],
  deadlineMs: null,
  handle: ({ holder }) => {
    if (holder === null) return refuse('wrongKey')
    const { label, scopes, expiresAt, keyId, passkey } = holder
    return { json: toJson({ id: keyId, label, scopes, expiresAt, passkeyId: passkey?.id ?? null }) }
  },
})

const environmentKeys = ({ deps: { settings } }: Tools) => ({
  environmentLabels: settings.adminKeys.map(({ label }) => label),
  publicUrl: settings.publicUrl,
})

const keys = (tools: Tools): Route => {
  const list = readingRoute('keys', (deps) => listKeys({ ...deps, ...environmentKeys(tools) }), 'operate')
  const create = actRoute(
    'keys',
    'operate',
    (deps, actor, input) => createKey({ ...deps, ...environmentKeys(tools) }, actor, input),
    // What is kept for an Idempotency-Key lies in the database: the key must not.
    { kept: (answer) => ({ ...answer, key: null }) },
  )
  return bothOf(list(tools), create(tools))
}

const invitations = (tools: Tools): Route =>
  actRoute(
    'keys/invite',
    'operate',
    (deps, actor, input) => invite({ ...deps, ...environmentKeys(tools) }, actor, input),
    { kept: (answer) => ({ ...answer, link: null }) },
  )(tools)

export const keyRoutes = [
  self,
  keys,
  invitations,
  actRoute('keys/:id/revoke', 'operate', revokeKey),
  // Any session may: what it ends is itself.
  actRoute('keys/self/sign-out', null, signOut),
  actRoute('passkeys/:id/revoke', 'operate', revokePasskey),
  actRoute('invitations/:id/revoke', 'operate', revokeInvitation),
]
