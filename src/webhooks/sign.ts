// The headers of a Standard Webhooks request (github.com/standard-webhooks): id, time, and a signature of id, time and body for each secret. A
// receiver may therefore have either secret during a rotation. A receiver that cannot verify signatures gets none. Pure except for the hash.
import { createHmac } from 'node:crypto'

/** Builds the headers of one attempt. `timestamp` is unix seconds of this attempt; secrets are `whsec_` and base64. */
export function webhookHeaders(
  event: { id: string; body: string },
  timestamp: number,
  secrets: readonly string[],
): Record<string, string> {
  const payload = `${event.id}.${timestamp}.${event.body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(payload).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'node-ledger',
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    ...(secrets.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  }
}
