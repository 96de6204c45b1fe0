// Reads the webhook endpoints for a ledger without any, and the secrets that sign events (Standard Webhooks). It must never repeat a URL,
// which is often a secret itself, or a signing secret.
import { ALL, CHOICE_FORM, type Choice, readChoice } from '../domain/webhooks/choice.ts'
import { eventsInUrl, isMail, isSigned, mailTargetOf } from '../domain/webhooks/receiver.ts'
import { isSigningSecret, SECRETS_MAX } from '../domain/webhooks/secret.ts'
import type { WebhooksConfig } from './shape.ts'
import { type Source, shown } from './source.ts'
import { isHttp, readHttpUrls, readSwitch } from './values.ts'

/** More are better served by one endpoint that forwards events. */
const URLS_MAX = 4
const REMEDY =
  'set it to whsec_ and the base64 of 24 to 64 random bytes, for example of "echo whsec_$(openssl rand -base64 32)"'

const FORM = {
  takes: (text: string) =>
    isMail(text) ? mailTargetOf(text) !== null : isHttp(text) && !new URL(text).hostname.includes(','),
  form: 'https://…, or for mail smtps://user:password@host?from=…&to=…',
  // The events of a mail server's URL have commas as well.
  separator: /,(?=\s*(?:[a-z][a-z0-9+.-]*:|,|$))/i,
}
/** Between the choices of several endpoints: a comma is between kinds, and what a shell reads must not be cut off by a semicolon. */
const BETWEEN_CHOICES = '/'

export function readWebhooks(source: Source): WebhooksConfig {
  const urls = hasKnownEvents(source) ? readHttpUrls(source, 'WEBHOOK_URL', URLS_MAX, FORM) : []
  const allowPrivate = readSwitch(source, 'WEBHOOK_ALLOW_PRIVATE', false)
  const secrets = readWebhookSecrets(source)
  if (urls.some(isSigned) && !source.isSet('WEBHOOK_SECRET'))
    source.refuse(
      'WEBHOOK_SECRET',
      `is missing: with it receivers verify that an event is yours. To have one, ${REMEDY}`,
    )
  for (const name of ['WEBHOOK_SECRET', 'WEBHOOK_EVENTS'] as const)
    if (source.isSet(name) && !source.isSet('WEBHOOK_URL'))
      source.refuse('WEBHOOK_URL', `is missing: it belongs to ${name}`)
  if (!allowPrivate && urls.some((url) => url.startsWith('http:'))) {
    source.refuse(
      'WEBHOOK_URL',
      'is not https: use https://…, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network',
    )
  }
  if (new Set(urls).size < urls.length) source.refuse('WEBHOOK_URL', 'names a URL twice')
  return { urls, secrets, allowPrivate, events: readEvents(source, urls.length) }
}

/** The choice of each endpoint, in the order of WEBHOOK_URL; null where the setting says nothing. */
function readEvents(source: Source, endpoints: number): Choice[] | null {
  const given = source.get('WEBHOOK_EVENTS')
  if (given === null || endpoints === 0) return null
  const choices = given.split(BETWEEN_CHOICES).map(readChoice)
  const unknown = choices.flatMap((choice) => choice.unknown)
  if (unknown.length > 0)
    source.refuse(
      'WEBHOOK_EVENTS',
      `holds ${unknown.map(shown).join(', ')}, which is no kind of event. It takes ${CHOICE_FORM}`,
    )
  else if (choices.length > 1 && choices.length !== endpoints)
    source.refuse(
      'WEBHOOK_EVENTS',
      `holds ${choices.length} choices for ${endpoints} endpoints: give one for all of WEBHOOK_URL, or one for each in its order, with ${BETWEEN_CHOICES} between them`,
    )
  else return Array.from({ length: endpoints }, (_, i) => (choices[i] ?? choices[0])?.kinds ?? [ALL])
  return null
}

/** Whether the URLs of mail servers name no event that there is none of; else the mistake is noted, in words that have nothing of a URL. */
function hasKnownEvents(source: Source): boolean {
  const urls = (source.get('WEBHOOK_URL') ?? '').split(FORM.separator)
  const unknown = urls.flatMap((url) => {
    const events = eventsInUrl(url.trim())
    return events === null ? [] : readChoice(events).unknown
  })
  if (unknown.length > 0)
    source.refuse('WEBHOOK_URL', `names events for mail that there are none of: after events= it takes ${CHOICE_FORM}`)
  return unknown.length === 0
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
