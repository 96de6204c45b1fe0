// The books of the payments wallets: the statements of src/db about them, in random order on random rows, and the second reading agree.
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import * as books from '../../../src/db/payments/wallet.ts'
import { readBookedWalletAt } from '../../../src/db/reads/statement.ts'
import * as wallets from '../../../src/db/sale/payment-wallets.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, play, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './wallets.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const WALLETS = [account(1), account(2)]
const HEAD = { number: 60, hash: word(60), time: 6_000 }
const block = fc.constantFrom(48, 49, 50, 50, 50, 51, 52, 60)
/** Where a base begins: most often in the block with most movements. */
const start = fc.constantFrom(49, 50, 50, 50, 51)
const wallet = fc.constantFrom(WALLETS[0] ?? '', WALLETS[0] ?? '', WALLETS[1] ?? '')
const proof = fc.constantFrom('proven', 'agreed', 'believed')

const drawnMovement = fc.record({
  wallet,
  wei: fc.constantFrom(1n, 10n, 10n, 100n),
  feeWei: fc.constantFrom(0n, 3n),
  block,
  kind: fc.constantFrom<model.Movement['kind']>(
    ...(['payment', 'payment', 'failed', 'dust', 'residue', 'decided', 'outflow', 'gone'] as const),
  ),
  back: fc.constantFrom(0, 0, 1, 2),
})
const drawnWallet = fc.record({
  fromBlock: fc.constantFrom(0, 59, 60, 61),
  fromTime: fc.constantFrom(0, 5_999, 6_000, 6_001),
  watchedFrom: fc.constantFrom(0, 49, 50, 51, 60, 61),
  closedBlock: fc.constantFrom(null, null, null, 51, 52),
  base: fc.option(fc.record({ block: start, wei: fc.constantFrom(-5n, 0n, 7n) }), { freq: 5 }),
  checkedTo: fc.constantFrom(0, 1, 2, 11),
  proof,
})
const drawn = fc.record({
  wallets: fc.array(drawnWallet, { minLength: 1, maxLength: 2 }),
  movements: fc.array(drawnMovement, { maxLength: 8 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function booksOf(given: Drawn): model.Books {
  const all = given.wallets.map(
    ({ checkedTo, proof, closedBlock, base, ...one }, n): model.Wallet => ({
      ...{ ...one, base, closedBlock, wallet: WALLETS[n] ?? '', closedBy: closedBlock === null ? null : 'eve' },
      audited: base === null ? null : { block: base.block + checkedTo, proof },
    }),
  )
  // Nothing of a wallet is read before its first watched block.
  const known = new Map(all.map((one) => [one.wallet, one.watchedFrom]))
  const movements = given.movements
    .filter((one) => (known.get(one.wallet) ?? HEAD.number + 1) <= one.block)
    .map(({ back, ...one }) => {
      const isResidue = ['residue', 'decided', 'gone'].includes(one.kind)
      return { ...one, fromBlock: one.block - (isResidue ? back : 0), feeWei: one.kind === 'outflow' ? one.feeWei : 0n }
    })
  return { head: HEAD, wallets: all, movements }
}

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const walletRow = (one: model.Wallet, n: number): Row => ({
  ...{ id: 1 + n, wallet: one.wallet, from_block: one.fromBlock, from_time: one.fromTime, entered_by: 'eve' },
  ...{ watched_from: one.watchedFrom, closed_block: one.closedBlock, closed_by: one.closedBy },
  closed_at: one.closedBlock === null ? null : at(1_000),
})
const bookRow = (state: model.Books, one: model.Wallet): Row => ({
  ...{ wallet: one.wallet, in_wei: model.inWei(state, one.wallet), out_wei: model.outWei(state, one.wallet) },
  ...{ base_wei: one.base?.wei ?? null, base_block: one.base?.block ?? null },
  ...{ audited_block: one.audited?.block ?? null, audited_proof: one.audited?.proof ?? null },
})

function paymentRow({ kind, wallet, wei, block }: model.Movement, n: number): Row {
  const isResidue = kind === 'residue' || kind === 'decided'
  const state = { residue: 'held', decided: 'dismissed', failed: 'ignored' }[kind as 'residue'] ?? 'accepted'
  return {
    ...{ id: 1 + n, ref: word(100 + n), tx_hash: isResidue ? null : word(100 + n), wallet, value_wei: wei },
    ...{ from_address: isResidue ? null : account(5), succeeded: kind !== 'failed', state, tier_id: 't' },
    ...{ reason: isResidue ? 'unattributed' : kind === 'failed' ? 'failed' : null, ...inBlock(block) },
    ...{ block_time: at(100 * block), tier_version: 1 },
  }
}

function rowsOf(state: model.Books): Rows {
  const numbered = state.movements.map((one, n) => ({ one, n }))
  const some = (...kinds: model.Movement['kind'][]) => numbered.filter(({ one }) => kinds.includes(one.kind))
  const idOf = (wallet: string) => 1 + WALLETS.indexOf(wallet)
  return {
    cursors: [{ name: 'follow', ...inBlock(state.head.number), block_time: state.head.time }],
    payment_wallets: state.wallets.map(walletRow),
    wallet_books: state.wallets.map((one) => bookRow(state, one)),
    payments: some('payment', 'failed', 'residue', 'decided').map(({ one, n }) => paymentRow(one, n)),
    payment_verdicts: some('residue', 'decided').map(({ one, n }) => ({
      ...{ payment_id: 1 + n, verdict: 'held', reason: 'unattributed', decided_by: 'pass' },
      evidence: JSON.stringify({ rule: 'unattributed', fromBlock: one.fromBlock, toBlock: one.block }),
    })),
    dust: some('dust').map(({ one, n }) => ({
      ...{ block_number: one.block, tx_index: n, wallet_id: idOf(one.wallet), value_wei: one.wei },
      ...{ tx_hash: `\\x${word(100 + n).slice(2)}`, from_address: `\\x${account(5).slice(2)}` },
    })),
    wallet_outflows: some('outflow', 'gone').map(({ one, n }) => ({
      ...{ ref: word(100 + n), tx_hash: one.kind === 'gone' ? null : word(100 + n), wallet: one.wallet },
      ...{ to_address: account(6), value_wei: one.wei, fee_wei: one.feeWei, block_time: at(100 * one.block) },
      ...{ from_block: one.kind === 'gone' ? one.fromBlock : null, ...inBlock(one.block) },
    })),
  }
}

type Machine = Act<model.Books>
const of = <Input>(
  draw: fc.Arbitrary<Input>,
  run: (sql: Sql, input: Input) => Promise<unknown>,
  expects: (state: model.Books, input: Input) => unknown,
): Machine => act({ draw, run, expects })

const balances: Record<string, Machine> = {
  begin: of(
    fc.record({ wallet, block: start, wei: fc.constantFrom(-1n, 9n), proof }),
    (sql, { wallet, block, ...one }) => books.writeBaseBalance(sql, wallet as never, block, one as never),
    (state, { wallet, block, ...one }) => model.begin(state, wallet, block, one),
  ),
  checked: of(
    fc.record({ wallet, block, proof }),
    (sql, { wallet, block, proof }) => books.writeCheckedBlock(sql, wallet as never, block, proof as never),
    (state, { wallet, block, proof }) => model.checked(state, wallet, block, proof),
  ),
  checkAgain: of(
    fc.record({
      wallet,
      proven: fc.option(fc.record({ block: start, wei: fc.constantFrom(0n, 30n) }), { freq: 4 }),
    }),
    (sql, { wallet, proven }) => books.checkAgain(sql, wallet as never, proven),
    (state, { wallet, proven }) => model.checkAgain(state, wallet, proven),
  ),
  rewound: of(block, books.rewindWalletBalances, model.rewound),
  forgotten: of(fc.constant(null), books.forgetWalletBalances, (state) => model.rewound(state, -1)),
  balances: of(
    wallet,
    async (sql, one) => [await books.readWalletBalance(sql, one as never), await books.readOpenWalletBalances(sql)],
    (state, one) => [model.balance(state, one), model.open(state)],
  ),
  blocks: of(
    block,
    async (sql, at) => [
      ...[await books.isBalanceChecked(sql, at), await books.isInResidue(sql, at)],
      await books.readNextResidueBlock(sql, at),
    ],
    (state, at) => [model.isChecked(state, at), model.isInResidue(state, at), model.nextResidue(state, at)],
  ),
  flow: of(
    fc.record({ wallet, block, upTo: block }),
    async (sql, { wallet, block, upTo }) => [
      await books.netFlow(sql, wallet as never, { block, upTo }),
      await readBookedWalletAt(sql, wallet as never, block),
    ],
    (state, { wallet, block, upTo }) => [
      model.flow(state, wallet, (each) => each > block && each <= upTo),
      model.bookedAt(state, wallet, block),
    ],
  ),
}

const entries: Record<string, Machine> = {
  closed: of(
    fc.record({ wallet, block }),
    (sql, { wallet, block }) => wallets.closeWallet(sql, wallet as never, block, 'ada'),
    (state, { wallet, block }) => model.closed(state, wallet, block, 'ada'),
  ),
  removed: of(
    wallet,
    async (sql, one) => {
      const known = (await wallets.readPaymentWallets(sql)).find(({ wallet }) => wallet === one)
      return known === undefined ? false : wallets.deleteWallet(sql, known)
    },
    model.removed,
  ),
  watchedAgain: of(block, wallets.rewindWallets, model.watchedAgain),
  shown: of(
    fc.constant(null),
    async (sql) => [
      await wallets.readWalletInForce(sql),
      (await wallets.readWatching(sql)).wallets,
      (await wallets.readWalletHistory(sql)).map(({ wallet, closedBlock, closedBy }) => ({
        wallet,
        closedBlock,
        closedBy,
      })),
    ],
    (state) => [
      model.inForce(state),
      state.wallets.map(({ wallet, watchedFrom, closedBlock }) => ({ wallet, watchedFrom, closedBlock })),
      state.wallets.map(({ wallet, closedBlock, closedBy }) => ({ wallet, closedBlock, closedBy })),
    ],
  ),
}

async function readRows(sql: Sql) {
  return [
    inOrder(
      await sql<object[]>`
        SELECT wallet, in_wei, out_wei, base_wei, base_block, audited_block, audited_proof FROM wallet_books`,
    ),
    inOrder(await sql<object[]>`SELECT wallet, watched_from, closed_block, closed_by FROM payment_wallets`),
  ]
}
const expected = (state: model.Books) => [
  inOrder(state.wallets.map((one): object => bookRow(state, one))),
  inOrder(
    state.wallets.map((one): object => ({
      ...{ wallet: one.wallet, watched_from: one.watchedFrom, closed_block: one.closedBlock, closed_by: one.closedBy },
    })),
  ),
]

const agree = (steps: fc.Arbitrary<Step<model.Books>[]>, usual: number) => {
  const compare = async (given: Drawn, all: Step<model.Books>[]) => {
    const state = booksOf(given)
    await tables.within(rowsOf(state), (sql) => play(sql, { steps: all, state }, { read: readRows, expected }))
  }
  return fc.assert(fc.asyncProperty(drawn, steps, compare), { numRuns: cases(usual) })
}

test('a wallet holds its base and what has moved since, from a canonical block on', async () => {
  await agree(stepsOf(balances, { least: 3, most: 8, weights: { checkAgain: 3, balances: 2, blocks: 3 } }), 120)
})

test('a wallet is in force by block and time, and goes only if nothing moved', async () => {
  await agree(stepsOf(entries, { least: 2, most: 5 }), 50)
})
