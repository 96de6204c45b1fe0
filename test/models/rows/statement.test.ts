// The statement: each account's lines by src/db/reads/statement.ts are those of a double-entry journal, and add up to what its balance changed by.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from '../../../src/db/core/sql.ts'
import {
  type Movement,
  readFactoryMovements,
  readSenderMovements,
  readWalletMovements,
} from '../../../src/db/reads/statement.ts'
import { openTables, type Tables } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import { ADDRESSES, Books, type Event, histories } from './books.ts'
import { changeOf, linesOf, otherOf, type Party, type Period } from './statement.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const READERS: [Party, typeof readWalletMovements][] = [
  ['wallet1', readWalletMovements],
  ['wallet2', readWalletMovements],
  ['minter', readSenderMovements],
  ['distributor', readSenderMovements],
  ['factory', readFactoryMovements],
]

async function linesBy(sql: Sql, period: Period): Promise<Map<Party, Movement[]>> {
  const found = new Map<Party, Movement[]>()
  for (const [account, read] of READERS) found.set(account, await read(sql, ADDRESSES[account] as never, period))
  return found
}

/** Lines in which a transaction that moved nothing may be counted, or not. */
const UNCOUNTED = ['fees', 'gas', 'sent', 'fromPaymentsWallet', 'fromSenders']

/** Lines of nothing are left out. */
const shown = (lines: Movement[]) =>
  lines
    .filter(({ wei }) => wei !== 0n)
    .map(({ what, count, wei }) => ({ what, count: UNCOUNTED.includes(what) ? null : count, wei }))
    .toSorted((a, b) => (a.what < b.what ? -1 : 1))

async function compare(events: Event[], [a, b]: [number, number]): Promise<void> {
  const books = new Books()
  for (const one of events) books.enter(one)
  const { journal, rows } = books
  const period = { after: Math.min(a, b), upTo: Math.max(a, b) }
  const byCode = await tables.within(rows, (sql) => linesBy(sql, period))
  for (const [account, lines] of byCode) {
    const byModel = [...linesOf(journal, account, period)].map(([what, line]) => ({ what, ...line }))
    assert.deepEqual(shown(lines), shown(byModel), `lines of ${account}`)
    // Two ways to one sum: no entry is in two lines, and none is lost.
    const sum = lines.reduce((wei, line) => wei + line.wei, 0n)
    assert.equal(sum + otherOf(journal, account, period), changeOf(journal, account, period), `sum of ${account}`)
  }
}

test('every wei of an account is in one line of the statement, and the lines add up', async () => {
  const block = fc.constantFrom(3, 4, 5, 9, 10, 11)
  await fc.assert(fc.asyncProperty(histories, fc.tuple(block, block), compare), { numRuns: cases(100) })
})
