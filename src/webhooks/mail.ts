// Mails events through the operator's own server. Events that wait at the same time go into one mail. It requires TLS, unless the operator allows
// receivers in their own network. It checks the server's address when it connects, as for any other receiver. It must never log a URL or a password.
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { KINDS, type Kind, linksOf, type Told } from '../domain/webhooks/kinds.ts'
import type { MailTarget } from '../domain/webhooks/receiver.ts'
import { inTime, Overdue } from '../lib/deadline.ts'
import { messageOf } from '../lib/errors.ts'
import { linesOf, sentenceOf } from './chat.ts'
import { ERROR_TEXT_MAX, type PostResult, resultSince } from './post.ts'
import { assertNoPrivateLiteral, publicLookup, TargetError } from './target.ts'

/** The time limit. Mail servers greet slowly to deter spammers. The lease of a delivery is longer than this. */
const TIMEOUT_MS = 30_000

export interface Mail {
  target: MailTarget
  password: string
  /** The events with their ids, oldest first. */
  events: readonly { id: string; notice: Told }[]
  /** The origin of the pages that the mail links to. */
  publicUrl: string
}

/** Sends these events as one mail. */
export async function sendMail(
  mail: Mail,
  { allowPrivate, timeoutMs = TIMEOUT_MS }: { allowPrivate: boolean; timeoutMs?: number },
): Promise<PostResult> {
  const resultOf = resultSince(performance.now())
  let socket: Socket | null = null
  const attempt = async () => {
    socket = await openSocket(mail.target, allowPrivate)
    return await handOver(mail, socket, allowPrivate)
  }
  try {
    return resultOf(await inTime('the mail server', timeoutMs, attempt()), null)
  } catch (error) {
    const { responseCode } = error as { responseCode?: number }
    const text = error instanceof Overdue ? `did not answer within ${timeoutMs / 1000} s` : messageOf(error)
    return resultOf(responseCode ?? null, (text || 'no answer').slice(0, ERROR_TEXT_MAX), error instanceof TargetError)
  } finally {
    // Also closes the socket if we stopped waiting, so that nothing continues in the background.
    ;(socket as Socket | null)?.destroy()
  }
}

/** A connection to the server, if its address is allowed. */
async function openSocket({ host, port }: MailTarget, allowPrivate: boolean): Promise<Socket> {
  if (!allowPrivate) assertNoPrivateLiteral(host)
  const socket = connect({ host, port, ...(allowPrivate ? {} : { lookup: publicLookup }) })
  await once(socket, 'connect')
  return socket
}

/** Hands the mail over to the server. @returns the code of its reply. */
async function handOver(mail: Mail, socket: Socket, allowPrivate: boolean): Promise<number> {
  const { createTransport } = await import('nodemailer')
  const { host, port, tls, user, from, to } = mail.target
  const name = new URL(mail.publicUrl).hostname
  const transport = createTransport({
    host,
    port,
    name,
    connection: socket,
    secure: tls,
    disableFileAccess: true,
    disableUrlAccess: true,
    // Password and text may go unencrypted only inside the operator's own network, and only if the server offers no TLS.
    requireTLS: !tls && !allowPrivate,
    ...(isIP(host) === 0 ? { tls: { servername: host } } : {}),
    ...(user === null ? {} : { auth: { user, pass: mail.password } }),
  })
  const { response } = await transport.sendMail({
    from,
    to: [...to],
    subject: subjectOf(mail, name),
    text: textOf(mail),
    // If the mail is sent again it has the same id, so a program can recognise it.
    messageId: `<${mail.events[0]?.id}.${mail.events.length}@${name}>`,
    headers: { 'auto-submitted': 'auto-generated', 'x-node-ledger-events': mail.events.map(({ id }) => id).join(' ') },
  })
  return Number(response.slice(0, 3))
}

function subjectOf({ events }: Mail, name: string): string {
  const [first] = events
  const kind: Kind | undefined = KINDS[first?.notice.type ?? '']
  const words = kind?.words ?? first?.notice.type ?? ''
  return `[${name}] ${words}${events.length > 1 ? ` (and ${events.length - 1} more)` : ''}`
}

function textOf({ events, publicUrl }: Mail): string {
  const parts = events.map(({ id, notice }) =>
    [sentenceOf(notice), ...linesOf(linksOf(notice, publicUrl)), `${notice.timestamp}  ${notice.type}  ${id}`].join(
      '\n',
    ),
  )
  return `${parts.join('\n\n')}\n\n-- \nSent by Node Ledger. "node-ledger webhooks remove" stops these mails.\n`
}
