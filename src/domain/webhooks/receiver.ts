// What a receiver's URL means: a chat's own webhook, a mail server, or a receiver of signed events. Owns the form of a mail server's URL:
// smtps://user:password@host:465?from=a@example.org&to=b@example.org&to=c@example.org&events=payment.held,funds.low
import { kindsOf, readChoice } from './choice.ts'
import { KINDS } from './kinds.ts'

/** The name of the text field in a chat's webhook, by host. */
const CHATS: Readonly<Record<string, string>> = {
  'hooks.slack.com': 'text',
  'discord.com': 'content',
  'api.telegram.org': 'text',
}

/** Kinds that tell a person they no longer need to act. */
const ENDS = ['passes.resumed', 'signer.restored']
/** What we mail unless the URL lists kinds: events that need a person, and events that report that the need is over. */
const MAILED: readonly string[] = Object.entries(KINDS).flatMap(([type, { asks }]) =>
  asks || ENDS.includes(type) ? [type] : [],
)

const ADDRESS = /^[^\s<>()[\],;:@"\\]{1,64}@[A-Za-z0-9.-]{1,253}$/
const RECIPIENTS_MAX = 10
/** The standard mail ports: with TLS from the first byte, and with STARTTLS. */
const TLS_PORT = 465
const STARTTLS_PORT = 587

/** A mail server, and its recipients. The password is not here, because it is the endpoint's secret. */
export interface MailTarget {
  host: string
  port: number
  /** True for TLS from the first byte, false for STARTTLS. */
  tls: boolean
  /** Null if the server needs no sign-in. */
  user: string | null
  from: string
  to: readonly string[]
  /** The kinds of events to mail. */
  events: readonly string[]
}

/** The text field of a chat's webhook; null for any other receiver. */
export const chatField = (url: string): string | null => CHATS[new URL(url).hostname] ?? null

/** True for the URL of a mail server, complete or not. */
export const isMail = (url: string): boolean => /^smtps?:\/\//i.test(url)

/** True if we sign events; chats and mails have no place for a signature. */
export const isSigned = (url: string): boolean => !isMail(url) && chatField(url) === null

/** The mail server in a URL; null if the URL is not a complete mail server's. */
export function mailTargetOf(text: string): MailTarget | null {
  if (!isMail(text) || !URL.canParse(text)) return null
  // A plus is part of an address here; only forms read it as a space.
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(text.replaceAll('+', '%2B'))
  const tls = protocol === 'smtps:'
  const user = decoded(username)
  const from = String(searchParams.get('from'))
  const to = searchParams.getAll('to')
  const events = searchParams.get('events')
  const { kinds, unknown } = events === null ? { kinds: MAILED, unknown: [] } : readChoice(events)
  const isWhole =
    hostname !== '' &&
    user !== null &&
    decoded(password) !== null &&
    /^\/?$/.test(pathname) &&
    searchParams.getAll('from').length === 1 &&
    to.length > 0 &&
    to.length <= RECIPIENTS_MAX &&
    [from, ...to].every((address) => ADDRESS.test(address)) &&
    unknown.length === 0 &&
    [...searchParams.keys()].every((name) => ['from', 'to', 'events'].includes(name))
  if (!isWhole) return null
  return {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port: port !== '' ? Number(port) : tls ? TLS_PORT : STARTTLS_PORT,
    tls,
    user: user === '' ? null : user,
    from,
    to,
    events: kindsOf(kinds),
  }
}

/** The kinds of events in a mail server's URL, as text; null if it lists none, or if the URL is not a mail server's. */
export const eventsInUrl = (url: string): string | null =>
  isMail(url) && URL.canParse(url) ? new URL(url).searchParams.get('events') : null

/** A URL as we store it, and its secrets: a mail server's password, or the signing secrets. */
export function receiverOf(url: string, secrets: readonly string[]): { url: string; secrets: readonly string[] } {
  if (!isMail(url)) return { url, secrets: isSigned(url) ? secrets : [''] }
  const bare = new URL(url)
  const password = decoded(bare.password) ?? ''
  bare.password = ''
  return { url: bare.href, secrets: [password] }
}

/** A decoded part of a URL; null if its percent signs are invalid. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}
