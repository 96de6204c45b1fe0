// Two ledgers, from one of which something is copied to the other, and what the other has afterwards.
import assert from 'node:assert/strict'
import type { Sql } from '../../../src/db/core/sql.ts'
import { account, openTables, type Row, type Rows, word } from '../../db/direct-rows.ts'
import type * as model from './copied.ts'

/** All rows of the tables, each value as text. */
async function dump(sql: Sql, tables: readonly string[]): Promise<model.Ledger> {
  const [row] = await sql.unsafe<{ ledger: model.Ledger }[]>(
    `SELECT jsonb_build_object(${tables
      .map(
        (
          name,
        ) => `'${name}', (SELECT coalesce(jsonb_agg((SELECT jsonb_object_agg(k, v #>> '{}') FROM jsonb_each(to_jsonb(t)) AS e (k, v))), '[]')
          FROM (SELECT * FROM ${name} ${['audit', 'payment_verdicts'].includes(name) ? 'ORDER BY id' : ''}) t)`,
      )
      .join(', ')}) AS ledger`,
  )
  return row?.ledger ?? {}
}

/** Columns that the database fills in. */
const OWN: Record<string, string[]> = {
  ...{ audit: ['id'], payment_verdicts: ['id'], payments: ['updated_at'], residue_traces: ['tried_at'] },
}
/** In the order of their numbers. */
const IN_ORDER = ['audit', 'payment_verdicts']

function plainly(ledger: model.Ledger): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(ledger).map(([name, rows]) => {
      const texts = rows.map((row) =>
        JSON.stringify(
          Object.entries(row)
            .filter(([column]) => !OWN[name]?.includes(column))
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        ),
      )
      return [name, IN_ORDER.includes(name) ? texts : texts.toSorted()]
    }),
  )
}

type Copy = (from: Sql, into: Sql) => Promise<void>
type Read = (old: model.Ledger, own: model.Ledger) => model.Ledger
export interface Pair {
  old: Rows
  own: Rows
}
export type Ledgers = Awaited<ReturnType<typeof openLedgers>>

export async function openLedgers() {
  const [olds, news] = await Promise.all([openTables(), openTables()])
  return {
    within: olds.within,
    close: async () => void (await Promise.all([olds.close(), news.close()])),
    /** Copies, and copies again: both leave what the second reading names. */
    async compare(rows: Pair, run: Copy, read: Read, check?: (own: Sql) => Promise<void>): Promise<void> {
      const tables = [...new Set(['blocks', 'payments', ...Object.keys(rows.old), ...Object.keys(rows.own)])]
      await olds.within(rows.old, (old) =>
        news.within(rows.own, async (own) => {
          const [theirs, ours] = [await dump(old, tables), await dump(own, tables)]
          const expected = plainly(read(theirs, ours))
          for (const time of ['once', 'twice']) {
            await run(old, own)
            assert.deepEqual(plainly(await dump(own, tables)), expected, time)
          }
          await check?.(own)
        }),
      )
    },
  }
}

export const payment = (id: number, more: Row): Row => ({
  ...{ id, tx_hash: word(100 + id), ref: word(id), wallet: account(1), from_address: account(2), value_wei: 5 },
  ...{ succeeded: true, state: 'seen', reason: null, block_number: 5, block_hash: word(5), tx_index: 1 },
  ...{
    block_time: '2026-01-01T00:00:00Z',
    tier_id: null,
    tier_version: null,
    inner_index: 0,
    updated_at: '2026-01-01T00:00:00Z',
  },
  ...more,
})
export const verdictOf = (id: number, paymentId: number, by: string, isWithdrawn: boolean, more: Row = {}): Row => ({
  ...{ id, payment_id: paymentId, verdict: 'dismissed', reason: null, evidence: '{"wei": 12345678901234567890}' },
  ...{ decided_by: by, decided_at: `2026-01-01T00:00:00.00${id}Z` },
  ...{ withdrawn_at: isWithdrawn ? '2026-01-02T00:00:00Z' : null, withdrawn_by: isWithdrawn ? 'ada' : null },
  ...more,
})
/** What no copy touches. */
export const BLOCKS = (salt: number): Row[] => [
  { number: salt, hash: word(salt), parent_hash: word(1), time: salt, prevrandao: word(2) },
]

/** The next row gets a number that no copied one has. */
export async function continues(sql: Sql, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const [row] = await sql.unsafe<{ next: number; last: number | null }[]>(
      `SELECT nextval(pg_get_serial_sequence('${table}', 'id')) AS next, (SELECT max(id) FROM ${table}) AS last`,
    )
    if (row?.last) assert.equal(row.next, row.last + 1, table)
  }
}
