// Tries what a pooler between the service and PostgreSQL takes away. One that lends a server connection for a transaction (PgBouncer) silently loses
// session state: LISTEN, advisory locks, and in older versions prepared statements. One that lends it for a session keeps all of it.
import { randomInt } from 'node:crypto'
import { within } from '../../lib/deadline.ts'
import { connect, type Sql } from './sql.ts'

/** Advisory locks of trials. The second number is random, because several instances may start together. */
const TRIAL = 7_340_012
/** Far more than an answer takes. A pooler without a second server connection lets us wait for longer. */
const TRIAL_MS = 5_000

/** How often we use a prepared statement again: more often than there are idle server connections as a rule. */
const TURNS = 8

/** What survives between two statements of one connection. */
interface Kept {
  session: boolean
  prepared: boolean
}

/** Uses a connection twice. In between another one takes the server's connection, if it is free to take. */
async function tryConnections(url: string): Promise<Kept> {
  const open = (prepare: boolean) => connect(url, { max: 1, prepare, applicationName: 'node-ledger pooler check' })
  const connections = [open(false), open(true), open(false)] as const
  const [own, preparing, other] = connections
  const number = randomInt(2 ** 31)
  const use = async (sql: Sql) => {
    const [row] = await sql<{ pid: number; taken: boolean }[]>`
      SELECT pg_backend_pid() AS pid, pg_try_advisory_lock(${TRIAL}::int, ${number}::int) AS taken`
    return row ?? { pid: 0, taken: false }
  }
  const again = (sql: Sql) => sql`SELECT pg_backend_pid() AS pid, ${number}::int AS number`
  const trial = async (): Promise<Kept> => {
    const first = await use(own)
    await again(preparing)
    const outcome = other.begin(async (sql) => {
      const others = await use(sql)
      const [same] = await again(own)
      let isPrepared = true
      // In a transaction, because outside of one the driver prepares a lost statement again. A pooler that takes turns may lend the same server
      // connection a few times.
      for (let turn = 0; isPrepared && turn < TURNS; turn++)
        isPrepared = await preparing.begin(again).then(
          () => true,
          () => false,
        )
      return { session: first.taken && !others.taken && same?.pid === first.pid, prepared: isPrepared }
    })
    return (await outcome) as Kept
  }
  try {
    return await within(TRIAL_MS, trial(), () => ({ session: false, prepared: false }))
  } finally {
    await Promise.all(connections.map((connection) => connection.end({ timeout: 1 })))
  }
}

/** Whether prepared statements are safe on a path. False if the database does not answer there: they only save time. */
export async function keepsPrepared(url: string): Promise<boolean> {
  return await tryConnections(url).then(
    (path) => path.prepared,
    () => false,
  )
}

export interface PoolerFinding {
  readonly says: string
  readonly fail?: string
  /** What gets lost on the paths to the database, and whether its path keeps prepared statements. */
  readonly reading: { readonly pooled: boolean; readonly directPooled: boolean; readonly prepared: boolean }
}

/** Whether locks, notifications and prepared statements are safe on the paths to the database. */
export async function lookAtPooler({ url, directUrl }: { url: string; directUrl: string }): Promise<PoolerFinding> {
  const path = await tryConnections(url)
  const direct = url === directUrl ? path : await tryConnections(directUrl)
  const reading = { pooled: !path.session, directPooled: !direct.session, prepared: path.prepared }
  if (!direct.session) {
    return {
      says: 'a pooler loses our locks and notifications',
      fail: 'Set DATABASE_DIRECT_URL to PostgreSQL itself, past the pooler, or to a pooler in session mode.',
      reading,
    }
  }
  if (path.session) return { says: 'connections keep their sessions', reading }
  const statements = path.prepared
    ? 'it keeps prepared statements'
    : 'statements are not prepared, because it loses them'
  return { says: `pooled; locks go past the pooler; ${statements}`, reading }
}
