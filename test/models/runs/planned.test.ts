// The round that a pass plans of the ledger's rows: src/passes/steps/plan-round.ts gives each cohort the turns, and each turn the amount, of the second
// reading (../rounds.ts, ../plans.ts), whatever was skipped before it, and from whichever stored block its seed comes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { type DueRound, holdToTerms, planDueRound } from '../../../src/passes/steps/plan-round.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as plans from '../plans.ts'
import * as rounds from '../rounds.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [START, SLOT, LAST] = [1_000, 20, 12]
const drawnCohort = fc.record({
  due: fc.constantFrom(1, 2, 19, 20, 21, 40, 60, 61, 100, 120, 200, 300),
  interval: fc.constantFrom(60, 60, 60, 20, 100),
  tierNo: fc.constantFrom(1, 1, 2),
  size: fc.constantFrom(0, 1, 1, 1, 2),
  /** Where its nodes come from: paid for, granted, or neither for the last of them. */
  backing: fc.constantFrom('paid', 'paid', 'paid', 'granted', 'none'),
})
const drawn = fc.record({
  gaps: fc.array(fc.constantFrom(1, 12, 20, 40, 59), { minLength: LAST, maxLength: LAST }),
  cohorts: fc.array(drawnCohort, { minLength: 1, maxLength: 4 }),
  /** The beginnings of terms, the first of which may begin after some turns. */
  terms: fc.array(fc.record({ gap: fc.constantFrom(1, 60, 61, 120), payouts: fc.boolean(), least: fc.nat(3) }), {
    minLength: 1,
    maxLength: 4,
  }),
  firstTerms: fc.constantFrom(0, 0, 0, START + 61),
  windows: fc.array(fc.tuple(fc.constantFrom(0, 1, 60), fc.constantFrom(59, 60, 61, 180)), { maxLength: 2 }),
  /** Or payouts were off until so many seconds ago, and the window ends then, so that a cohort may have to be skipped to take a node. */
  offUntil: fc.constantFrom(null, null, 0, 10, 30, 50),
  rates: fc.tuple(...[0, 1].map(() => fc.array(fc.constantFrom(0, 1, 60, 119), { minLength: 1, maxLength: 3 }))),
  /** The first block whose header is still stored, and the older seeds that rest on one provider's word. */
  storedFrom: fc.constantFrom(0, 0, 3, 6, LAST),
  believed: fc.constantFrom([], [], [2], [4, 5]),
  /** What two providers say together of these: nothing, or the true block. A single one is not asked. */
  voices: fc.constantFrom('one', 'disagree', 'agree'),
  earlierSec: fc.constantFrom(0, 0, 0, 1, 60),
  waiting: fc.constantFrom([], [1], [1], [2], [1, 2]),
  bounds: fc.constantFrom(null, null, { floorWei: 10n ** 15n, ceilingWei: 3n * 10n ** 15n }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

interface Ledger {
  chain: rounds.Header[]
  terms: rounds.Terms[]
  windows: { window: number; from: number; until: number }[]
  /** By the tier's number. */
  rates: Map<number, rounds.Rate[]>
  cohorts: (Drawn['cohorts'][number] & { cohort: number; nextDue: number })[]
  upTo: number
}

function ledgerOf(given: Drawn): Ledger {
  const chain: rounds.Header[] = []
  let time = START
  for (const gap of [0, ...given.gaps]) {
    time += gap
    const number = chain.length
    // Now and then the field holds no randomness.
    const full = `0x${String(1 + (number % 9)).repeat(64)}` as const
    chain.push({ number, time, hash: word(900 + number) as `0x${string}`, prevrandao: number % 4 === 3 ? '0x' : full })
  }
  for (const one of chain) if (one.prevrandao === '0x') one.prevrandao = word(7) as `0x${string}`
  let from = given.firstTerms
  const terms = given.terms.map(({ gap, payouts, least }, n) => {
    if (n > 0) from = Math.max(from, START) + gap
    const minWei = 10n ** 15n * BigInt(least)
    return { fromTime: from, payouts, minWei, maxWei: minWei + 10n ** 14n }
  })
  let end = START
  const windows = given.windows.map(([gap, length], n) => {
    const begins = end + gap
    end = begins + length
    return { window: 1 + n, from: begins, until: end }
  })
  const cohorts = given.cohorts.map((one, n) => ({ cohort: 1 + n, nextDue: START + one.due, ...one }))
  if (given.offUntil !== null) {
    const until = time - given.offUntil
    const [on] = terms as [rounds.Terms]
    // Some take a node now, some would after a skip, and some will not.
    for (const [n, one] of cohorts.entries()) {
      const [toCome, ago] = [
        [0, 10, 39, 40, 41, 50, 59, 60, 61][one.due % 9] ?? 0,
        [0, 60, 60, 120][(one.due + n) % 4] ?? 0,
      ]
      Object.assign(one, { nextDue: time + toCome - ago, interval: 60 })
    }
    terms.splice(0, terms.length, { ...on, fromTime: 0, payouts: false }, { ...on, fromTime: until, payouts: true })
    windows.splice(0, windows.length, { window: 1, from: START, until })
  }
  const rates = given.rates.map((gaps, tier): [number, rounds.Rate[]] => {
    let fromTime = START - 1
    const found = gaps.map((gap, n) => {
      fromTime += gap
      return { fromTime: n === 0 && tier === 0 ? 0 : fromTime, payoutBps: 5_000 + 1_000 * n + tier }
    })
    return [1 + tier, found]
  })
  return { chain, terms, windows, rates: new Map(rates), cohorts, upTo: time - given.earlierSec }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(900 + number) })

function nodeRows({ cohorts }: Ledger): Rows {
  const nodes = cohorts.flatMap(({ cohort, size, backing }) =>
    Array.from({ length: size }, (_, n) => {
      const isPaid = backing === 'paid' || (backing === 'none' && n < size - 1)
      return { id: 10 * cohort + n, cohort, isPaid, isGranted: backing === 'granted' }
    }),
  )
  return {
    nodes: nodes.map(({ id, cohort, isPaid }) => ({
      ...{ node_id: id, owner: account(1), cohort, ref: word(id), payment_id: isPaid ? id : null },
      ...{ per_node_at_mint_wei: 0n, turns_at_mint: 0, mint_tx_hash: word(1), minted_at: at(1_000), ...inBlock(1) },
    })),
    grants: nodes.flatMap(({ id, isGranted }) =>
      isGranted ? [{ ref: word(id), reason: 'a gift', granted_by: 'ada' }] : [],
    ),
  }
}

function rowsOf(ledger: Ledger, { storedFrom, believed, waiting }: Drawn): Rows {
  const { chain, terms, windows, rates, cohorts } = ledger
  const last = chain.at(-1) as rounds.Header
  const old = chain.filter(({ number }) => number > 0 && number <= storedFrom)
  return {
    cursors: [{ name: 'follow', ...inBlock(last.number), block_time: last.time }],
    evidence_modes: [{ from_block: 0, mode: 'proven', set_by: 'test' }],
    blocks: chain
      .filter(({ number }) => number >= storedFrom)
      .map(({ number, hash, time, prevrandao }) => ({
        ...{ number, hash, time, prevrandao, parent_hash: word(899 + number) },
      })),
    seed_blocks: old.map(({ number, time }) => ({
      ...{ number, time, parent_time: chain[number - 1]?.time ?? null, seed: String(rounds.seedOf(chain, time)) },
      // What one provider says alone may be wrong.
      ...((believed as readonly number[]).includes(number)
        ? { seed: word(66), proof: 'believed' }
        : { proof: 'agreed' }),
    })),
    credit_terms: terms.map(({ fromTime, payouts, minWei, maxWei }) => ({
      ...{ from_time: fromTime, payouts, min_wei: minWei, max_wei: maxWei, interval_sec: 60, slot_sec: SLOT },
      // Cohorts from before the terms are not odd.
      ...{ entered_at: at(LATER), entered_by: 'ada' },
    })),
    owner_acts: windows.map(({ window, from, until }) => ({
      ...{ log_index: window, name: 'NotOwedSet', detail: JSON.stringify({ window, from, until }), at: at(900) },
      ...{ tx_hash: word(9), ...inBlock(1) },
    })),
    tiers: [...rates].flatMap(([tierNo, versions]) =>
      versions.map(
        ({ fromTime, payoutBps }, n): Row => ({
          ...{ tier_id: `t${tierNo}`, version: 1 + n, tier_no: tierNo, label: 'T', price_wei: BigInt(tierNo) },
          ...{ max_per_wallet: 9, payout_bps: payoutBps, on_sale: true, live: n === versions.length - 1 },
          ...{ from_block: n, from_time: fromTime, entered_by: 'ada' },
        }),
      ),
    ),
    cohorts: cohorts.map(({ cohort, tierNo, interval, nextDue, size }) => ({
      ...{ cohort, tier_no: tierNo, interval_sec: interval, next_due: nextDue, size, ...inBlock(1) },
    })),
    payments: waiting.map((tierNo) => ({
      ...{ id: 500 + tierNo, ref: word(500 + tierNo), tx_hash: word(500 + tierNo), wallet: account(1) },
      ...{ from_address: account(2), value_wei: 1n, succeeded: true, state: 'accepted', tier_id: `t${tierNo}` },
      ...{ tier_version: 1, block_time: at(1_000), tx_index: 0, proof: 'proven', ...inBlock(1) },
    })),
    ...nodeRows(ledger),
  }
}
const LATER = 1_900_000_000

/** The cohorts that a node waits for, and that would take it if a round had skipped what is not owed. */
function cohortsToSkip({ cohorts, terms, windows, chain }: Ledger, tiers: number[]): number[] {
  const now = chain.at(-1)?.time ?? 0
  if (rounds.termsAt(terms, now) === undefined) return []
  const schedule = { interval: 60, slot: SLOT }
  return tiers.flatMap((tierNo) => {
    const own = cohorts.filter((one) => one.tierNo === tierNo)
    if (own.some((one) => rounds.mayJoin(one, one.size, schedule, now))) return []
    const [found] = own.filter((one) => {
      const nextDue = rounds.entryOf(one, { terms, windows }, now).firstPayable
      return rounds.mayJoin({ ...one, nextDue }, one.size, schedule, now)
    })
    return found === undefined ? [] : [found.cohort]
  })
}

/** What one turn of a cohort pays by the model; null if nothing backs its seed. Before the first terms and rates these hold. */
function amountOf(
  { chain, terms, rates }: Ledger,
  { storedFrom, believed, voices }: Drawn,
  of: Ledger['cohorts'][number],
) {
  const ofTier = rates.get(of.tierNo) ?? []
  const first = (known: { fromTime: number }[]) => Math.min(...known.map(({ fromTime }) => fromTime))
  return (due: number): bigint | null => {
    const number = rounds.seedBlock(chain, due)?.number ?? 0
    if (voices !== 'agree' && number <= storedFrom && (believed as readonly number[]).includes(number)) return null
    const inForce = rounds.termsAt(terms, Math.max(due, first(terms)))
    const rate = rounds.rateAt(ofTier, Math.max(due, first(ofTier)))
    const held = {
      terms: [{ ...(inForce as rounds.Terms), fromTime: 0 }],
      rates: [{ fromTime: 0, payoutBps: rate ?? 0 }],
    }
    return rounds.sumOf(of.cohort, [due], { chain, ...held }) ?? null
  }
}

/** What is due of each cohort, by the model. */
function dueOf(ledger: Ledger, given: Drawn): plans.Due[] {
  const toSkip = cohortsToSkip(ledger, [...given.waiting])
  const due = ledger.cohorts.filter(({ size, nextDue }) => size > 0 && nextDue <= ledger.upTo)
  return due.map((one) => {
    const entry = rounds.entryOf(one, ledger, ledger.upTo)
    const amount = amountOf(ledger, given, one)
    const turns = Array.from({ length: entry.payable }, (_, i) => {
      const at = entry.firstPayable + i * one.interval
      return { due: at, amountWei: amount(at) }
    })
    return {
      ...{ cohort: one.cohort, pendingDue: one.nextDue, turns, isSkipNeeded: toSkip.includes(one.cohort) },
      ...{ isDelayed: entry.isDelayed, unbackedNodes: one.backing === 'none' ? 1 : 0 },
    }
  })
}

function compareRound({ plan, cohorts, waits }: DueRound, ledger: Ledger, given: Drawn): void {
  const due = dueOf(ledger, given)
  const sizeOf = (cohort: number) => ledger.cohorts.find((one) => one.cohort === cohort)?.size ?? 0
  assert.deepEqual(
    cohorts.map(({ cohort, pendingDue, skipped, isSkipNeeded, isDelayed, unbackedNodes }) => ({
      ...{ cohort, pendingDue, isSkipNeeded, isDelayed, unbackedNodes, skipped },
    })),
    due.map(({ turns, ...one }) => {
      const { skipped } = rounds.entryOf(ledger.cohorts[one.cohort - 1] as never, ledger, ledger.upTo)
      return { ...one, skipped }
    }),
  )
  const fates: Record<number, string> = {}
  let totalWei = 0n
  for (const { cohort, turns, amountWei } of plan.credits) {
    fates[cohort] = `${turns.length} turns`
    const paid = due.find((one) => one.cohort === cohort)?.turns.slice(0, turns.length) ?? []
    const wanted = paid.map(({ due: at, amountWei: wei }) => ({ due: at, amountWei: wei }))
    assert.deepEqual(
      turns.map(({ due: at, amountWei: wei }) => ({ due: at, amountWei: wei })),
      wanted,
      `cohort ${cohort}`,
    )
    const perNode = wanted.reduce((sum, one) => sum + (one.amountWei ?? 0n), 0n)
    assert.equal(amountWei, perNode, `cohort ${cohort}`)
    totalWei += perNode * BigInt(sizeOf(cohort))
  }
  const { notOwed, delayed, unbacked, unknown, outOfBounds } = plan
  for (const [why, some] of Object.entries({ notOwed, delayed, unbacked, unknown, outOfBounds }))
    for (const cohort of some) fates[cohort] = why
  assert.deepEqual(fates, plans.fatesOf(due, given.bounds))
  assert.equal(plan.totalWei, totalWei)
  // Of a cohort with an unpaid node only the first turn is looked at.
  const looked = due.flatMap(({ turns, unbackedNodes }) => (unbackedNodes > 0 ? turns.slice(0, 1) : turns))
  const doubted = looked.filter(({ amountWei }) => amountWei === null).map((turn) => turn.due)
  assert.equal(waits?.due ?? null, doubted.length === 0 ? null : Math.min(...doubted), 'waits')
}

async function planIn(sql: Sql, ledger: Ledger, { bounds, voices }: Drawn): Promise<DueRound> {
  const last = ledger.chain.at(-1) as rounds.Header
  const unasked = () => Promise.reject(new Error('a stored seed was looked up'))
  const agreed = async (due: number) => {
    const block = rounds.seedBlock(ledger.chain, due)
    if (voices === 'one') return await unasked()
    return voices === 'agree' && block ? { block, parent: ledger.chain[block.number - 1] } : null
  }
  const providers = voices === 'one' ? ['one'] : ['one', 'two']
  const chain = { providers, firstBlockAt: unasked, agreedFirstBlockAt: agreed }
  const cursor = { number: last.number, hash: last.hash, time: last.time }
  const ctx = { pool: sql, chain, rules: { trustsProvider: false } }
  return await planDueRound(ctx as never, { bounds, cursor, upTo: ledger.upTo } as never)
}

test('a planned round gives each cohort its turns in order, each with its own time’s amount', async () => {
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    await tables.within(rowsOf(ledger, given), async (sql) => {
      compareRound(await planIn(sql, ledger, given), ledger, given)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})

const ENTRIES = [
  null,
  `INSERT INTO credit_terms (from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_by) VALUES (99999, true, 1, 2, 60, 20, 'ada')`,
  `INSERT INTO tiers SELECT (jsonb_populate_record(t, '{"version": 99, "live": false}')).* FROM tiers t LIMIT 1`,
]

test('a round is stored only if terms and tiers are as they were when it was planned', async () => {
  const [given] = fc.sample(drawn, { numRuns: 1, seed: 1 }) as [Drawn]
  const ledger = ledgerOf(given)
  for (const entry of ENTRIES)
    await tables.within(rowsOf(ledger, given), async (sql) => {
      const { basis } = await planIn(sql, ledger, given)
      if (entry !== null) await sql.unsafe(entry)
      if (entry === null) await holdToTerms(sql, basis)
      else await assert.rejects(holdToTerms(sql, basis), /terms were entered/)
    })
})
