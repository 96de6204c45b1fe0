// Reading ahead: src/follower/ahead.ts, with surveys that succeed, end early or cannot be had, faults, other instances and little time, asks for what
// the second reading names, in the same order.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { readAhead } from '../../../src/follower/ahead.ts'
import { createPace } from '../../../src/follower/survey/pace.ts'
import { openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { FACTORY, nothing } from './chains.ts'
import * as model from './reading.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

/** Far longer than the database needs. */
const LIMIT_MS = 3_000
const OTHER = word(0xdead)
const near = (...edges: number[]) => fc.constantFrom(...edges)
const cursor = fc.oneof(
  { weight: 5, arbitrary: fc.constant('stored' as const) },
  { weight: 1, arbitrary: fc.record({ number: near(0, 40, 127, 128, 300, 900), isOther: fc.boolean() }) },
)
const drawn = fc.record({
  start: near(0, 0, 1, 5),
  target: near(0, 4, 5, 63, 64, 65, 127, 128, 129, 130, 260, 700, 1_023, 1_100, 1_500),
  surveyTo: near(-1, -1, 3, 7, 8, 100, 400, 2_000),
  blocksMin: near(4, 8, 8, 512),
  readMax: near(1_000_000, 1_000_000, 1, 63, 64, 65, 200),
  time: near(99, 99, 99, 0, 1, 2, 3),
  statesFrom: near(0, 0, 0, 1, 2_000),
  busy: fc.constantFrom<number[]>([], [], [2, 9], [20, 21, 22], [0, 100, 150]),
  faultFrom: near(9_999, 9_999, 9_999, 0, 64, 129, 500),
  cursors: fc.array(cursor, { minLength: 1, maxLength: 9 }),
})

const blockAt = (number: number) => ({
  number,
  hash: word(number),
  time: number,
  parentHash: word(number - 1),
  prevrandao: word(0),
})
const blocksOf = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => blockAt(from + n))
const STATE = { nonce: 1, balanceWei: 0n, hasCode: true, codeHash: word(1), storageRoot: word(2) }

/** What the code asks for, in order, and how many reads run. */
interface Seen {
  lines: string[]
  reading: number
}

function chainOf(world: model.World, seen: Seen) {
  const accountsAt = async (questions: { number: number; accounts: string[] }[]) => {
    if (questions.some(({ number }) => number < world.statesFrom)) return null
    return questions.map(({ number, accounts }) => ({
      block: blockAt(number),
      accounts: new Map(accounts.map((one) => [one, STATE])),
    }))
  }
  return {
    block: async (number: number) => (number < 0 ? null : blockAt(number)),
    survey: {
      ...{ voices: 1, accountsAt, blocksOf: async () => [] },
      async loggedBlocks(from: number, to: number) {
        seen.lines.push(`surveys ${from} to ${to}`)
        const refs = Array.from({ length: 1_023 }, () => word(1))
        const some = world.busy.filter((number) => number >= from && number <= to)
        return some.map((number) => ({ number, refs, accounts: [], logs: [] }))
      },
      observeBlocks: async (numbers: number[], _: unknown, watching: unknown) => ({
        ...{ watching, blocks: numbers.map(blockAt), ...nothing },
      }),
    },
    async observe(from: number, to: number, parent: string | null) {
      const named = parent === null ? 'none' : parent === OTHER ? 'another' : Number(parent)
      seen.lines.push(`reads ${from} to ${to} after ${named}`)
      assert.equal(++seen.reading, 1, 'two reads at once')
      for (let turns = 0; turns < 4; turns++) await turn()
      seen.reading--
      if (from >= world.faultFrom) throw new Error('planned')
      return { blocks: blocksOf(from, to), ...nothing }
    },
  }
}

/** The pace of the code, which notes failures, and that no survey takes longer than the test. */
function paceOf(world: model.World, seen: Seen) {
  const pace = createPace(world.blocksMin)
  const began = performance.now()
  return {
    ...pace,
    succeeded(tookMs: number, covered: number | null) {
      assert.ok(tookMs >= 0 && tookMs <= performance.now() - began, `${tookMs} ms`)
      pace.succeeded(0, covered)
    },
    failed(from: number) {
      seen.lines.push(`no survey from ${from}`)
      pace.failed(from)
    },
  }
}

/** Waits until the read of the next range has begun, if the second reading has one. */
async function untilAsked(seen: Seen, expected: string[]): Promise<void> {
  const until = Math.max(seen.lines.length, expected.indexOf('next', seen.lines.length))
  const began = performance.now()
  while (seen.lines.length < until && performance.now() - began < LIMIT_MS) await turn()
}

async function run(sql: Sql, world: model.World, seen: Seen, expected: string[]): Promise<void> {
  const rules = {
    startBlock: world.start,
    ...(world.blocksMin !== 512 && { survey: { behind: 0, blocksMin: world.blocksMin } }),
  }
  const ctx = {
    pool: poolWithin(sql),
    chain: chainOf(world, seen),
    contract: { factory: FACTORY },
    minter: null,
    distributor: null,
    rules,
  }
  let begun = 0
  const outOfTime = () => begun >= world.time || begun++ < 0
  const { target, surveyTo, readMax } = world
  const ahead = readAhead(
    ctx as never,
    { checkLock: () => {}, outOfTime },
    { target, surveyTo, readMax, pace: paceOf(world, seen) },
  )
  let last: { number: number; hash: string } | null = null
  try {
    for (const to of world.cursors) {
      const range = await ahead.after(last as never)
      if (range === null) {
        seen.lines.push('has ended')
        return
      }
      const end = range.blocks.at(-1) ?? assert.fail('an empty range')
      seen.lines.push(`has ${end.number}`)
      ahead.beginAfter(range)
      await untilAsked(seen, expected)
      seen.lines.push('next')
      last = to === 'stored' ? end : { number: to.number, hash: to.isOther ? OTHER : word(to.number) }
    }
    // The second reading reads on after the last cursor, too.
    await ahead.after(last as never).catch(() => null)
  } catch (error) {
    assert.equal((error as Error).message, 'planned')
    seen.lines.push('has failed')
  } finally {
    await ahead.end()
    assert.equal(seen.reading, 0, 'a read runs on')
  }
}

test('a run reads each range while it stores the one before, surveys old ones, and no more', async () => {
  const met = { surveys: 0, 'no survey': 0, reads: 0, 'has ended': 0, 'has failed': 0 }
  const compare = async (world: model.World) => {
    const expected = model.reading(world)
    const seen: Seen = { lines: [], reading: 0 }
    await tables.within({}, (sql) => run(sql, world, seen, expected))
    assert.deepEqual(seen.lines, expected)
    for (const kind of Object.keys(met) as (keyof typeof met)[])
      met[kind] += expected.filter((line) => line.startsWith(kind)).length
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
  for (const [kind, count] of Object.entries(met)) assert.ok(count > 0, kind)
})

test('the first range of a ledger is not read if the provider lacks the block before it', async () => {
  await tables.within({}, async (sql) => {
    const ctx = { pool: poolWithin(sql), chain: { block: async () => null }, rules: { startBlock: 5 } }
    const route = { target: 9, surveyTo: -1, readMax: 99, pace: createPace(4) }
    const ahead = readAhead(ctx as never, { checkLock: () => {}, outOfTime: () => false }, route)
    await assert.rejects(ahead.after(null), /no block 4/)
  })
})
