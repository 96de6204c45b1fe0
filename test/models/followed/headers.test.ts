// Headers and seeds: the statements of src/db about them, in random order on random rows, and the second reading agree.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import * as blocks from '../../../src/db/blocks/blocks.ts'
import { lastStoredBlockBefore } from '../../../src/db/core/snapshot.ts'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as seeds from '../../../src/db/nodes/seed-blocks.ts'
import { openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, play, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './headers.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HEAD = 105
/** Blocks of the same time, and some that are far apart. */
const gaps = fc.array(fc.constantFrom(0, 0, 1, 12), { minLength: 6, maxLength: 6 })
const time = fc.constantFrom(999, 1_000, 1_001, 1_002, 1_012, 1_013, 1_024, 1_025, 1_026, 2_000)
/** Few, so that turns and blocks often have one time. */
const seedTime = fc.constantFrom(1_000, 1_001, 1_012, 1_013)
const drawnSeed = fc.record({
  number: fc.constantFrom(97, 98, 99, 100, 101, 103, 105, 106),
  time: seedTime,
  parent: fc.constantFrom(null, 0, 1, 12),
  proof: fc.constantFrom('proven', 'agreed', 'believed', 'believed'),
})
const seed = drawnSeed.map(
  ({ parent, number, ...one }): model.Seed => ({
    ...{ ...one, number, seed: word(500 + number), parentTime: parent === null ? null : one.time - parent },
  }),
)
const drawn = fc.record({
  gaps,
  first: fc.constantFrom(100, 100, 103, 106),
  seeds: fc.uniqueArray(seed, { maxLength: 4, selector: ({ number }) => number }),
  dues: fc.array(fc.record({ size: fc.nat(1), due: time, isState: fc.boolean() }), { maxLength: 3 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function chainOf({ gaps, first, seeds, dues }: Drawn): model.Chain {
  let at = 1_000
  const headers = gaps.map((gap, n): model.Header => {
    at += gap
    return { number: 100 + n, hash: word(100 + n), time: at }
  })
  return { head: HEAD, headers: headers.filter(({ number }) => number >= first), seeds, dues }
}

const inBlock = { block_number: 1, block_hash: word(1) }
function rowsOf(chain: model.Chain, dues: Drawn['dues']): Rows {
  const cohort = (n: number, size: number, next_due: number): Row => ({
    cohort: 1 + n,
    size,
    next_due,
    interval_sec: 60,
  })
  return {
    cursors: [{ name: 'follow', block_number: HEAD, block_hash: word(HEAD), block_time: 1_100 }],
    blocks: chain.headers.map((one) => ({ ...one, parent_hash: word(one.number - 1), prevrandao: word(7) })),
    seed_blocks: chain.seeds.map(({ parentTime, ...one }) => ({ ...one, parent_time: parentTime })),
    // A due time is that of a cohort as it is, or as it was.
    cohorts: dues.map(({ size, due, isState }, n) => ({
      ...{ ...cohort(n, isState ? 0 : size, due), tier_no: 1, ...inBlock },
    })),
    cohort_states: dues.flatMap(({ size, due, isState }, n) =>
      isState ? [{ ...cohort(n, size, due), block_number: 1, per_node_wei: 0n, turn_count: 0 }] : [],
    ),
  }
}

type Machine = Act<model.Chain>
const of = <Input>(
  draw: fc.Arbitrary<Input>,
  run: (sql: Sql, input: Input) => Promise<unknown>,
  expects: (state: model.Chain, input: Input) => unknown,
): Machine => act({ draw, run, expects })
const height = fc.constantFrom(99, 100, 101, 102, 105)

const headers: Record<string, Machine> = {
  found: of(
    time,
    async (sql, at) => {
      const first = await blocks.firstStoredBlockAt(sql, at)
      const known = first && { block: first.block.number, parent: first.parent.number }
      return [known, (await lastStoredBlockBefore(sql, at))?.number, await blocks.oldestBlockNumber(sql)]
    },
    (chain, at) => [model.firstAt(chain, at), model.before(chain, at), model.oldest(chain)],
  ),
  upTo: of(
    fc.record({ number: height, time }),
    async (sql, at) => (await blocks.readBlockUpTo(sql, at))?.number,
    (chain, { number, time }) => model.upTo(chain, number, time),
  ),
  hashes: of(
    fc.subarray([99, 100, 102, 105]),
    async (sql, numbers) => [...(await blocks.readHashes(sql, numbers))].sort(),
    (chain, numbers) =>
      chain.headers
        .filter(({ number }) => numbers.includes(number))
        .map(({ number, hash }) => [number, hash])
        .sort(),
  ),
  replaced: of(
    height,
    async (sql, number) => {
      const [known] = await sql<{ time: number }[]>`SELECT time FROM blocks WHERE number = ${number}`
      if (known === undefined) return
      const other = { number, hash: word(9_000 + number), parentHash: word(1), time: known.time, prevrandao: word(2) }
      await blocks.insertBlocks(sql, [other as never])
    },
    (chain, number) => {
      const known = chain.headers.find((one) => one.number === number)
      if (known) model.stored(chain, [{ ...known, hash: word(9_000 + number) }])
    },
  ),
  pruned: of(height, blocks.pruneBlocks, (chain, below) => {
    chain.headers = chain.headers.filter(({ number }) => number >= below)
  }),
  removed: of(height, blocks.deleteBlocksAbove, (chain, above) => {
    const gone = chain.headers.filter(({ number }) => number > above).length
    chain.headers = chain.headers.filter(({ number }) => number <= above)
    return gone
  }),
}

const seeding: Record<string, Machine> = {
  seedOf: of(seedTime, seeds.readSeedBlock, model.seedOf),
  kept: of(
    fc.uniqueArray(seed, { maxLength: 2, selector: ({ number }) => number }),
    (sql, all) => seeds.insertSeedBlocks(sql, all as never),
    model.keep,
  ),
  keptOld: of(seed, (sql, one) => seeds.keepOldSeedBlock(sql, one as never), model.keepOld),
  keptAgreed: of(seed, (sql, one) => seeds.keepAgreedSeedBlock(sql, one as never), model.keepAgreed),
  rewound: of(height, seeds.rewindSeedBlocks, (chain, to) => {
    chain.seeds = chain.seeds.filter(({ number }) => number <= to)
  }),
  forgotten: of(fc.constant(null), seeds.forgetSeedBlocks, (chain) => model.forget(chain)),
}

const readRows = async (sql: Sql) => [
  inOrder(await sql<object[]>`SELECT number, hash, time FROM blocks`),
  inOrder(await sql<object[]>`SELECT number, time, parent_time AS "parentTime", seed, proof FROM seed_blocks`),
]

const agree = (steps: fc.Arbitrary<Step<model.Chain>[]>, usual: number) => {
  const compare = async (given: Drawn, all: Step<model.Chain>[]) => {
    const state = chainOf(given)
    await tables.within(rowsOf(state, given.dues), async (sql) => {
      const expected = (chain: model.Chain) => [inOrder<object>(chain.headers), inOrder<object>(chain.seeds)]
      await play(sql, { steps: all, state }, { read: readRows, expected })
    })
  }
  return fc.assert(fc.asyncProperty(drawn, steps, compare), { numRuns: cases(usual) })
}

test('headers are found by number and time, until they are pruned or no longer canonical', async () => {
  await agree(stepsOf(headers, { least: 2, most: 6, weights: { found: 4, upTo: 2 } }), 60)
})

test('a turn has the seed of the first block at its time, as far as that is sure', async () => {
  await agree(stepsOf(seeding, { least: 2, most: 6, weights: { seedOf: 6 } }), 100)
})
