// Tries what a pooler between the service and PostgreSQL takes away. One that lends a server connection for a transaction (PgBouncer) silently loses
// session state: LISTEN, advisory locks, and in older versions prepared statements. One that lends it for a session keeps all of it.
import { randomInt } from 'node:crypto'
import { within } from '../../lib/deadline.ts'
import { connect, type Sql } from './sql.ts'

/** Advisory locks of trials. The second number is random, because several instances may start at once. */
const TRIAL = 7_340_012
/** Far more than an answer takes. A pooler without a second server connection lets us wait for longer. */
const TRIAL_MS = 5_000

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
    const kept = other.begin(async (sql) => {
      const others = await use(sql)
      const [same] = await again(own)
      const prepared = await again(preparing).then(
        () => true,
        () => false,
      )
      return { session: first.taken && !others.taken && same?.pid === first.pid, prepared }
    })
    return (await kept) as Kept
  }
  try {
    return await within(TRIAL_MS, trial(), () => ({ session: false, prepared: false }))
  } finally {
    await Promise.all(connections.map((connection) => connection.end({ timeout: 1 })))
  }
}

/** Whether locks, notifications and prepared statements are safe on the path to the database. */
export async function lookAtPooler(
  { url, directUrl }: { url: string; directUrl: string },
  prepare: boolean,
): Promise<{ says: string; warn?: string; fail?: string; reading: object }[]> {
  const kept = await tryConnections(url)
  const direct = url === directUrl ? kept : await tryConnections(directUrl)
  const reading = { pooled: !kept.session, directPooled: !direct.session, prepare }
  const lost = {
    says: 'locks and notifications go through a pooler, where they get lost',
    fail: 'Set DATABASE_DIRECT_URL to PostgreSQL itself, past the pooler, or to a pooler in session mode.',
    reading,
  }
  const prepared = {
    says: 'prepared statements get lost in a pooler',
    warn: 'Set DATABASE_PREPARE=false, or use a pooler that knows them (PgBouncer from 1.21 on, with max_prepared_statements).',
    reading,
  }
  const found = [...(direct.session ? [] : [lost]), ...(prepare && !kept.prepared ? [prepared] : [])]
  if (found.length > 0) return found
  return [{ says: kept.session ? 'connections keep their sessions' : 'pooled; locks go past the pooler', reading }]
}
