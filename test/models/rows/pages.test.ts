// Lists in pages: read with any limit, a list has every row once, newest first, as the second reading says, over random tables in a real database.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { listAudit } from '../../../src/operator/acts/audit.ts'
import { listUnpaid } from '../../../src/operator/acts/grants.ts'
import { readPayments } from '../../../src/operator/acts/payments.ts'
import { listRounds, listTransactions } from '../../../src/operator/acts/transactions.ts'
import { listDeliveries } from '../../../src/operator/acts/webhooks.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { listOf, pagesOf, type Row } from './pages.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const inBlock = { block_number: 5, block_hash: word(5) }
const TIME = at(1_000)
/** Of each kind's states: the row's own is one of two. */
const either = (isFirst: boolean, first: string, second: string) => (isFirst ? first : second)

/** A kind of list: its rows, all of one time and one block, what it answers under, and the filter by state. */
interface Kind {
  act: (deps: never, input: never) => Promise<unknown>
  under: string
  idOf: (row: Record<string, unknown>) => number
  rowsOf: (rows: Row[]) => Rows
  filterOf: (state: string | null) => object
}
const byId = (row: Record<string, unknown>) => Number(row.id)

const KINDS: Record<string, Kind> = {
  payments: {
    ...{ act: readPayments, under: 'payments', idOf: byId },
    rowsOf: (rows) => ({
      payments: rows.map(({ id, state }) => ({
        ...{
          id,
          ref: word(id),
          tx_hash: word(id),
          wallet: account(9),
          from_address: account(1),
          value_wei: 1n,
          succeeded: true,
        },
        ...{ state: either(state === 'first', 'seen', 'held'), reason: state === 'first' ? null : 'soldOut' },
        ...{ tx_index: 0, block_time: TIME, ...inBlock },
      })),
    }),
    filterOf: (state) => ({
      ...{ status: state && either(state === 'first', 'seen', 'held'), reason: null, from: null, tierId: null },
    }),
  },
  transactions: {
    ...{ act: listTransactions, under: 'transactions', idOf: byId },
    rowsOf: (rows) => ({
      outbox: rows.map(({ id, state }) => ({
        ...{
          id,
          kind: 'mint',
          sender: account(5),
          nonce: id,
          call: '{}',
          gas_limit: 1,
          valid_until: 1,
          tx_hash: word(id),
        },
        ...{ state: either(state === 'first', 'mined', 'reverted'), created_at: TIME, ...inBlock },
      })),
    }),
    filterOf: (state) => ({ sender: null, status: state && either(state === 'first', 'mined', 'reverted') }),
  },
  rounds: {
    ...{ act: listRounds, under: 'rounds', idOf: byId },
    rowsOf: (rows) => ({
      rounds: rows.map(({ id, state }) => ({
        ...{ round: id, mode: 'treasury', total_wei: 1n, node_count: 1, tx_hash: word(state === 'first' ? 1 : id) },
        ...{ created_at: TIME, ...inBlock },
      })),
    }),
    filterOf: () => ({}),
  },
  unpaid: {
    ...{ act: listUnpaid, under: 'nodes', idOf: (row) => Number(row.nodeId) },
    rowsOf: (rows) => ({
      nodes: rows.map(({ id }) => ({
        ...{ node_id: id, owner: account(1), cohort: 1, ref: word(id), payment_id: null, per_node_at_mint_wei: 0n },
        ...{ turns_at_mint: 0, mint_tx_hash: word(1), minted_at: TIME, ...inBlock },
      })),
      cohorts: [{ cohort: 1, tier_no: 1, interval_sec: 60, next_due: 0, ...inBlock }],
      grants: rows.flatMap(({ id, state }) =>
        state === 'first' ? [] : [{ ref: word(id), reason: 'meant', granted_by: 'ann' }],
      ),
    }),
    // Nodes without a grant, or all of them.
    filterOf: (state) => ({ open: state === 'first' }),
  },
  audit: {
    ...{ act: listAudit, under: 'entries', idOf: byId },
    rowsOf: (rows) => ({ audit: rows.map(({ id, state }) => ({ id, at: TIME, actor: state, action: 'paused' })) }),
    filterOf: (state) => ({ actor: state, action: null, subject: null }),
  },
  deliveries: {
    ...{ act: listDeliveries, under: 'deliveries', idOf: byId },
    rowsOf: (rows) => ({
      webhook_endpoints: [{ endpoint: 'hook', url: 'https://a.example', secrets: '{a}', added_by: 'ann' }],
      webhook_events: rows.map(({ id }) => ({ seq: 1_000 - id, id: `evt_${id}`, type: 'payment.held', body: '{}' })),
      webhook_deliveries: rows.map(({ id, state }) => ({
        ...{
          id,
          seq: 1_000 - id,
          endpoint: 'hook',
          due_at: TIME,
          state: either(state === 'first', 'delivered', 'failed'),
        },
      })),
    }),
    filterOf: (state) => ({ state: state && either(state === 'first', 'delivered', 'failed'), type: null }),
  },
}

const drawn = fc.record({
  kind: fc.constantFrom(...Object.keys(KINDS)),
  ids: fc.uniqueArray(fc.integer({ min: 1, max: 10 }), { maxLength: 8 }),
  states: fc.array(fc.constantFrom('first', 'second'), { minLength: 8, maxLength: 8 }),
  filter: fc.constantFrom(null, 'first', 'second'),
  /** Rows on a page: one, some, and just all or one more or fewer. */
  limit: fc.constantFrom(1, 2, 2, 3, 'all', 'fewer', 'more', 200),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** Follows the cursors to the last page. */
async function pagesBy(kind: Kind, pool: unknown, filter: object, limit: number): Promise<number[][]> {
  const pages: number[][] = []
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null && value !== false))
  let query: object = { limit, ...asked }
  while (pages.length < 40) {
    const page = (await kind.act({ pool } as never, query as never)) as Record<string, unknown>
    assert.ok(kind.under in page, JSON.stringify(page))
    pages.push((page[kind.under] as Record<string, unknown>[]).map(kind.idOf))
    if (page.nextCursor === null) return pages
    query = { limit, ...asked, cursor: page.nextCursor }
  }
  throw new Error('the pages do not end')
}

async function compare({ kind: name, ids, states, filter, ...given }: Drawn): Promise<void> {
  const kind = KINDS[name] as Kind
  const rows = ids.map((id, n): Row => ({ id, state: states[n] ?? 'first', from: account(1), tierId: null }))
  // Rounds have no filter, and unpaid nodes only that for nodes without a grant.
  const isFiltered = filter !== null && name !== 'rounds' && (name !== 'unpaid' || filter === 'first')
  const list = listOf(rows, isFiltered ? { state: filter } : {})
  const sizes = { all: list.length, fewer: list.length - 1, more: list.length + 1 }
  const limit = Math.max(1, typeof given.limit === 'number' ? given.limit : sizes[given.limit as keyof typeof sizes])
  const pages = await tables.within(kind.rowsOf(rows), (sql) => pagesBy(kind, sql, kind.filterOf(filter), limit))
  assert.deepEqual(pages.flat(), list, `${name} by ${limit}`)
  assert.equal(pages.length, pagesOf(list.length, limit), `pages of ${name} by ${limit}`)
}

test('a list has every row once, newest first, under any limit', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(160) })
})
