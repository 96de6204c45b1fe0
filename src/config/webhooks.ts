// The settings for webhook endpoints, which apply to a ledger that has none, and for the secrets that sign events (Standard Webhooks). It must never
// repeat a signing secret, or a URL, because a URL is often a secret itself.
import { CHOICE_FORM, type Choice, choiceText, readChoice } from '../domain/webhooks/choice.ts'
import { eventsInUrl, isMail, mailTargetOf } from '../domain/webhooks/receiver.ts'
import { isSigningSecret, SECRETS_MAX } from '../domain/webhooks/secret.ts'
import { type Parse, type SettingGroup, shown } from './setting.ts'
import { httpUrls, isHttp, onOff, partsOf } from './values.ts'

/** The most endpoints. A sale that needs more should use one endpoint that passes events on to others. */
const URLS_MAX = 4
/** Explains how to make a signing secret. */
export const REMEDY =
  'set it to whsec_ and the base64 of 24 to 64 random bytes, for example from "echo whsec_$(openssl rand -base64 32)"'

const FORM = {
  takes: (text: string) =>
    isMail(text) ? mailTargetOf(text) !== null : isHttp(text) && !new URL(text).hostname.includes(','),
  form: 'https://…, or for mail smtps://user:password@host?from=…&to=…',
  // A comma separates URLs only if a new URL follows. The list of events in a mail server's URL contains commas too.
  separator: /,(?=\s*(?:[a-z][a-z0-9+.-]*:|,|$))/i,
}
/** Separates the choices of several endpoints. A comma already separates kinds of events, and a semicolon would end a shell command. */
export const BETWEEN_CHOICES = '/'

const endpointUrls: Parse<readonly string[]> = (input, ask) => {
  const unknown = input.split(FORM.separator).flatMap((url) => {
    const events = eventsInUrl(url.trim())
    return events === null ? [] : readChoice(events).unknown
  })
  // The message names only the known kinds, and repeats no part of the URL.
  if (unknown.length > 0) return ask.refuse(`has unknown events for mail: after events= write ${CHOICE_FORM}`)
  const urls = httpUrls(URLS_MAX, FORM)(input, ask)
  if (new Set(urls).size < (urls?.length ?? 0)) ask.refuse('has a URL twice')
  return urls
}

const choices: Parse<readonly Choice[]> = (input, ask) => {
  const entries = input.split(BETWEEN_CHOICES).map(readChoice)
  const unknown = entries.flatMap((choice) => choice.unknown)
  if (unknown.length === 0) return entries.map(({ kinds }) => kinds)
  return ask.refuse(`contains ${unknown.map(shown).join(', ')}, which is not a kind of event: write ${CHOICE_FORM}`)
}

const signingSecrets: Parse<readonly string[]> = (input, ask) => {
  const secrets = partsOf(input)
  if (secrets.length > SECRETS_MAX)
    return ask.refuse(
      `has ${secrets.length} secrets, but at most ${SECRETS_MAX} are allowed: the new one and the previous one`,
    )
  return secrets.every(isSigningSecret) ? secrets : ask.refuse(`is not a signing secret: ${REMEDY}`)
}

export const WEBHOOKS = {
  title: 'Webhooks',
  text: 'Settings marked 🌱 fill a ledger that never had an endpoint; later `node-ledger webhooks` adds and removes them.',
  settings: {
    WEBHOOK_URL: {
      parse: endpointUrls,
      secret: 'url',
      first: true,
      example: 'https://hooks.example.org/node-ledger',
      text: 'Where the service sends events (docs/WEBHOOKS.md): URLs, separated by commas; for mail `smtps://user:password@host?from=…&to=…`.',
    },
    WEBHOOK_SECRET: {
      parse: signingSecrets,
      secret: true,
      first: true,
      text: 'The secret that signs events by Standard Webhooks: `whsec_` and the base64 of 24 to 64 random bytes. While you rotate it, write the new one and the previous one, separated by a comma. Required if a `WEBHOOK_URL` is neither a chat’s own nor mail.',
    },
    WEBHOOK_EVENTS: {
      parse: choices,
      show: (each: readonly Choice[]) => each.map(choiceText).join(BETWEEN_CHOICES),
      first: true,
      example: 'payment.held,funds.low',
      text: 'The kinds of events to send, separated by commas, or `all`. Give one list for all of `WEBHOOK_URL`, or one for each in its order, separated by `/`. By default an endpoint gets all, and mail those that need a person.',
    },
    WEBHOOK_ALLOW_PRIVATE: {
      parse: onOff,
      default: 'false',
      text: 'Allows receivers at private addresses, and connections to them without TLS.',
    },
  },
} satisfies SettingGroup
