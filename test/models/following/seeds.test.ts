// Terms and seeds of turns: src/follower/seeds.ts, with blocks that are stored, kept, new or looked up, and providers that agree, differ or do not answer, finds and keeps what
// the second reading does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { turnDigest } from '../../../src/chain/digest.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { seedOf, turnAmountWei } from '../../../src/domain/rounds/turn-amounts.ts'
import { seedBlocksOf, termsReader, withBacking } from '../../../src/follower/seeds.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import type { Block } from './follow.ts'
import * as model from './seeds.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [CURSOR, LAST] = [10, 14]
const proof = fc.constantFrom<model.Proof>('proven', 'agreed', 'believed', 'believed')
const due = fc.record({ block: fc.integer({ min: 0, max: LAST + 1 }), sec: fc.constantFrom(-1, 0, 0, 1) })
const drawnTerms = fc.record({
  credit: fc.uniqueArray(fc.integer({ min: 0, max: 90 }), { maxLength: 2 }),
  tiers: fc.uniqueArray(fc.record({ tierNo: fc.constantFrom(1, 1, 2), from: fc.integer({ min: 0, max: 90 }) }), {
    maxLength: 3,
    selector: ({ tierNo, from }) => `${tierNo} ${from}`,
  }),
})
const drawn = fc.record({
  gaps: fc.array(fc.constantFrom(0, 5, 10, 10), { minLength: LAST, maxLength: LAST }),
  storedFrom: fc.constantFrom(0, 3, 6, 9),
  kept: fc.uniqueArray(fc.record({ number: fc.constantFrom(1, 2, 4, 7, 8, 10), proof, isFalse: fc.boolean() }), {
    maxLength: 3,
    selector: ({ number }) => number,
  }),
  provenFrom: fc.constantFrom(null, 0, 4, 7, 8),
  fresh: fc.constantFrom([], [], [11], [11, 12], [11, 12, 13], [12], [11, 13]),
  freshProof: fc.constantFrom<model.Proof>('proven', 'believed'),
  providers: fc.constantFrom(0, 1, 2, 2, 3),
  agree: fc.constantFrom<model.Chain['agree']>('chain', 'chain', 'other', 'none', 'fault'),
  answers: fc.constantFrom(true, true, true, false),
  trustsProvider: fc.boolean(),
  upTo: fc.constantFrom(4, 8, 9, 10, 13, 14),
  terms: drawnTerms,
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** Blocks with random enough words, so that each gives a seed of its own. */
function blocksOf(gaps: number[]): Block[] {
  let time = 1_000
  return [0, ...gaps].map((gap, number) => {
    time += gap
    const prevrandao = `0x${String(number + 11).repeat(32)}`
    return { number, hash: word(100 + number), parentHash: word(99 + number), time, prevrandao }
  })
}
const seedOfBlock = (block: Block, parent: Block | null) => seedOf(block as never, parent as never)

function worldOf(given: Drawn) {
  const blocks = blocksOf(given.gaps)
  const at = (number: number) => blocks[number] as Block
  const seeds = given.kept.map(({ number, proof: by, isFalse }) => {
    const seed = isFalse ? word(66) : seedOfBlock(at(number), at(number - 1))
    return { number, time: at(number).time, parentTime: at(number - 1).time, seed, proof: by }
  })
  const ledger: model.Ledger = {
    headers: blocks.slice(given.storedFrom, CURSOR + 1),
    seeds,
    cursor: CURSOR,
    provenFrom: given.provenFrom,
  }
  const { providers, agree, answers } = given
  const chain: model.Chain = { blocks, providers, agree, answers, seedOf: seedOfBlock }
  const fresh: model.Fresh = { blocks: given.fresh.map(at), proof: given.freshProof }
  const terms: model.Terms = {
    credit: given.terms.credit.map((sec, n) => ({
      fromTime: 1_000 + sec,
      minWei: 100n + BigInt(n),
      maxWei: 999n + BigInt(n),
    })),
    tiers: given.terms.tiers.map(({ tierNo, from }, n) => ({
      tierId: `t${tierNo}`,
      tierNo,
      fromTime: 1_000 + from,
      payoutBps: 5_000 + 700 * n,
    })),
  }
  return { ledger, chain, fresh, terms }
}
type World = ReturnType<typeof worldOf>

function rowsOf({ ledger, chain, terms }: World): Rows {
  const cursor = chain.blocks[CURSOR] as Block
  const isLast = (one: model.Terms['tiers'][number]) =>
    terms.tiers.every(({ tierNo, fromTime }) => tierNo !== one.tierNo || fromTime <= one.fromTime)
  return {
    cursors: [{ name: 'follow', block_number: CURSOR, block_hash: cursor.hash, block_time: cursor.time }],
    blocks: ledger.headers.map(({ parentHash, ...one }) => ({ ...one, parent_hash: parentHash })),
    seed_blocks: ledger.seeds.map(({ parentTime, ...one }) => ({ ...one, parent_time: parentTime })),
    evidence_modes: [
      { from_block: ledger.provenFrom ?? 0, mode: ledger.provenFrom === null ? 'agreed' : 'proven', set_by: 'test' },
    ],
    credit_terms: terms.credit.map(({ fromTime, minWei, maxWei }) => ({
      ...{
        from_time: fromTime,
        payouts: true,
        min_wei: minWei,
        max_wei: maxWei,
        interval_sec: 60,
        slot_sec: 60,
        entered_by: 'test',
      },
    })),
    tiers: terms.tiers.map((one, n) => ({
      ...{
        tier_id: one.tierId,
        version: 1 + n,
        tier_no: one.tierNo,
        label: 'T',
        price_wei: BigInt(1 + n),
        max_per_wallet: 9,
      },
      ...{
        payout_bps: one.payoutBps,
        on_sale: true,
        live: isLast(one),
        from_block: n,
        from_time: one.fromTime,
        entered_by: 'test',
      },
    })),
  }
}

/** What the code asks of the chain. */
function readerOf(chain: model.Chain) {
  const answer = async <T>(read: () => T) => {
    try {
      return read()
    } catch (error) {
      throw error instanceof model.NoAnswer ? new ChainFault('no answer') : error
    }
  }
  const first = (at: number, upTo: number) => {
    if (!chain.answers) throw new model.NoAnswer()
    return model.firstAt(chain, at, upTo)
  }
  return {
    providers: Array.from({ length: chain.providers }),
    firstBlockAt: (at: number, upTo: number) => answer(() => first(at, upTo)),
    agreedFirstBlockAt: (at: number, upTo: number) => answer(() => model.agreedAt(chain, at, upTo)),
  }
}

const timeOf = ({ chain }: World, { block, sec }: typeof due extends fc.Arbitrary<infer T> ? T : never) =>
  (chain.blocks[block]?.time ?? (chain.blocks[LAST]?.time ?? 0) + 9) + sec

async function compareSeeds(sql: Sql, { ledger }: World): Promise<void> {
  const rows = await sql`SELECT number, time, parent_time AS "parentTime", seed, proof FROM seed_blocks ORDER BY number`
  const wanted = ledger.seeds.toSorted((a, b) => a.number - b.number)
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    wanted,
  )
}

const SAYS = {
  differ: /^no two providers agree on block/,
  alone: /^only one provider reports block/,
  fault: /^no answer$/,
  sound: /^null$/,
}
const NONE = { minWei: null, maxWei: null, payoutBps: null, tierId: null, seedBlock: null, seed: null, proof: null }

/** A seed by the model; `fault` if it cannot be read. */
function seedOfModel({ ledger, chain, fresh }: World, at: number, upTo: number): model.Seed | null | 'fault' {
  try {
    return model.seedAt(ledger, chain, at, upTo, fresh)
  } catch (error) {
    if (error instanceof model.NoAnswer) return 'fault'
    throw error
  }
}
const shown = (seed: model.Seed | null) => ({
  seedBlock: seed?.seedBlock ?? null,
  seed: seed?.seed ?? null,
  proof: seed?.proof ?? null,
})

/** What an owed turn has by the model, and what keeps it from being paid. */
function owedBy(world: World, given: { upTo: number; mode: 'proven' | 'agreed'; trustsProvider: boolean }, at: number) {
  const seed = seedOfModel(world, at, given.upTo)
  if (seed === 'fault') return { terms: NONE, why: 'fault', lookedUp: [] } as const
  const why = (seed && model.doubt(seed, world.chain, given)) ?? 'sound'
  const terms = { ...model.owed(world.terms, 1, at), ...shown(seed), ...(why !== 'sound' && { seed: null }) }
  return { terms, why, lookedUp: seed?.lookedUp ? [seed.lookedUp] : [] } as const
}

test('an owed turn has its own time’s terms, and the seed of the first block that is sure', async () => {
  const met: Record<string, number> = {}
  const compare = async (given: Drawn, dues: (typeof due extends fc.Arbitrary<infer T> ? T : never)[]) => {
    const world = worldOf(given)
    const mode = given.provenFrom === null ? 'agreed' : 'proven'
    await tables.within(rowsOf(world), async (sql) => {
      const ctx = { pool: poolWithin(sql), chain: readerOf(world.chain) }
      const reader = termsReader(ctx as never, given.upTo, world.fresh as never)
      const times = [...new Set(dues.map((one) => timeOf(world, one)))]
      const lookedUp: model.Kept[] = []
      for (const at of times) {
        const { doubt, ...found } = await reader.owed(1, at, given)
        const { why, ...expected } = owedBy(world, { ...given, mode }, at)
        lookedUp.push(...expected.lookedUp)
        assert.deepEqual(found, expected.terms)
        assert.match(String(doubt), SAYS[why])
        met[why] = (met[why] ?? 0) + 1
        await compareSeeds(sql, world)
      }
      if (world.chain.answers) assert.deepEqual(await reader.lookedUp(), lookedUp)
      else await reader.lookedUp().catch(() => undefined)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, fc.array(due, { minLength: 1, maxLength: 3 }), compare), {
    numRuns: cases(300),
  })
  for (const kind of ['sound', 'differ', 'alone', 'fault']) assert.ok((met[kind] ?? 0) >= cases(5), JSON.stringify(met))
})

const amountOf = (at: number, { seed, minWei, maxWei, payoutBps }: ReturnType<typeof shown> & model.Rates) =>
  seed === null || minWei === null || maxWei === null || payoutBps === null
    ? null
    : turnAmountWei(turnDigest(seed as never, 3, at), { minWei, maxWei }, payoutBps)

test('a paid credit has the terms in force, or the first ones if they yield what it paid', async () => {
  const drawnCredit = fc.record({
    due,
    turns: fc.constantFrom(1, 1, 1, 2, 3),
    intervalSec: fc.constantFrom(10, 15),
    paysBy: fc.constantFrom('first', 'inForce', 'neither'),
    notAfter: fc.constantFrom(undefined, 8, 14),
  })
  const compare = async (given: Drawn, credit: typeof drawnCredit extends fc.Arbitrary<infer T> ? T : never) => {
    const world = worldOf({ ...given, answers: true })
    const { turns, intervalSec, paysBy, notAfter } = credit
    const from = timeOf(world, credit.due)
    const upTo = Math.min(given.upTo, notAfter ?? given.upTo)
    await tables.within(rowsOf(world), async (sql) => {
      const seeds = Array.from({ length: turns }, (_, n) => {
        const at = from + n * intervalSec
        const seed = shown(seedOfModel(world, at, upTo) as model.Seed | null)
        const [first, inForce] = [
          { ...model.owed(world.terms, 1, at), ...seed },
          { ...model.inForce(world.terms, 1, at), ...seed },
        ]
        return { due: at, first, inForce }
      })
      const sumBy = (by: 'first' | 'inForce') =>
        seeds.reduce((sum, one) => sum + (amountOf(one.due, one[by]) ?? 0n), 0n)
      const amountWei = paysBy === 'neither' ? 12_345n : sumBy(paysBy)
      const ctx = { pool: poolWithin(sql), chain: readerOf(world.chain) }
      const reader = termsReader(ctx as never, given.upTo, world.fresh as never)
      const found = await reader.paid(
        { cohort: 3, tierNo: 1, due: from, turns, intervalSec, amountWei } as never,
        notAfter,
      )
      const [one] = seeds as [(typeof seeds)[number]]
      if (turns === 1) {
        const lacks = one.inForce.minWei === null || one.inForce.payoutBps === null
        const isByFirst = lacks && amountOf(from, one.first) === amountWei
        assert.deepEqual(found, { ...(isByFirst ? one.first : one.inForce), singles: [] })
      } else {
        const by = sumBy('first') === amountWei ? 'first' : 'inForce'
        const singles = seeds.map((turn) => {
          const { tierId: _, ...terms } = turn[by]
          return { due: turn.due, ...terms, amountWei: amountOf(turn.due, turn[by]) }
        })
        const weakest = model.weakestOf(singles.map((single) => single.proof))
        assert.deepEqual(found, { ...NONE, tierId: one.inForce.tierId, proof: weakest, singles })
      }
      await compareSeeds(sql, world)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, drawnCredit, compare), { numRuns: cases(80) })
})

test('a proven seed counts as proven with a guard, else as agreed up to what two call final', async () => {
  const plain = { noNullPrototype: true }
  const seedBlock = fc.constantFrom(null, 4, 5, 6)
  const single = fc.record({ seedBlock, proof: fc.option(proof) }, plain)
  const turn = fc.record({ seedBlock, proof: fc.option(proof), singles: fc.array(single, { maxLength: 3 }) }, plain)
  const state = fc.record({ guard: fc.constantFrom(null, 'used', 'dropped'), named: fc.constantFrom(null, 4, 5) })
  const compare = async (
    given: { guard: string | null; named: number | null },
    all: (typeof turn extends fc.Arbitrary<infer T> ? T : never)[],
  ) => {
    const row = { guard: given.guard, finalized_block: 9, finalized_hash: word(9), finalized_named: given.named }
    const backed = <T extends { seedBlock: number | null; proof: model.Proof | null }>(one: T): T => {
      if (one.proof !== 'proven' || one.seedBlock === null || given.guard === 'used') return one
      return { ...one, proof: one.seedBlock <= (given.named ?? -1) ? 'agreed' : 'believed' }
    }
    const expected = all.map((one) => {
      const singles = one.singles.map(backed)
      return singles.length === 0
        ? backed(one)
        : { ...one, singles, proof: model.weakestOf(singles.map((of) => of.proof)) }
    })
    await tables.within({ ledger_state: [row] }, async (sql) => {
      assert.deepEqual(await withBacking({ pool: poolWithin(sql) }, all as never), expected)
    })
  }
  await fc.assert(fc.asyncProperty(state, fc.array(turn, { maxLength: 2 }), compare), { numRuns: cases(60) })
})

test('a range gives the seeds of the turns that begin in it, of blocks whose parents it has', () => {
  const cohort = fc.record({ nextDue: fc.integer({ min: 990, max: 1_150 }), intervalSec: fc.constantFrom(7, 30, 500) })
  const drawnRange = fc.record({
    gaps: drawn.map(({ gaps }) => gaps),
    from: fc.constantFrom(1, 4),
    leaves: fc.constantFrom(null, 6, 7),
    before: fc.constantFrom('parent', 'parent', 'none', 'older'),
    cohorts: fc.array(cohort, { maxLength: 3 }),
  })
  const compare = ({
    gaps,
    from,
    leaves,
    before: had,
    cohorts,
  }: typeof drawnRange extends fc.Arbitrary<infer T> ? T : never) => {
    const blocks = blocksOf(gaps)
    const range = blocks.slice(from, 10).filter(({ number }) => number !== leaves)
    const parentOf = { parent: blocks[from - 1], none: undefined, older: blocks[from - 2] }[had] ?? null
    const since = parentOf?.time ?? (range[0] as Block).time
    const expected = range.flatMap((block, n) => {
      const previous = n === 0 ? parentOf : (range[n - 1] as Block)
      const after = Math.max(since, previous?.time ?? since)
      const isFirst = cohorts.some(({ nextDue, intervalSec }) => {
        let at = nextDue
        while (at <= after) at += intervalSec
        return at <= block.time
      })
      if (!isFirst || previous?.number !== block.number - 1) return []
      return [{ number: block.number, time: block.time, parentTime: previous.time, seed: seedOfBlock(block, previous) }]
    })
    assert.deepEqual(seedBlocksOf(range as never, parentOf as never, cohorts), expected)
    assert.deepEqual(seedBlocksOf([], parentOf as never, cohorts), [])
  }
  fc.assert(fc.property(drawnRange, compare), { numRuns: cases(300) })
})
