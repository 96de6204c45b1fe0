// First blocks of versions: src/follower/tier-changes.ts, over versions and planned changes at the edges of a range, read whole or surveyed, gives each
// the block that the second reading names.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type BlockTimes, readDue, readTierTimes } from '../../../src/follower/tier-changes.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { openTables, type Row, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { type Block, moved, type Version } from './first-blocks.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const FIRST_TIME = 1_000
/** Times at, before and after those of blocks that are some seconds apart, of which some are none. */
const time = fc.integer({ min: FIRST_TIME - 1, max: FIRST_TIME + 16 })
const version = fc.record({
  fromTime: time,
  fromBlock: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 2 }),
  isCancelled: fc.constantFrom(false, false, false, true),
})
const drawn = fc.record({
  gaps: fc.array(fc.constantFrom(0, 1, 2, 3), { minLength: 7, maxLength: 7 }),
  /** How many blocks have been followed. */
  followed: fc.constantFrom(0, 0, 1, 2, 3),
  count: fc.constantFrom(1, 2, 4),
  versions: fc.array(version, { maxLength: 8 }),
})

function blocksOf(gaps: number[]): Block[] {
  const timeOf = (number: number) => gaps.slice(0, number + 1).reduce((sum, gap) => sum + gap, FIRST_TIME)
  return gaps.map((_, number) => ({ number, time: timeOf(number) }))
}

const rowOf = ({ tierId, fromTime, fromBlock, isCancelled }: Version): Row => ({
  ...{ tier_id: tierId, version: 1, tier_no: 1 + Number(tierId.slice(1)), label: 'Tier', price_wei: 1, live: false },
  ...{ max_per_wallet: 1, payout_bps: 1, on_sale: true, from_block: fromBlock, from_time: fromTime },
  ...{ names: fromBlock === null ? '{label}' : null, cancelled: isCancelled, entered_by: 'test' },
})

/** A chain that only a surveyed range may ask. */
const chainOf = (blocks: Block[]) => ({
  agreedFirstBlockAt: async (from: number, notAfter: number) => {
    const block = blocks.find((one) => one.time >= from && one.number <= notAfter)
    return block ? { block, parent: null } : null
  },
})

const inOrder = (some: readonly { tierId: string }[]) => some.toSorted((a, b) => (a.tierId < b.tierId ? -1 : 1))

const met = { moved: 0, still: 0, faults: 0 }

/** A time that no version had when we asked the chain. So a version with that time was entered meanwhile. */
function compareOther(times: BlockTimes, at: number, isSurveyed: boolean, range: Block[]): void {
  const first = range.find(({ time }) => time >= at)
  if (isSurveyed && first !== undefined) {
    assert.throws(() => times.firstAt(at), ChainFault)
    met.faults++
  } else assert.equal(times.firstAt(at), first?.number)
}

test('a range gives each version that has not begun its first block, read whole or surveyed', async () => {
  const compare = async ({
    gaps,
    followed,
    count,
    versions: some,
  }: typeof drawn extends fc.Arbitrary<infer T> ? T : never) => {
    const blocks = blocksOf(gaps)
    const [before, range] = [blocks[followed - 1] ?? null, blocks.slice(followed, followed + count)]
    const last = range.at(-1) as Block
    const cursor = before && { ...before, hash: word(before.number) as never }
    const versions = some.map((one, n) => ({
      ...one,
      isCancelled: one.isCancelled && one.fromBlock === null,
      tierId: `t${n}`,
    }))
    const expected = moved(versions, before, range).map(({ isCancelled: _, ...one }) => ({ ...one, version: 1 }))
    met[expected.length > 0 ? 'moved' : 'still']++
    await tables.within({ tiers: versions.map(rowOf) }, async (pool) => {
      for (const isSurveyed of [false, true]) {
        const ctx = { pool, ...(isSurveyed && { chain: chainOf(blocks) }) } as never
        const seen = { blocks: isSurveyed ? [last] : range, isSurveyed } as never
        const times = await readTierTimes(ctx, seen, cursor)
        assert.deepEqual(inOrder(await readDue(pool, times, cursor)), expected)
        assert.deepEqual([times.isDue, times.last], [expected.length > 0, last.number])
        const isAsked = (at: number) => versions.some(({ fromTime }) => fromTime === at)
        const others = [last.time - 1, last.time, last.time + 1].filter((at) => !isSurveyed || !isAsked(at))
        for (const at of others) compareOther(times, at, isSurveyed, range)
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
  for (const [kind, count] of Object.entries(met)) assert.ok(count > 0, kind)
})
