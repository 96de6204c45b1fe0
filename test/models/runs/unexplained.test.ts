// Ether that came or left by internal calls: checks of a wallet (src/books/balance-check.ts, explain.ts, retrace.ts) book, file and replace what the
// second reading does, at the edges of prices and graces, with traces that come late or lack a wei, and with decisions in between.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { checkWalletBalances } from '../../../src/books/balance-check.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import type { Version } from '../sale.ts'
import * as model from './unexplained.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const WALLET = account(1)
const [OPENING, STARTS_WITH, PRICE] = [100, 1_000_000n, 10_000n]
const timeOf = (block: number) => 10_000 + 10 * block

const move = fc.constantFrom(9n, 10n, PRICE - 1n, PRICE, PRICE + 1n, 2n * PRICE - 1n, 2n * PRICE)
const drawnBlock = fc.record({
  gap: fc.constantFrom(1, 1, 2, 5),
  moves: fc.array(move, { minLength: 1, maxLength: 2 }),
  areOneTransaction: fc.boolean(),
  isProven: fc.boolean(),
  traces: fc.constantFrom<model.Block['traces']>(
    ['all'],
    ['all'],
    ['none', 'all'],
    ['short', 'all'],
    ['none'],
    ['short'],
  ),
})
const drawn = fc.record({
  checks: fc.array(fc.array(drawnBlock, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  /** All of a check comes, or all of it leaves, so that nothing cancels. */
  leaves: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  /** A second version from this many blocks on, with its price and its grace. */
  second: fc.option(
    fc.record({
      after: fc.constantFrom(1, 2, 3),
      priceWei: fc.constantFrom(PRICE / 2n, 2n * PRICE),
      graceSec: fc.constantFrom(0, 10, 20),
      onSale: fc.boolean(),
    }),
  ),
  decides: fc.array(fc.constantFrom('no', 'no', 'dismisses', 'keeps'), { minLength: 3, maxLength: 3 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function versionsOf({ second }: Drawn): Version[] {
  const always = { maxPerWallet: 9, holdingWei: 0n, supply: null, opensAt: null, closesAt: null }
  const first = { ...always, tierId: 't0', version: 1, priceWei: PRICE, onSale: true, graceSec: 0 }
  const terms = { opensAfter: null, allowlist: null }
  const versions: Version[] = [{ ...first, ...terms, fromBlock: 0, fromTime: 0 }]
  if (second === null) return versions
  const { after: blocks, ...changed } = second
  const fromBlock = OPENING + blocks
  return [...versions, { ...first, ...terms, ...changed, version: 2, fromBlock, fromTime: timeOf(fromBlock) }]
}

function blocksOf({ checks, leaves }: Drawn): model.Block[][] {
  let [number, count] = [OPENING, 0]
  return checks.map((some, n) =>
    some.map(({ gap, moves, areOneTransaction, traces, isProven }) => {
      number += gap
      const time = timeOf(number)
      const whole = moves.map((wei, place): model.Move => {
        if (place === 0 || !areOneTransaction) count += 1
        const index = areOneTransaction ? 1 + place : 1
        return { txHash: word(9_000 + count), index, other: account(50 + count), wei: leaves[n] ? -wei : wei }
      })
      return { number, time, moves: whole, traces, isProven }
    }),
  )
}

const rowsOf = (given: Drawn): Rows => ({
  cursors: [{ name: 'follow', block_number: OPENING, block_hash: word(OPENING), block_time: timeOf(OPENING) }],
  payment_wallets: [{ id: 1, wallet: WALLET, from_block: 0, from_time: 0, watched_from: OPENING, entered_by: 'test' }],
  wallet_books: [
    {
      ...{ wallet: WALLET, base_wei: STARTS_WITH, base_block: OPENING, audited_block: OPENING },
      audited_proof: 'proven',
    },
  ],
  tiers: versionsOf(given).map(
    (one, n, all): Row => ({
      ...{ tier_id: one.tierId, version: one.version, tier_no: 1, label: 'a', price_wei: one.priceWei },
      ...{ max_per_wallet: 9, payout_bps: 10_000, on_sale: one.onSale, grace_sec: one.graceSec },
      ...{ live: n === all.length - 1, from_block: one.fromBlock, from_time: one.fromTime, entered_by: 'test' },
    }),
  ),
})

function chainOf(blocks: model.Block[], looks: Map<number, number>) {
  const moved = (upTo: number) =>
    blocks.filter(({ number }) => number <= upTo).flatMap(({ moves }) => moves.map(({ wei }) => wei))
  const balanceAt = async (_address: string, { number }: { number: number }) => ({
    wei: moved(number).reduce((sum, wei) => sum + wei, STARTS_WITH),
    proof: (blocks.find((one) => one.number === number)?.isProven ?? true) ? 'proven' : 'agreed',
  })
  const blockTransfers = async ({ number }: { number: number }) => {
    const block = blocks.find((one) => one.number === number) as model.Block
    const look = looks.get(number) ?? 0
    looks.set(number, look + 1)
    const trace = block.traces[Math.min(look, block.traces.length - 1)]
    if (trace === 'none') return null
    return block.moves.map(({ txHash, index, other, wei }, place) => {
      const value = (wei < 0n ? -wei : wei) - (trace === 'short' && place === 0 ? 1n : 0n)
      const direction = wei < 0n ? 'out' : 'in'
      return { txHash, txIndex: place, direction, wallet: WALLET, index, other, valueWei: value }
    })
  }
  const block = async (number: number) => ({
    ...{ number, hash: word(number), time: timeOf(number), parentHash: word(number - 1), prevrandao: word(0) },
  })
  return {
    providers: ['one', 'two'],
    chainId: async () => 1,
    balanceAt,
    blockTransfers,
    block,
    transaction: async () => null,
  }
}

/** Everything in the books, in the model's words. */
async function booksOf(sql: Sql) {
  const found = await sql`
    SELECT CASE WHEN tx_hash IS NULL THEN 'residue' ELSE 'payment' END AS kind, block_number AS block, value_wei AS wei,
      tx_hash AS "txHash", inner_index AS index, state,
      (SELECT concat(evidence ->> 'fromBlock', ' ', evidence ->> 'proof') FROM payment_verdicts v WHERE payment_id = p.id AND decided_by = 'pass') AS first
    FROM payments p
    UNION ALL SELECT 'dust', block_number, value_wei, '0x' || encode(tx_hash, 'hex'), inner_index, NULL, NULL FROM dust
    UNION ALL SELECT CASE WHEN tx_hash IS NULL THEN 'residue' ELSE 'outflow' END, block_number, -value_wei, tx_hash, inner_index, NULL, from_block::text
      FROM wallet_outflows`
  return found
    .filter(({ state }) => state !== 'orphaned')
    .map(({ kind, block, wei, txHash, index, first }) =>
      kind === 'residue' ? `residue ${first} ${block} ${wei}` : `${kind} ${block} ${txHash} ${index} ${wei}`,
    )
}
const inWords = ({ booked, residues }: model.Wallet): string[] => [
  ...booked.map(({ kind, block, move: { txHash, index, wei } }) => `${kind} ${block} ${txHash} ${index} ${wei}`),
  ...residues.map(({ fromBlock, block, wei, isProven }) => {
    // What left has no proof of its own.
    const proof = wei < 0n ? '' : isProven ? ' proven' : ' agreed'
    return `residue ${fromBlock}${proof} ${block} ${wei}`
  }),
]

/** A person decides about every residue that arrived and waits: it is dismissed, or it stays held. */
async function decide(sql: Sql, wallet: model.Wallet, how: 'dismisses' | 'keeps'): Promise<void> {
  await sql`INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by)
    SELECT id, ${how === 'keeps' ? 'held' : 'dismissed'}, ${how === 'keeps' ? 'unattributed' : null}, '{"rule": "byHand"}', 'ada'
    FROM payments WHERE tx_hash IS NULL AND state = 'held'`
  if (how === 'dismisses') await sql`UPDATE payments SET state = 'dismissed' WHERE tx_hash IS NULL AND state = 'held'`
  for (const residue of wallet.residues) if (residue.wei > 0n) residue.isDecided = true
}

async function compare(given: Drawn): Promise<void> {
  const checks = blocksOf(given)
  const all = checks.flat()
  const wallet: model.Wallet = {
    sale: { versions: versionsOf(given), openings: [] },
    booked: [],
    residues: [],
    looks: new Map(),
  }
  await tables.within(rowsOf(given), async (sql) => {
    const chain = chainOf(all, new Map())
    const context = {
      pool: poolWithin(sql),
      chain,
      log: silentLog,
      rules: { startBlock: OPENING, trustsProvider: false },
    }
    for (const [n, blocks] of checks.entries()) {
      const { number = OPENING, time = 0 } = blocks.at(-1) ?? {}
      const cursor = { number, hash: word(number), time }
      await sql`UPDATE cursors SET block_number = ${number}, block_hash = ${word(number)}, block_time = ${time}`
      await checkWalletBalances(context as never, cursor as never, {
        checkLock: () => undefined,
        outOfTime: () => false,
      })
      model.check(wallet, blocks, all)
      assert.deepEqual((await booksOf(sql)).toSorted(), inWords(wallet).toSorted(), `after check ${n}`)
      const [books] = await sql`SELECT base_wei + in_wei - out_wei AS wei, audited_block AS block FROM wallet_books`
      assert.deepEqual(
        books,
        { wei: (await chain.balanceAt(WALLET, { number })).wei, block: number },
        'the books agree',
      )
      const how = given.decides[n]
      if (how === 'dismisses' || how === 'keeps') await decide(sql, wallet, how)
    }
  })
}

test('value without a transaction is booked by its trace, else a residue until one or a decision', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(120) })
})
