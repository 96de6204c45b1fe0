// The height up to which a run judges and mints: settledHeight of src/follower/followed-finality.ts, with every FINALITY, with and without a guard that can be used, and while histories differ,
// is the one of the second reading.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin } from '../../../src/db/core/sql.ts'
import { settledHeight } from '../../../src/follower/followed-finality.ts'
import { openTables, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { look, type Said } from '../voices/finality.ts'
import * as model from './settled.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [CURSOR, NOW] = [200, 100_000]
const BLOCKS = [100, 135, 136, 137, 198, 199, CURSOR].map((number) => ({
  ...{ number, hash: word(number), time: NOW - 15 * (CURSOR - number) },
}))
const ROWS = {
  blocks: BLOCKS.map(({ number, hash, time }) => ({
    ...{ number, hash, time, parent_hash: word(number - 1), prevrandao: word(0) },
  })),
}
const drawn = fc.record({
  finality: fc.constantFrom<model.Rule['finality']>(0, 1, 2, 64, 'guarded', 'guarded', 'finalized', 'finalized'),
  guardUsable: fc.boolean(),
  common: fc.constantFrom(null, null, null, 135, 136, 137, 198, 199, CURSOR),
  word: fc.option(
    fc.record({ number: fc.constantFrom(100, 136, 137, 198, 199, CURSOR, 201), voices: fc.constantFrom(1, 2, 2) }),
    { freq: 6 },
  ),
  providers: fc.array(fc.constantFrom<Said>('same', 'same', 'same', 'same', 'other', 'none'), {
    minLength: 1,
    maxLength: 3,
  }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

test('a run judges and mints up to FINALITY, never above what all histories share', async () => {
  const compare = async (given: Drawn) => {
    const { finality, guardUsable, common, word: named, providers } = given
    await tables.within(ROWS, async (sql) => {
      const asked = { count: 0 }
      const readers = providers.map((said, n) => ({
        host: `host ${n}`,
        block: async (number: number) =>
          said === 'none' ? null : { number, hash: said === 'same' ? word(number) : word(600), time: 1 },
      }))
      const finalized = async () => {
        asked.count += 1
        return named && { number: named.number, hash: word(named.number), voices: named.voices }
      }
      const rules = { finality, rewindsToShorterChain: false }
      const ctx = { pool: poolWithin(sql), chain: { providers: readers, finalized }, rules }
      const agreed = common === null ? null : { number: common, hash: word(common) }
      const cursor = { number: CURSOR, hash: word(CURSOR), time: NOW }
      const found = await settledHeight(ctx as never, cursor as never, { guardUsable, agreed } as never)
      const said = { word: named && { ...named, otherwise: false }, depth: null, providers }
      const final = look({ blocks: BLOCKS, isEmbedded: false, common: null }, said)
      const firm = final.kind === 'final' ? (final.block?.number ?? -1) : null
      assert.equal(found, model.settledTo({ finality, guardUsable, common }, CURSOR, firm))
      const isNeeded = finality === 'finalized' || (finality === 'guarded' && !guardUsable)
      assert.equal(asked.count, isNeeded ? 1 : 0)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})
