// Recorded refunds: src/operator/acts/refunds/record.ts takes what the second reading takes as the proof that a payment was paid back, and refuses everything
// else, over random transactions that differ from the right one in one thing. Answers, states, verdicts, refunds and the log are compared whole.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { type RefundResult, refundPayment } from '../../../src/operator/acts/refunds/record.ts'
import { resultLine } from '../../../src/operator/define-act.ts'
import {
  account,
  noticesIn,
  openTables,
  poolAfter,
  type Row,
  type Rows,
  recording,
  type Tables,
  word,
} from '../../db/direct-rows.ts'
import { inOrder, plain, readTable } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import type { Payment } from './prepared.ts'
import * as model from './recorded.ts'
import { chainOf, drawnWorld, ledgerOf, MINTER, rowsOf, WALLET, type World } from './world.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const ACTOR = { name: 'ada', requestId: 'r1' }
const [REFUND, ELSEWHERE, SAFE, OTHER] = [word(0xf1), word(0xf2), account(0x5a), account(0x99)]
const sibling = (number: number) => word(5_000 + number)

const who = fc.constantFrom('payer', 'payer', 'safe', 'other', 'wallet')
const value = fc.constantFrom('same', 'same', 'same', 'same', 'more')
const part = fc.record({ from: fc.constantFrom('safe', 'safe', 'safe', 'payer'), to: who, value })
/** Anything that a transaction may be, and what may be on record of it. */
const anyRefund = fc.record({
  isMined: fc.boolean(),
  from: fc.constantFrom('safe', 'payer', 'other'),
  to: fc.constantFrom('payer', 'safe', 'other', 'wallet', 'none'),
  ...{ value, succeeded: fc.boolean() },
  /** So many blocks above the payment's. */
  above: fc.constantFrom(-1, -1, 0, 1),
  /** Whether its block is the chain's, and whether the ledger has a header there. */
  block: fc.constantFrom('own', 'sibling', 'sibling', 'left', 'gone'),
  isFollowed: fc.boolean(),
  inner: fc.option(fc.array(part, { maxLength: 3 })),
  proofs: fc.uniqueArray(
    fc.record({
      of: fc.constantFrom<model.Proof['of']>('another', 'another', 'commission', 'this'),
      ...{ to: fc.constantFrom('payer', 'payer', 'payer', 'other'), index: fc.constantFrom(0, 1, 1, 2), value },
    }),
    { selector: ({ to, index }) => `${to} ${index}`, minLength: 1, maxLength: 2 },
  ),
  ...{ isElsewhere: fc.boolean(), isRestored: fc.boolean() },
})
const CHANGES = [
  ...['isMined', 'from', 'value', 'value', 'succeeded', 'above', 'above', 'block', 'block', 'proofs', 'isElsewhere'],
  ...['to', 'to', 'to', 'inner', 'inner', 'inner', 'isRestored'],
]
const right = { isMined: true, from: 'safe', value: 'same', succeeded: true, block: 'own', isElsewhere: false }
/** A refund that is right but for one or two things. */
const drawnRefund = fc
  .tuple(
    fc.record({
      to: fc.constantFrom('payer', 'safe', 'safe'),
      above: fc.constantFrom(0, 0, 1),
      isFollowed: fc.boolean(),
      inner: fc.array(fc.oneof(fc.constant({ from: 'safe', to: 'payer', value: 'same' }), part), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    anyRefund,
    fc.array(fc.constantFrom(...CHANGES), { maxLength: 2 }),
    fc.constantFrom(['proofs'], []),
  )
  .map(([own, other, some, more]) => {
    const changed = Object.entries(other).filter(([name]) => [...some, ...more].includes(name))
    return { ...right, proofs: [], isRestored: false, ...own, ...Object.fromEntries(changed) } as typeof other
  })
type Drawn = typeof drawnRefund extends fc.Arbitrary<infer T> ? T : never

function transactionOf(given: Drawn, one: Payment): model.Transaction | null {
  const accounts = { payer: one.from ?? OTHER, safe: SAFE, other: OTHER, wallet: WALLET }
  const named = (name: string) => accounts[name as 'safe']
  const wei = (name: string) => one.valueWei + (name === 'more' ? 1n : 0n)
  const places = new Map<string, number>()
  const inner = given.inner?.map((part) => {
    const to = named(part.to)
    const index = 1 + (places.get(to) ?? 0)
    places.set(to, index)
    return { index, from: named(part.from), to, valueWei: wei(part.value) }
  })
  const block = (one.block ?? 100) + given.above
  const hash = given.block === 'sibling' || given.block === 'left' ? sibling(block) : word(block)
  const to = given.to === 'none' ? null : named(given.to)
  const { succeeded } = given
  if (!given.isMined) return null
  return { from: named(given.from), to, valueWei: wei(given.value), succeeded, block, hash, inner: inner ?? null }
}

function proofsOf({ proofs, isElsewhere }: Drawn, one: Payment): Pick<model.Desk, 'proofs' | 'isRefundedElsewhere'> {
  // A payment has one refund.
  const own = isElsewhere ? [] : proofs.filter(({ of }) => of === 'this').slice(0, 1)
  const all = [...proofs.filter(({ of }) => of !== 'this'), ...own]
  const found = all.map(({ to, value, ...proof }) => ({
    ...{ ...proof, to: to === 'payer' ? (one.from ?? OTHER) : account(0x98) },
    valueWei: one.valueWei + (value === 'more' ? 1n : 0n),
  }))
  return { proofs: found, isRefundedElsewhere: isElsewhere }
}

/** The ledger's headers, with that of the refund's block if it was followed. The last one of a lost ledger is the world's own matter. */
function headersOf({ blocks = [], ledger_state }: Rows, { isFollowed }: Drawn, tx: model.Transaction | null): Row[] {
  const isThere = [...blocks.map(({ number }) => number), ledger_state?.[0]?.recheck_up_to].includes(tx?.block)
  if (tx === null || !isFollowed || isThere) return blocks
  const header = { hash: word(tx.block), parent_hash: word(tx.block - 1), time: 1_800 * tx.block, prevrandao: word(1) }
  return [...blocks, { number: tx.block, ...header }]
}

function proofRow(proof: model.Proof, n: number, ref: string): Row {
  const refund = { this: ref, another: word(7_000 + n), commission: null }[proof.of]
  return {
    ...{
      payment_ref: refund,
      commission_of: refund === null ? 'ann' : null,
      tx_hash: REFUND,
      inner_index: proof.index,
    },
    ...{ from_address: SAFE, to_address: proof.to, value_wei: proof.valueWei, block_number: 90, block_hash: word(90) },
    ...{ final: true, recorded_by: 'eve' },
  }
}
const elsewhereRow = (one: Payment): Row => ({
  ...proofRow({ of: 'this', index: 0, to: OTHER, valueWei: 5n }, 0, one.ref),
  tx_hash: ELSEWHERE,
})

/** The providers, and what they tell of the refund. */
function providersOf(given: Drawn, tx: model.Transaction | null, { chain, ...rest }: ReturnType<typeof chainOf>) {
  const block = async (number: number) => {
    const found = await chain.block(number)
    if (number !== tx?.block || given.block === 'own' || given.block === 'left') return found
    return given.block === 'gone' ? null : found && { ...found, hash: sibling(number) }
  }
  const minedTransaction = async (txHash: string) => {
    if (txHash !== REFUND || tx === null) return null
    const { block: blockNumber, hash: blockHash, inner: _, ...told } = tx
    return { txHash, ...told, blockNumber, blockHash, blockTime: 1_800 * blockNumber }
  }
  const innerTransfers = async (txHash: string, to: string) =>
    txHash === REFUND ? (tx?.inner?.filter((one) => one.to === to) ?? null) : null
  return { chain: { ...chain, block, minedTransaction, innerTransfers }, ...rest }
}

const REASONS: [RegExp, model.Reason | 'unknown' | 'several'][] = [
  [/has no such payment/, 'unknown'],
  [/holds several/, 'several'],
  [/^The refund is in no block that/, 'unmined'],
  [/^The block of the refund is being reorganised/, 'forked'],
  [/^The refund failed on chain/, 'failed'],
  [/^The refund creates a contract/, 'creates'],
  [/no refund of it can be recorded/, 'state'],
  [/is no sale/, 'noSale'],
  [/has just found that the ledger was restored/, 'restored'],
  [/is the refund of another payment, or/, 'used'],
  [/The refund went to 0x/, 'payee'],
  [/^The refund (went to a payments wallet|was sent by its own receiver)/, 'unmoved'],
  [/The refund carries/, 'amount'],
  [/older than the payment/, 'older'],
]
const WHY: Record<string, string> = { unmined: 'notYet', forked: 'notYet', restored: 'notYet', unknown: 'notFound' }
const WRONG = ['failed', 'creates', 'payee', 'unmoved', 'amount', 'older']
const SAID: [RegExp, model.Alarm | null][] = [
  [/buyer has both/, 'refundOfMinted'],
  [/block was reorganised out/, 'refundOfOrphaned'],
  [/signed mint may still give/, 'refundTooEarly'],
  [/gets no node|is refunded\.$/, null],
]
const kindIn = <T>(words: [RegExp, T][], text: string) => words.find(([form]) => form.test(text))?.[1]

interface Case {
  given: Drawn
  one: Payment
  tx: model.Transaction
  note: string | null
}

/** What is written of a refund: the rows of the ledger and of the log. */
function writtenOf({ one, tx, note, given }: Case, { transfer, state, alarm, safeAfter }: model.Recorded) {
  const evidence = {
    ...{ rule: 'refunded', heldFor: one.reason, receivedWei: `${one.valueWei}`, note, refundTxHash: REFUND },
    ...{ refundFrom: transfer.from, refundTo: transfer.to, refundBlockNumber: tx.block, refundBlockHash: tx.hash },
    recipientChecked: one.from !== null,
  }
  const log = (action: string, subject: string, detail: object) => ({ action, subject, detail, request_id: 'r1' })
  const was = { status: one.state, reason: one.reason, tierId: one.tierId }
  const now = { status: state, tierId: one.tierId, ...evidence }
  const warning = { refundTxHash: REFUND, valueWei: `${one.valueWei}`, safeAfter }
  const place = { inner_index: transfer.index, from_address: transfer.from, to_address: transfer.to }
  const isAgain = proofsOf(given, one).proofs.some(({ of }) => of === 'this')
  const row = {
    ...{ payment_ref: one.ref, commission_of: null, tx_hash: REFUND, ...place, value_wei: transfer.valueWei },
    ...{ block_number: tx.block, block_hash: tx.hash, final: false, recorded_by: 'ada' },
  }
  return {
    verdict: { payment_id: one.id, verdict: 'refunded', reason: one.reason, evidence },
    log: [
      log('refunded', one.txHash ?? `${one.id}`, { before: was, after: now }),
      ...(alarm === null ? [] : [log(alarm, one.ref, warning)]),
    ],
    refunds: isAgain ? [] : [row],
  }
}

async function compareRows(sql: Sql, before: Row[], payments: Payment[], written: ReturnType<typeof writtenOf> | null) {
  const rows = await sql`SELECT id, state, reason FROM payments WHERE id < 500 ORDER BY id`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    payments.map(({ id, state, reason }) => ({ id, state, reason })),
  )
  const verdicts =
    await sql`SELECT payment_id, verdict, reason, evidence FROM payment_verdicts WHERE decided_by = 'ada'`
  assert.deepEqual(plain([...verdicts]), plain(written === null ? [] : [written.verdict]))
  const log = await sql`SELECT action, subject, detail - 'says' AS detail, request_id FROM audit WHERE actor = 'ada'`
  assert.deepEqual(inOrder(log.map(plain)), inOrder(plain(written?.log ?? []) as object[]))
  const refunds = await readTable(sql, 'refunds', ['recorded_at'])
  assert.deepEqual(refunds.map(plain), inOrder(plain([...before, ...(written?.refunds ?? [])]) as object[]))
}

/** A ledger with a payment that is asked for, what is on record of it, and the transaction that an act names. */
async function settingOf(world: World, payment: string, given: Drawn) {
  const ledger = ledgerOf(world)
  const named = ledger.payments.filter(({ id, txHash }) => `${id}` === payment || txHash === payment)
  const one = (named[0] ?? ledger.payments[0]) as Payment
  const tx = transactionOf(given, one)
  const deps = providersOf(given, tx, chainOf(world, ledger))
  const rows = rowsOf(world, ledger)
  const { proofs, isRefundedElsewhere } = proofsOf(given, one)
  const refunds = proofs.map((proof, n) => proofRow(proof, n, one.ref))
  if (isRefundedElsewhere) refunds.push(elsewhereRow(one))
  const blocks = headersOf(rows, given, tx)
  const there = tx && (await deps.chain.block(tx.block))
  const desk = {
    ...{ ...ledger, proofs, isRefundedElsewhere, isRestored: given.isRestored },
    own: new Map(blocks.map(({ number, hash }) => [Number(number), String(hash)])),
    canonical: new Map(there ? [[there.number, there.hash] as const] : []),
  }
  const isOne = named.length === 1
  const expected = isOne
    ? model.record(one, tx, desk)
    : [named.length === 0 ? 'unknown' : 'several', ...model.unseen(tx, desk)]
  return { ledger, one, tx, deps, rows: { ...rows, blocks, refunds }, refunds, expected }
}

function compareRefusal(found: object, expected: string[]): string {
  assert.ok(isOperatorRefusal(found), `recorded, not refused: ${expected}`)
  const kind = kindIn(REASONS, found.message) ?? found.message
  assert.ok(expected.includes(kind), `${kind}, not ${expected}`)
  assert.equal(found.because, WRONG.includes(kind) ? 'invalid' : (WHY[kind] ?? 'conflict'))
  return kind
}

function compareAnswer(found: RefundResult, preview: string, one: Payment, { alarm, state }: model.Recorded): void {
  const { fileMadeAt, ...answer } = found
  const { id, txHash, tierId, files } = one
  assert.deepEqual(answer, { id, txHash, status: state, tierId, alarm })
  assert.equal(fileMadeAt === null, files.length === 0)
  assert.equal(kindIn(SAID, preview), alarm)
  const line = resultLine(refundPayment.operation, found)
  assert.equal(kindIn(SAID, line), alarm)
  assert.equal(line.includes(`payment is ${state}.`), alarm !== null)
}

/** The act, after its preview unless the ledger is found to be restored meanwhile. */
async function runAct(sql: Sql, chain: object, { isRestored }: Drawn, input: object) {
  const sent: string[] = []
  const deps = { ...chain, log: silentLog, signers: { minter: MINTER, distributor: null } }
  const restores = () => sql`UPDATE ledger_state SET recheck_up_to = coalesce(recheck_up_to, 0) + 1`
  const pool = isRestored ? poolAfter(sql, restores) : recording(sql, sent)
  const { preview } = refundPayment.operation
  const shown = isRestored ? null : await preview({ ...deps, pool: recording(sql, []) } as never, ACTOR, { ...input })
  const found = await refundPayment({ ...deps, pool } as never, ACTOR, { ...input })
  return { found, shown, notices: noticesIn(sent) }
}

test('a refund is recorded if its transaction paid the payer that amount, and only once', async () => {
  const met = new Map<string, number>()
  const meet = (name: string) => met.set(name, (met.get(name) ?? 0) + 1)
  const compare = async (world: World, payment: string, given: Drawn, note: string | null) => {
    const { ledger, one, tx, deps, rows, refunds, expected } = await settingOf(world, payment, given)
    await tables.within(rows, async (sql) => {
      const input = { payment, refundTxHash: REFUND, reason: note }
      const { found, shown, notices } = await runAct(sql, deps, given, input)
      if (Array.isArray(expected)) {
        const kind = compareRefusal(found, expected)
        if (shown !== null) assert.equal(compareRefusal(shown, expected), kind)
        if (expected.length === 1) meet(kind)
        return await compareRows(sql, refunds, ledger.payments, null)
      }
      assert.ok(!isOperatorRefusal(found), isOperatorRefusal(found) ? found.message : '')
      assert.ok(shown !== null && !isOperatorRefusal(shown))
      compareAnswer(found, shown.text, one, expected)
      assert.ok(notices > 0)
      meet(`${expected.alarm}`)
      if (expected.transfer.index > 0) meet('inner')
      const written = writtenOf({ given, one, tx: tx as model.Transaction, note }, expected)
      const after = ledger.payments.map((other) => (other === one ? { ...one, state: expected.state } : other))
      await compareRows(sql, refunds, after, written)
    })
  }
  const name = fc.constantFrom('1', '1', '1', '1', '1', '1', '2', '3', word(51), '9')
  const note = fc.constantFrom(null, 'agreed by mail')
  await fc.assert(fc.asyncProperty(drawnWorld, name, drawnRefund, note, compare), { numRuns: cases(160) })
  assert.ok(met.size >= 12, JSON.stringify([...met]))
})
