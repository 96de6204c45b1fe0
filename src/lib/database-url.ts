// Reads a PostgreSQL URL as libpq does, as far as the driver can honour it. What the driver cannot honour is refused by name: if we ignored a
// parameter, we might reach another database, or make a connection that is less safe than the operator wants. It must never repeat any part of the
// URL except the name of a parameter.

export interface DatabaseUrl {
  readonly hosts: readonly string[]
  readonly ports: readonly number[]
  /** The directory of a local socket, used instead of the hosts; null for connections over the network. */
  readonly path: string | null
  readonly database: string | null
  readonly user: string | null
  readonly password: string | null
  readonly tls: { readonly mode: string; readonly rootCert?: string; readonly cert?: string; readonly key?: string }
  /** Which of several hosts to use; null if there is only one. */
  readonly session: string | null
  /** True if a pooler is in between that does not support prepared statements. */
  readonly pooled: boolean
  /** Parameters that the server sets for each session. */
  readonly parameters: Readonly<Record<string, string>>
}

const FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#\s]*)@)?([^@/?#\s]*)(?:\/([^/?#\s]*))?(?:\?(\S*))?$/
const HOST = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::([0-9]{1,5}))?$/
const PORT = '5432'
const SESSIONS = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby']
const NO_URL =
  'is no PostgreSQL URL: set it to postgres://user:password@host:5432/database, with special characters of the password percent-encoded'
/** Ignored: these set timeouts or concern other clients, and do not choose the database. */
const PASSED_OVER =
  /^(connect_timeout|keepalives(_\w+)?|tcp_user_timeout|connection_limit|pool_timeout|socket_timeout|statement_cache_size|gssencmode|sslsni|sslcompression|client_encoding|fallback_application_name|load_balance_hosts|uselibpqcompat)$/
/** What to do instead, by the name of the parameter. */
const REFUSED: Readonly<Record<string, string>> = {
  schema: 'set the search_path of the role instead',
  currentSchema: 'set the search_path of the role instead',
  service: 'write out what it stands for',
  servicefile: 'write out what it stands for',
  passfile: 'write the password into the URL, and the URL into a file',
  hostaddr: 'give only the host',
  sslpassword: 'use a key without a password',
  sslcrl: 'the driver reads no such list',
  require_auth: 'the driver signs in as the server asks',
  replication: 'the service is not a replica',
}

/** Parses a URL. The text of a mistake is to be appended to the setting's name. */
export function readDatabaseUrl(text: string): DatabaseUrl | { readonly mistake: string } {
  const [whole, credentials = '', hostsInUrl = '', database = '', query = ''] = FORM.exec(text) ?? []
  if (whole === undefined) return { mistake: NO_URL }
  const parameters = new Map(new URLSearchParams(query.replaceAll('+', '%2B')))
  const take = (name: string) => {
    const value = parameters.get(name) ?? null
    parameters.delete(name)
    return value
  }
  try {
    const [user, ...password] = credentials.split(':')
    const places = placesOf(hostsInUrl || take('host') || 'localhost', take('port') ?? PORT)
    const channelBinding = take('channel_binding')
    const session = take('target_session_attrs')
    const url = {
      ...places,
      database: decodeURIComponent(database) || take('dbname'),
      user: decodeURIComponent(user ?? '') || take('user'),
      password: decodeURIComponent(password.join(':')) || take('password'),
      tls: {
        // As in libpq: TLS if the server has it.
        mode: take('sslmode') ?? take('ssl') ?? 'prefer',
        ...withoutNulls({ rootCert: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') }),
      },
      session: session === 'any' ? null : session,
      pooled: take('pgbouncer') === 'true',
      parameters: Object.fromEntries([...parameters].filter(([name]) => !PASSED_OVER.test(name))),
    }
    const mistake = mistakeOf(url, { session, channelBinding, names: [...parameters.keys()] })
    return mistake === null ? url : { mistake }
  } catch (error) {
    if (error instanceof URIError) return { mistake: 'has a % that begins no percent-encoded character: write %25' }
    if (error instanceof TypeError) return { mistake: NO_URL }
    throw error
  }
}

/** The mistake in a URL that the driver cannot honour; null if there is none. */
function mistakeOf(
  url: DatabaseUrl,
  options: { session: string | null; channelBinding: string | null; names: readonly string[] },
): string | null {
  const parameter = options.names.find((name) => Object.hasOwn(REFUSED, name))
  if (parameter) return `has the parameter ${parameter}, which the driver does not honour: ${REFUSED[parameter]}`
  if (options.channelBinding === 'require')
    return 'has channel_binding=require, but the driver has no channel binding: write sslmode=verify-full instead'
  if (url.session !== null && !SESSIONS.includes(url.session))
    return `has a target_session_attrs that is none of ${SESSIONS.join(', ')}`
  return url.hosts.length > 1 && options.session === null
    ? 'lists several hosts: add target_session_attrs=read-write, so the service always uses the primary'
    : null
}

const withoutNulls = (values: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null))

/** The hosts and ports that a URL lists. Throws a TypeError if an entry is not a host. */
function placesOf(text: string, port: string): Pick<DatabaseUrl, 'hosts' | 'ports' | 'path'> {
  const places = text.split(',').map((place) => {
    const [whole, v6, name, ownPort] = HOST.exec(decodeURIComponent(place)) ?? []
    if (whole === undefined) throw new TypeError('no host')
    return { host: v6 ?? (name || 'localhost'), port: Number(ownPort ?? port) }
  })
  const [first] = places
  const path = first?.host.startsWith('/') && places.length === 1 ? `${first.host}/.s.PGSQL.${first.port}` : null
  return { hosts: places.map(({ host }) => host), ports: places.map((place) => place.port), path }
}

/** The hosts of a URL, for people to read. Contains no credentials. */
export function hostsOf(text: string): string {
  const url = readDatabaseUrl(text)
  if ('mistake' in url) return 'that URL'
  return url.path ?? url.hosts.map((host, i) => `${host.includes(':') ? `[${host}]` : host}:${url.ports[i]}`).join(', ')
}
