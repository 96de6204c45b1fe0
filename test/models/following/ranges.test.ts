// What the ledger keeps of a range of blocks: src/follower/store.ts. By docs/ARCHITECTURE.md (Following, Surveying) it keeps 8,192 headers, what it needs to go back to each of them, and
// the seeds of turns that begin in the range. A seed is proven if the headers on both sides are; a survey leaves out the headers in between.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { storeRange } from '../../../src/follower/store.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter, nothing } from './chains.ts'
import type { Block } from './follow.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const CURSOR = 9_000
const start = { number: CURSOR - 1, hash: word(1), parentHash: word(2), time: 109_000, prevrandao: word(7) }
const [LAST_BEFORE, ...BLOCKS] = blocksAfter(start, 4, 0) as [Block, ...Block[]]
const LAST = BLOCKS.at(-1) as Block
const OLDEST = LAST.number - 8_192

const nextDue = fc.constantFrom(LAST_BEFORE.time, ...BLOCKS.flatMap(({ time }) => [time - 1, time, time + 1]))
const drawn = fc.record({
  hasHeader: fc.constantFrom(true, true, false),
  mode: fc.constantFrom(
    null,
    { mode: 'agreed', from: 0 },
    ...[-5, 0, 0, 1].map((n) => ({ mode: 'proven', from: CURSOR + n })),
  ),
  isSurveyed: fc.constantFrom(false, false, true),
  due: fc.option(nextDue, { freq: 3 }),
  intervalSec: fc.constantFrom(5, 12, 500),
  /** An interval that the owner sets in the second block, and a cohort that is opened there. */
  set: fc.constantFrom(null, null, 6),
  opened: fc.option(nextDue, { freq: 2 }),
  headers: fc.subarray([OLDEST - 2, OLDEST - 1, OLDEST, OLDEST + 1]),
  states: fc.subarray([OLDEST - 9, OLDEST - 1, OLDEST, OLDEST + 1, CURSOR]),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const header = (number: number) => ({
  ...{ number, hash: word(number), parent_hash: word(number - 1), time: number },
  prevrandao: word(7),
})

function rowsOf({ hasHeader, mode, due, intervalSec, headers, states }: Drawn): Rows {
  const { parentHash, ...last } = LAST_BEFORE
  return {
    cursors: [{ name: 'follow', block_number: CURSOR, block_hash: LAST_BEFORE.hash, block_time: LAST_BEFORE.time }],
    blocks: [...headers.map(header), ...(hasHeader ? [{ ...last, parent_hash: parentHash }] : [])],
    evidence_modes: mode === null ? [] : [{ from_block: mode.from, mode: mode.mode, set_by: 'test' }],
    cohorts:
      due === null
        ? []
        : [
            {
              cohort: 1,
              tier_no: 1,
              interval_sec: intervalSec,
              next_due: due,
              size: 1,
              block_number: 1,
              block_hash: word(1),
            },
          ],
    cohort_states:
      due === null
        ? []
        : states.map((block) => ({
            ...{ cohort: 1, block_number: block, interval_sec: intervalSec, next_due: due },
            ...{ size: 1, per_node_wei: 0, turn_count: 0 },
          })),
  }
}

/** A turn of this cohort begins in the time after `after`, up to `upTo`. */
function begins({ due, intervalSec }: { due: number; intervalSec: number }, after: number, upTo: number): boolean {
  let at = due
  while (at <= after) at += intervalSec
  return at <= upTo
}

function expectedOf({ hasHeader, mode, isSurveyed, due, intervalSec, set, opened, headers, states }: Drawn) {
  const cohorts = [
    ...(due === null ? [] : [{ due, intervalSec }]),
    ...(due !== null && set !== null ? [{ due, intervalSec: set }] : []),
    ...(opened === null ? [] : [{ due: opened, intervalSec: 60 }]),
  ]
  const isProven = mode?.mode === 'proven' && !isSurveyed
  const seeds = BLOCKS.flatMap((block, n) => {
    const previous = n === 0 ? (hasHeader ? LAST_BEFORE : null) : (BLOCKS[n - 1] as Block)
    const since = previous?.time ?? block.time
    if (previous === null || !cohorts.some((one) => begins(one, since, block.time))) return []
    // The header before the range may be from before the ledger required proofs.
    const isBacked = isProven && (n > 0 || (mode?.from ?? 0) <= CURSOR)
    return [{ number: block.number, time: block.time, proof: isBacked ? 'proven' : 'believed' }]
  })
  const kept = [
    ...headers.filter((number) => number >= OLDEST),
    ...(hasHeader ? [CURSOR] : []),
    ...BLOCKS.map(({ number }) => number),
  ]
  // The ledger may go back to the oldest header, and has to have the state there.
  const below = states.includes(OLDEST) ? [] : states.filter((number) => number < OLDEST).slice(-1)
  const before = due === null ? [] : [...below, ...states.filter((number) => number >= OLDEST)]
  return {
    seeds,
    headers: isSurveyed ? [LAST.number] : kept,
    states: [
      ...[...before, ...(due !== null && set !== null ? [CURSOR + 2] : [])].map((block) => `1 ${block}`),
      ...(opened === null ? [] : [`2 ${CURSOR + 2}`]),
    ],
    surveyedTo: isSurveyed ? LAST.number : null,
  }
}

const met = { proven: 0, believed: 0 }

test('a range keeps 8,192 headers, the states of cohorts there, and seeds with what proves them', async () => {
  const compare = async (given: Drawn) => {
    const { due, set, opened, isSurveyed } = given
    const [, second] = BLOCKS as [Block, Block, Block]
    const place = {
      blockNumber: second.number,
      blockHash: second.hash,
      blockTime: second.time,
      txHash: word(7),
      txIndex: 0,
    }
    const events = [
      ...(due !== null && set !== null
        ? [{ ...place, logIndex: 0, kind: 'intervalSet', cohort: 1, intervalSec: set }]
        : []),
      ...(opened === null
        ? []
        : [{ ...place, logIndex: 1, kind: 'cohortOpened', cohort: 2, tierNo: 1, firstDue: opened, intervalSec: 60 }]),
    ]
    const range = {
      ...nothing,
      watching: { wallets: [], signers: [] },
      blocks: BLOCKS,
      events,
      ...(isSurveyed && { isSurveyed }),
    }
    await tables.within(rowsOf(given), async (sql) => {
      const chain = { agreedFirstBlockAt: async () => null, providers: [] }
      const ctx = { pool: poolWithin(sql), chain, log: silentLog, minter: null, distributor: null }
      const cursor = { number: CURSOR, hash: LAST_BEFORE.hash, time: LAST_BEFORE.time }
      await storeRange(ctx as never, range as never, cursor as never, LAST.number)
      const seeds = await sql`SELECT number, time, proof FROM seed_blocks ORDER BY 1`
      const headers = await sql<{ number: number }[]>`SELECT number FROM blocks ORDER BY 1`
      const states = await sql<{ of: string }[]>`
        SELECT cohort || ' ' || block_number AS of FROM cohort_states ORDER BY cohort, block_number`
      const [state] = await sql`SELECT surveyed_to AS "surveyedTo" FROM ledger_state`
      const found = {
        ...{ seeds: seeds.map((row) => ({ ...row })), headers: headers.map(({ number }) => number) },
        ...{ states: states.map((row) => row.of), surveyedTo: state?.surveyedTo },
      }
      const expected = expectedOf(given)
      assert.deepEqual(found, expected)
      for (const { proof } of expected.seeds) met[proof as keyof typeof met] += 1
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
  assert.ok(Math.min(...Object.values(met)) >= cases(5), JSON.stringify(met))
})
