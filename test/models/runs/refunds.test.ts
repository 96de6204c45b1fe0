// Recorded refunds and commissions after a fork: src/passes/steps/refunds.ts keeps, moves and strikes what the second reading does, over random forks of their
// blocks, with several transactions that prove several of them each, and with providers that lag or cannot trace. All rows are compared.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { lookAfterRefunds } from '../../../src/passes/steps/refunds.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder, readTable } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './refunds.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [PAYEE, OTHER, SAFE] = [account(5), account(6), account(9)]
const HEAD = 150
const hashAt = (number: number) => word(3_000 + number)
const [oldAt, forkedAt] = [(number: number) => word(1_000 + number), (number: number) => word(2_000 + number)]

const to = fc.constantFrom(PAYEE, PAYEE, OTHER)
const valueWei = fc.constantFrom(10n, 10n, 10n, 11n)
const drawnTransaction = fc.record({
  /** So far below the head, so that the refund may be gone or not, or final or not. */
  below: fc.constantFrom(-1, 0, 1, 63, 63, 64, 64, 65),
  /** Its refunds: of the transaction itself, or of so many calls inside it. */
  isDirect: fc.constantFrom(true, false, false),
  refunds: fc.array(
    fc.record({
      to,
      valueWei,
      of: fc.constantFrom<model.Refund['of']>('refunded', 'refunded', 'minted', 'orphaned', 'commission'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  isFinal: fc.constantFrom(false, false, false, false, false, true),
  /** Which of the old transfers the new block has as well, and which others. */
  keeps: fc.constantFrom('all', 'allButFirst', 'allButFirst', 'none'),
  inNew: fc.oneof(fc.constant([]), fc.array(fc.record({ to, valueWei }), { maxLength: 3 })),
  isTraced: fc.constantFrom(true, true, true, true, true, false),
  where: fc.constantFrom('old', 'new', 'new', 'new', 'new', 'new', 'nowhere'),
  isNewCanonical: fc.constantFrom(true, true, true, false),
  /** Its new block is so much above the old one. */
  newBlock: fc.constantFrom(-1, 0, 1),
  succeeded: fc.constantFrom(true, true, true, true, true, true, false),
})
const drawn = fc.record({
  transactions: fc.oneof(
    { weight: 3, arbitrary: fc.array(drawnTransaction, { minLength: 1, maxLength: 3 }) },
    // More than a run looks at together.
    fc.array(drawnTransaction, { minLength: 4, maxLength: 5 }),
  ),
  /** The ledger's and the providers' blocks at the height of a refund. */
  own: fc.constantFrom('same', 'other', 'other', 'other', 'other'),
  there: fc.constantFrom('same', 'same', 'other', 'other', 'other', 'other', 'other', 'other', 'missing'),
  /** The ledger's first header is so far below the lowest refund. */
  first: fc.constantFrom(9, 9, 9, 1, 0, 0, -1, -2),
  finalBelow: fc.constantFrom(null, 0, 1, 63, 64, 65),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function refundsOf({ transactions }: Drawn): model.Refund[] {
  return transactions.flatMap(({ isDirect, refunds, below, isFinal }, n) => {
    const block = HEAD - below
    const all = isDirect ? refunds.slice(0, 1) : refunds
    return all.map(({ to, valueWei, of }, i) => ({
      ...{ id: 10 * n + i + 1, of, tx: word(70 + n), place: isDirect ? 0 : i + 1, to, valueWei },
      ...{ block, hash: oldAt(block), isFinal },
    }))
  })
}

function viewOf(given: Drawn, refunds: model.Refund[]): model.View {
  const [own, canonical] = [new Map<number, string>(), new Map<number, string>()]
  const heights = Array.from({ length: 90 }, (_, n) => HEAD + 3 - n).reverse()
  const isRefunds = (number: number) => refunds.some(({ block }) => block === number)
  const hashOf = (side: 'same' | 'other', number: number) =>
    isRefunds(number) ? (side === 'same' ? oldAt(number) : forkedAt(number)) : hashAt(number)
  const first = Math.min(HEAD, ...refunds.map(({ block }) => block)) - given.first
  for (const number of heights) {
    if (number <= HEAD && number >= Math.min(first, HEAD)) own.set(number, hashOf(given.own as 'same', number))
    if (given.there !== 'missing' || !isRefunds(number)) canonical.set(number, hashOf(given.there as 'same', number))
  }
  const transactions = new Map<string, model.Transaction>()
  given.transactions.forEach((one, n) => {
    const mine = refunds.filter(({ tx }) => tx === word(70 + n))
    const old = mine[0]?.block ?? 0
    const block = one.where === 'old' ? old : old + one.newBlock
    const newHash = (one.isNewCanonical ? canonical.get(block) : null) ?? word(4_000)
    const kept = { all: mine, allButFirst: mine.slice(1), none: [] }[one.keeps]
    // What a transaction itself moves is the same in each block, and needs no trace.
    const transfers = one.isDirect ? mine : one.isTraced ? [...kept, ...one.inNew] : null
    const hash = one.where === 'old' ? oldAt(old) : newHash
    if (one.where !== 'nowhere') transactions.set(word(70 + n), { block, hash, succeeded: one.succeeded, transfers })
  })
  const final = given.finalBelow === null ? null : HEAD - given.finalBelow
  return { own, canonical, head: HEAD, final, transactions }
}

const isPayment = ({ of }: model.Refund) => of !== 'commission'
const refundRow = (one: model.Refund): Row => ({
  ...{ payment_ref: isPayment(one) ? word(one.id) : null, commission_of: isPayment(one) ? null : `code${one.id}` },
  ...{ tx_hash: one.tx, inner_index: one.place, from_address: SAFE, to_address: one.to, value_wei: one.valueWei },
  ...{ block_number: one.block, block_hash: one.hash, final: one.isFinal, recorded_by: 'ada' },
})
const verdictRow = ({ id }: model.Refund): Row => ({
  ...{ payment_id: id, verdict: 'refunded', reason: null, evidence: '{"rule": "refunded"}', decided_by: 'ada' },
})

const rowsOf = (refunds: model.Refund[], view: model.View): Rows => ({
  cursors: [{ name: 'follow', block_number: HEAD, block_hash: view.own.get(HEAD) ?? '', block_time: 1_000 }],
  blocks: [...view.own].map(([number, hash]) => ({
    ...{ number, hash, parent_hash: word(0), time: 1_000, prevrandao: word(0) },
  })),
  payments: refunds.filter(isPayment).map((one) => ({
    ...{ id: one.id, ref: word(one.id), tx_hash: word(one.id), wallet: account(1), from_address: one.to },
    ...{ value_wei: one.valueWei, succeeded: true, proof: 'proven', state: one.of, block_time: at(900) },
    node_id: one.of === 'minted' ? one.id : null,
    block_number: one.of === 'orphaned' ? null : 40,
    block_hash: one.of === 'orphaned' ? null : hashAt(40),
  })),
  payment_verdicts: refunds.filter(isPayment).map(verdictRow),
  refunds: refunds.map(refundRow),
})

function chainOf(given: Drawn, view: model.View) {
  const { transactions, canonical } = view
  const block = async (number: number) => {
    const hash = canonical.get(number)
    return hash === undefined ? null : { number, hash }
  }
  const isDirect = (tx: string) => given.transactions[Number(BigInt(tx)) - 70]?.isDirect
  const minedTransaction = async (txHash: string) => {
    const one = transactions.get(txHash)
    if (one === undefined) return null
    const own = isDirect(txHash) ? one.transfers?.[0] : undefined
    const mined = { txHash, from: account(8), to: own?.to ?? SAFE, valueWei: own?.valueWei ?? 0n }
    return { ...mined, succeeded: one.succeeded, blockNumber: one.block, blockHash: one.hash }
  }
  const innerTransfers = async (txHash: string, to: string) =>
    isDirect(txHash) ? [] : (transactions.get(txHash)?.transfers?.filter((one) => one.to === to) ?? null)
  // Two voices, so that the word itself decides.
  const hashOf = (number: number) => view.own.get(number) ?? word(0)
  const asked = { finals: 0 }
  const finalized = async () => {
    asked.finals += 1
    return view.final === null ? null : { number: view.final, hash: hashOf(view.final), voices: 2 }
  }
  const voice = { block: async (number: number) => ({ number, hash: hashOf(number), time: 1_000 }) }
  return { asked, chain: { block, minedTransaction, innerTransfers, finalized, providers: [voice, voice] } }
}

const readRows = async (sql: Sql) => ({
  refunds: await readTable(sql, 'refunds', ['recorded_at']),
  payments: inOrder([...(await sql`SELECT id, state, reason FROM payments`)].map((row) => ({ ...row }))),
  verdicts: await readTable(sql, 'payment_verdicts', ['id', 'decided_at', 'withdrawn_at']),
  audit: await readTable(sql, 'audit', ['id', 'at']),
})

function expectedPayment(one: model.Refund, isGone: boolean) {
  const gone = isGone ? model.afterGone(one) : null
  const state = { id: one.id, state: gone?.state ?? one.of, reason: gone?.verdict ? 'recheck' : null }
  const by = gone?.withdraws ? 'refundCheck' : null
  const before = { ...verdictRow(one), evidence: { rule: 'refunded' }, withdrawn_by: by }
  const evidence = { rule: 'refundGone', refundTxHash: one.tx }
  const struck = { payment_id: one.id, verdict: 'held', reason: 'recheck', evidence, decided_by: 'refundCheck' }
  return { state, verdicts: gone?.verdict ? [before, { ...struck, withdrawn_by: null }] : [before] }
}

function toldOf(one: model.Refund) {
  const detail = { refundTxHash: one.tx, valueWei: `${one.valueWei}`, to: one.to }
  const subject = isPayment(one) ? word(one.id) : `code${one.id}`
  return { actor: 'pass', action: 'refundGone', subject, detail, request_id: null }
}

function expectedRows(refunds: model.Refund[], view: model.View) {
  const fates = refunds.map((one) => ({ one, fate: model.fateOf(refunds, one, view) }))
  const stays = fates.flatMap(({ one, fate }): Row[] => {
    if (fate.kind === 'gone') return []
    const moved = fate.kind === 'moves' ? { block: fate.block, hash: fate.hash } : {}
    return [refundRow({ ...one, ...moved, isFinal: one.isFinal || fate.kind === 'final' })]
  })
  const ofPayments = fates.filter(({ one }) => isPayment(one))
  const payments = ofPayments.map(({ one, fate }) => expectedPayment(one, fate.kind === 'gone'))
  return {
    refunds: inOrder(stays),
    payments: inOrder(payments.map(({ state }) => state)),
    verdicts: inOrder(payments.flatMap(({ verdicts }) => verdicts)),
    audit: inOrder(fates.flatMap(({ one, fate }) => (fate.kind === 'gone' ? toldOf(one) : []))),
  }
}

test('a refund lasts while its transaction pays it in a block, and ends only if a run sees that', async () => {
  const met = new Map<string, number>()
  const compare = async (given: Drawn) => {
    const refunds = refundsOf(given)
    const view = viewOf(given, refunds)
    await tables.within(rowsOf(refunds, view), async (sql) => {
      const { asked, chain } = chainOf(given, view)
      const context = { pool: poolWithin(sql), chain, log: silentLog, rules: {} }
      await lookAfterRefunds(context as never, { number: HEAD, hash: view.own.get(HEAD), time: 1_000 } as never)
      assert.deepEqual(await readRows(sql), expectedRows(refunds, view))
      assert.equal(asked.finals, refunds.every(({ isFinal }) => isFinal) ? 0 : 1)
      for (const one of refunds) {
        const kind = `${model.fateOf(refunds, one, view).kind} ${one.of === 'commission'}`
        met.set(kind, (met.get(kind) ?? 0) + 1)
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
  for (const kind of ['stays', 'final', 'gone', 'moves'])
    for (const isCommission of [true, false]) assert.ok((met.get(`${kind} ${isCommission}`) ?? 0) > cases(2), kind)
})
