// What is told of the contract over several runs: src/mending/reconcile.ts reports every difference in every run until it ends, and
// src/passes/steps/budget.ts tells of a budget when it becomes low or spent.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import type { Drift } from '../../../src/domain/drift.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { reconcileWindow } from '../../../src/mending/reconcile.ts'
import { watchBudget } from '../../../src/passes/steps/budget.ts'
import { account, at, noticesIn, openTables, type Rows, recording, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './told.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const CURSOR = { number: 100, hash: word(100), time: 1_000_000 }
const CURSORS = [{ name: 'follow', ...inBlock(100), block_time: CURSOR.time }]
const audited = async (sql: Sql) =>
  (await sql<{ action: string }[]>`SELECT action FROM audit ORDER BY id`).map(({ action }) => action)

const LEDGER: model.Side = {
  nodes: [1n, 2n].map((nodeId) => ({ nodeId, owner: account(2), creditedWei: 5n, withdrawnWei: 0n, cohort: 1 })),
  cohorts: [1, 2].map((cohort) => {
    return { cohort, tierNo: 1, intervalSec: 60, nextDue: 2_000_000, size: cohort === 1 ? 2 : 0, perNodeWei: 5n }
  }),
  round: 0,
  outstandingWei: 0n,
}
/** Where the contract may differ: in one field of one thing. */
const PLACES = [
  ...['owner', 'creditedWei', 'withdrawnWei', 'cohort'].map((name) => ({ of: 'nodes' as const, name })),
  ...['tierNo', 'intervalSec', 'nextDue', 'size', 'perNodeWei'].map((name) => ({ of: 'cohorts' as const, name })),
  ...['round', 'outstandingWei'].map((name) => ({ of: 'counters' as const, name })),
]
const place = fc.record({ what: fc.constantFrom(...PLACES), which: fc.nat(1) })
const drawnRun = fc.record({
  /** The contract is as in the run before, or differs like this. */
  differs: fc.oneof({ weight: 2, arbitrary: fc.constant('asBefore' as const) }, fc.array(place, { maxLength: 2 })),
  /** An unreadable root, as some providers have. */
  hasRoot: fc.constantFrom(true, true, true, false),
  daysLater: fc.constantFrom(0, 0, 0, 1),
})
type DrawnRun = typeof drawnRun extends fc.Arbitrary<infer T> ? T : never

const other = (value: unknown) =>
  typeof value === 'bigint' ? value + 1n : typeof value === 'number' ? value + 1 : account(77)

function chainOf(places: { what: (typeof PLACES)[number]; which: number }[]): model.Side {
  const side = structuredClone(LEDGER)
  for (const { what, which } of places) {
    const one = (what.of === 'counters' ? side : side[what.of][which]) as unknown as Record<string, unknown>
    one[what.name] = other(one[what.name])
  }
  return side
}

const ROWS: Rows = {
  cursors: CURSORS,
  cohorts: LEDGER.cohorts.map((one) => ({
    ...{ cohort: one.cohort, tier_no: one.tierNo, interval_sec: one.intervalSec, next_due: one.nextDue },
    ...{ size: one.size, per_node_wei: one.perNodeWei, ...inBlock(1) },
  })),
  nodes: LEDGER.nodes.map(({ nodeId, owner }) => ({
    ...{ node_id: nodeId, owner, cohort: 1, ref: word(Number(nodeId)), mint_tx_hash: word(9), minted_at: at(900) },
    ...{ per_node_at_mint_wei: 0n, turns_at_mint: 0, ...inBlock(9) },
  })),
}

const inWords = (drift: Drift): string => {
  if (drift.kind === 'counter') return `counter ${drift.name} ${drift.ledger} ${drift.chain}`
  if (drift.kind === 'node') return `node ${drift.nodeId} ${drift.field} ${drift.ledger} ${drift.chain}`
  if (drift.kind === 'cohort') return `cohort ${drift.cohort} ${drift.field} ${drift.ledger} ${drift.chain}`
  return drift.kind
}

async function reconcile(sql: Sql, chain: model.Side, { hasRoot }: DrawnRun, time: number): Promise<string[]> {
  const text = JSON.stringify(chain, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  const contract = {
    counters: async () => ({ ...chain, lastNodeId: BigInt(chain.nodes.length) }),
    cohorts: async (numbers: number[]) => numbers.map((number) => chain.cohorts[number - 1]),
    nodes: async (first: bigint, length: number) => chain.nodes.slice(Number(first) - 1, Number(first) - 1 + length),
    storageRoot: async () => (hasRoot ? text : null),
  }
  const providers = { block: async () => CURSOR }
  const ctx = { pool: poolWithin(sql), log: silentLog, contract, chain: providers, rules: { startBlock: 1 } }
  const { result } = await reconcileWindow(ctx as never, { ...CURSOR, time } as never, 1)
  return result.drifts.map(inWords).sort()
}

test('every run reports each difference, until it ends', async () => {
  const compare = async (runs: DrawnRun[]) => {
    await tables.within(ROWS, async (sql) => {
      await sql`UPDATE totals SET nodes = 2`
      let chain = chainOf([])
      let [time, told, record] = [CURSOR.time, 0, '']
      for (const run of runs) {
        time += 86_400 * run.daysLater
        if (run.differs !== 'asBefore') chain = chainOf(run.differs)
        const expected = model.differences(LEDGER, chain)
        assert.deepEqual(await reconcile(sql, chain, run, time), expected, 'reported')
        const [row] = await sql<{ value: Drift[] }[]>`SELECT drift AS value FROM ledger_state`
        assert.deepEqual(row?.value.map(inWords).sort(), expected, 'on record')
        if (expected.length > 0 && expected.join() !== record) told += 1
        record = expected.join()
        assert.deepEqual(await audited(sql), Array(told).fill('drift'), 'told')
      }
    })
  }
  const runs = fc.array(drawnRun, { minLength: 2, maxLength: 5 })
  await fc.assert(fc.asyncProperty(runs, compare), { numRuns: cases(40) })
})

const drawnPass = fc.record({
  budget: fc.option(
    fc.record({ nodes: fc.constantFrom(0, 1, 99, 100, 500, 500), cohorts: fc.constantFrom(0, 1, 2, 9, 9) }),
    { freq: 9 },
  ),
  found: fc.constantFrom<model.Spent | undefined>(undefined, undefined, null, null, 'nodes', 'cohorts'),
  laterSec: fc.constantFrom(60, 60, 290, 310),
  blocksSinceAct: fc.constantFrom(null, null, null, 24, 25),
})

/** What is on record besides of a budget: no node was minted, and a tier needs two cohorts. */
const NEEDS = { nodesPerWeek: 0, cohortsPerTier: 2, floorWei: '1', ceilingWei: '2' }
const recorded = (known: model.Known | null) => known && { ...known, ...NEEDS }

async function act(sql: Sql, { blocksSinceAct, laterSec }: { blocksSinceAct: number | null; laterSec: number }) {
  await sql`UPDATE passes SET started_at = started_at - ${laterSec} * interval '1 second'`
  const [last] = await sql<{ ago: number }[]>`
    SELECT extract(epoch FROM clock_timestamp() - started_at)::float8 AS ago FROM passes WHERE name = 'budget'`
  await sql`DELETE FROM owner_acts`
  if (blocksSinceAct !== null)
    await sql`INSERT INTO owner_acts (block_number, log_index, name, detail, at, tx_hash, block_hash)
      VALUES (${CURSOR.number - blocksSinceAct}, 0, 'MinterSet', '{}', now(), ${word(9)}, ${word(9)})`
  return last?.ago ?? null
}

test('a budget is reported when it becomes low or spent, and read again when it may differ', async () => {
  const compare = async (passes: (typeof drawnPass extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const range = { payouts: true, min_wei: 1n, max_wei: 2n, interval_sec: 120, slot_sec: 60 }
    const terms = { ...range, from_time: 0, entered_by: 'a' }
    await tables.within({ cursors: CURSORS, credit_terms: [terms] }, async (sql) => {
      const ledger: model.Ledger = { known: null, reading: null, told: [], notices: 0 }
      const sent: string[] = []
      const pool = recording(sql, sent)
      for (const [n, pass] of passes.entries()) {
        const agoSec = await act(sql, pass)
        const bounds = { floorWei: 1n, ceilingWei: 2n }
        const budget = async () => pass.budget ?? Promise.reject(new Error('no answer'))
        const ctx = { pool, log: silentLog, contract: { budget, bounds: async () => bounds } }
        await watchBudget(ctx as never, CURSOR as never, pass.found)
        model.runBudget(ledger, { ...pass, agoSec }, 2)
        const [row] = await sql<{ value: object }[]>`SELECT budget AS value FROM ledger_state`
        assert.deepEqual(row?.value, recorded(ledger.known), `on record after pass ${n}`)
        const told = ledger.told.map(({ action, detail }) => ({ actor: 'pass', action, detail: recorded(detail) }))
        assert.deepEqual([...(await sql`SELECT actor, action, detail FROM audit ORDER BY id`)], told, `told ${n}`)
        assert.equal(noticesIn(sent), ledger.notices, `notices after pass ${n}`)
        const readings = await sql`SELECT outcome, error FROM passes WHERE name = 'budget'`
        assert.deepEqual([...readings], ledger.reading === null ? [] : [ledger.reading])
      }
    })
  }
  const passes = fc.array(drawnPass, { minLength: 2, maxLength: 6 })
  await fc.assert(fc.asyncProperty(passes, compare), { numRuns: cases(60) })
})
