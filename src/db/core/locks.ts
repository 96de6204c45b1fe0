// Advisory locks on a connection of their own: one runner of a pass at a time across instances. The connection is pinged; losing it loses
// the lock, and aborts the holder's signal. Locks only save gas and noise: the contract and the unique keys keep money safe.
import { connect, type Sql } from './sql.ts'

/** Advisory lock numbers; any constants will do. */
const KEYS = { payments: 7_340_010, credit: 7_340_011 } as const
export type LockName = keyof typeof KEYS

/** The ping interval of the lock's connection, milliseconds. */
const PING_MS = 2_000
/**
 * The idle timeout after which the server takes the lock from a silent holder. With its own keep-alive it would wait two hours for a host
 * that lost its power, and for ever for a stopped process.
 */
const SILENCE_MS = 15_000

/** `withLock` over the connection that `directUrl` names, which must lead past any pooler. */
export const advisoryLock =
  (directUrl: string) =>
  <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>): Promise<T | null> =>
    withLock(directUrl, name, body)

/**
 * Runs `body` while holding the lock; answers null at once when another session holds it. `signal` aborts when the lock's connection is
 * lost.
 */
export async function withLock<T>(
  directUrl: string,
  name: LockName,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const options = { max: 1, prepare: false, applicationName: `node-ledger lock ${name}`, silenceMs: SILENCE_MS }
  const connection = connect(directUrl, options)
  try {
    return await holdLock(connection, name, body)
  } finally {
    // Ending the session frees the lock, even where the unlock could not be sent.
    await connection.end({ timeout: 1 })
  }
}

/** `withLock` on a connection of the caller's, who frees the lock afterwards. */
export async function holdLock<T>(
  connection: Sql,
  name: LockName,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const [row] = await connection<{ taken: boolean; backend: number }[]>`
    SELECT pg_try_advisory_lock(${KEYS[name]}) AS taken, pg_backend_pid() AS backend`
  if (!row?.taken) return null
  const lost = new AbortController()
  const stillOurs = async () => {
    // The pool reconnects by itself: a different backend means that the lock went with the old one.
    const [now] = await connection<{ backend: number }[]>`SELECT pg_backend_pid() AS backend`
    if (now?.backend !== row.backend) throw new Error(`the connection that held the lock ${name} was lost`)
  }
  const ping = setInterval(() => stillOurs().catch((error: unknown) => lost.abort(error)), PING_MS)
  try {
    return await body(lost.signal)
  } finally {
    clearInterval(ping)
  }
}
