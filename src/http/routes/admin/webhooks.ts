// /api/admin/webhooks: the endpoints, the delivery log, sending again.
import { enableWebhook, listDeliveries, listWebhooks, redeliver } from '../../../operator/webhooks.ts'
import { actRoute, readingRoute } from './route.ts'

export const webhookRoutes = [
  readingRoute('webhooks', listWebhooks),
  readingRoute('webhooks/deliveries', listDeliveries),
  actRoute('webhooks/deliveries/:id/redeliver', redeliver),
  actRoute('webhooks/enable', enableWebhook),
]
