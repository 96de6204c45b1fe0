// Credit terms on random ledgers: what src/operator/acts/terms.ts enters, takes back and lists is what the second reading says.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { cancelTerms, enterTerms, listTerms } from '../../../src/operator/acts/terms.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './terms.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [NOW, ACTOR] = [10_000, { name: 'ada', requestId: null }]
const near = fc.constantFrom(-601, -600, -1, 0, 1, 299, 300, 301, 302, 900)
const content = {
  payouts: fc.boolean(),
  minWei: fc.constantFrom(5n, 6n),
  maxWei: fc.constantFrom(9n, 10n),
  intervalSec: fc.constantFrom(120, 180),
  slotSec: fc.constantFrom(60, 60, 30),
}
const head = fc.constantFrom(null, -12, 0, 0, 0, 1, 12)
const drawn = fc.record({
  terms: fc.array(fc.record({ shift: near, ...content }), { minLength: 1, maxLength: 3 }),
  /** Beginning and length, from the time of the latest entry. */
  windows: fc.array(fc.tuple(fc.constantFrom(-60, -60, 0, 1, 60, 600), fc.constantFrom(1, 60, 60, 61, 600)), {
    maxLength: 2,
  }),
  /** Whether the latest entry switches payouts off, and when. */
  off: fc.constantFrom(null, null, -600, -60, 0, 1, 12),
  heads: fc.tuple(head, head),
  isLatest: fc.constantFrom(true, true, true, false),
  asked: fc
    .tuple(fc.record(content), fc.subarray(Object.keys(content)), fc.option(near))
    .map(([all, some, shift]) => ({ all, some, shift })),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function ledgerOf(given: Drawn): model.Ledger {
  const later = new Set<number>()
  const terms = given.terms
    .map(({ shift, ...one }, n) => ({ ...one, fromTime: n === 0 ? 0 : NOW + shift }))
    .toSorted((a, b) => a.fromTime - b.fromTime)
    .filter(({ fromTime }) => !later.has(fromTime) && later.add(fromTime))
  const [last] = terms
  if (given.off !== null && last !== undefined)
    terms.splice(1, 2, { ...last, payouts: false, fromTime: NOW + given.off })
  if (given.off !== null && last !== undefined) last.payouts = true
  const start = terms.at(-1)?.fromTime ?? 0
  let end = 0
  const windows = given.windows
    .toSorted((a, b) => a[0] - b[0])
    .flatMap(([shift, length]) => {
      const from = Math.max(end, start + shift)
      if (from < 0) return []
      end = from + length
      return [{ from, until: end }]
    })
  return { terms, windows, followed: NOW, heads: given.heads.map((one) => (one === null ? null : NOW + one)) }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })

const rowsOf = ({ terms, windows }: model.Ledger): Rows => ({
  cursors: [{ name: 'follow', ...inBlock(100), block_time: NOW }],
  credit_terms: terms.map((one) => ({
    ...{ from_time: one.fromTime, payouts: one.payouts, min_wei: one.minWei, max_wei: one.maxWei },
    ...{ interval_sec: one.intervalSec, slot_sec: one.slotSec, entered_by: 'eve' },
  })),
  owner_acts: windows.map(({ from, until }, n) => ({
    ...{ log_index: n, name: 'NotOwedSet', detail: JSON.stringify({ window: 1 + n, from, until }), at: at(900) },
    ...{ tx_hash: word(9), ...inBlock(90) },
  })),
})

function depsOf(sql: Sql, { heads }: model.Ledger) {
  const asks = (time: number | null) => async () => {
    if (time === null) throw new ChainFault('no answer')
    return { number: 100, hash: word(100), time }
  }
  // The chain is what the first that answers tells.
  const own = heads.find((one) => one !== null) ?? null
  const chain = { head: asks(own), providers: heads.map((one) => ({ head: asks(one) })) }
  const contract = { factory: account(3), leastIntervalSec: async () => 1, distributor: async () => null }
  return { pool: poolWithin(sql), chain, contract }
}

const readTerms = async (sql: Sql) => {
  const rows = await sql<model.Terms[]>`
    SELECT from_time AS "fromTime", payouts, min_wei AS "minWei", max_wei AS "maxWei", interval_sec AS "intervalSec",
      slot_sec AS "slotSec" FROM credit_terms ORDER BY from_time`
  return rows.map((row) => ({ ...row }))
}

/** What an act answers and leaves, beside what the model says. */
async function compareAct(sql: Sql, found: object, before: model.Terms[], expected: model.Terms[] | string) {
  const isRefused = isOperatorRefusal(found)
  const told = isRefused ? found.because : 'done'
  const after = typeof expected === 'string' ? before : expected
  assert.deepEqual(await readTerms(sql), after, JSON.stringify(isRefused ? found : null))
  assert.equal(told, typeof expected === 'string' ? expected : 'done')
  const audit = await sql`SELECT FROM audit WHERE action IN ('termsEntered', 'termsCancelled')`
  assert.equal(audit.count, after.length === before.length ? 0 : 1, 'in the log')
}

test('the latest terms are cancelled before they begin, or until a window of turns not owed', async () => {
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    const place = given.isLatest ? -1 : -2
    const fromTime = ledger.terms.at(place)?.fromTime ?? 0
    await tables.within(rowsOf(ledger), async (sql) => {
      const found = await cancelTerms.unguarded(depsOf(sql, ledger) as never, ACTOR as never, { fromTime })
      await compareAct(sql, found, ledger.terms, model.cancelled(ledger, fromTime))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(150) })
})

test('terms are entered if they differ, and from five minutes after the latest block on', async () => {
  const compare = async (given: Drawn) => {
    const ledger = ledgerOf(given)
    const { all, some, shift } = given.asked
    const fields = Object.entries(all).filter(([name]) => (some as string[]).includes(name))
    const asked = { ...Object.fromEntries(fields), ...(shift === null ? {} : { fromTime: NOW + shift }) }
    const input = Object.entries(asked).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : value,
    ])
    await tables.within(rowsOf(ledger), async (sql) => {
      const deps = depsOf(sql, ledger)
      const found = await enterTerms.unguarded(deps as never, ACTOR as never, Object.fromEntries(input))
      const expected = model.entered(ledger, asked)
      await compareAct(sql, found, ledger.terms, expected)
      const { terms } = await listTerms(deps as never)
      const after = typeof expected === 'string' ? ledger : { ...ledger, terms: expected }
      assert.deepEqual(
        terms.map(({ state }) => state),
        model.statesOf(after),
      )
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(80) })
})
