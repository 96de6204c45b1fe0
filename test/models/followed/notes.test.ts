// What the follower notes: final blocks run after run (src/follower/halt.ts), lost work (restored.ts), ranges read for other addresses (store.ts) and the balance with
// which a wallet's books begin (balance-check.ts) agree with the second reading.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { checkWalletBalances } from '../../../src/books/balance-check.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { assertNotPastFinalized, HaltFault, noteFinalized } from '../../../src/follower/halt.ts'
import { noteRestore } from '../../../src/follower/restored.ts'
import { storeRange } from '../../../src/follower/store.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, at, openTables, type Row, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './notes.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const inBlock = (number: number) => ({ block_number: number, block_hash: word(number) })
const header = (number: number): Row => {
  return { number, hash: word(number), parent_hash: word(number - 1), time: 30 * number, prevrandao: word(1) }
}
const FOLLOWED = { oldest: 100, cursor: 200, aged: 136 }
const CURSOR = { number: 200, hash: word(200), time: 6_000 }
const HEADERS = Array.from({ length: 101 }, (_, n) => header(100 + n))

const said = fc.constantFrom<model.Word['said'][number]>('ours', 'ours', 'ours', 'ours', 'none', 'other')
const finalWord = fc.record({
  number: fc.constantFrom(110, 135, 136, 137, 150, 199, 200, 205),
  isOurs: fc.constantFrom(true, true, true, null, false),
  voices: fc.constantFrom(1, 2, 2),
  said: fc.array(said, { minLength: 1, maxLength: 3 }),
})

const chainOf = (given: model.Word | null) => ({
  finalized: async () =>
    given && {
      ...{ number: given.number, voices: given.voices },
      hash: given.isOurs === null ? null : given.isOurs ? word(given.number) : word(999),
    },
  providers: (given?.said ?? []).map((one, n) => ({
    host: `host ${n}`,
    block: async (number: number) =>
      one === 'none' ? null : { number, hash: one === 'ours' ? word(number) : word(777), time: 30 * number },
  })),
})

async function deeper(ctx: object, fork: number | null): Promise<boolean> {
  const block = fork === null ? null : { number: fork, hash: word(fork) }
  return assertNotPastFinalized(ctx as never, block as never).then(
    () => false,
    (error: unknown) => error instanceof HaltFault || Promise.reject(error),
  )
}

test('a noted final block never falls back, and no rewind goes below it', async () => {
  const compare = async (words: (model.Word | null)[]) => {
    await tables.within({ blocks: HEADERS }, async (sql) => {
      let noted: model.Noted | null = null
      for (const given of words) {
        const ctx = {
          pool: poolWithin(sql),
          log: silentLog,
          rules: { rewindsToShorterChain: false },
          chain: chainOf(given),
        }
        await noteFinalized(ctx as never, CURSOR as never)
        noted = model.noteFinal(noted, given, FOLLOWED)
        const [row] = await sql<
          { value: object }[]
        >`SELECT jsonb_build_object('number', finalized_block, 'hash', finalized_hash, 'named', finalized_named) AS value FROM ledger_state WHERE finalized_block IS NOT NULL`
        assert.deepEqual(row?.value ?? null, noted && { ...noted, hash: word(noted.number) })
        const number: number = noted?.number ?? 150
        for (const fork of [null, number - 1, number, number + 1])
          assert.equal(await deeper(ctx, fork), model.goesTooDeep(noted, fork), `a rewind to ${fork}`)
      }
    })
  }
  const words = fc.array(fc.option(finalWord, { freq: 9 }), { minLength: 2, maxLength: 6 })
  await fc.assert(fc.asyncProperty(words, compare), { numRuns: cases(60) })
})

const KINDS = [
  'credited',
  'turnsSkipped',
  'cohortOpened',
  'nodeMinted',
  'nodeMinted',
  'nodeMinted',
  'withdrawn',
  'paused',
]
const drawnWork = fc.record({
  kind: fc.constantFrom(...KINDS),
  tx: fc.constantFrom(1, 2, 3),
  payment: fc.constantFrom(1, 2, 9),
  owner: fc.constantFrom(account(101), account(102), account(66)),
})
const lost = fc.record({
  work: fc.array(drawnWork, { maxLength: 4 }),
  known: fc.subarray([1, 2, 3]),
  displacing: fc.subarray([1, 2, 3], { maxLength: 1 }),
  states: fc.tuple(...[1, 2].map(() => fc.constantFrom('seen', 'seen', 'accepted', 'recheck', 'wrongAmount'))),
  recheckUpTo: fc.constantFrom(null, null, 49, 50, 51),
})

