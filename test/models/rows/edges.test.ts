// Where a period begins and ends: the statement's blocks are those of the second reading, each account's books are its journal in just these blocks,
// and two periods that adjoin add up to the whole.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { readStatement, type Statement } from '../../../src/operator/acts/books/statement.ts'
import { at, openTables, type Row, type Rows, snapshotsIn, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { ADDRESSES, Books, histories } from './books.ts'
import * as model from './edges.ts'
import { changeOf, linesOf, otherOf, type Party } from './statement.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const HEAD = 12
const START_WEI = 10n ** 30n
const PARTIES = Object.keys(ADDRESSES) as Party[]

const watched = fc.record({
  watchedFrom: fc.constantFrom(0, 0, 0, 4, 5, 6, 9, 10),
  closedBlock: fc.constantFrom(null, null, null, 5, 9, 10),
})
/** A block's number or its time, just before it, of it, or just after it. */
const moment = fc.record({
  isTime: fc.boolean(),
  block: fc.constantFrom(3, 4, 5, 6, 9, 10, 11),
  shift: fc.constantFrom(-1, 0, 0, 1),
})
const drawn = fc.record({
  events: histories,
  wallets: fc.tuple(watched, watched),
  gaps: fc.array(fc.constantFrom(1, 2, 12), { minLength: HEAD, maxLength: HEAD }),
  startBlock: fc.constantFrom(1, 2, 4),
  cursor: fc.constantFrom(9, 10, 11),
  /** The first header that is still stored. */
  storedFrom: fc.constantFrom(0, 3, 5, 10),
  moments: fc.tuple(moment, moment, moment),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function followedOf({ gaps, startBlock, cursor }: Drawn): model.Followed {
  const blocks = [{ number: 0, time: 1_000 }]
  for (const gap of gaps) blocks.push({ number: blocks.length, time: (blocks.at(-1)?.time ?? 0) + gap })
  return { blocks, startBlock, cursor }
}

const momentsOf = ({ moments }: Drawn, { blocks }: model.Followed): model.Moment[] =>
  moments.map(({ isTime, block, shift }) =>
    isTime ? { time: (blocks[block]?.time ?? 0) + shift } : { block: block + shift },
  )

const written = (one: model.Moment | null) => one && ('block' in one ? String(one.block) : at(one.time))

const placeOf = ({ number, time }: model.Block) => ({ number, hash: word(number), time })

/** What is known of a wallet is only what came while it was watched. */
function rowsOf(books: Books, { wallets, storedFrom }: Drawn, { blocks, startBlock, cursor }: model.Followed): Rows {
  const isKnown = (row: Row) => {
    const number = row.block_number as number | null
    if (number !== null && (number < startBlock || number > cursor)) return false
    const n = [ADDRESSES.wallet1, ADDRESSES.wallet2].indexOf(String(row.wallet))
    const index = n < 0 && row.wallet_id !== undefined ? Number(row.wallet_id) - 1 : n
    const own = wallets[index]
    if (own === undefined || number === null) return true
    return number >= own.watchedFrom && (own.closedBlock === null || number <= own.closedBlock)
  }
  const known = Object.entries(books.rows).map(([table, rows]) => [table, rows.filter(isKnown)] as const)
  const { payment_wallets, ...rest } = Object.fromEntries(known)
  const stored = blocks.filter(({ number }) => number >= storedFrom && number <= cursor)
  const head = blocks[cursor] as model.Block
  return {
    ...rest,
    payment_wallets: (books.rows.payment_wallets ?? []).map((row, n) => {
      const closed = wallets[n]?.closedBlock ?? null
      const by = closed === null ? {} : { closed_at: at(1_000), closed_by: 'test' }
      return { ...row, watched_from: wallets[n]?.watchedFrom ?? 0, closed_block: closed, ...by }
    }),
    blocks: stored.map(({ number, time }) => ({
      ...{ number, hash: word(number), parent_hash: word(number - 1 < 0 ? 99 : number - 1), time, prevrandao: word(1) },
    })),
    cursors: [{ name: 'follow', block_number: cursor, block_hash: word(cursor), block_time: head.time }],
    ledger_state: [
      { chain_id: 1, genesis_hash: '0x', factory: ADDRESSES.factory, start_block: 0, started_at: at(1_000) },
      ...(rest.ledger_state ?? []),
    ],
  }
}

/** The chain that the journal tells of. Of the contract it answers nothing. */
function chainOf(books: Books, { blocks }: model.Followed) {
  const balanceOf = (party: Party, block: number) =>
    START_WEI + changeOf(books.journal, party, { after: -1, upTo: block })
  return {
    block: async (number: number) => (blocks[number] ? placeOf(blocks[number]) : null),
    async firstBlockAt(time: number, notAfter: number) {
      const found = blocks.find((one) => one.time >= time && one.number <= notAfter)
      const parent = found && blocks[found.number - 1]
      return found ? { block: placeOf(found), parent: parent ? placeOf(parent) : null } : null
    },
    async balanceAt(address: string, { number }: { number: number }) {
      const party = PARTIES.find((one) => ADDRESSES[one] === address) as Party
      return { wei: balanceOf(party, number) }
    },
  }
}

/** The accounts of one statement, compared with the journal in the blocks of the period. */
function compareAccounts(given: Drawn, books: Books, statement: Statement, blocks: model.Block[]): void {
  const isWhole = given.wallets.every((one) => one.watchedFrom <= given.startBlock && one.closedBlock === null)
  for (const party of PARTIES) {
    const account = statement.accounts.find(({ address }) => address === ADDRESSES[party])
    const own = { wallet1: given.wallets[0], wallet2: given.wallets[1] }[String(party)]
    // Ether from a wallet that was not watched then comes from a stranger, for the contract and for a sender.
    if (party === 'outside' || (own === undefined && !isWhole)) continue
    const seen = own === undefined ? blocks : model.watchedOf(blocks, own)
    const [first, last] = [seen[0], seen.at(-1)]
    if (first === undefined || last === undefined) {
      assert.ok(
        (account?.movements ?? []).every(({ wei }) => wei === 0n),
        `nothing of ${party}`,
      )
      continue
    }
    assert.ok(account, `an account for ${party}`)
    const within = { after: first.number - 1, upTo: last.number }
    const wei = [...linesOf(books.journal, party, within).values()].reduce((sum, line) => sum + line.wei, 0n)
    const booked = account.movements.reduce((sum, line) => sum + line.wei, 0n)
    assert.equal(booked, wei, `movements of ${party}`)
    const openingWei = START_WEI + changeOf(books.journal, party, { after: -1, upTo: within.after })
    const closingWei = START_WEI + changeOf(books.journal, party, { after: -1, upTo: within.upTo })
    const { openingWei: opens, closingWei: closes, otherWei } = account
    const other = otherOf(books.journal, party, within)
    assert.deepEqual([opens, closes, otherWei], [openingWei, closingWei, other], `balances of ${party}`)
  }
}

/** Everything in a statement that is counted or summed, by name. */
function figuresOf({ sales, payments, assurance, happened, gas, period, ...rest }: Statement): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  const add = (name: string, value: bigint | number) => sums.set(name, (sums.get(name) ?? 0n) + BigInt(value))
  const addAll = (of: string, lines: readonly object[]) => {
    for (const line of lines) {
      const cells = Object.entries(line).toSorted()
      const isSum = (value: unknown) => typeof value === 'bigint' || typeof value === 'number'
      const key = cells.flatMap(([, value]) => (isSum(value) ? [] : [String(value)])).join(' ')
      for (const [cell, value] of cells) if (isSum(value)) add(`${of} ${key} ${cell}`, value)
    }
  }
  for (const [of, lines] of Object.entries({ sales, payments, assurance, happened: [happened], gas })) addAll(of, lines)
  for (const { address, movements } of rest.accounts)
    for (const { what, wei } of movements) add(`${address} ${what}`, wei)
  for (const [name, value] of Object.entries({ blocks: period.blocks, sales: rest.totalSalesWei, gas: rest.gasWei }))
    add(name, value)
  return new Map([...sums].filter(([, value]) => value !== 0n).toSorted())
}

async function compare(given: Drawn): Promise<void> {
  const followed = followedOf(given)
  const books = new Books()
  for (const one of given.events) if (one.block >= given.startBlock && one.block <= given.cursor) books.enter(one)
  const [a, b, c] = momentsOf(given, followed) as [model.Moment, model.Moment, model.Moment]
  const read = async (sql: Sql, from: model.Moment | null, to: model.Moment | null) => {
    const contract = { counters: async () => null, isDeployed: async () => null }
    const signers = { minter: ADDRESSES.minter, distributor: ADDRESSES.distributor }
    const deps = { readPool: snapshotsIn(sql), chain: chainOf(books, followed), contract, signers }
    const rules = { startBlock: given.startBlock }
    const found = await readStatement({ ...deps, rules } as never, { from: written(from), to: written(to) })
    const blocks = model.blocksOf(followed, from, to)
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (isOperatorRefusal(found)) assert.deepEqual(blocks, [], `refused: ${found.message}`)
    if (isOperatorRefusal(found)) return null
    const { opening, closing, complete } = found.period
    assert.equal(found.period.blocks, blocks.length, 'blocks')
    assert.equal(complete, model.isComplete(followed, to), 'complete')
    if (first !== undefined && last !== undefined)
      assert.deepEqual([opening.blockNumber, closing.blockNumber], [first.number - 1, last.number], 'edges')
    for (const place of [opening, closing])
      assert.equal(place.blockTime, at(followed.blocks[place.blockNumber]?.time ?? 0), 'time of an edge')
    compareAccounts(given, books, found, blocks)
    return figuresOf(found)
  }
  await tables.within(rowsOf(books, given, followed), async (sql) => {
    await read(sql, a, b)
    await read(sql, null, c)
    // A block's number ends a period with it, so the next one begins with the block after it.
    const next = 'block' in b ? { block: b.block + 1 } : b
    const [whole, ...parts] = [await read(sql, a, c), await read(sql, a, b), await read(sql, next, c)]
    if (whole === null || parts.some((part) => part === null)) return
    const sums = new Map<string, bigint>()
    for (const part of parts) for (const [name, value] of part ?? []) sums.set(name, (sums.get(name) ?? 0n) + value)
    assert.deepEqual(new Map([...sums].filter(([, value]) => value !== 0n).toSorted()), whole, 'two parts of a period')
  })
}

test('a period has the blocks from its start to before its end, and the next one those after', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(40) })
})
