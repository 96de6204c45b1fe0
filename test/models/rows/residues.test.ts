// Residues: the statements of src/db/payments/traces.ts, and what they leave in the books, agree with the second reading over random rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as traces from '../../../src/db/payments/traces.ts'
import type { Address } from '../../../src/domain/units.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './residues.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const look = fc.record({
  tries: fc.constantFrom(0, 0, 1, 2, 3, 10, 11, 12, 13, 14),
  /** From the end of its pause. */
  past: fc.constantFrom(-30, 30, 30, 100_000),
  wasShown: fc.constantFrom(false, false, true),
  kept: fc.constantFrom(false, false, false, true),
  proveInSec: fc.constantFrom(null, null, -60, -30, 0, 30),
  isWide: fc.boolean(),
})
const drawnResidue = fc.record({
  wallet: fc.constantFrom(1, 1, 2),
  wei: fc.constantFrom(1n, 1n, 5n, 10n ** 24n, -1n, -7n),
  state: fc.constantFrom(
    'held' as const,
    'held' as const,
    'held' as const,
    'held' as const,
    'refunded' as const,
    'dismissed' as const,
    'orphaned' as const,
  ),
  reason: fc.constantFrom('unattributed', 'unattributed', 'unattributed', 'refunding', 'recheck'),
  byHand: fc.array(fc.record({ stands: fc.boolean() }), { maxLength: 2 }),
  block: fc.constantFrom(4, 5, 6),
  blocks: fc.constantFrom(1, 1, 1, 2, 3),
  hasParts: fc.constantFrom(false, false, true),
  look: fc.option(look, { freq: 3 }),
})
const drawn = fc.record({
  residues: fc.array(drawnResidue, { minLength: 1, maxLength: 8 }),
  limit: fc.constantFrom(1, 2, 3, 100),
  wallet: fc.constantFrom(1, 2),
  range: fc.tuple(fc.constantFrom(3, 4, 5, 6), fc.constantFrom(0, 0, 1, 2)),
  stale: fc.constantFrom('value', 'block', 'decided'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function residuesOf({ residues }: Drawn): model.Residue[] {
  return residues.map(({ blocks, wallet, look: seen, ...one }, i) => {
    const left = one.wei < 0n
    const pause = seen === null ? 0 : Math.min(86_400, 60 * 2 ** seen.tries)
    return {
      ...one,
      ...(left ? { state: 'held' as const, byHand: [], hasParts: false } : {}),
      ...{ ref: word(1 + i), wallet: account(wallet), fromBlock: one.block - blocks + 1 },
      reason: one.state === 'held' && !left ? one.reason : null,
      // No two were looked at together, so that their order is certain.
      look: seen && { ...seen, agoSec: Math.max(0, pause + seen.past) + i },
    }
  })
}

function rowsOf(all: model.Residue[]): Rows {
  const arrived = all.filter(({ wei }) => wei > 0n)
  const partOf = ({ ref }: model.Residue) => word(500 + idOf(ref))
  const placeOf = ({ block, wallet }: model.Residue) => ({
    wallet,
    block_number: block,
    block_hash: word(block),
    block_time: at(1_000),
  })
  return {
    payments: arrived.map((one) => ({
      ...{
        id: idOf(one.ref),
        ref: one.ref,
        value_wei: one.wei,
        succeeded: true,
        state: one.state,
        reason: one.reason,
        ...placeOf(one),
      },
      ...(one.state === 'orphaned' ? { block_number: null, block_hash: null } : {}),
    })),
    payment_verdicts: arrived.flatMap(verdictsOf),
    wallet_outflows: all
      .filter(({ wei }) => wei < 0n)
      .map((one) => ({ ref: one.ref, value_wei: -one.wei, fee_wei: 0n, from_block: one.fromBlock, ...placeOf(one) })),
    attributions: arrived
      .filter(({ hasParts }) => hasParts)
      .map((one) => ({
        ...{ ref: partOf(one), residue_ref: one.ref, is_rest: false, wallet: one.wallet, value_wei: 1n },
        ...{
          tx_hash: word(900),
          tx_index: 0,
          inner_index: idOf(one.ref),
          from_address: account(5),
          attributed_by: 'ada',
        },
      })),
    residue_traces: all.flatMap(looksOf),
    wallet_books: [1, 2].map((n) => {
      const { inWei, outWei } = model.booksOf(all, account(n))
      return { wallet: account(n), in_wei: inWei, out_wei: outWei }
    }),
  }
}

const idOf = (ref: string) => Number(BigInt(ref))

function verdictsOf(one: model.Residue): Row[] {
  const verdict = {
    payment_id: idOf(one.ref),
    verdict: 'held',
    reason: 'unattributed',
    decided_by: 'pass',
  }
  return [
    {
      ...verdict,
      evidence: JSON.stringify({ rule: 'unattributed', fromBlock: one.fromBlock, toBlock: one.block }),
      withdrawn_at: null,
      withdrawn_by: null,
    },
    ...one.byHand.map(({ stands }) => ({
      ...verdict,
      ...{ verdict: 'dismissed', reason: null, decided_by: 'ada', evidence: '{"rule": "dismissed"}' },
      ...{ withdrawn_at: stands ? null : at(2_000), withdrawn_by: stands ? null : 'ada' },
    })),
  ]
}

function looksOf({ ref, look: seen }: model.Residue): Row[] {
  if (seen === null) return []
  const ago = (sec: number) => at(Date.now() / 1_000 - sec)
  const { tries, agoSec, wasShown, kept, proveInSec } = seen
  const proveAt = proveInSec === null ? null : ago(-proveInSec)
  return [
    {
      ...{ ref, tries, tried_at: ago(agoSec), shown: wasShown ? '[]' : null, kept },
      ...{ prove_at: proveAt, is_wide: seen.isWide },
    },
  ]
}

const inWords = (one: model.Residue) => ({
  ...{ ref: one.ref, wallet: one.wallet, residueWei: one.wei, decided: model.isDecided(one) },
  block: { number: one.block, hash: word(one.block), time: 1_000 },
})
const toldInWords = (one: model.Residue) => ({ ...inWords(one), fromBlock: one.fromBlock, isWide: model.isWide(one) })
const byRef = (a: { ref: string }, b: { ref: string }) => (a.ref < b.ref ? -1 : 1)

/** Facts that a residue no longer has. */
function stale(one: traces.TraceableResidue, what: Drawn['stale']): traces.TraceableResidue {
  if (what === 'value' && one.residueWei > 0n) return { ...one, residueWei: one.residueWei + 1n }
  if (what === 'decided' && one.residueWei > 0n) return { ...one, decided: !one.decided }
  return { ...one, block: { ...one.block, hash: word(99) as never } }
}

/** Explains every undecided residue that is due, one after the other. */
async function explain(sql: Sql, all: model.Residue[], given: Drawn): Promise<void> {
  for (const one of await traces.readResiduesToTrace(sql, 100)) {
    assert.equal(await traces.lockResidue(sql, stale(one, given.stale)), false, `it is not as it was: ${given.stale}`)
    assert.equal(await traces.lockResidue(sql, one), true)
    if (one.decided) continue
    await traces.replaceResidue(sql, one)
    const own = all.find(({ ref }) => ref === one.ref) as model.Residue
    Object.assign(own, { state: 'orphaned', look: null })
    assert.equal(await traces.lockResidue(sql, one), false, 'it is gone')
  }
  for (const n of [1, 2]) {
    const [books] =
      await sql`SELECT in_wei AS "inWei", out_wei AS "outWei" FROM wallet_books WHERE wallet = ${account(n)}`
    assert.deepEqual(books, model.booksOf(all, account(n)))
  }
  const left = await sql<{ ref: string; state: string }[]>`SELECT ref, state FROM payments ORDER BY ref`
  const arrived = all.filter(({ wei }) => wei > 0n).map(({ ref, state }) => ({ ref, state }))
  assert.deepEqual([...left], arrived.toSorted(byRef))
  const looked = await sql<{ ref: string }[]>`SELECT ref FROM residue_traces ORDER BY ref`
  assert.deepEqual(
    [...looked],
    all
      .filter(({ look: seen }) => seen !== null)
      .map(({ ref }) => ({ ref }))
      .toSorted(byRef),
  )
}

async function compare(given: Drawn): Promise<void> {
  const all = residuesOf(given)
  const [first, more] = given.range
  const range = { fromBlock: first, toBlock: first + more }
  await tables.within(rowsOf(all), async (sql) => {
    assert.deepEqual(await traces.readResiduesToTrace(sql, given.limit), model.toTrace(all, given.limit).map(inWords))
    const told = await traces.readToldResidues(sql, 100)
    assert.deepEqual(told.toSorted(byRef), model.toProve(all).map(toldInWords).toSorted(byRef))
    const wallet = account(given.wallet)
    const over = await traces.readResiduesOver(sql, wallet as Address, range)
    assert.deepEqual(over, model.over(all, wallet, range).map(toldInWords))
    await explain(sql, all, given)
  })
}

test('a residue is traced after its pause, is explained once, and never after a decision', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})