/** States of a payment here that are a held payment's reason. */
const HELD_FOR = ['recheck', 'wrongAmount']

test('a ledger was restored if the chain has ledger work that it does not remember', async () => {
  const compare = async ({
    work,
    known,
    displacing,
    states,
    recheckUpTo,
  }: typeof lost extends fc.Arbitrary<infer T> ? T : never) => {
    const payments = states.map((state, n) => ({ id: 1 + n, from: account(101 + n), state }))
    const rows: Rows = {
      outbox: [{ id: 1, kind: 'mint', sender: account(8), nonce: 1, call: '{}', gas_limit: 1, valid_until: 900 }],
      outbox_attempts: known.map((tx, n) => ({
        ...{ tx_hash: word(tx), outbox_id: 1, attempt: 1 + n, raw: '0x01', max_fee_wei: 1, max_priority_fee_wei: 1 },
        signed_at_block: 1,
      })),
      payments: payments.map(({ id, from, state }) => ({
        ...{ id, ref: word(100 + id), tx_hash: word(200 + id), wallet: account(1), from_address: from, value_wei: 1 },
        ...(HELD_FOR.includes(state) ? { state: 'held', reason: state } : { state, reason: null }),
        ...{ succeeded: true, block_time: at(500), ...inBlock(40) },
        ...{ tier_id: state === 'accepted' ? 't1' : null, tier_version: state === 'accepted' ? 1 : null },
      })),
    }
    const events = work.map(({ kind, tx, payment, owner }) => ({
      kind,
      txHash: word(tx),
      ref: word(100 + payment),
      owner,
    }))
    await tables.within(rows, async (sql) => {
      if (recheckUpTo !== null) await sql`UPDATE ledger_state SET recheck_up_to = ${recheckUpTo}`
      const seen = { displacing: new Set(displacing.map(word)), events, headBlock: 50 }
      const found = await noteRestore({ log: silentLog } as never, sql, seen as never)
      const expected = model.showsRestore(work, { known, displacing, payments })
      assert.equal(found, expected)
      const [row] = await sql<
        { block: number }[]
      >`SELECT recheck_up_to AS block FROM ledger_state WHERE recheck_up_to IS NOT NULL`
      const isRaised = expected && (recheckUpTo ?? 0) < 50
      assert.equal(row?.block ?? null, isRaised ? 50 : recheckUpTo)
      assert.equal((await sql`SELECT FROM audit WHERE action = 'restored'`).count, isRaised ? 1 : 0)
    })
  }
  await fc.assert(fc.asyncProperty(lost, compare), { numRuns: cases(150) })
})

const WALLETS = [
  { wallet: account(1), watchedFrom: 0, closedBlock: null },
  { wallet: account(1), watchedFrom: 1, closedBlock: null },
  { wallet: account(1), watchedFrom: 0, closedBlock: 5 },
]
const watched = fc.record({
  wallets: fc.constantFrom(
    ...[0, 0, 0, 0, 1, 2].map((n) => WALLETS.slice(n, n + 1)),
    [],
    [...WALLETS.slice(0, 1), { wallet: account(2), watchedFrom: 0, closedBlock: null }],
  ),
  signers: fc.subarray([account(8), account(9)]),
  leastWei: fc.constantFrom(4n, 4n, 5n),
})

