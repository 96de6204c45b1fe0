// Reports wrong admin keys to the operator. It counts each wrong key, and writes one row to the audit log if there are many within ten minutes. It
// must never store the key.
import type { Pool } from '../../../db/core/sql.ts'
import { writeAudit } from '../../../db/core/state.ts'
import type { Log } from '../../../lib/log.ts'
import type { HttpMeters } from '../../deps.ts'

/** We report wrong keys from this number on. A person who mistypes stays below it, and so does a script that gives up after its key was changed. */
const TOLD_FROM = 20
const WINDOW_MS = 600_000

interface WrongKeysDeps {
  readonly sql: Pool
  readonly meters?: HttpMeters
  readonly monotonicClock: () => number
  readonly log: Log
}

/** Builds the function to call for each wrong key. */
export function wrongKeyTeller({ sql, meters, monotonicClock, log }: WrongKeysDeps): () => void {
  let began = Number.NEGATIVE_INFINITY
  let count = 0
  return () => {
    meters?.wrongAdminKey?.()
    const now = monotonicClock()
    if (now - began >= WINDOW_MS) {
      began = now
      count = 0
    }
    count++
    // Reports once per window and instance.
    if (count !== TOLD_FROM) return
    log.warn({ count }, 'repeated attempts with wrong admin keys')
    const detail = { count, withinSec: Math.ceil((now - began) / 1000) }
    writeAudit(sql, { actor: 'pass', action: 'wrongAdminKeys', detail }).catch((err) =>
      log.warn({ err }, 'could not record wrong admin keys'),
    )
  }
}
