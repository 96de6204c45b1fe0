// Reads the webhook endpoints for a ledger without any, and the secrets that sign events (Standard Webhooks). It must never repeat a URL,
// which is often a secret itself, or a signing secret.
import { isMail, isSigned, mailTargetOf } from '../domain/webhooks/receiver.ts'
import { isSigningSecret, SECRETS_MAX } from '../domain/webhooks/secret.ts'
import type { WebhooksConfig } from './shape.ts'
import type { Source } from './source.ts'
import { isHttp, readHttpUrls, readSwitch } from './values.ts'

/** More are better served by one endpoint that forwards events. */
const URLS_MAX = 4
const REMEDY =
  'set it to whsec_ and the base64 of 24 to 64 random bytes, for example of "echo whsec_$(openssl rand -base64 32)"'

const FORM = {
  takes: (text: string) => (isMail(text) ? mailTargetOf(text) !== null : isHttp(text)),
  form: 'https://…, or for mail smtps://user:password@host?from=…&to=…',
}

export function readWebhooks(source: Source): WebhooksConfig {
  const urls = readHttpUrls(source, 'WEBHOOK_URL', URLS_MAX, FORM)
  const allowPrivate = readSwitch(source, 'WEBHOOK_ALLOW_PRIVATE', false)
  const secrets = readWebhookSecrets(source)
  if (urls.some(isSigned) && !source.isSet('WEBHOOK_SECRET'))
    source.refuse(
      'WEBHOOK_SECRET',
      `is missing: with it receivers verify that an event is yours. To have one, ${REMEDY}`,
    )
  if (source.isSet('WEBHOOK_SECRET') && !source.isSet('WEBHOOK_URL'))
    source.refuse('WEBHOOK_URL', 'is missing: it belongs to WEBHOOK_SECRET')
  if (!allowPrivate && urls.some((url) => url.startsWith('http:'))) {
    source.refuse(
      'WEBHOOK_URL',
      'is not https: use https://…, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network',
    )
  }
  if (new Set(urls).size < urls.length) source.refuse('WEBHOOK_URL', 'names a URL twice')
  return { urls, secrets, allowPrivate }
}

function readWebhookSecrets(source: Source): string[] {
  const secrets = (source.get('WEBHOOK_SECRET') ?? '').split(/[\s,]+/).filter((text) => text !== '')
  if (secrets.length > SECRETS_MAX)
    source.refuse(
      'WEBHOOK_SECRET',
      `holds ${secrets.length} secrets, ${SECRETS_MAX} are the most: the new one and the one before`,
    )
  else if (secrets.some((secret) => !isSigningSecret(secret)))
    source.refuse('WEBHOOK_SECRET', `is no signing secret: ${REMEDY}`)
  return secrets
}
