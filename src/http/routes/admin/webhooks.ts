// /api/admin/webhooks: the endpoints, the delivery log, sending again.
import {
  addWebhook,
  chooseEvents,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
} from '../../../operator/webhooks.ts'
import { actRoute, bothRoute, readingRoute } from './route.ts'

export const webhookRoutes = [
  bothRoute('webhooks', listWebhooks, 'operate', addWebhook),
  actRoute('webhooks/remove', 'operate', removeWebhook),
  readingRoute('webhooks/deliveries', listDeliveries),
  actRoute('webhooks/deliveries/:id/redeliver', 'operate', redeliver),
  actRoute('webhooks/events', 'operate', chooseEvents),
  actRoute('webhooks/enable', 'operate', enableWebhook),
]
