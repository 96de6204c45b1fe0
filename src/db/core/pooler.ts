// Detects a pooler between the service and PostgreSQL. A pooler that lends a server connection for a transaction (PgBouncer) silently loses session
// state: LISTEN, advisory locks, and in older versions prepared statements.
import { connect } from './sql.ts'

/** A pooler invents the process id that it reports to clients, so the server's own answer differs. */
async function isPooled(url: string): Promise<boolean> {
  const connection = connect(url, { max: 1, prepare: false, applicationName: 'node-ledger pooler check' })
  try {
    const result = await connection<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    return result[0]?.pid !== (result as unknown as { state: { pid: number } }).state.pid
  } finally {
    await connection.end({ timeout: 1 })
  }
}

/** Whether locks, notifications and prepared statements are safe on the path to the database. */
export async function lookAtPooler(
  { url, directUrl }: { url: string; directUrl: string },
  prepare: boolean,
): Promise<{ says: string; warn?: string; fail?: string; reading: object }[]> {
  const pooled = await isPooled(url)
  const reading = { pooled, directPooled: url === directUrl ? pooled : await isPooled(directUrl), prepare }
  const lost = {
    says: 'locks and notifications go through a pooler, where they get lost',
    fail: 'Set DATABASE_DIRECT_URL to PostgreSQL itself, past the pooler.',
    reading,
  }
  const prepared = {
    says: 'statements are prepared behind a pooler',
    warn: 'Set DATABASE_PREPARE=false, unless your pooler knows prepared statements (PgBouncer from 1.21 on, with max_prepared_statements).',
    reading,
  }
  const found = [...(reading.directPooled ? [lost] : []), ...(pooled && prepare ? [prepared] : [])]
  if (found.length > 0) return found
  return [{ says: pooled ? 'pooled; locks go past the pooler' : 'straight to PostgreSQL', reading }]
}
