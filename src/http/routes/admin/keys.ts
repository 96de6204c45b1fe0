// /api/admin/keys: the admin keys of the ledger, and the key that asks.
import { toJson } from '../../../lib/json.ts'
import { createKey, listKeys, revokeKey } from '../../../operator/keys/admin-keys.ts'
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
    const { label, scopes, expiresAt, keyId } = holder
    return { json: toJson({ id: keyId, label, scopes, expiresAt }) }
  },
})

const keys = (tools: Tools): Route => {
  const environmentLabels = () => tools.deps.settings.adminKeys.map(({ label }) => label)
  const list = readingRoute('keys', (deps) => listKeys({ ...deps, environmentLabels: environmentLabels() }), 'operate')
  const create = actRoute(
    'keys',
    'operate',
    (deps, actor, input) => createKey({ ...deps, environmentLabels: environmentLabels() }, actor, input),
    // What is kept for an Idempotency-Key lies in the database: the key must not.
    { kept: (answer) => ({ ...answer, key: null }) },
  )
  return bothOf(list(tools), create(tools))
}

export const keyRoutes = [self, keys, actRoute('keys/:id/revoke', 'operate', revokeKey)]
