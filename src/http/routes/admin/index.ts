// Every route under /api/admin. Documented in docs/ADMIN.md; never in the OpenAPI document, which is the public surface only.
import { listAudit } from '../../../operator/audit.ts'
import { clearHaltByHand, pause, resume } from '../../../operator/pause.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { nowhereElse } from './door.ts'
import { actRoute, readingRoute } from './route.ts'

export const adminRoutes: readonly ((tools: Tools) => Route)[] = [
  actRoute('pause', pause),
  actRoute('resume', resume),
  actRoute('halt/clear', clearHaltByHand),
  readingRoute('audit', listAudit),
  ...nowhereElse,
]
