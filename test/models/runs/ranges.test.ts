// Ether that the books lack: the check of a wallet (src/books/locate.ts) and the statement (src/operator/acts/books/account.ts) pin it to the blocks
// in which the second reading knows that it moved, on random histories of a balance, with states that providers no longer have.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { locateDifferences } from '../../../src/books/locate.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import type { Movement } from '../../../src/db/reads/statement.ts'
import type { Address } from '../../../src/domain/units.ts'
import { readAccount } from '../../../src/operator/acts/books/account.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './ranges.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const WALLET = account(1)
const [OPENING, STARTS_WITH] = [100, 1_000n]

const offset = fc.constantFrom(1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 40)
const drawn = fc.record({
  length: offset,
  hidden: fc.array(fc.tuple(offset, fc.constantFrom(1n, 1n, 1n, 7n, -1n, -7n)), { maxLength: 4 }),
  isOneWay: fc.boolean(),
  known: fc.array(fc.tuple(offset, fc.constantFrom('payment', 'dust', 'outflow'), fc.constantFrom(1n, 7n)), {
    maxLength: 4,
  }),
  prunedTo: fc.constantFrom(0, 0, 0, 1, 2, 16, 17, 39),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

interface Told {
  history: model.History
  known: { block: number; kind: 'payment' | 'dust' | 'outflow'; wei: bigint }[]
}
function toldOf(given: Drawn): Told {
  const inside = ([blocks]: readonly [number, ...unknown[]]) => blocks <= given.length
  const hidden = new Map<number, bigint>()
  for (const [blocks, wei] of given.hidden.filter(inside))
    hidden.set(OPENING + blocks, given.isOneWay && wei < 0n ? -wei : wei)
  const known = given.known
    .filter(inside)
    .map(([blocks, kind, wei]) => ({ block: OPENING + blocks, kind, wei: kind === 'outflow' ? -wei : wei }))
  const history = { opening: OPENING, closing: OPENING + given.length, hidden, statesFrom: OPENING + given.prunedTo }
  return { history, known }
}

const netOf = ({ known }: Told, after: number, upTo: number): bigint =>
  known.filter(({ block }) => block > after && block <= upTo).reduce((sum, { wei }) => sum + wei, 0n)
const balanceOf = (told: Told, block: number): bigint =>
  STARTS_WITH + netOf(told, OPENING, block) + model.movedIn(told.history, OPENING + 1, block)

function chainOf(told: Told) {
  const { opening, closing, statesFrom } = told.history
  const balanceAt = async (_address: string, { number }: { number: number }) =>
    number === closing || number >= statesFrom ? { wei: balanceOf(told, number), proof: 'proven' } : null
  const block = async (number: number) =>
    number < opening || number > closing ? null : { number, hash: word(number), time: number, parentHash: word(0) }
  return { providers: ['one'], balanceAt, block }
}

/** Dust is stored as bytes. */
const raw = (hex: string) => `\\x${hex.slice(2)}`

function rowsOf({ known }: Told): Rows {
  const place = (block: number) => ({ block_number: block, block_hash: word(block), block_time: at(block) })
  const of = (kind: string) => known.map((one, n) => ({ ...one, n })).filter((one) => one.kind === kind)
  return {
    payments: of('payment').map(
      ({ n, block, wei }): Row => ({
        ...{
          id: 1 + n,
          ref: word(1 + n),
          tx_hash: word(1 + n),
          wallet: WALLET,
          from_address: account(5),
          value_wei: wei,
        },
        ...{ succeeded: true, state: 'seen', tx_index: 0, ...place(block) },
      }),
    ),
    dust: of('dust').map(
      ({ n, block, wei }): Row => ({
        ...{ tx_hash: raw(word(1 + n)), wallet_id: 1, tx_index: 0, inner_index: 0, from_address: raw(account(7)) },
        ...{ value_wei: wei, block_number: block },
      }),
    ),
    wallet_outflows: of('outflow').map(
      ({ n, block, wei }): Row => ({
        ...{
          ref: word(1 + n),
          tx_hash: word(1 + n),
          wallet: WALLET,
          to_address: account(6),
          value_wei: -wei,
          fee_wei: 0n,
        },
        ...place(block),
      }),
    ),
    payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: 0, entered_by: 'test' }],
  }
}

async function located(sql: Sql, told: Told): Promise<model.Range[]> {
  const { opening, closing } = told.history
  const expectedWei = STARTS_WITH + netOf(told, opening, closing)
  const balance = { wei: balanceOf(told, closing), proof: 'proven' }
  const asked = { address: WALLET, checkedBlock: opening, upTo: closing, expectedWei, balance, checkedProof: 'proven' }
  const context = { pool: poolWithin(sql), chain: chainOf(told) }
  const run = { checkLock: () => undefined, outOfTime: () => false }
  const found = await locateDifferences(context as never, asked as never, run)
  for (const { balanceAfterWei, balanceBeforeWei, block, fromBlock } of found) {
    assert.equal(balanceAfterWei, balanceOf(told, block.number))
    const isPinned = fromBlock === block.number
    assert.equal(balanceBeforeWei, isPinned ? balanceOf(told, fromBlock - 1) : null)
  }
  return found.map(({ fromBlock, block, residueWei }) => ({ fromBlock, toBlock: block.number, wei: residueWei }))
}

/** The statement of the account, which opens with the books if the opening state is gone. */
async function stated(sql: Sql, told: Told): Promise<model.Range[]> {
  const { opening, closing, statesFrom } = told.history
  const place = (number: number) => ({ number, hash: word(number), time: number })
  const account = await readAccount({ chain: chainOf(told) as never }, sql, {
    ...{ name: 'payments', address: WALLET as Address },
    period: { opening: place(opening), closing: place(closing) } as never,
    movements: async ({ after = 0, upTo }) => [{ wei: netOf(told, after, upTo) } as Movement],
    booked: async () => STARTS_WITH,
  })
  const moved = model.movedIn(told.history, opening + 1, closing)
  const pinned = account.other.filter(({ fromBlock, toBlock }) => fromBlock === toBlock)
  const pinnedWei = pinned.reduce((sum, { wei }) => sum + wei, 0n)
  const isRead = opening >= statesFrom
  assert.deepEqual(
    [account.openingFrom, account.otherWei, account.unexplainedWei],
    [isRead ? 'chain' : 'books', moved, moved - pinnedWei],
  )
  return account.other
}

test('unseen value is pinned to its blocks, or to a range whose states are gone', async () => {
  const compare = async (given: Drawn) => {
    const told = toldOf(given)
    await tables.within(rowsOf(told), async (sql) => {
      const [byCheck, byStatement] = [await located(sql, told), await stated(sql, told)]
      assert.deepEqual(model.faultsOf(told.history, byCheck), [], 'the check of the wallet')
      assert.deepEqual(model.faultsOf(told.history, byStatement), [], 'the statement')
      if (!model.isOneWay(told.history)) return
      assert.deepEqual(byCheck, model.leastRanges(told.history))
      if (told.history.statesFrom <= OPENING) assert.deepEqual(byStatement, model.leastRanges(told.history))
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
})
