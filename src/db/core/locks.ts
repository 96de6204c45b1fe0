// Advisory locks on a connection of their own, so that only one instance runs a pass at a time. We ping the connection. If we lose it, we lose the
// lock, and the holder's signal aborts. Locks only save gas and noise; the contract and the unique keys keep money safe.
import { connect, type Sql } from './sql.ts'

/** Advisory lock numbers; any constants will do. */
const KEYS = { payments: 7_340_010, credit: 7_340_011 } as const
export type LockName = keyof typeof KEYS

/** The ping interval of the lock's connection, milliseconds. */
const PING_MS = 2_000
/**
 * The idle timeout after which the server takes the lock from a silent holder. With its own keep-alive the server would wait two hours for a host
 * that lost power, and forever for a stopped process.
 */
const SILENCE_MS = 15_000

/** `withLock` over the connection that `directUrl` names, which must bypass any pooler. */
export const advisoryLock =
  (directUrl: string) =>
  <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>): Promise<T | null> =>
    withLock(directUrl, name, body)

/** Runs `body` while holding the lock; returns null immediately if another session holds it. `signal` aborts if the lock's connection is lost. */
export async function withLock<T>(
  directUrl: string,
  name: LockName,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const connection = connect(directUrl, { max: 1, prepare: false, applicationName: `node-ledger lock ${name}` })
  try {
    // By a statement, because a pooler in session mode rejects it when we connect.
    await connection.unsafe(`SET idle_session_timeout = ${SILENCE_MS}`)
    return await holdLock(connection, name, body)
  } finally {
    // Ending the session frees the lock, even if the unlock could not be sent.
    await connection.end({ timeout: 1 })
  }
}

/** `withLock` on the caller's connection. The caller frees the lock afterwards. */
export async function holdLock<T>(
  connection: Sql,
  name: LockName,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const [row] = await connection<{ taken: boolean; backend: number }[]>`
    SELECT pg_try_advisory_lock(${KEYS[name]}) AS taken, pg_backend_pid() AS backend`
  if (!row?.taken) return null
  const loss = new AbortController()
  const stillOurs = async () => {
    // The pool reconnects automatically. If the backend differs, the lock was lost with the old backend.
    const [now] = await connection<{ backend: number }[]>`SELECT pg_backend_pid() AS backend`
    if (now?.backend !== row.backend) throw new Error(`the connection that held the lock ${name} was lost`)
  }
  const ping = setInterval(() => stillOurs().catch((error: unknown) => loss.abort(error)), PING_MS)
  try {
    return await body(loss.signal)
  } finally {
    clearInterval(ping)
  }
}
