// How far a run may go while providers' histories differ: src/follower/histories.ts finds what the second reading finds, over several runs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { readParted } from '../../../src/db/blocks/parted.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { compareHistories } from '../../../src/follower/histories.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { at, openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './histories.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [OLDEST, CURSOR] = [10, 30]
const blockOf = (number: number, salt = 0) => ({
  ...{
    number,
    hash: word(salt + number),
    parentHash: word(salt + number - 1),
    time: 1_000 + number,
    prevrandao: word(0),
  },
})
const ROWS = {
  cursors: [{ name: 'follow', block_number: CURSOR, block_hash: word(CURSOR), block_time: 1_000 + CURSOR }],
  blocks: Array.from({ length: CURSOR - OLDEST + 1 }, (_, i) => {
    const { number, hash, parentHash, time, prevrandao } = blockOf(OLDEST + i)
    return { number, hash, parent_hash: parentHash, time, prevrandao }
  }),
}

/** A provider as the code sees it, and those that it asks last from now on. */
function readerOf({ head, fork, isSilent }: model.Provider, index: number, last: Set<number>) {
  const salt = fork && 1_000_000 * (fork.name === 'a' ? 1 : 2) + 1_000 * fork.from
  const block = (number: number) => blockOf(number, salt && number >= (fork?.from ?? 0) ? salt : 0)
  const answer = <T>(found: T) => {
    if (isSilent) throw new ChainFault('silent')
    return found
  }
  return {
    host: `host ${index}`,
    distrust: () => last.add(index),
    block: async (number: number) => answer(number > head ? null : block(number)),
    head: async () => answer(block(head)),
  }
}

const provider: fc.Arbitrary<model.Provider> = fc.record({
  head: fc.constantFrom(8, 12, 20, 29, 30, 30, 30, 31),
  fork: fc.oneof(
    fc.constant(null),
    // Providers that share a fork.
    fc.constant({ from: 20, name: 'a' }),
    fc.record({ from: fc.constantFrom(5, 10, 11, 19, 20, 30, 31), name: fc.constantFrom('a', 'b') }),
  ),
  isSilent: fc.constantFrom(false, false, false, false, true),
})
const runs = fc
  .integer({ min: 1, max: 4 })
  .chain((count) =>
    fc.array(fc.array(provider, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 4 }),
  )

const CTX = { rules: { rewindsToShorterChain: false }, log: silentLog }

/** One run of both readings, on what the run before has noted. @returns what this one notes. */
async function runBoth(sql: Sql, providers: model.Provider[], former: model.Difference | null) {
  const last = new Set<number>()
  const chain = { providers: providers.map((one, index) => readerOf(one, index, last)) }
  const cursor = { number: CURSOR, hash: word(CURSOR), time: 1_000 + CURSOR }
  const found = await compareHistories({ ...CTX, pool: poolWithin(sql), chain } as never, cursor as never)
  const expected = model.compare(providers, former, { oldest: OLDEST, cursor: CURSOR })
  const noted = await readParted(sql)
  assert.deepEqual(noted && { agreed: noted.agreed.number, stops: noted.stops }, expected, 'on record')
  assert.deepEqual(found, expected?.stops ? { number: expected.agreed, hash: word(expected.agreed) } : null)
  // Those that two others outvote come last; of two that differ, none does.
  if (providers.length === 2) assert.equal(last.size, 0)
  return expected
}

test('a run works up to the common block, and two providers of our blocks end a difference', async () => {
  const met = { stops: 0, goesOn: 0, ends: 0 }
  const compare = async (drawn: model.Provider[][]) => {
    await tables.within(ROWS, async (sql) => {
      let noted: model.Difference | null = null
      for (const providers of drawn) {
        const former: model.Difference | null = noted
        noted = await runBoth(sql, providers, former)
        if (noted) met[noted.stops ? 'stops' : 'goesOn'] += 1
        else if (former) met.ends += 1
      }
    })
  }
  await fc.assert(fc.asyncProperty(runs, compare), { numRuns: cases(300) })
  assert.ok(Math.min(...Object.values(met)) >= cases(5), JSON.stringify(met))
})

test('a difference is reported after twelve blocks or two minutes, once, never on our own chain', async () => {
  await tables.within(ROWS, async (sql) => {
    const run = async (from: number, rewindsToShorterChain = false) => {
      const readers = [null, { from, name: 'a' }].map((fork) => ({ head: CURSOR, fork, isSilent: false }))
      const chain = { providers: readers.map((one, index) => readerOf(one, index, new Set())) }
      const ctx = { ...CTX, pool: poolWithin(sql), chain, rules: { rewindsToShorterChain } }
      await compareHistories(ctx as never, { number: CURSOR, hash: word(CURSOR), time: 1_030 } as never)
      return (await sql`SELECT FROM audit`).count
    }
    assert.equal(await run(20, true), 0)
    assert.equal(await readParted(sql), null)
    assert.equal(await run(20), 0, 'eleven blocks')
    await sql`UPDATE troubles SET value = value || ${`{"since": "${at(Date.now() / 1_000 - 119)}"}`}::text::jsonb WHERE name = 'parted'`
    assert.equal(await run(20), 0)
    await sql`UPDATE troubles SET value = value || ${`{"since": "${at(Date.now() / 1_000 - 121)}"}`}::text::jsonb WHERE name = 'parted'`
    assert.equal(await run(20), 1)
    assert.equal(await run(19), 1)
    await sql`DELETE FROM troubles`
    assert.equal(await run(19), 2, 'twelve blocks')
  })
})
