// Hears when the ledger changes: LISTEN on a connection of its own, past any pooler. Owns that connection and whether it
// can be relied on. While it is lost nobody may trust what he memoised, and it says so.
import postgres from 'postgres'
import type { Log } from '../lib/log.ts'

/** A lost connection is sought again after this long; meanwhile reads go to the database, which they can stand. */
const RETRY_MS = 1_000
/** A connection that died without a word (a dropped network) is noticed within twice this. */
const PING_MS = 2_000

export interface LedgerChanges {
  /** True while every change is sure to be heard. */
  live(): boolean
  /** Calls back on every change, and when hearing them stops or begins again. */
  subscribe(listener: () => void): void
  close(): Promise<void>
}

/** Begins to listen on a direct connection; answers at once, and `live` tells when it hears. */
export function listenForChanges(directUrl: string, log: Log): LedgerChanges {
  const listeners: (() => void)[] = []
  const tell = () => {
    for (const listener of listeners) listener()
  }
  let ear: Ear | null = null
  let retry: NodeJS.Timeout | undefined
  const open = () => {
    ear = openEar(directUrl, {
      heard: tell,
      lost: (error) => {
        ear = null
        log.warn({ err: error }, 'not hearing of ledger changes: nothing is memoised until they are heard again')
        tell()
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

interface Ear {
  live(): boolean
  close(): Promise<void>
}

/** One connection's life: `heard` on every change and once it begins to hear, `lost` once, when it ended by itself. */
function openEar(url: string, on: { heard: () => void; lost: (error: unknown) => void }): Ear {
  let live = false
  let ended = false
  const end = async () => {
    ended = true
    live = false
    clearInterval(ping)
    await sql.end({ timeout: 0 })
  }
  const lose = (error: unknown) => {
    if (ended) return
    // Not awaited: what is lost need not be said goodbye to.
    end().catch(() => {})
    on.lost(error)
  }
  const options = {
    max: 1,
    prepare: false,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => lose(new Error('the listening connection was closed')),
    // postgres.js hands this through, though its types do not name it.
    onnotify: () => on.heard(),
    connection: { application_name: 'node-ledger listen' },
  }
  const sql = postgres(url, options as unknown as postgres.Options<Record<string, never>>)
  let unanswered = false
  const ping = setInterval(() => {
    if (unanswered) return lose(new Error('the listening connection does not answer'))
    unanswered = true
    sql`SELECT 1`.then(() => {
      unanswered = false
    }, lose)
  }, PING_MS)
  ping.unref()
  sql`LISTEN ledger`.then(() => {
    if (ended) return
    live = true
    // Whatever changed before this was not heard.
    on.heard()
  }, lose)
  return { live: () => live, close: end }
}
