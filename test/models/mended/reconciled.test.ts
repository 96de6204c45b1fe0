// Reconciling: src/mending/reconcile.ts, run after run, with counters, nodes, cohorts and refs that differ in single fields, and a ledger or a chain that moves
// meanwhile, finds, records and reports what the second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { reconcileWhenDue, reconcileWindow } from '../../../src/mending/reconcile.ts'
import { account, at, fromNow, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './reconciled.ts'
import { search } from './sought.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [OLDEST, CURSOR, DAY] = [100, 103, 86_400]
const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const header = (number: number, hash = word(number)) => ({
  ...{ number, hash, parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
})
const cursorOn = (day: number) => ({ number: CURSOR, hash: word(CURSOR), time: DAY * day + 5 }) as never

const node = fc.record({
  id: fc.integer({ min: 1, max: 5 }),
  owner: fc.constantFrom(account(5), account(6)),
  creditedWei: fc.constantFrom(40n, 50n),
  withdrawnWei: fc.constantFrom(0n, 1n),
  cohort: fc.constantFrom(1, 2),
})
const cohort = fc.record({
  cohort: fc.integer({ min: 1, max: 4 }),
  tierNo: fc.constantFrom(1, 2),
  intervalSec: fc.constantFrom(600, 660),
  nextDue: fc.constantFrom(9_000, 9_600),
  size: fc.constantFrom(0, 1, 2),
  perNodeWei: fc.constant(100n),
})
const counters = fc.record({
  nodes: fc.constantFrom<bigint[]>(4n, 4n, 5n),
  round: fc.constantFrom<number[]>(2, 2, 3),
  outstandingWei: fc.constantFrom<bigint[]>(70n, 70n, 80n),
})
const byId = <T extends { id: number }>(one: T) => one.id
const side = fc.record({
  counters,
  nodes: fc.uniqueArray(node, { maxLength: 4, selector: byId }),
  cohorts: fc.uniqueArray(cohort, { maxLength: 3, selector: (one) => one.cohort }),
})
const perRun = fc.record({
  first: fc.constantFrom(1, 1, 3, 6),
  /** What the contract has otherwise than the ledger. */
  differs: fc.constantFrom('nothing', 'nothing', 'all', 'nodes', 'oneNode', 'cohorts', 'counters'),
  other: side,
  /** What changes before the run: of the ledger and of the contract alike. */
  root: fc.constantFrom('a', 'a', 'a', 'b', null),
  day: fc.constantFrom(7, 7, 7, 8),
  moves: fc.constantFrom<model.Run['moves']>('never', 'never', 'never', 'never', 'before', 'during'),
  /** What the chain has at the followed block's height. */
  there: fc.constantFrom('same', 'same', 'same', 'same', 'other', 'none'),
  found: fc.constantFrom('nothing', 'nothing', 'nothing', 'block'),
})
const drawn = fc.record({
  ours: side,
  waiting: fc.uniqueArray(
    fc.record({
      id: fc.integer({ min: 1, max: 3 }),
      nodeId: fc.constantFrom(null, 1, 2, 3, 4),
      isOwn: fc.boolean(),
      block: fc.constantFrom(CURSOR, 101, CURSOR + 1),
    }),
    { maxLength: 2, selector: byId },
  ),
  record: fc.constantFrom<(model.Drift[] | null)[]>(
    null,
    null,
    [{ kind: 'notOnChain', nodeId: '2' }],
    [{ kind: 'cohort', cohort: 2 }],
  ),
  runs: fc.array(perRun, { minLength: 1, maxLength: 3 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never
type PerRun = Drawn['runs'][number]

const refOf = (id: number) => word(500 + id)
const withRefs = (one: Drawn['ours']): model.Side => ({
  ...one,
  nodes: one.nodes.map((each) => ({ ...each, ref: refOf(each.id) })).toSorted((a, b) => a.id - b.id),
  cohorts: one.cohorts.toSorted((a, b) => a.cohort - b.cohort),
})

/** What the contract has: the same as the ledger, but for what differs. */
function theirsOf(ours: model.Side, { differs, other }: PerRun): model.Side {
  const theirs = withRefs(other)
  if (differs === 'all') return theirs
  if (differs === 'nodes') return { ...ours, nodes: theirs.nodes }
  if (differs === 'counters') return { ...ours, counters: theirs.counters }
  const matches = <T>(all: T[], one: T, key: keyof T) => all.find((each) => each[key] === one[key]) ?? one
  if (differs === 'cohorts')
    return { ...ours, cohorts: ours.cohorts.map((one) => matches(theirs.cohorts, one, 'cohort')) }
  if (differs === 'oneNode') return { ...ours, nodes: ours.nodes.map((one) => matches(theirs.nodes, one, 'id')) }
  return ours
}

/** In the order of the chain. No two payments have the same ref. */
function waitingOf({ waiting }: Drawn) {
  const all = waiting.map((one) => ({
    ...one,
    ref: one.isOwn && one.nodeId !== null ? refOf(one.nodeId) : word(900 + one.id),
  }))
  return [...new Map(all.map((one) => [one.ref, one])).values()].sort((a, b) => a.block - b.block || a.id - b.id)
}

function rowsOf(given: Drawn): Rows {
  const { counters, nodes, cohorts } = withRefs(given.ours)
  return {
    cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: 10 * CURSOR }],
    blocks: [100, 101, 102, 103].map((number) => header(number)),
    evidence_modes: [{ from_block: 0, mode: 'proven', set_by: 'test' }],
    tiers: [
      {
        ...{
          tier_id: 'basic',
          version: 1,
          tier_no: 1,
          label: 'B',
          price_wei: 5,
          max_per_wallet: 9,
          payout_bps: 10_000,
        },
        ...{ on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test' },
      },
    ],
    ledger_state: given.record ? [{ drift: JSON.stringify(given.record) }] : [],
    rounds: Array.from({ length: counters.round }, (_, n) => ({
      ...{ round: 1 + n, mode: 'treasury', total_wei: 0, node_count: 1, tx_hash: word(800 + n), created_at: at(1_000) },
      ...inBlock(60),
    })),
    // The cohort that nodes are in, though this ledger lacks it, is the others' as well.
    cohorts: cohorts.map((one) => ({
      ...{ cohort: one.cohort, tier_no: one.tierNo, interval_sec: one.intervalSec, next_due: one.nextDue },
      ...{ size: one.size, per_node_wei: one.perNodeWei, ...inBlock(50) },
    })),
    cohort_states: cohorts.map((one) => ({
      ...{ cohort: one.cohort, block_number: 50, interval_sec: one.intervalSec, next_due: one.nextDue },
      ...{ size: one.size, per_node_wei: one.perNodeWei, turn_count: 0 },
    })),
    nodes: nodes.map((one) => ({
      ...{ node_id: one.id, owner: one.owner, cohort: one.cohort, ref: one.ref, turns_at_mint: 0 },
      ...{ per_node_at_mint_wei: 100n - one.creditedWei, withdrawn_wei: one.withdrawnWei, mint_tx_hash: word(600) },
      ...{ minted_at: at(1_000), ...inBlock(50) },
    })),
    payments: waitingOf(given).map((one) => ({
      ...{ id: one.id, ref: one.ref, tx_hash: one.ref, wallet: account(1), from_address: account(5), value_wei: 5 },
      ...{ succeeded: true, proof: 'proven', state: 'accepted', tier_id: 'basic', tier_version: 1 },
      ...{ tx_index: one.id, block_time: at(900) },
      ...inBlock(one.block),
    })),
  }
}

interface Calls {
  nodes: [first: number, count: number][]
  cohorts: number[] | null
}

function contractOf(sql: Sql, one: PerRun, given: Pick<model.Run, 'theirs' | 'waiting'>, calls: Calls) {
  const { counters, nodes, cohorts } = given.theirs
  const move = () => sql`UPDATE cursors SET block_hash = ${word(1)}`
  return {
    counters: async (block: number) => {
      assert.equal(block, CURSOR)
      if (one.moves === 'before') await move()
      return { lastNodeId: counters.nodes, round: counters.round, outstandingWei: counters.outstandingWei }
    },
    nodes: async (first: bigint, count: number, { hash }: { hash: string }) => {
      assert.equal(hash, word(CURSOR))
      calls.nodes.push([Number(first), count])
      if (one.moves === 'during' && count > 1) await move()
      const some = nodes.filter(({ id }) => id >= Number(first) && id < Number(first) + count)
      return some.map(({ id, ...rest }) => ({ nodeId: BigInt(id), ...rest }))
    },
    cohorts: async (numbers: number[]) => {
      calls.cohorts = numbers
      return numbers.map((number) => cohorts.find((each) => each.cohort === number))
    },
    nodeOfRef: async (ref: string, block: number) => {
      assert.equal(block, CURSOR)
      const nodeId = given.waiting.find((each) => each.ref === ref)?.nodeId ?? null
      return nodeId === null ? null : BigInt(nodeId)
    },
    storageRoot: async (hash: string) => {
      assert.equal(hash, word(CURSOR))
      return one.root
    },
  }
}

/** Providers name the followed block for each search, or nothing. It has an act that the ledger lacks. */
function othersOf(one: PerRun) {
  const logs = async () => [one.found === 'block' ? [{ blockNumber: CURSOR, blockHash: word(CURSOR) }] : []]
  const act = { kind: 'ownerAct', blockNumber: CURSOR, logIndex: 99, name: 'Paused' }
  return {
    history: { logsOfNode: logs, logsOfCohort: logs },
    chain: {
      block: async (number: number) =>
        one.there === 'none' ? null : { number, hash: one.there === 'same' ? word(number) : word(1) },
      observe: async () => ({ blocks: [header(CURSOR)], transfers: [], outflows: [], events: [act] }),
      providers: [],
    },
  }
}

/** How many differing nodes and cohorts a rewind to before the followed block may mend. */
const mendsOf =
  (one: PerRun, ours: model.Side, theirs: model.Side): model.Run['mends'] =>
  (drifts) =>
    search({
      ...{ headers: new Set([OLDEST, 101, 102, CURSOR]), cursor: CURSOR, lastId: Number(theirs.counters.nodes) },
      ...{ drifts: drifts as never, mints: new Map(ours.nodes.map(({ id }) => [id, 50])), events: [] },
      ...{ fails: () => false, said: () => [one.found === 'block' ? [CURSOR] : []], bookmarks: { node: 0, cohort: 0 } },
      ...{ differing: new Set([CURSOR]), unreadable: new Set<number>() },
    }).repaired

const contextOf = (sql: Sql, parts: object, rules: object = {}) =>
  ({ pool: poolWithin(sql), log: silentLog, rules: { startBlock: 1, ...rules }, ...parts }) as never

async function compareRuns(sql: Sql, given: Drawn): Promise<void> {
  const ours = withRefs(given.ours)
  const state: model.State = { record: given.record, agreed: null, isElsewhere: false, reports: [] }
  let by: string | null = null
  for (const one of given.runs) {
    const theirs = theirsOf(ours, one)
    const former = state.record
    const waiting = waitingOf(given).filter(({ block }) => block <= CURSOR)
    const calls: Calls = { nodes: [], cohorts: null }
    const contract = contractOf(sql, one, { theirs, waiting }, calls)
    const parts = { ...othersOf(one), contract }
    const { result, next } = await reconcileWindow(contextOf(sql, parts), cursorOn(one.day), one.first)
    const mends = mendsOf(one, ours, theirs)
    const expected = model.run(state, { ...one, isCanonical: one.there === 'same', ours, theirs, waiting, mends })
    assert.deepEqual({ ...result, next, cohortsRead: calls.cohorts }, { ...expected })
    const [row] = await sql`SELECT drift, drift_by AS by FROM ledger_state`
    if (state.record === null) by = null
    else if (!isDeepStrictEqual(state.record, former)) by = 'pass'
    assert.deepEqual({ ...row }, { drift: state.record, by })
  }
  const reports = await sql`SELECT actor, subject, detail FROM audit WHERE action = 'drift' ORDER BY id`
  assert.deepEqual(
    [...reports],
    state.reports.map((detail) => ({ actor: 'pass', subject: null, detail })),
  )
}

/** Nodes of cohorts that the ledger lacks have no credits to compare. */
function settled(given: Drawn): Drawn {
  const cohorts = new Set(given.ours.cohorts.map(({ cohort }) => cohort))
  const nodes = given.ours.nodes.filter((one) => cohorts.has(one.cohort))
  return { ...given, ours: { ...given.ours, nodes } }
}

test('each run finds, records and reports what differs at the followed block, once', async () => {
  const compare = async (any: Drawn) => {
    const given = settled(any)
    await tables.within(rowsOf(given), async (sql) => {
      const { nodes, outstandingWei } = given.ours.counters
      await sql`UPDATE totals SET nodes = ${nodes}, owners = 9, distributed_wei = ${outstandingWei + 3n}, withdrawn_wei = 3`
      await compareRuns(sql, given)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(80) })
})

const PLAIN: PerRun = {
  ...{ first: 1, differs: 'nothing', root: null, day: 7, moves: 'never', there: 'same', found: 'nothing' },
  other: { counters: { nodes: 0n, round: 0, outstandingWei: 0n }, nodes: [], cohorts: [] },
}

const DUE = [
  ['never ran', null, 60, true],
  ['ran long ago', 61, 60, true],
  ['ran just now', 59, 60, false],
  ['runs each time', 0, 0, true],
] as const
for (const [says, ranSecAgo, everySec, isDue] of DUE)
  for (const isBroken of [false, true])
    test(`a reconciler that ${says} ${isBroken ? 'and whose contract fails ' : ''}is recorded`, async () => {
      const given: Drawn = { ours: PLAIN.other, waiting: [], record: null, runs: [] }
      const rows = {
        ...rowsOf(given),
        ledger_state: [{ reconcile_next: 4 }],
        seed_blocks: [{ number: 1, time: 10, seed: word(1), proof: 'proven' }],
        cohorts: [{ cohort: 1, tier_no: 1, interval_sec: 600, next_due: 9_000, size: 1, ...inBlock(50) }],
        passes: ranSecAgo === null ? [] : [{ name: 'reconcile', started_at: fromNow(-ranSecAgo) }],
      }
      await tables.within(rows, async (sql) => {
        const one = { ...PLAIN, found: 'block' as const }
        const calls: Calls = { nodes: [], cohorts: null }
        const contract = contractOf(
          sql,
          one,
          {
            theirs: withRefs({
              ...PLAIN.other,
              cohorts: [{ cohort: 1, tierNo: 2, intervalSec: 600, nextDue: 9_000, size: 1, perNodeWei: 0n as never }],
            }),
            waiting: [],
          },
          calls,
        )
        const voice = { block: async (number: number) => header(number) }
        const finalized = async () => ({ number: 102, hash: word(102), voices: 2 })
        const { history, chain } = othersOf(one)
        const broken = { ...contract, counters: () => Promise.reject(new Error('no contract')) }
        const parts = {
          ...{ history, contract: isBroken ? broken : contract },
          chain: { ...chain, finalized, providers: [voice, voice] },
        }
        const rules = { reconcileEverySec: everySec, rewindsToShorterChain: false, finality: 'guarded' }
        const inserted = await reconcileWhenDue(contextOf(sql, parts, rules), cursorOn(7))
        assert.equal(inserted, isDue && !isBroken ? 1 : 0)
        const [row] = await sql`
          SELECT (SELECT count(*)::int FROM seed_blocks) AS seeds, finalized_block AS final, reconcile_next AS next,
            (SELECT jsonb_build_object('outcome', outcome, 'error', error, 'isNew', started_at >= now()) FROM passes) AS pass FROM ledger_state`
        const was = { outcome: null, error: null, isNew: false }
        const outcome = isBroken ? null : { inserted: 1, drifts: [] }
        const pass = isDue ? { outcome, error: isBroken ? 'no contract' : null, isNew: true } : was
        assert.deepEqual(
          { ...row },
          { seeds: isDue ? 0 : 1, final: isDue ? 102 : null, next: isDue && !isBroken ? 1 : 4, pass },
        )
      })
    })