const watchedRows = ({ wallets, signers, leastWei }: model.Watched): Rows => ({
  cursors: [{ name: 'follow', block_time: 300, ...inBlock(10) }],
  blocks: [header(10)],
  payment_wallets: wallets.map(({ wallet, watchedFrom, closedBlock }, n) => ({
    ...{ id: 1 + n, wallet, from_block: 0, from_time: 0, watched_from: watchedFrom, entered_by: 'eve' },
    ...{ closed_block: closedBlock, closed_at: closedBlock && at(9), closed_by: closedBlock && 'eve' },
  })),
  // An account that has sent before, and one whose call is settled, are not looked for.
  outbox: [...signers, account(10)].map((sender, n) => ({
    ...{
      kind: 'mint',
      sender,
      nonce: 1,
      call: '{}',
      gas_limit: 1,
      valid_until: 900,
      tx_hash: null,
      block_number: null,
      block_hash: null,
    },
    ...(n === signers.length ? { state: 'mined', tx_hash: word(9), ...inBlock(9) } : { state: 'pending' }),
  })),
  tiers: [leastWei, 9n].map((least, n) => ({
    ...{
      tier_id: `t${n}`,
      version: 1,
      tier_no: 1 + n,
      label: 't',
      price_wei: least * 1_000n,
      max_per_wallet: 1,
      live: true,
    },
    ...{ payout_bps: 1, on_sale: true, from_block: 0, from_time: 0, entered_by: 'eve' },
  })),
})

test('a range is stored only if it was read for everything that the ledger looks for now', async () => {
  const compare = async (read: model.Watched, other: model.Watched, isSame: boolean) => {
    const now = isSame ? read : other
    await tables.within(watchedRows(now), async (sql) => {
      const block = { number: 11, hash: word(11), parentHash: word(10), time: 330, prevrandao: word(1) }
      const nothing = {
        fees: [],
        transfers: [],
        outflows: [],
        failedWithdrawals: [],
        events: [],
        sent: [],
      }
      const context = { pool: poolWithin(sql), log: silentLog, chain: {}, minter: null, distributor: null, signers: [] }
      const expected = { number: 10, hash: word(10), time: 300 }
      const range = { watching: read, blocks: [block], ...nothing }
      const stored = await storeRange(context as never, range as never, expected as never, 11)
      assert.equal(stored !== null, model.mayStore(read, now))
      const [cursor] = await sql<{ number: number }[]>`SELECT block_number AS number FROM cursors`
      assert.equal(cursor?.number, stored === null ? 10 : 11)
    })
  }
  await fc.assert(fc.asyncProperty(watched, watched, fc.boolean(), compare), { numRuns: cases(120) })
})

test('a wallet’s books begin before the first block that is read for it, at any ledger’s age', async () => {
  const compare = async (startBlock: number, watchedFrom: number, isPruned: boolean) => {
    const rows: Rows = {
      cursors: [{ name: 'follow', block_time: 6_000, ...inBlock(200) }],
      blocks: [header(200)],
      payment_wallets: [
        { id: 1, wallet: account(1), from_block: 0, from_time: 0, watched_from: watchedFrom, entered_by: 'e' },
      ],
      wallet_books: [{ wallet: account(1) }],
    }
    await tables.within(rows, async (sql: Sql) => {
      // Each block pays something, and all of it is before the books.
      const first = model.opening(startBlock, watchedFrom, false, 200)
      const balanceAt = async (_: string, { number }: { number: number }) =>
        isPruned && number < 200 ? null : { wei: BigInt(Math.min(number, first)) + 7n, proof: 'proven' }
      const block = async (number: number) => ({ number, hash: word(number), time: 30 * number })
      const chain = { balanceAt, block, providers: [] }
      const ctx = { pool: poolWithin(sql), log: silentLog, chain, rules: { startBlock, trustsProvider: false } }
      const run = { checkLock: () => {}, outOfTime: () => false }
      assert.equal(await checkWalletBalances(ctx as never, CURSOR as never, run as never), 0)
      const [books] = await sql<{ block: number; wei: string; audited: number }[]>`
        SELECT base_block AS block, base_wei::text AS wei, audited_block AS audited FROM wallet_books`
      const expected = model.opening(startBlock, watchedFrom, isPruned, 200)
      assert.deepEqual({ ...books }, { block: expected, wei: String(first + 7), audited: 200 })
    })
  }
  const number = fc.constantFrom(0, 1, 2, 99, 100, 101, 199, 200)
  await fc.assert(fc.asyncProperty(number, number, fc.boolean(), compare), { numRuns: cases(80) })
})
