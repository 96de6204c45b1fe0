// Listens for changes of the ledger: LISTEN on a connection of its own that bypasses any pooler. While that connection is lost, we may miss changes,
// so no memoised value can be trusted. `live` is false then.
import postgres from 'postgres'
import type { Log } from '../../lib/log.ts'
import { placeOf } from './sql.ts'

/** How long we wait before reopening a lost connection. Until then reads go to the database, which can take the load. */
const RETRY_MS = 1_000
/** The keep-alive interval: within twice this time we notice a connection that died silently (a dropped network). */
const PING_MS = 2_000

export interface LedgerNotifications {
  /** True while it cannot miss a change. */
  live(): boolean
  /** Calls `listener` on every change, and when listening stops or resumes. */
  subscribe(listener: () => void): void
  close(): Promise<void>
}

/** Starts to listen on a direct connection; returns immediately. `live` turns true once it listens. */
export function listenForChanges(directUrl: string, log: Log): LedgerNotifications {
  const listeners: (() => void)[] = []
  const notify = () => {
    for (const listener of listeners) listener()
  }
  let ear: Listener | null = null
  let retry: NodeJS.Timeout | undefined
  const open = () => {
    ear = openListener(directUrl, {
      heard: notify,
      lost: (error) => {
        ear = null
        log.warn(
          { err: error },
          'the connection that listens for ledger changes is lost: nothing is memoised until it is back',
        )
        notify()
        retry = setTimeout(open, RETRY_MS)
        retry.unref()
      },
    })
  }
  open()
  return {
    live: () => ear?.live() ?? false,
    subscribe: (listener) => {
      listeners.push(listener)
    },
    close: async () => {
      clearTimeout(retry)
      await ear?.close()
    },
  }
}

interface ListenerEvents {
  heard(): void
  lost(error: unknown): void
}

interface Listener {
  live(): boolean
  close(): Promise<void>
}

/** One connection's life: calls `heard` on every change and once it listens, and `lost` once, when it ended unexpectedly. */
function openListener(url: string, on: ListenerEvents): Listener {
  let live = false
  let hasEnded = false
  const end = async () => {
    hasEnded = true
    live = false
    clearInterval(ping)
    await sql.end({ timeout: 0 })
  }
  const lose = (error: unknown) => {
    if (hasEnded) return
    // Not awaited, because a lost connection needs no orderly end.
    end().catch(() => {})
    on.lost(error)
  }
  const options = {
    ...placeOf(url),
    max: 1,
    prepare: false,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => lose(new Error('the listening connection was closed')),
    // postgres.js passes this through, though its types do not name it.
    onnotify: () => on.heard(),
    connection: { application_name: 'node-ledger listen' },
  }
  const sql = postgres(options as unknown as postgres.Options<Record<string, never>>)
  let isWaiting = false
  const ping = setInterval(() => {
    if (isWaiting) return lose(new Error('the listening connection does not answer'))
    isWaiting = true
    // A read-only server has no changes to report. The primary must be another server by now, so we resolve its name again.
    sql<{ readOnly: string }[]>`SELECT current_setting('transaction_read_only') AS "readOnly"`.then(([row]) => {
      isWaiting = false
      if (row?.readOnly === 'on') lose(new Error('the listening connection leads to a read-only server'))
    }, lose)
  }, PING_MS)
  ping.unref()
  const listening = sql`LISTEN ledger`
  listening.then(() => {
    if (hasEnded) return
    live = true
    // We may have missed earlier changes.
    on.heard()
  }, lose)
  return { live: () => live, close: end }
}
