// Storing a range: src/follower/store.ts stores all of it or nothing. By docs/ARCHITECTURE.md (Following) it stores nothing if the ledger's place, a cohort whose events it has, or
// what it watched has changed since it was read.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { sortNew, storeRange } from '../../../src/follower/store.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, at, openTables, poolAfter, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter, nothing } from './chains.ts'
import type { Block } from './follow.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const CURSOR = 10
const BLOCKS = blocksAfter(null, 20, 0)
const [MINTER, OTHER] = [account(0x51), account(0x52)]
const pending = (id: number, sender: string) => ({
  ...{ id, sender, nonce: id, kind: 'credit', state: 'pending', call: '{}', gas_limit: 1, valid_until: 9_999 },
})
const tier = (id: string, tierNo: number, priceWei: bigint) => ({
  ...{ tier_id: id, version: 1, tier_no: tierNo, label: id, price_wei: priceWei, max_per_wallet: 9, payout_bps: 1 },
  ...{ on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test' },
})
const wallet = (id: number) => ({
  ...{ id: 100 + id, wallet: account(id), from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' },
})
const LAST = BLOCKS[CURSOR + 2] as Block
/** A tier's next version, which was entered before its first block was known. */
const begins = { ...tier('basic', 1, 5_000n), version: 2, live: false, from_block: 99, from_time: LAST.time }
const rowsOf = (hasCursor: boolean, hasVersion: boolean): Rows => ({
  cursors: hasCursor
    ? [{ name: 'follow', block_number: CURSOR, block_hash: BLOCKS[CURSOR]?.hash ?? '', block_time: 1_120 }]
    : [],
  blocks: hasCursor
    ? BLOCKS.slice(5, CURSOR + 1).map(({ parentHash, ...one }) => ({ ...one, parent_hash: parentHash }))
    : [],
  payment_wallets: [wallet(1), wallet(2)],
  tiers: [tier('basic', 1, 5_000n), ...(hasVersion ? [begins] : [])],
  cohorts: [
    { cohort: 1, tier_no: 1, interval_sec: 60, next_due: 9_000, size: 1, block_number: 1, block_hash: word(1) },
  ],
  outbox: [pending(101, MINTER)],
})

interface Meanwhile {
  run: (sql: Sql) => Promise<unknown>
  spoils: 'all' | 'events' | 'none'
}
const enter = (sql: Sql, fromTime: number) => sql`
  INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, payout_bps, on_sale, live, from_block, from_time, entered_by)
  VALUES ('basic', 3, 1, 'basic', 5000, 9, 1, true, false, 99, ${fromTime}, 'test')`
/** What happens in the ledger between the reading of a range and its storing, and whether the range is worth nothing then. */
const MEANWHILE: Record<string, Meanwhile> = {
  another: { run: (sql) => sql`UPDATE cursors SET block_hash = ${word(3)}`, spoils: 'all' },
  first: {
    run: (sql) =>
      sql`INSERT INTO cursors VALUES ('follow', 8, ${word(3)}, 1_000) ON CONFLICT (name) DO UPDATE SET block_hash = ${word(3)}`,
    spoils: 'all',
  },
  entered: {
    run: (sql) =>
      sql`INSERT INTO payment_wallets (id, wallet, from_block, from_time, watched_from, entered_by) OVERRIDING SYSTEM VALUE VALUES (900, ${account(3)}, 0, 0, 0, 'test')`,
    spoils: 'all',
  },
  closed: {
    run: (sql) =>
      sql`UPDATE payment_wallets SET closed_block = 30, closed_at = now(), closed_by = 'test' WHERE id = 102`,
    spoils: 'all',
  },
  sends: {
    run: (sql) =>
      sql`INSERT INTO outbox (id, kind, sender, nonce, call, gas_limit, valid_until) OVERRIDING SYSTEM VALUE VALUES (900, 'credit', ${OTHER}, 4, '{}', 1, 9999)`,
    spoils: 'all',
  },
  sendsMore: {
    run: (sql) =>
      sql`INSERT INTO outbox (id, kind, sender, nonce, call, gas_limit, valid_until) OVERRIDING SYSTEM VALUE VALUES (900, 'credit', ${MINTER}, 5, '{}', 1, 9999)`,
    spoils: 'none',
  },
  sentAll: { run: (sql) => sql`DELETE FROM outbox`, spoils: 'none' },
  cheaper: { run: (sql) => sql`UPDATE tiers SET price_wei = 4_000`, spoils: 'all' },
  slightlyCheaper: { run: (sql) => sql`UPDATE tiers SET price_wei = 4_001`, spoils: 'none' },
  dearer: { run: (sql) => sql`UPDATE tiers SET price_wei = 9_000`, spoils: 'none' },
  begins: { run: (sql) => enter(sql, LAST.time), spoils: 'all' },
  beginsLater: { run: (sql) => enter(sql, LAST.time + 1), spoils: 'none' },
  grown: { run: (sql) => sql`UPDATE cohorts SET size = 2`, spoils: 'events' },
}

/** While a range is stored, no other session may enter a version, a wallet or a cursor. */
async function compareLocks(sql: Sql, { hasCursor, isDue, isSpoilt }: Record<string, boolean>): Promise<void> {
  const [locked] = await sql`
    SELECT bool_or(relation = 'tiers'::regclass AND mode = 'ShareRowExclusiveLock') AS tiers,
      bool_or(relation = 'payment_wallets'::regclass AND mode = 'ShareLock') AS wallets,
      (SELECT bool_and(xmax <> 0) FROM cursors) AS cursor
    FROM pg_locks WHERE pid = pg_backend_pid()`
  assert.equal(locked?.tiers, isDue)
  if (!hasCursor) assert.equal(locked?.wallets, true)
  if (hasCursor && isSpoilt) assert.equal(locked?.cursor, true)
}

const drawnStore = fc.record({
  hasCursor: fc.constantFrom(true, true, false),
  kind: fc.constantFrom('nothing', ...Object.keys(MEANWHILE)),
  hasEvent: fc.boolean(),
  readsAll: fc.boolean(),
  hasVersion: fc.constantFrom(false, false, true),
})
type DrawnStore = typeof drawnStore extends fc.Arbitrary<infer T> ? T : never
/** True if some version of a tier begins in the range: without a cursor, even the first one. It gives each of them its first block. */
const isDueIn = ({ hasCursor, hasVersion }: DrawnStore) => hasVersion || !hasCursor

function meanwhileOf(given: DrawnStore): Meanwhile {
  const { hasCursor, kind, readsAll } = given
  // Without a cursor there is none that could be another.
  if (kind === 'nothing' || (kind === 'another' && !hasCursor)) return { run: async () => undefined, spoils: 'none' }
  const one = MEANWHILE[kind] as Meanwhile
  const isFine = (readsAll && kind === 'cheaper') || (isDueIn(given) && kind === 'begins')
  return isFine ? { ...one, spoils: 'none' } : one
}

/** The later versions, and the block from which each is in force. */
function versionsOf({ hasVersion, kind }: DrawnStore, isSpoilt: boolean) {
  const begin = (version: number, isLater: boolean) => ({ version, from: isSpoilt || isLater ? 99 : LAST.number })
  const isEntered = kind === 'begins' || kind === 'beginsLater'
  return [...(hasVersion ? [begin(2, false)] : []), ...(isEntered ? [begin(3, kind === 'beginsLater')] : [])]
}

test('a range is stored only if nothing for which it was read has changed', async () => {
  const compare = async (given: DrawnStore) => {
    const { hasCursor, kind, hasEvent, readsAll } = given
    const { run, spoils } = meanwhileOf(given)
    const watching = {
      wallets: [1, 2].map((id) => ({ wallet: account(id), watchedFrom: 0, closedBlock: null })),
      signers: [MINTER],
      // A range for which every transfer was read has no least value.
      ...(readsAll ? {} : { leastWei: 5n }),
    }
    const last = LAST
    const place = { blockNumber: last.number, blockHash: last.hash, blockTime: last.time, txHash: word(7), txIndex: 0 }
    const event = { ...place, logIndex: 0, kind: 'ownerAct', name: 'Paused', detail: {} }
    const range = {
      ...nothing,
      watching,
      blocks: BLOCKS.slice(CURSOR + 1, CURSOR + 3),
      events: hasEvent ? [event] : [],
    }
    const isSpoilt = spoils === 'all' || (spoils === 'events' && hasEvent)
    const cursor = hasCursor ? { number: CURSOR, hash: BLOCKS[CURSOR]?.hash, time: 1_120 } : null
    const { number, hash, time } = last
    const before = { last: hasCursor ? CURSOR : null, acts: 0, cursor: cursor?.number ?? (kind === 'first' ? 8 : null) }
    await tables.within(rowsOf(hasCursor, given.hasVersion), async (sql) => {
      const ctx = { pool: poolAfter(sql, run), chain: {}, log: silentLog, minter: null, distributor: null }
      const stored = await storeRange(ctx as never, range as never, cursor as never, number)
      assert.deepEqual(stored, isSpoilt ? null : { cursor: { number, hash, time }, detected: 0, minted: 0 })
      const [found] = await sql`
        SELECT max(number) AS last, (SELECT count(*) FROM owner_acts)::int AS acts, (SELECT max(block_number) FROM cursors) AS cursor
        FROM blocks`
      assert.deepEqual({ ...found }, isSpoilt ? before : { last: number, acts: hasEvent ? 1 : 0, cursor: number })
      const versions = await sql`SELECT version, from_block AS "from" FROM tiers WHERE version > 1 ORDER BY 1`
      assert.deepEqual(
        versions.map((row) => ({ ...row })),
        versionsOf(given, isSpoilt),
      )
      await compareLocks(sql, { hasCursor: before.cursor !== null, isDue: isDueIn(given), isSpoilt })
    })
  }
  await fc.assert(fc.asyncProperty(drawnStore, compare), { numRuns: cases(120) })
})

test('a transfer that was a payment before a reorganisation stays one, whatever it is now', async () => {
  const transfer = fc.record({
    valueWei: fc.constantFrom(0n, 1n, 4n, 5n, 5_000n),
    succeeded: fc.boolean(),
    wasPayment: fc.boolean(),
  })
  const compare = async (all: (typeof transfer extends fc.Arbitrary<infer T> ? T : never)[], hasTier: boolean) => {
    const transfers = all.map(({ valueWei, succeeded }, n) => ({
      valueWei,
      succeeded,
      txHash: word(100 + n),
      blockNumber: 12,
    }))
    const former = all.flatMap(({ wasPayment, valueWei, succeeded }, n) =>
      wasPayment ? [{ n, valueWei, succeeded }] : [],
    )
    const rows: Rows = {
      payments: former.map(({ n, valueWei, succeeded }) => ({
        ...{
          id: 1 + n,
          ref: word(100 + n),
          tx_hash: word(100 + n),
          wallet: account(1),
          from_address: account(2),
          state: 'orphaned',
        },
        ...{ value_wei: valueWei, succeeded, block_time: at(1_000), tx_index: 0 },
      })),
    }
    const kindOf = ({ valueWei, succeeded, wasPayment }: (typeof all)[number]) => {
      if (valueWei === 0n) return 'zero'
      if (wasPayment || !hasTier || valueWei >= 5n) return 'payments'
      return succeeded ? 'dust' : 'zero'
    }
    await tables.within(rows, async (sql) => {
      const tiers = hasTier ? [{ priceWei: 5_000n, fromBlock: 12 }] : []
      const sorted = await sortNew(sql, transfers as never, tiers as never)
      const found = Object.entries(sorted).flatMap(([kind, some]) =>
        some.map(({ txHash }: { txHash: string }) => `${txHash} ${kind}`),
      )
      const expected = all.map((one, n) => `${word(100 + n)} ${kindOf(one)}`)
      assert.deepEqual(found.sort(), expected.sort())
    })
  }
  await fc.assert(fc.asyncProperty(fc.array(transfer, { maxLength: 4 }), fc.boolean(), compare), { numRuns: cases(60) })
})
