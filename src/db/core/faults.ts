// What a database error means, by its code: PostgreSQL's, the driver's or Node's. There is one table, so the service, the commands and the doctor all
// judge an error alike. An error without a row is our own bug.
import { codeOf } from '../../lib/errors.ts'

/**
 * `away`: the database does not answer. `noWrites`: it can be read, but rejects writes. `passing`: it gave up one piece of work, which we may repeat
 * from the start. `closed`: it rejects the login permanently.
 */
type Kind = 'away' | 'noWrites' | 'passing' | 'closed'

export interface DatabaseFault {
  readonly kind: Kind
  /** Follows the words "The database". */
  readonly says: string
  /** What the operator should do. */
  readonly remedy: string
}

/** Queries and settings with which PostgreSQL itself shows who holds a lock, and how long a statement may run. */
const WAITS = "SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
const HOLDERS = 'SELECT usename, application_name, count(*) FROM pg_stat_activity GROUP BY 1, 2'
const limitOf = (setting: string) =>
  `See the role's ${setting} (SHOW ${setting}): ALTER ROLE … SET ${setting} = 0 removes the limit.`
const UP = 'Check that it is up, and that DATABASE_URL is right.'
const LOGIN =
  'Check that its URL (DATABASE_URL, or the one given to this command) has the right user, password and database.'

const PARAMETER = 'Remove it from DATABASE_URL.'
/** Codes that mean a rejected login while connecting, but an error of the statement later. */
const AT_LOGIN = ['42704', '22023']

/** The first row whose text is a prefix of the code applies. */
const FAULTS: readonly (readonly [begin: string, Kind, says: string, remedy: string])[] = [
  [
    ...(['25006', 'noWrites', 'rejects writes: the session is read-only'] as const),
    'Check that DATABASE_URL leads to the primary (SELECT pg_is_in_recovery()), and that default_transaction_read_only is off for this role and database.',
  ],
  ['53100', 'noWrites', 'rejects writes: no space is left on its disk', 'Free or add space on the disk of PostgreSQL.'],
  [
    ...(['53300', 'away', 'has too many connections'] as const),
    `See who holds them (${HOLDERS}); end those, or raise max_connections or the limit of the role or database.`,
  ],
  ['55P03', 'noWrites', 'rejects writes: another session holds a lock', `See who holds it: ${WAITS}.`],
  ['57014', 'passing', 'cancelled a statement', limitOf('statement_timeout')],
  ['25P03', 'passing', 'ended a transaction that was idle', limitOf('idle_in_transaction_session_timeout')],
  ['25P04', 'passing', 'ended a transaction that took too long', limitOf('transaction_timeout')],
  [
    ...(['40001', 'passing', 'could not serialize two transactions'] as const),
    "Leave the role's default_transaction_isolation at read committed (SHOW default_transaction_isolation).",
  ],
  ['40P01', 'passing', 'ended one of two transactions that waited for each other', `See who waits: ${WAITS}.`],
  [
    ...(['42501', 'closed', 'does not permit this user to do that'] as const),
    'Make the user its owner (ALTER DATABASE … OWNER TO …), or GRANT CREATE ON SCHEMA public TO the user: since PostgreSQL 15 only the owner has that right.',
  ],
  ['3F000', 'closed', 'has no schema to create tables in', "See the role's search_path, and that the schema is there."],
  ['08P01', 'closed', 'does not know a parameter of its URL', PARAMETER],
  ['28', 'closed', 'refuses the connection', LOGIN],
  ['3D', 'closed', 'refuses the connection', LOGIN],
  ['53', 'away', 'lacks memory or another resource', 'See its log for what it lacks.'],
  ['57P', 'away', 'ended the connection', 'It is stopping or starting: see its log for why.'],
  ['58', 'away', 'failed with a system error', 'Its log shows which one. Check its disk, too.'],
  ['08', 'away', 'cannot be reached', UP],
]

/** Codes of the driver and of Node if the server cannot be reached. */
const UNREACHED = [
  ...['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT', 'ECONNREFUSED', 'ECONNRESET'],
  ...['EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
]

/** What an error means for the database; null if it does not concern it. */
export function databaseFault(error: unknown): DatabaseFault | null {
  const code = codeOf(error)
  if (code === null) return null
  // A missing socket counts; a missing file has nothing to do with the database.
  const isUnreached =
    code === 'ENOENT' ? (error as NodeJS.ErrnoException).syscall === 'connect' : UNREACHED.includes(code)
  if (isUnreached) return { kind: 'away', says: `cannot be reached (${code})`, remedy: UP }
  if (AT_LOGIN.includes(code) && (error as { severity?: unknown }).severity === 'FATAL')
    return { kind: 'closed', says: 'does not know a parameter of its URL', remedy: PARAMETER }
  const row = code.length === 5 ? FAULTS.find(([begin]) => code.startsWith(begin)) : undefined
  return row ? { kind: row[1], says: row[2], remedy: row[3] } : null
}

/** True if this session is read-only. Another session may not be. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006'

/** True if the database could not be reached, ended the connection or rejects writes. */
export function isDatabaseDown(error: unknown): boolean {
  const kind = databaseFault(error)?.kind
  return kind === 'away' || kind === 'noWrites'
}

/** True if the work may succeed when repeated from the start. The API then answers 503, meaning "try again". */
export const mayPass = (error: unknown): boolean => isDatabaseDown(error) || databaseFault(error)?.kind === 'passing'
