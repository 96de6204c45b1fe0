// The statements of src/db/sale/tiers.ts, in random order, and the second reading agree about each answer and about all rows.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as code from '../../../src/db/sale/tiers.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, play, readTable, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './rows.ts'
import { LISTS } from './walks.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

/** Their numbers are not in the order of their names. */
const NUMBERS: Record<string, number> = { a: 7, b: 2, c: 4 }
const tierId = fc.constantFrom('a', 'a', 'b', 'c')
const version = fc.constantFrom(1, 2, 2, 2, 3, 3, 4)
const block = fc.constantFrom(4, 5, 6, 7)
const time = fc.constantFrom(100, 101, 102, 103)
const TOKEN = { holdingWei: 5n, holdingToken: account(0xaa), holdingSymbol: 'A', holdingDecimals: 6 }
const NO_TOKEN = { holdingWei: 0n, holdingToken: null, holdingSymbol: null, holdingDecimals: null }

const terms = fc
  .record({
    tierId,
    label: fc.constantFrom('Gold', 'Silver'),
    priceWei: fc.constantFrom(10n, 2n ** 80n),
    maxPerWallet: fc.constantFrom(1, 2),
    payoutBps: fc.constantFrom(0, 3),
    onSale: fc.boolean(),
    graceSec: fc.constantFrom(0, 900),
    holdingRetrySec: fc.constantFrom(0, 60),
    holding: fc.constantFrom(TOKEN, NO_TOKEN),
    supply: fc.constantFrom(null, 1, 9),
    opensAt: fc.constantFrom(null, 101, 102),
    closesAt: fc.constantFrom(null, 103, 104),
    opensAfter: fc.constantFrom(null, 'a', 'b', 'c', 'gone'),
    allowlist: fc.constantFrom(null, ...LISTS),
  })
  .map(({ holding, ...one }): model.Terms => ({ ...one, ...holding, tierNo: NUMBERS[one.tierId] ?? 0 }))
