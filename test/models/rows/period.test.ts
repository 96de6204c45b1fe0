// A period of the statement: payments, what they rest on, what happened, what it cost and what is owed. The statements of src/db/reads/statement.ts
// say what the second reading adds up, over random rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as ledger from '../../../src/db/reads/statement.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './period.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const block = fc.constantFrom(4, 5, 6, 9, 10, 11)
const wei = fc.constantFrom(0n, 1n, 2n, 10n, 10n ** 24n + 1n)
const proof = fc.constantFrom('proven', 'proven', 'agreed', 'believed', null)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 2 })

const payment = fc.record({
  state: fc.constantFrom(
    ...['minted', 'minted', 'seen', 'accepted', 'minting', 'held', 'refunded', 'dismissed', 'orphaned', 'ignored'],
  ),
  reason: fc.constantFrom('soldOut', 'unattributed', 'refunding', 'failed', 'zero'),
  tierId: fc.constantFrom('basic', 'plus', null),
  valueWei: wei,
  /** By its transaction's own value, by a call inside one that another payment has as well, or by what no transaction explains. */
  way: fc.constantFrom('own', 'own', 'inner', 'residue'),
  ...{ proof, block },
})
const node = fc.record({
  block,
  payment: fc.constantFrom('none', 'granted', 'paid', 'paid'),
  expelledBlock: maybe(block),
})
const turn = fc.record({ turns: fc.constantFrom(1, 1, 2, 5), amountWei: wei, nodes: fc.constantFrom(0, 1, 3), proof })
const round = fc.record({
  block,
  mode: fc.constantFrom('treasury', 'treasury', 'swaps'),
  turns: fc.array(turn, { maxLength: 2 }),
})
const send = fc.record({
  block,
  kind: fc.constantFrom('openCohorts', 'mint', 'credit', 'foreign'),
  state: fc.constantFrom('pending', 'mined', 'mined', 'reverted', 'displaced'),
  sender: fc.constantFrom(account(5), account(6)),
  hasHash: fc.boolean(),
  gasUsed: fc.constantFrom(0n, 1n, 21_000n),
  feeWei: wei,
  guard: maybe(block),
})
const drawn = fc.record({
  payments: fc.array(payment, { maxLength: 8 }),
  /** Transfers that are in no list: a line of the accounts has them. */
  dust: fc.array(block, { maxLength: 2 }),
  nodes: fc.array(node, { maxLength: 5 }),
  rounds: fc.array(round, { maxLength: 4 }),
  withdrawals: fc.array(fc.record({ block, wei, hasFailed: fc.boolean() }), { maxLength: 4 }),
  refunds: fc.array(fc.record({ block, wei, isCommission: fc.boolean(), isFromWallet: fc.boolean() }), {
    maxLength: 5,
  }),
  sends: fc.array(send, { maxLength: 6 }),
  guard: fc.constantFrom(null, null, 'used', 'dropped'),
  finalBlock: maybe(block),
  period: fc.tuple(fc.constantFrom(3, 4, 5, 9, 10, 11), fc.constantFrom(3, 4, 5, 9, 10, 11)),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const KEEPS_REASON = ['held', 'refunded', 'dismissed', 'orphaned']

/** A payment as the schema's checks allow it. */
function paymentOf(one: Drawn['payments'][number], n: number): model.PaymentRow {
  const isIgnored = one.state === 'ignored'
  const reason = isIgnored ? (one.reason === 'failed' ? 'failed' : 'zero') : one.reason
  return {
    ...{ id: 1 + n, state: one.state, proof: one.proof, valueWei: one.valueWei },
    tierId: one.state === 'accepted' || one.state === 'minting' ? 'basic' : one.tierId,
    reason: isIgnored || KEEPS_REASON.includes(one.state) ? reason : null,
    succeeded: reason !== 'failed' || !isIgnored,
    block: one.state === 'orphaned' ? null : one.block,
  }
}

/** A send as the schema's checks allow it: what is pending is in no block, and only of what displaced an intent may the hash be unknown. */
function sendOf(one: Drawn['sends'][number]): model.SendRow {
  const state = one.kind === 'foreign' ? 'displaced' : one.state
  const hasHash = state !== 'pending' && (state !== 'displaced' || one.hasHash)
  return { ...one, state, hasHash, block: state === 'pending' ? null : one.block }
}

function booksOf(given: Drawn): model.Books {
  const nodes = given.nodes.map(({ payment, ...one }, n) => {
    const expelledBlock = one.expelledBlock === null ? null : Math.max(one.block, one.expelledBlock)
    return { ...one, expelledBlock, isGranted: payment === 'granted', paymentId: payment === 'paid' ? 500 + n : null }
  })
  return {
    ...{ payments: given.payments.map(paymentOf), nodes, rounds: given.rounds as model.RoundRow[] },
    ...{ withdrawals: given.withdrawals, refunds: given.refunds, sends: given.sends.map(sendOf) },
    ...{ guard: given.guard as model.Books['guard'], finalBlock: given.finalBlock },
  }
}

const inBlock = (number: number | null) => ({ block_number: number, block_hash: number === null ? null : word(number) })

const mayBeResidue = ['held', 'refunded', 'dismissed', 'orphaned']

/** How the payment came, as the schema's checks allow it: value without a sender is no sale. */
function wayOf({ id, state }: model.PaymentRow, way: string | undefined): Row {
  if (way === 'residue' && mayBeResidue.includes(state)) return { tx_hash: null, from_address: null, inner_index: 0 }
  return { tx_hash: word(way === 'inner' ? 1 : id), from_address: account(1), inner_index: way === 'inner' ? id : 0 }
}

const paymentRows = ({ payments }: model.Books, given: Drawn['payments']): Row[] =>
  payments.map((one, n) => ({
    ...{ id: one.id, ref: word(one.id), wallet: account(2), ...wayOf(one, given[n]?.way) },
    ...{ value_wei: one.valueWei, succeeded: one.succeeded, proof: one.proof, state: one.state, reason: one.reason },
    ...{ tier_id: one.tierId, outbox_id: one.state === 'minting' ? 1 : null },
    ...{ node_id: one.state === 'minted' ? one.id : null, block_time: at(1_000), ...inBlock(one.block) },
  }))

function nodeRows({ nodes }: model.Books): Rows {
  return {
    nodes: nodes.map((one, n) => ({
      ...{ node_id: 500 + n, owner: account(1), cohort: one.expelledBlock === null ? 1 : null, ref: word(500 + n) },
      ...{ payment_id: one.paymentId, per_node_at_mint_wei: 0n, turns_at_mint: 0, mint_tx_hash: word(600 + n) },
      ...{ minted_at: at(1_000), ...inBlock(one.block) },
    })),
    grants: nodes.flatMap(({ isGranted }, n): Row[] =>
      isGranted ? [{ ref: word(500 + n), reason: 'meant', granted_by: 'ann' }] : [],
    ),
    expulsions: nodes.flatMap(({ expelledBlock }, n): Row[] => {
      if (expelledBlock === null) return []
      const done = { expelled_at: at(1_000), tx_hash: word(700 + n), ...inBlock(expelledBlock) }
      return [{ node_id: 500 + n, cohort: 1, credited_wei: 0n, turn_count: 0, ...done }]
    }),
  }
}

function roundRows({ rounds }: model.Books): Rows {
  return {
    rounds: rounds.map((one, n) => {
      const node_count = one.turns.reduce((sum, { nodes }) => sum + nodes, 0)
      const made = { tx_hash: word(800 + n), created_at: at(1_000), ...inBlock(one.block) }
      return { round: 1 + n, mode: one.mode, total_wei: model.totalOf(one), node_count, ...made }
    }),
    turns: rounds.flatMap((one, n) =>
      one.turns.map((turn, i) => ({
        ...{ round: 1 + n, cohort: 1 + i, turn_no: 1 + n, due: 1 + n, turns: turn.turns, amount_wei: turn.amountWei },
        ...{ node_count: turn.nodes, proof: turn.proof },
      })),
    ),
  }
}

function transferRows({ withdrawals, refunds }: model.Books): Rows {
  return {
    withdrawals: withdrawals.map((one, n) => ({
      ...{ node_id: 1, amount_wei: one.wei, withdrawn_total_wei: one.hasFailed ? null : one.wei },
      ...{ to_address: account(1), tx_hash: word(900 + n), log_index: one.hasFailed ? null : 0 },
      ...{ status: one.hasFailed ? 'failed' : 'sent', created_at: at(1_000), ...inBlock(one.block) },
    })),
    refunds: refunds.map((one, n) => ({
      ...{ payment_ref: one.isCommission ? null : word(n), commission_of: one.isCommission ? 'ann' : null },
      ...{ tx_hash: word(1_000 + n), from_address: account(one.isFromWallet ? 2 : 3), to_address: account(1) },
      ...{ value_wei: one.wei, recorded_by: 'test', ...inBlock(one.block) },
    })),
    wallet_outflows: refunds.flatMap((one, n): Row[] => {
      if (!one.isFromWallet) return []
      const sent = { tx_hash: word(1_000 + n), wallet: account(2), to_address: account(1), value_wei: one.wei }
      return [{ ref: word(n), ...sent, fee_wei: 1n, block_time: at(1_000), ...inBlock(one.block) }]
    }),
  }
}

const sendRows = ({ sends }: model.Books): Row[] =>
  sends.map((one, n) => ({
    ...{ id: 1 + n, kind: one.kind, state: one.state, sender: one.sender, nonce: n, call: '{}', gas_limit: 1 },
    ...{ guard_block: one.guard, valid_until: one.kind === 'foreign' ? null : 1, ...inBlock(one.block) },
    ...{ tx_hash: one.hasHash ? word(1_100 + n) : null, gas_used: one.hasHash ? one.gasUsed : null },
    fee_wei: one.hasHash ? one.feeWei : null,
  }))

const bytes = (hex: string) => `\\x${hex.slice(2)}`

function rowsOf(books: model.Books, { payments, dust }: Drawn): Rows {
  const final = { finalized_block: 20, finalized_hash: word(20), finalized_named: books.finalBlock }
  return {
    payment_wallets: [{ id: 1, wallet: account(2), from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
    dust: dust.map((number, n) => ({
      ...{ block_number: number, tx_index: 0, wallet_id: 1, tx_hash: bytes(word(1_200 + n)), value_wei: 1n },
      from_address: bytes(account(1)),
    })),
    ...{ payments: paymentRows(books, payments), ...nodeRows(books), ...roundRows(books), ...transferRows(books) },
    ...{ outbox: sendRows(books), ledger_state: [{ guard: books.guard, ...(books.finalBlock !== null && final) }] },
  }
}

/** Lines in one order, whichever they came in. */
const sorted = (lines: readonly object[]) => {
  const named = lines.map((line) => ({ line, key: Object.values(line).map(String).join(' ') }))
  return named.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ line }) => ({ ...line }))
}

/** The lines of an account that have one of these names, added up. */
const summed = (lines: ledger.Movement[], ...names: string[]) =>
  lines.filter(({ what }) => names.includes(what)).reduce((sum, line) => sum + line.wei, 0n)

/** A sum over the model's lines. */
const totalOf = (lines: Record<string, unknown>[], sum: string) =>
  lines.reduce((total, line) => total + BigInt(String(line[sum])), 0n)

/** What the parts say is what the accounts say, read by other statements. */
async function compareAccounts(sql: Sql, books: model.Books, period: model.Period): Promise<void> {
  const wallet = await ledger.readWalletMovements(sql, account(2) as never, period)
  const arrived = totalOf(model.paymentLinesOf(books, period), 'valueWei')
  assert.equal(summed(wallet, 'payments', 'arrivedIgnored', 'arrivedUnattributed'), arrived, 'arrived')
  const backed = model.assuranceOf(books, period).filter((line) => line.of === 'payments')
  assert.equal(summed(wallet, 'payments', 'arrivedUnattributed'), totalOf(backed, 'wei'), 'backed')
  assert.equal(summed(wallet, 'refunds'), -model.happenedOf(books, period).refundedFromWalletWei, 'refunds')
  for (const sender of [account(5), account(6)]) {
    const lines = await ledger.readSenderMovements(sql, sender as never, period)
    const gas = model.gasOf(books, period).filter((line) => line.sender === sender)
    assert.equal(summed(lines, 'gas'), -totalOf(gas, 'feeWei'), `gas of ${sender}`)
  }
}

async function compare(given: Drawn): Promise<void> {
  const books = booksOf(given)
  const [a, b] = given.period
  const period = { after: Math.min(a, b), upTo: Math.max(a, b) }
  await tables.within(rowsOf(books, given), async (sql) => {
    const payments = await ledger.readPaymentLines(sql, period)
    assert.deepEqual(sorted(payments), sorted(model.paymentLinesOf(books, period)))
    const sales = payments.filter(({ state }) => state === 'minted')
    const bought = sales.map(({ tierId, count, valueWei }) => ({ tierId, count, valueWei }))
    assert.deepEqual(sorted(bought), sorted(model.salesOf(books, period)), 'sales')
    assert.deepEqual(sorted(await ledger.readAssurance(sql, period)), sorted(model.assuranceOf(books, period)))
    assert.deepEqual({ ...(await ledger.readHappened(sql, period)) }, model.happenedOf(books, period))
    assert.deepEqual(sorted(await ledger.readGas(sql, period)), sorted(model.gasOf(books, period)))
    await compareAccounts(sql, books, period)
    const all = { after: -1, upTo: 1_000 }
    const { creditedWei, withdrawnWei } = model.happenedOf(books, all)
    // What the triggers would have kept. More may be withdrawn here than was credited, which the ledger's checks forbid.
    const distributed = creditedWei > withdrawnWei ? creditedWei : withdrawnWei
    await sql`UPDATE totals SET distributed_wei = ${String(distributed)}, withdrawn_wei = ${String(withdrawnWei)}`
    for (const at of [period.after, period.upTo]) {
      const owed = (await ledger.readOutstandingAt(sql, at)) - (distributed - creditedWei)
      assert.equal(owed, model.outstandingAt(books, at), `owed at ${at}`)
    }
  })
}

test('a period’s payments, mints, credits, refunds, gas and debt match its rows, to the wei', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(200) })
})

test('a transaction outside the ledger changes no cost', async () => {
  const taken = { sender: account(5), nonce: 1, call: '{}', gas_limit: 1, valid_until: 1, ...inBlock(5) }
  const rows = { outbox: [{ ...taken, kind: 'mint', state: 'displaced' }] }
  const period = { after: 4, upTo: 5 }
  const lines = await tables.within(rows, (sql) => ledger.readSenderMovements(sql, account(5) as never, period))
  assert.deepEqual(
    lines.map((line) => ({ ...line })),
    [{ what: 'gas', count: 1, wei: 0n }],
  )
})
