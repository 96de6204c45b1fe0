// Detects a pooler between the service and PostgreSQL. A pooler that lends a server connection for a transaction (PgBouncer) silently loses
// session state: LISTEN, advisory locks, and in older ones prepared statements.
import { connect } from './sql.ts'

/** A pooler makes up the process number it reports to clients; the server's own answer differs then. */
export async function isPooled(url: string): Promise<boolean> {
  const connection = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger pooler check' })
  try {
    const result = await connection<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    return result[0]?.pid !== (result as unknown as { state: { pid: number } }).state.pid
  } finally {
    await connection.end({ timeout: 1 })
  }
}