const place = fc.record({ blockNumber: block, txIndex: fc.constantFrom(-1, 0, 1), innerIndex: fc.constantFrom(0, 1) })
const named = fc.record({ tierId, version })
const payment = fc.record({
  ...{
    tierId: fc.constantFrom('a', 'a', 'b'),
    state: fc.constantFrom('accepted', 'minting', 'minted', 'held', 'seen'),
  },
  ...{ blockNumber: fc.constantFrom(4, 5, 5), txIndex: fc.constantFrom(0, 1, 1), innerIndex: fc.constantFrom(0, 1, 2) },
})
/** A first entry has a first block. A later one may be planned: still, no more, or begun. */
const entry = fc.record({
  terms,
  ...{ fromTime: time, fromBlock: fc.constantFrom(0, 4, 5, 6, 7) },
  kind: fc.constantFrom('atOnce', 'begun', 'begun', 'planned', 'planned', 'cancelled'),
})
const drawn = fc.record({
  entries: fc.array(entry, { minLength: 2, maxLength: 6 }),
  openings: fc.uniqueArray(fc.record({ tierId, opensAfter: fc.constantFrom('a', 'b', 'c'), place }), {
    maxLength: 3,
    selector: (one) => `${one.tierId} ${one.opensAfter}`,
  }),
  payments: fc.array(payment, { maxLength: 5 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function stateOf({ entries, openings, payments }: Drawn): model.State {
  const ids = entries.map((one) => one.terms.tierId)
  return {
    rows: entries.map(({ terms: own, fromTime, fromBlock, kind: later }, n) => {
      const number = 1 + ids.slice(0, n).filter((id) => id === own.tierId).length
      const kind = number === 1 ? 'atOnce' : later
      return {
        ...{ terms: own, version: number, entry: n, fromTime, enteredBy: 'eve', madeWith: null },
        ...{ fromBlock: ['atOnce', 'begun'].includes(kind) ? fromBlock : null, isCancelled: kind === 'cancelled' },
        names: kind === 'atOnce' ? null : ['label'],
      }
    }),
    openings: openings.map(({ place: where, ...step }) => ({ ...step, ...where })),
    payments: payments.map(({ state, ...one }) => ({
      ...one,
      isSold: ['accepted', 'minting', 'minted'].includes(state),
    })),
  }
}

const columnOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const columnsOf = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [columnOf(name), value]))

/** A row as the table has it, but for the time of its entry. */
function rowOf(state: model.State, { terms: own, isCancelled, entry: _, ...row }: model.Row) {
  const live = model.latest(state, own.tierId)?.version === row.version
  return { ...columnsOf({ ...own, ...row }), live, cancelled: isCancelled }
}
const openingRow = ({ blockNumber, ...one }: model.Opening) => columnsOf({ ...one, fromBlock: blockNumber })

function rowsOf({ payments }: Drawn, state: model.State): Rows {
  const lists = LISTS.map((root) => ({ root, label: root, entries: 1, allocated: 1, entered_by: 'test' }))
  return {
    allowlists: lists,
    tiers: state.rows.map((one): Row => {
      const { names, ...row } = rowOf(state, one) as unknown as Row & Pick<model.Row, 'names'>
      return { ...row, names: names && `{${names.join()}}`, entered_at: at(1_000 + one.entry) }
    }),
    tier_openings: state.openings.map((one) => openingRow(one) as Row),
    payments: payments.map(
      ({ state: is, ...one }, n): Row => ({
        ...{ id: n, ref: word(n), tx_hash: word(n), wallet: account(1), from_address: account(5), value_wei: 5 },
        ...{ succeeded: true, state: is, reason: is === 'held' ? 'soldOut' : null, block_hash: word(n) },
        ...{ block_time: at(1_000), node_id: is === 'minted' ? n : null, outbox_id: is === 'minting' ? n : null },
        ...{ ...columnsOf(one), tier_version: 1 },
      }),
    ),
  }
}

/** All rows, and which were entered one after the other. */
async function readAll(sql: Sql) {
  const entries = await sql`SELECT tier_id AS "tierId", version FROM tiers ORDER BY entered_at`
  return {
    tiers: await readTable(sql, 'tiers', ['entered_at']),
    openings: await readTable(sql, 'tier_openings'),
    entries: [...entries],
  }
}
const allOf = (state: model.State) => ({
  tiers: inOrder(state.rows.map((one) => rowOf(state, one))),
  openings: inOrder(state.openings.map(openingRow)),
  entries: state.rows.map((one) => ({ tierId: one.terms.tierId, version: one.version })),
})

/** A row as the code reads it. */
function readAs(state: model.State, one: model.Row) {
  const { version: number, fromBlock, fromTime, enteredBy, names } = one
  const live = model.latest(state, one.terms.tierId) === one
  const own = {
    ...one.terms,
    version: number,
    fromBlock,
    fromTime,
    enteredBy,
    live,
    opened: model.openedOf(state, one),
  }
  return fromBlock === null ? { ...own, names } : own
}
const withoutEntry = (rows: readonly { enteredAt: string }[]) => rows.map(({ enteredAt: _, ...one }) => one)

/** How many rows a statement has that tells all instances. */
async function noticesOf(sql: Sql, body: (sql: Sql) => Promise<void>): Promise<number> {
  let notices = 0
  const counting = new Proxy(sql, {
    async apply(target, self, args: [TemplateStringsArray]) {
      const rows = (await Reflect.apply(target as never, self, args)) as unknown[]
      if (args[0].join('?').includes(`pg_notify('ledger', '')`)) notices += rows.length
      return rows
    },
  })
  await body(counting)
  return notices
}

const numbered = fc.uniqueArray(fc.record({ terms, version, fromBlock: block }), {
  maxLength: 2,
  selector: (one) => `${one.terms.tierId} ${one.version}`,
})
const writes: Record<string, Act<model.State>> = {
  enterVersion: act({
    draw: fc.record({ terms, fromBlock: block, fromTime: time }),
    // What else an input may carry is not stored.
    run: (sql, { terms: own, ...from }) =>
      code.insertTierVersion(sql, { ...own, ...from, live: false, cancelled: true } as never, 'ada'),
    expects: (state: model.State, given) => model.enterVersion(state, { ...given, enteredBy: 'ada' }),
  }),
  enterPlan: act({
    draw: fc.record({
      ...{ terms, fromTime: time, keyDigest: fc.constantFrom(null, 'ab'.repeat(32)) },
      names: fc.constantFrom(['label'], ['priceWei', 'opensAfter']),
    }),
    run: (sql, { terms: own, ...one }) => code.insertTierPlan(sql, { ...own, ...one } as never, 'bob'),
    expects: (state: model.State, { keyDigest, ...given }) =>
      model.enterPlan(state, { ...given, madeWith: keyDigest, enteredBy: 'bob' }),
  }),
  cancel: act({ draw: named, run: code.cancelTierPlan, expects: model.cancel }),
  begin: act({
    draw: numbered,
    run: (sql, changes) =>
      code.storeTierChanges(sql, changes.map(({ terms: own, ...one }) => ({ ...own, ...one })) as never),
    expects: model.begin,
  }),
  move: act({
    draw: fc.array(fc.record({ tierId, version, fromBlock: block, fromTime: time }), { maxLength: 2 }),
    run: code.moveFirstBlocks,
    expects: (state: model.State, moves) => model.move(state, moves as never),
  }),
  rewind: act({
    draw: fc.constantFrom(3, 4, 5, 6, 7),
    run: async (sql, height) => {
      await code.rewindOpenings(sql, height)
      await code.rewindTierChanges(sql, height)
    },
    expects: model.rewind,
  }),
  open: act({
    draw: fc.record({ soldOut: fc.constantFrom('a', 'b', 'c', 'gone'), place }),
    run: async (sql, { soldOut, place: where }) => (await code.openSteps(sql, soldOut, where)).toSorted(),
    expects: (state: model.State, { soldOut, place: where }) => model.openSteps(state, soldOut, where),
  }),
}

const FOLLOWED = fc.option(fc.record({ number: block, time }), { freq: 5 })
const reads: Record<string, Act<model.State>> = {
  notBegun: act({
    draw: FOLLOWED,
    run: async (sql, followed) => inOrder(await code.readNotBegun(sql, followed)),
    expects: (state: model.State, followed) =>
      inOrder(
        model.notBegun(state, followed).map(({ terms: own, version: number, fromBlock, fromTime }) => {
          return { tierId: own.tierId, version: number, fromBlock, fromTime }
        }),
      ),
  }),
  awaited: act({
    draw: fc.constant(null),
    run: async (sql) => (await code.readAwaited(sql)).toSorted(),
    expects: (state: model.State) => model.awaited(state),
  }),
  lastSale: act({
    draw: fc.constantFrom('a', 'b'),
    run: (sql, id) => code.readLastSale(sql, id).catch(() => null),
    expects: model.lastSale,
  }),
  turned: act({
    draw: fc.constantFrom([100, 101], [101, 102], [102, 103], [103, 104], [100, 104], [102, 102]),
    run: (sql, [after, upTo]) => noticesOf(sql, (one) => code.tellOpenings(one, { after, upTo } as never)),
    expects: (state: model.State, [after, upTo]) => (model.hasTurned(state, { after, upTo } as never) ? 1 : 0),
  }),
  versions: act({
    draw: fc.constant(null),
    run: async (sql) => withoutEntry(await code.readTierVersions(sql)),
    expects: (state: model.State) => model.versions(state).map((one) => readAs(state, one)),
  }),
  plans: act({
    draw: fc.constantFrom(99, 100, 101, 102),
    run: async (sql, since) => withoutEntry(await code.readTierPlans(sql, since)),
    expects: (state: model.State, since) => model.plans(state, since).map((one) => readAs(state, one)),
  }),
}

test('each write of a tier leaves the rows, the latest version and the openings of the rules', async () => {
  const steps = stepsOf(
    { ...writes, ...reads },
    {
      least: 3,
      most: 9,
      weights: { enterVersion: 2, enterPlan: 2, turned: 2, rewind: 2, begin: 2, cancel: 3, lastSale: 2 },
    },
  )
  const compare = async (given: Drawn, some: Parameters<typeof play<model.State, unknown>>[1]['steps']) => {
    const state = stateOf(given)
    await tables.within(rowsOf(given, state), (sql) =>
      play(sql, { steps: some, state }, { read: readAll, expected: allOf }),
    )
  }
  await fc.assert(fc.asyncProperty(drawn, steps, compare), { numRuns: cases(60) })
})
