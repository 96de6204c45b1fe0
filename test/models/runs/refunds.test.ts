// Recorded refunds after a fork: src/passes/steps/refunds.ts keeps, moves and strikes what the second reading does, over random forks of the block, with
// several refunds by one transaction, and with providers that lag or cannot trace.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { lookAfterRefunds } from '../../../src/passes/steps/refunds.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './refunds.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [PAYEE, OTHER, SAFE, TX] = [account(5), account(6), account(9), word(77)]
const BLOCK = 50
const [OLD, FORKED] = [word(1_050), word(2_050)]
const hashAt = (number: number) => word(3_000 + number)

const transfer = fc.record({ to: fc.constantFrom(PAYEE, PAYEE, OTHER), valueWei: fc.constantFrom(10n, 10n, 10n, 11n) })
const drawn = fc.record({
  /** The refunds: of the transaction itself, or of so many calls inside it. */
  isDirect: fc.constantFrom(true, false, false),
  refunds: fc.array(transfer, { minLength: 1, maxLength: 3 }),
  inNew: fc.oneof(fc.constant([]), fc.array(transfer, { maxLength: 4 })),
  /** Which of the old transfers the new block has as well. */
  keeps: fc.constantFrom('all', 'allButOne', 'allButOne', 'none'),
  isTraced: fc.constantFrom(true, true, true, true, true, false),
  own: fc.constantFrom('same', 'other', 'other', 'other', 'other', 'pruned'),
  there: fc.constantFrom('same', 'other', 'other', 'other', 'other', 'other', 'missing'),
  where: fc.constantFrom('old', 'new', 'new', 'new', 'new', 'new', 'nowhere'),
  isNewCanonical: fc.constantFrom(true, true, true, false),
  newBlock: fc.constantFrom(49, 50, 51),
  succeeded: fc.constantFrom(true, true, true, true, true, true, false, null),
  ahead: fc.constantFrom(-1, 0, 1, 63, 64, 65),
  final: fc.constantFrom(null, 49, 50, 51),
  state: fc.constantFrom('refunded', 'refunded', 'minted', 'orphaned'),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function refundsOf({ isDirect, refunds }: Drawn): model.Refund[] {
  const some = isDirect ? refunds.slice(0, 1).map((one) => ({ ...one, to: PAYEE })) : refunds
  return some.map((one, n) => ({ id: 1 + n, ...one, block: BLOCK, hash: OLD, isFinal: false }))
}

function viewOf(given: Drawn, refunds: model.Refund[]): model.View {
  const head = BLOCK + given.ahead
  const first = given.own === 'pruned' ? BLOCK + 1 : 40
  const own = new Map<number, string>()
  for (let number = Math.min(first, head); number <= head; number++) own.set(number, hashAt(number))
  if (own.has(BLOCK)) own.set(BLOCK, given.own === 'same' ? OLD : FORKED)
  const canonical = new Map([48, 49, 51, 52].map((number) => [number, hashAt(number)]))
  if (given.there !== 'missing') canonical.set(BLOCK, given.there === 'same' ? OLD : FORKED)
  const isOld = given.where === 'old'
  const inBlock = isOld ? BLOCK : given.newBlock
  const newHash = given.isNewCanonical ? (canonical.get(inBlock) ?? word(4_000)) : word(4_000)
  const kept = { all: refunds, allButOne: refunds.slice(1), none: [] }[given.keeps]
  const inner = [...kept, ...given.inNew]
  // What a transaction itself moves is the same in each block, and needs no trace.
  const transfers = given.isDirect ? refunds : given.isTraced ? inner : null
  const transaction = { block: inBlock, hash: isOld ? OLD : newHash, succeeded: given.succeeded, transfers }
  return { own, canonical, head, final: given.final, transaction: given.where === 'nowhere' ? null : transaction }
}

const rowsOf = (given: Drawn, refunds: model.Refund[], view: model.View): Rows => ({
  cursors: [{ name: 'follow', block_number: view.head, block_hash: view.own.get(view.head) ?? OLD, block_time: 1_000 }],
  blocks: [...view.own].map(([number, hash]) => ({
    ...{ number, hash, parent_hash: word(0), time: 1_000, prevrandao: word(0) },
  })),
  payments: refunds.map((one) => ({
    ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: account(1), from_address: one.to },
    ...{ value_wei: one.valueWei, succeeded: true, proof: 'proven', state: given.state, block_time: at(900) },
    node_id: given.state === 'minted' ? one.id : null,
    block_number: given.state === 'orphaned' ? null : 40,
    block_hash: given.state === 'orphaned' ? null : hashAt(40),
  })),
  payment_verdicts: refunds.map(
    ({ id }): Row => ({ payment_id: id, verdict: 'refunded', evidence: '{"rule": "refunded"}', decided_by: 'ada' }),
  ),
  refunds: refunds.map((one) => ({
    ...{ payment_ref: word(one.id), tx_hash: TX, inner_index: given.isDirect ? 0 : one.id, from_address: SAFE },
    ...{ to_address: one.to, value_wei: one.valueWei, block_number: one.block, block_hash: one.hash },
    recorded_by: 'ada',
  })),
})

function chainOf(given: Drawn, view: model.View) {
  const { transaction, canonical } = view
  const block = async (number: number) => {
    const hash = canonical.get(number)
    return hash === undefined ? null : { number, hash }
  }
  const mined = transaction && {
    ...{ txHash: TX, from: account(8), to: given.isDirect ? PAYEE : SAFE, succeeded: transaction.succeeded },
    ...{ valueWei: given.isDirect ? (transaction.transfers?.[0]?.valueWei ?? 0n) : 0n },
    ...{ blockNumber: transaction.block, blockHash: transaction.hash },
  }
  const inner = async (_hash: string, to: string) =>
    given.isDirect ? [] : (transaction?.transfers?.filter((one) => one.to === to) ?? null)
  // Two voices, so that the word itself decides.
  const hashOf = (number: number) => view.own.get(number) ?? word(0)
  const finalized = async () =>
    view.final === null ? null : { number: view.final, hash: hashOf(view.final), voices: 2 }
  const voice = { block: async (number: number) => ({ number, hash: hashOf(number), time: 1_000 }) }
  return { block, minedTransaction: async () => mined, innerTransfers: inner, finalized, providers: [voice, voice] }
}

async function compareFates(sql: Sql, given: Drawn, refunds: model.Refund[], view: model.View): Promise<void> {
  const rows = await sql<{ id: number; block: number; hash: string; isFinal: boolean }[]>`
    SELECT ('x' || right(payment_ref, 8))::bit(32)::int AS id, block_number AS block, block_hash AS hash, final AS "isFinal"
    FROM refunds ORDER BY id`
  const fates = refunds.map((one) => ({ one, fate: model.fateOf(refunds, one, view) }))
  const expected = fates.flatMap(({ one: { id, block, hash, isFinal }, fate }) => {
    if (fate.kind === 'gone') return []
    if (fate.kind === 'moves') return [{ id, block: fate.block, hash: fate.hash, isFinal: false }]
    return [{ id, block, hash, isFinal: isFinal || fate.kind === 'final' }]
  })
  assert.deepEqual([...rows], expected)
  const states = await sql<
    { id: number; state: string; reason: string | null }[]
  >`SELECT id, state, reason FROM payments ORDER BY id`
  const afterwards = fates.map(({ one: { id }, fate }) => {
    if (fate.kind !== 'gone' || given.state === 'minted') return { id, state: given.state, reason: null }
    return given.state === 'orphaned' ? { id, state: 'orphaned' } : { id, state: 'held', reason: 'recheck' }
  })
  const reasonless = given.state === 'orphaned' ? states.map(({ id, state }) => ({ id, state })) : [...states]
  const wanted = given.state === 'orphaned' ? afterwards.map(({ id, state }) => ({ id, state })) : afterwards
  assert.deepEqual(reasonless, wanted)
  const told = await sql`SELECT FROM audit WHERE action = 'refundGone'`
  assert.equal(told.count, fates.filter(({ fate }) => fate.kind === 'gone').length)
}

test('a refund lasts while its transaction pays it in a block, and ends only if a run sees that', async () => {
  const compare = async (given: Drawn) => {
    const refunds = refundsOf(given)
    const view = viewOf(given, refunds)
    await tables.within(rowsOf(given, refunds, view), async (sql) => {
      const context = { pool: poolWithin(sql), chain: chainOf(given, view), log: silentLog, rules: {} }
      const cursor = { number: view.head, hash: view.own.get(view.head), time: 1_000 }
      await lookAfterRefunds(context as never, cursor as never)
      await compareFates(sql, given, refunds, view)
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
})
