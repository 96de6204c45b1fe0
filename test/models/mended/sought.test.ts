// The search for blocks that explain differences: src/mending/seek.ts, with nodes and cohorts of which providers name more, fewer or the same events, searches
// that fail and blocks that cannot be read, asks, compares and goes back as the second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { repair } from '../../../src/mending/seek.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './sought.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [OLDEST, CURSOR] = [100, 114]
const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const header = (number: number, hash = word(number)) => ({
  ...{ number, hash, parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
})

const id = fc.integer({ min: 1, max: 5 })
const block = fc.integer({ min: OLDEST - 2, max: CURSOR })
const nodeId = id.map(String)
const drift: fc.Arbitrary<model.Drift> = fc.oneof(
  fc.record({
    kind: fc.constant('counter' as const),
    name: fc.constantFrom('nodes', 'round', 'outstandingWei'),
  }),
  fc.record({
    kind: fc.constant('node' as const),
    nodeId,
    field: fc.constantFrom('owner', 'creditedWei', 'withdrawnWei', 'cohort', 'ref', 'ref'),
  }),
  fc.record({ kind: fc.constantFrom('notInLedger' as const, 'notOnChain' as const), nodeId }),
  fc.record({
    kind: fc.constant('cohort' as const),
    cohort: fc.integer({ min: 1, max: 4 }),
    field: fc.constant('size'),
  }),
)
const event = fc.record({
  of: fc.constantFrom('transfer', 'withdrawal', 'failed', 'expulsion', 'turn', 'skip'),
  id: fc.integer({ min: 1, max: 4 }),
  block,
})
/** How a provider's list differs from the ledger's. */
const lie = fc.record({ adds: fc.array(block, { maxLength: 2 }), drops: fc.constantFrom<number[]>(0, 0, 1) })
const drawn = fc.record({
  keeps: fc.constantFrom('all', 'all', 'all', 'all', 'all', 'gap', 'none'),
  lastId: fc.constantFrom<number[]>(0, 3, 5, 6),
  drifts: fc.array(drift, { maxLength: 6 }),
  nodes: fc.uniqueArray(fc.record({ id, block }), { maxLength: 5, selector: (one) => one.id }),
  events: fc.array(event, { maxLength: 6 }),
  lies: fc.array(fc.array(lie, { maxLength: 2 }), { minLength: 4, maxLength: 4 }),
  /** The searches that fail: odd for nodes, even for cohorts. */
  failing: fc.array(fc.integer({ min: 2, max: 13 }), { maxLength: 7 }),
  bookmarks: fc.record({ node: fc.integer({ min: 0, max: 6 }), cohort: fc.integer({ min: 0, max: 4 }) }),
  differing: fc.array(block, { maxLength: 5 }),
  unreadable: fc.array(block, { maxLength: 1 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** What the ledger has in its tables of one kind of event; a node is expelled once, and a round credits a cohort once. */
function eventsOf({ events, nodes }: Drawn, kind: string) {
  const all = events.map((one, n) => ({ ...one, n })).filter(({ of }) => of === kind)
  if (kind === 'turn' || kind === 'skip') return all
  const ofNodes = all.filter((one) => nodes.some((node) => node.id === one.id))
  return kind === 'expulsion' ? [...new Map(ofNodes.map((one) => [one.id, one])).values()] : ofNodes
}

function headersOf({ keeps }: Drawn): Set<number> {
  if (keeps === 'none') return new Set()
  const all = Array.from({ length: CURSOR - OLDEST + 1 }, (_, n) => OLDEST + n)
  return new Set(all.filter((number) => keeps === 'all' || number !== 106))
}

function givenOf(one: Drawn): model.Given {
  const counted = ['transfer', 'withdrawal', 'expulsion', 'turn', 'skip'].flatMap((kind) => eventsOf(one, kind))
  const events = [
    ...one.nodes.map((node) => ({ of: 'node' as const, id: node.id, block: node.block })),
    ...counted.map(({ of, id, block }) => ({
      of: isOfCohort(of) ? ('cohort' as const) : ('node' as const),
      id,
      block,
    })),
  ]
  return {
    ...{ headers: headersOf(one), cursor: CURSOR, lastId: one.lastId, drifts: one.drifts, events },
    ...{ bookmarks: one.bookmarks, differing: new Set(one.differing), unreadable: new Set(one.unreadable) },
    mints: new Map(one.nodes.map((node) => [node.id, node.block])),
    fails: (of, id) => one.failing.includes(2 * id + (of === 'node' ? 1 : 0)),
    said: (of, id, from) => {
      const ours = events.filter((each) => each.of === of && each.id === id && each.block >= from)
      return (one.lies[id % 4] ?? []).map(({ adds, drops }) => [
        ...ours.map(({ block }) => block).slice(drops),
        ...adds.filter((block) => block >= from),
      ])
    },
  }
}
const isOfCohort = (kind: string) => kind === 'turn' || kind === 'skip'

const place = (number: number, n: number) => ({
  ...{ tx_hash: word(700 + n), log_index: n, ...inBlock(number) },
})

function rowsOf(one: Drawn, headers: Set<number>): Rows {
  const of = (kind: string) => eventsOf(one, kind)
  const credits = [...of('turn'), ...of('skip')]
  const cohorts = [1, 2, 3, 4]
  return {
    cursors: [{ name: 'follow', ...inBlock(CURSOR), block_time: 10 * CURSOR }],
    blocks: [...headers].map((number) => header(number)),
    evidence_modes: [{ from_block: 0, mode: 'proven', set_by: 'test' }],
    ledger_state: [{ reconcile_nodes: one.bookmarks.node, reconcile_cohorts: one.bookmarks.cohort }],
    cohorts: cohorts.map((cohort) => ({
      ...{ cohort, tier_no: 1, interval_sec: 600, next_due: 9_000, size: 9, ...inBlock(50) },
    })),
    cohort_states: cohorts.map((cohort) => ({
      ...{ cohort, block_number: 50, interval_sec: 600, next_due: 9_000, size: 0, per_node_wei: 0, turn_count: 0 },
    })),
    owners: one.nodes.map(({ id }) => ({ owner: account(id), nodes: 1 })),
    nodes: one.nodes.map(({ id, block }) => ({
      ...{ node_id: id, owner: account(id), cohort: 1, ref: word(500 + id), per_node_at_mint_wei: 0, turns_at_mint: 0 },
      ...{ mint_tx_hash: word(600), minted_at: at(1_000), ...inBlock(block) },
    })),
    node_transfers: [
      // Each mint has a transfer. These stand before all blocks in question.
      ...one.nodes.map(({ id }) => ({
        ...{ node_id: id, from_address: account(0), to_address: account(id), ...place(1, id) },
      })),
      ...of('transfer').map(({ id, block, n }) => ({
        ...{ node_id: id, from_address: account(8), to_address: account(id), ...place(block, n) },
      })),
    ],
    withdrawals: ['withdrawal', 'failed'].flatMap((kind) =>
      of(kind).map(({ id, block, n }) => ({
        ...{ node_id: id, amount_wei: 1, to_address: account(id), created_at: at(1_000), ...place(block, n) },
        ...{ status: kind === 'failed' ? 'failed' : 'sent', withdrawn_total_wei: kind === 'failed' ? null : 1 },
      })),
    ),
    expulsions: of('expulsion').map(({ id, block }) => ({
      ...{ node_id: id, cohort: 1, credited_wei: 0, turn_count: 0, expelled_at: at(1_000), tx_hash: word(601) },
      ...inBlock(block),
    })),
    rounds: credits.map(({ block, n }) => ({
      ...{ round: 1 + n, mode: 'treasury', total_wei: 0, node_count: 1, tx_hash: word(800 + n), created_at: at(1_000) },
      ...inBlock(block),
    })),
    turns: of('turn').map(({ id, n }) => ({
      ...{ round: 1 + n, cohort: id, turn_no: 1 + n, due: 600 * n, turns: 1, amount_wei: 0, node_count: 1 },
    })),
    skips: of('skip').map(({ id, n }) => ({ round: 1 + n, cohort: id, due: 600 * n, turns: 1 })),
  }
}

/** A block that differs has an act of the contract's owner that the ledger lacks. Of any other, the chain has another one by now. */
function partsOf(sql: Sql, given: model.Given, asked: Pick<model.Search, 'asked' | 'compared'>) {
  const logs = (of: 'node' | 'cohort') => async (id: bigint | number, from: number, to: number) => {
    assert.equal(to, CURSOR)
    asked.asked.push([of, Number(id), from])
    if (given.fails(of, Number(id))) throw new ChainFault('up to 10 blocks at a time')
    const lists = given.said(of, Number(id), from)
    return lists.map((blocks) => blocks.map((blockNumber) => ({ blockNumber, blockHash: word(blockNumber) })))
  }
  const observe = async (number: number) => {
    asked.compared.push(number)
    if (given.unreadable.has(number)) throw new ChainFault('away')
    const differs = given.differing.has(number)
    const act = { kind: 'ownerAct', blockNumber: number, logIndex: 99, name: 'Paused' }
    const blocks = [header(number, differs ? word(number) : word(9_000 + number))]
    return { blocks, transfers: [], outflows: [], events: differs ? [act] : [] }
  }
  return {
    ...{ pool: poolWithin(sql), chain: { observe, providers: [] }, log: silentLog, rules: { startBlock: 1 } },
    history: { logsOfNode: logs('node'), logsOfCohort: logs('cohort') },
  } as never
}

async function compare(one: Drawn): Promise<void> {
  const given = givenOf(one)
  const expected = model.search(given)
  await tables.within(rowsOf(one, given.headers), async (sql) => {
    await sql`UPDATE totals SET nodes = 99, owners = 99, rounds = 99, distributed_wei = 999, withdrawn_wei = 99`
    const found = { asked: [] as model.Search['asked'], compared: [] as number[] }
    const cursor = { number: CURSOR, hash: word(CURSOR), time: 10 * CURSOR } as never
    const parts = partsOf(sql, given, found)
    const repaired = await repair(parts, cursor, one.drifts as never, BigInt(one.lastId)).catch((error: unknown) => {
      if (error instanceof ChainFault) return 'ended' as const
      throw error
    })
    const [row] = await sql`
      SELECT (SELECT block_number FROM cursors) AS cursor, reconcile_nodes AS node, reconcile_cohorts AS cohort FROM ledger_state`
    const { wentBackFor, ended, ...rest } = expected
    assert.deepEqual(
      { ...found, repaired, row: { ...row } },
      {
        ...{ asked: rest.asked, compared: rest.compared, repaired: ended ? 'ended' : rest.repaired },
        row: { cursor: wentBackFor === null ? CURSOR : wentBackFor - 1, ...rest.bookmarks },
      },
    )
  })
}

test('what differs is looked for in turn, and the first block that differs sends the ledger back', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(140) })
})

const PLAIN: Drawn = {
  ...{ keeps: 'all', lastId: 5, drifts: [], nodes: [], events: [], lies: [[], [], [], []], failing: [] },
  ...{ bookmarks: { node: 0, cohort: 0 }, differing: [], unreadable: [] },
}

test('a run looks for a hundred nodes, and compares ten blocks', async () => {
  const lacking = { kind: 'counter' as const, name: 'nodes' }
  await compare({ ...PLAIN, drifts: [lacking], lastId: 101, nodes: [{ id: 1, block: 100 }] })
  await compare({
    ...PLAIN,
    drifts: [lacking, { kind: 'notOnChain', nodeId: '1' }],
    lastId: 103,
    nodes: [{ id: 1, block: 100 }],
  })
  const blocks = Array.from({ length: 12 }, (_, n) => 101 + n).toReversed()
  for (const last of [110, 111]) {
    const lies = [[], [{ adds: blocks, drops: 0 }], [], []]
    await compare({ ...PLAIN, drifts: [{ kind: 'notInLedger', nodeId: '1' }], lastId: 1, lies, differing: [last] })
  }
})
