// The operator's routes under /api/admin: all acts and readings of src/operator/operations.ts, and two other routes.
import { toJson } from '../../../lib/json.ts'
import { OPERATIONS } from '../../../operator/operations.ts'
import { refuse } from '../../refusals.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminOpenapi } from '../openapi.ts'
import { adminGuard, notFoundBelow } from './guard.ts'
import { routesOf } from './route.ts'

/** This route works without a chain, because operators need it when something is broken. */
const config = (tools: Tools): Route => ({
  ...adminGuard(tools, { GET: 'read' }),
  path: '/api/admin/config',
  methods: ['GET'],
  deadlineMs: null,
  handle: () => ({ json: toJson({ settings: tools.deps.settings.described }) }),
})

/** Tells the holder of a key what the key is, and what it may do. */
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

export const adminRoutes: readonly ((tools: Tools) => Route)[] = [
  ...routesOf(OPERATIONS),
  config,
  self,
  adminOpenapi,
  ...notFoundBelow,
]
