// Old headers that are linked to followed ones: src/follower/link-seeds.ts, run after run over providers that lack a block, forge one or are silent, links and keeps what the
// second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { readLinked } from '../../../src/db/nodes/seed-waits.ts'
import { seedOf } from '../../../src/domain/rounds/turn-amounts.ts'
import { linkSeeds } from '../../../src/follower/link-seeds.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { blocksAfter } from './chains.ts'
import type { Block } from './follow.ts'
import * as model from './linked.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HEAD = 150
const BLOCKS = blocksAfter(null, HEAD + 1, 0)
const timeOf = (number: number) => BLOCKS[number]?.time ?? 0
const kind = fc.constantFrom<'lacks' | 'forged' | 'silent'>('lacks', 'forged', 'silent')
const run = fc.record({
  /** How far after a block's time the turn is. */
  due: fc.record({ block: fc.constantFrom(0, 1, 60, 75, 76, 77, 139, 141), sec: fc.constantFrom(-12, -1, 0, 1) }),
  fault: fc.option(fc.record({ at: fc.constantFrom(0, 11, 12, 75, 76, 77, 139), kind }), { freq: 2 }),
  replaces: fc.constantFrom(false, false, false, true),
  batches: fc.constantFrom(99, 99, 1, 2, 0),
})
const drawn = fc.record({
  oldest: fc.constantFrom(140, 140, 141, 148, null),
  provenFrom: fc.constantFrom(0, 0, 0, 140, 141, 145, 151, null),
  linked: fc.option(fc.record({ at: fc.constantFrom(12, 76, 139, 140, 141, 142), isReplaced: fc.boolean() }), {
    freq: 1,
  }),
  cohorts: fc.array(
    fc.record({
      at: fc.constantFrom(0, 11, 12, 13, 76, 77, 140, 160),
      sec: fc.constantFrom(-1, 0, 1),
      intervalSec: fc.constantFrom(60, 300, 5),
    }),
    { maxLength: 2 },
  ),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function ledgerOf({ oldest, provenFrom, linked, cohorts }: Drawn): { ledger: model.Ledger; rows: Rows } {
  const headers = oldest === null ? [] : BLOCKS.slice(oldest)
  const at = linked && (BLOCKS[linked.at] as Block)
  const ledger: model.Ledger = {
    ...{ headers, provenFrom, linked: at && { ...at, hash: linked?.isReplaced ? word(5) : at.hash }, seeds: [] },
    cohorts: cohorts.map(({ at: block, sec, intervalSec }) => ({ nextDue: 1_000 + 12 * block + sec, intervalSec })),
  }
  const rows: Rows = {
    cursors: [{ name: 'follow', block_number: HEAD, block_hash: BLOCKS[HEAD]?.hash ?? '', block_time: timeOf(HEAD) }],
    blocks: headers.map(({ parentHash, ...one }) => ({ ...one, parent_hash: parentHash })),
    evidence_modes: [{ from_block: provenFrom ?? 0, mode: provenFrom === null ? 'agreed' : 'proven', set_by: 'test' }],
    ledger_state: ledger.linked === null ? [] : [{ linked_header: JSON.stringify(ledger.linked) }],
    cohorts: ledger.cohorts.map(({ nextDue, intervalSec }, n) => ({
      ...{
        cohort: 1 + n,
        tier_no: 1,
        interval_sec: intervalSec,
        next_due: nextDue,
        block_number: 1,
        block_hash: word(1),
      },
    })),
  }
  return { ledger, rows }
}

/** The run of both readings. */
async function runBoth(
  sql: Sql,
  ledger: model.Ledger,
  { due, fault, replaces, batches }: typeof run extends fc.Arbitrary<infer T> ? T : never,
) {
  const at = timeOf(due.block) + due.sec
  const answer = async (number: number) => {
    if (replaces) await sql`UPDATE blocks SET hash = ${word(6)} WHERE number = ${number + 1}`
    const block = BLOCKS[number]
    if (number !== fault?.at) return block ?? null
    if (fault.kind === 'silent') throw new ChainFault('no answer')
    return fault.kind === 'forged' ? { ...block, hash: word(4) } : null
  }
  let begun = 0
  const ctx = { pool: poolWithin(sql), chain: { block: answer }, log: silentLog }
  const limits = { checkLock: () => undefined, outOfTime: () => begun++ >= batches }
  const expected = model.link(ledger, { blocks: BLOCKS, fault, replaces }, at, batches)
  const [before] = await sql<{ count: number }[]>`SELECT count(*)::int FROM troubles`
  const found = await linkSeeds(ctx as never, limits, at)
  if (expected.kind !== 'waits') assert.equal(found, expected.kind === 'linked' ? 'linked' : null)
  else {
    assert.ok(found !== null && found !== 'linked')
    assert.equal(found.due, at)
    const { above, left } = expected
    const says =
      left === null
        ? `the headers before block ${above} cannot be linked to it: `
        : `headers are linked down to block ${above}; ${left} seconds of block time are left`
    assert.ok(found.says.startsWith(says), `${found.says}, not ${says}`)
    if (expected.lacks !== undefined) assert.ok(found.says.endsWith(`has no block ${expected.lacks}`), found.says)
  }
  const [troubles] = await sql<{ count: number }[]>`SELECT count(*)::int FROM troubles`
  if (expected.kind !== 'waits' || !expected.isFalse) assert.deepEqual(troubles, before)
  else {
    assert.equal(troubles?.count, 1)
    const [told] = await sql`SELECT subject FROM audit WHERE action = 'proofFailed' ORDER BY id LIMIT 1`
    if (before?.count === 0) assert.equal(told?.subject, String(fault?.at))
  }
  assert.deepEqual(await readLinked(sql), ledger.linked)
  const kept = await sql`SELECT number, time, parent_time AS "parentTime", seed, proof FROM seed_blocks ORDER BY number`
  const seeds = new Map(ledger.seeds.map((one) => [one.number, one]))
  const wanted = [...seeds.values()].toSorted((a, b) => a.number - b.number)
  assert.deepEqual(
    kept.map((row) => ({ ...row })),
    wanted.map(({ of, ...one }) => ({
      ...one,
      seed: seedOf(of as never, BLOCKS[of.number - 1] as never),
      proof: 'proven',
    })),
  )
}

test('headers are linked from a proven one down to a turn, and keep the seeds of later turns', async () => {
  const compare = async (given: Drawn, runs: (typeof run extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const { ledger, rows } = ledgerOf(given)
    await tables.within(rows, async (sql) => {
      for (const one of runs) {
        await runBoth(sql, ledger, one)
        if (one.replaces) break
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, fc.array(run, { minLength: 1, maxLength: 3 }), compare), {
    numRuns: cases(80),
  })
})

test('a run links 1,024 headers at most', async () => {
  const blocks = blocksAfter(null, 1_200, 0)
  const top = blocks.at(-1) as Block
  const rows: Rows = {
    cursors: [{ name: 'follow', block_number: top.number, block_hash: top.hash, block_time: top.time }],
    blocks: [
      { ...{ number: top.number, hash: top.hash, parent_hash: top.parentHash }, time: top.time, prevrandao: word(7) },
    ],
    evidence_modes: [{ from_block: 0, mode: 'proven', set_by: 'test' }],
  }
  await tables.within(rows, async (sql) => {
    let [most, open] = [0, 0]
    const block = async (number: number) => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
      return blocks[number]
    }
    const ctx = { pool: poolWithin(sql), chain: { block }, log: silentLog }
    // The lowest of them is the turn's own block, and the one before it shows that.
    const due = blocks[top.number - 1_024]?.time ?? 0
    const found = await linkSeeds(ctx as never, { checkLock: () => undefined, outOfTime: () => false }, due)
    const says = `headers are linked down to block ${top.number - 1_024}; 0 seconds of block time are left`
    assert.deepEqual(found, { due, says })
    assert.equal(most, 4)
  })
})
