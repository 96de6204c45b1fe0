// All endpoints, in the order of api/openapi.yaml. A route exists only if it has a line here.
import { toJson } from '../lib/json.ts'
import { OPERATIONS } from '../operator/operations.ts'
import { refuse } from './refusals.ts'
import type { Route } from './route.ts'
import { adminGuard, notFoundBelow } from './routes/admin/guard.ts'
import { passkeyRoutes } from './routes/admin/passkeys.ts'
import { routesOf } from './routes/admin/route.ts'
import { authLogout, authNonce, authVerify } from './routes/auth.ts'
import { cover } from './routes/cover.ts'
import { cronCredit, cronPayments } from './routes/cron.ts'
import { cronHealth } from './routes/cron-health.ts'
import { deployQuote } from './routes/deploy-quote.ts'
import { me, meReferrals } from './routes/me.ts'
import { node } from './routes/node.ts'
import { adminOpenapi, openapi } from './routes/openapi.ts'
import { pages } from './routes/pages.ts'
import { canBuy } from './routes/payments/can-buy.ts'
import { claim } from './routes/payments/claim.ts'
import { events } from './routes/payments/events.ts'
import { price } from './routes/price.ts'
import { healthz, readyz } from './routes/probes.ts'
import {
  allowlist,
  allowlisted,
  distributions,
  nodesOfAddress,
  payment,
  paymentsOfAddress,
  referral,
  sale,
  stats,
  tiers,
  transaction,
  turns,
} from './routes/reads.ts'
import { sync } from './routes/sync.ts'
import { wellKnown } from './routes/well-known.ts'
import type { Tools } from './tools.ts'

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

const adminRoutes: readonly ((tools: Tools) => Route)[] = [
  ...routesOf(OPERATIONS),
  config,
  self,
  adminOpenapi,
  ...notFoundBelow,
]

const ROUTES: readonly ((tools: Tools) => Route)[] = [
  stats,
  tiers,
  sale,
  allowlist,
  allowlisted,
  referral,
  cover,
  nodesOfAddress,
  node,
  distributions,
  turns,
  deployQuote,
  canBuy,
  price,
  openapi,
  claim,
  payment,
  paymentsOfAddress,
  transaction,
  events,
  authNonce,
  authVerify,
  authLogout,
  me,
  meReferrals,
  sync,
  cronHealth,
  cronPayments,
  cronCredit,
  ...passkeyRoutes,
  ...adminRoutes,
  wellKnown,
  healthz,
  readyz,
]

export const buildRoutes = (tools: Tools): Route[] => [...ROUTES.map((route) => route(tools)), ...pages(tools)]
