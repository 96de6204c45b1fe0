// Objects that the routes share besides the given parts: built once per server.
import { type ContractSnapshot, contractSnapshot } from './contract-snapshot.ts'
import type { HttpDeps } from './deps.ts'
import { createMemo, type Page, pageOf } from './edge/memo.ts'
import { type Ledger, ledgerOf, replicaLedger } from './ledger.ts'
import { originCheck } from './session/origin.ts'
import { Sessions } from './session/session.ts'

export interface Tools {
  deps: HttpDeps
  sessions: Sessions
  /** The public reads' way to the database. */
  read: Ledger
  /** The way to the primary, for what writes or must not lag. */
  ask: Ledger
  snapshot: ContractSnapshot
  /** True if a request's `Origin`, if it has one, is our own. */
  isOwnOrigin: (origin: string | undefined) => boolean
  /**
   * The page of a public read: kept for at most `maxAgeSec` under `key`, which must name the route and every parameter that
   * the text depends on. Answered at once where it is kept. Null where `read` finds nothing.
   */
  page(key: string, maxAgeSec: number, read: () => Promise<string>): Page | Promise<Page>
  page(key: string, maxAgeSec: number, read: () => Promise<string | null>): Page | null | Promise<Page | null>
}

export function buildTools(deps: HttpDeps): Tools {
  const memo = createMemo<Page | null>({
    clock: deps.steady,
    changes: deps.changes,
    bytesOf: (page) => page?.body.length ?? 0,
    observe: deps.meters?.memo,
  })
  const page = (key: string, maxAgeSec: number, read: () => Promise<string | null>) =>
    memo.get(key, maxAgeSec * 1000, async () => {
      const text = await read()
      return text === null ? null : pageOf(text)
    })
  const ask = ledgerOf(deps.sql)
  return {
    deps,
    ask,
    read: deps.readSql === deps.sql ? ask : replicaLedger(deps.readSql, ask, deps),
    sessions: new Sessions(deps.settings, deps.clock),
    snapshot: contractSnapshot(deps.readings, deps.steady),
    isOwnOrigin: originCheck(deps.settings.publicUrl),
    page: page as Tools['page'],
  }
}
