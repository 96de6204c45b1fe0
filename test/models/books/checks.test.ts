// The books of several payments wallets: src/follower/balance-check.ts, locate.ts and prove-residues.ts, check after check, with wallets of different starts and
// ends, and providers that prune, prove late, lie or fall silent, agree with the second reading about books, residues, what is told and what is counted.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { checkWalletBalances } from '../../../src/books/balance-check.ts'
import { residueRef } from '../../../src/chain/digest.ts'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { account, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { inOrder, letPass, plain } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './checks.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [START, STORED_FROM] = [101, 105]
const HEADS = [110, 114, 121]
const drawnMove = fc.record({
  wallet: fc.nat(2),
  block: fc.constantFrom(99, 100, 101, 102, 103, 103, 104, 105, 106, 106, 107, 109, 110, 111, 112, 113, 114, 116, 121),
  isSeen: fc.constantFrom(true, false, false),
  leaves: fc.boolean(),
})
const proof = fc.constantFrom<model.Proof>('proven', 'proven', 'agreed', 'agreed', 'believed')
/** The states of the blocks from one to before the other are gone. */
const gone = (...ends: number[]) =>
  fc.constantFrom(
    { from: 0, to: 0 },
    ...ends.flatMap((to) => [
      { from: 0, to },
      { from: to - 2, to },
    ]),
  )
const lie = fc.option(
  fc.record({ wallet: fc.nat(2), leaves: fc.boolean(), isOfFirst: fc.constantFrom(false, false, true) }),
  { freq: 3 },
)
const fails = fc.record({ wallet: fc.nat(2), how: fc.constantFrom<'silent' | 'moves'>('silent', 'moves') })
/** Blocks below this one are proven, whatever backs the others. */
const provenBelow = fc.constantFrom<number[]>(0, 103, 106, 112)
const drawnCheck = (...ends: number[]) =>
  fc.record({
    gone: gone(...ends),
    proof,
    provenBelow,
    /** What two say of a wallet's first or last balance, if they do not prove it, is off by this. */
    lie,
    hasEarly: fc.constantFrom(true, true, true, false),
    fails: fc.option(fails, { freq: 4 }),
    laterSec: fc.constantFrom<number[]>(0, 599, 600, 601, 601),
  })
const whole = { hasEarly: true, fails: null, laterSec: 601 as const }
const nothingGone = { from: 0, to: 0 }
const healed = { ...whole, gone: nothingGone, proof: 'proven' as const, provenBelow: 0, lie: null }
/** Some state is gone or false at first, then proofs come, and at last all of it can be read. */
const healing = fc
  .record({ lie, early: gone(103, 106, 108), still: fc.option(gone(103, 106), { freq: 1 }), proof, provenBelow })
  .map(({ lie, early, still, ...backed }) => [
    { ...whole, gone: early, ...backed, lie },
    { ...healed, gone: still ?? early, ...backed },
    healed,
  ])
type Check = ReturnType<typeof drawnCheck> extends fc.Arbitrary<infer T> ? T : never
const anyChecks = fc.tuple(drawnCheck(102, 106, 109), drawnCheck(112, 113, 113), drawnCheck(111, 116, 118))
const drawn = fc.record({
  wallets: fc.array(
    fc.record({
      watchedFrom: fc.constantFrom(0, 0, 100, 101, 101, 102, 104, 105, 106, 110, 111, 115),
      closedAfter: fc.constantFrom(null, null, null, 0, 1, 3, 4),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  moves: fc.array(drawnMove, { minLength: 1, maxLength: 7 }),
  checks: fc.oneof(anyChecks as fc.Arbitrary<Check[]>, { weight: 2, arbitrary: healing }),
  startBlock: fc.constantFrom(0, START, START),
  isProven: fc.boolean(),
  trusts: fc.constantFrom(false, false, true),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** The chain and the ledger of one case. No two sums of movements are equal. */
class Case {
  readonly books: model.Books
  readonly moves: (model.Moved & { wallet: string })[]
  readonly given: Drawn
  at = 0

  constructor(given: Drawn) {
    this.given = given
    const wallets = given.wallets.map(({ watchedFrom, closedAfter }, n): model.Wallet => {
      const closedBlock = closedAfter === null ? null : Math.max(watchedFrom, 109) + closedAfter
      const nothing = { base: null, audited: null, booked: [], residues: [] }
      return { wallet: account(11 + n), watchedFrom, closedBlock, ...nothing }
    })
    const { startBlock, isProven, trusts } = given
    this.books = { startBlock, isProven, trusts, wallets, told: [], toldUnproven: false }
    this.moves = given.moves.map(({ wallet, block, isSeen, leaves }, n) => {
      const one = wallets[wallet % wallets.length] ?? assert.fail()
      const isRead = block >= Math.max(startBlock, one.watchedFrom) && block <= (one.closedBlock ?? block)
      const wei = 3n ** BigInt(n) * (leaves ? -10n : 10n)
      return { wallet: one.wallet, block, wei, isSeen: isSeen && isRead, isOwn: isSeen && leaves }
    })
  }

  get check(): Check {
    return this.given.checks[this.at] ?? assert.fail()
  }
  get head(): number {
    return HEADS[this.at] ?? 0
  }
  isOf(wallet: string, nth: number): boolean {
    return this.books.wallets[nth % this.books.wallets.length]?.wallet === wallet
  }

  first(wallet: string): number {
    const from = this.books.wallets.find((one) => one.wallet === wallet)?.watchedFrom ?? 0
    return Math.max(0, Math.max(this.books.startBlock, from) - 1)
  }

  get shown(): model.Shown {
    const { gone, provenBelow, lie, hasEarly, fails } = this.check
    return {
      head: this.head,
      hasBlock: (number) => number >= STORED_FROM || hasEarly || this.at > 0,
      balance: (wallet, block) => {
        if (block >= gone.from && block < gone.to) return null
        const moved = this.moves.filter((one) => one.wallet === wallet && one.block <= block)
        const proof = block < provenBelow ? 'proven' : this.check.proof
        const isLiedOf = lie !== null && proof !== 'proven' && this.isOf(wallet, lie.wallet)
        const isFalse = isLiedOf && block === (lie.isOfFirst ? this.first(wallet) : this.head)
        const off = isFalse ? 3n ** BigInt(10 + this.at) * (lie.leaves ? -10n : 10n) : 0n
        return { wei: moved.reduce((sum, { wei }) => sum + wei, 1_000_000n) + off, proof }
      },
      fails: (wallet) => (fails !== null && this.isOf(wallet, fails.wallet) ? fails.how : null),
    }
  }

  chain(sql: Sql) {
    const block = (number: number) =>
      this.shown.hasBlock(number)
        ? { number, hash: word(number), time: 10 * number, parentHash: word(number - 1), prevrandao: word(0) }
        : null
    return {
      providers: ['one', 'two'],
      chainId: async () => 1,
      block: async (number: number) => block(number),
      blockTransfers: async () => null,
      transaction: async () => null,
      observe: async () => ({ blocks: [], outflows: [] }),
      balanceAt: async (wallet: string, { number }: { number: number }) => {
        const fails = number === this.head ? this.shown.fails(wallet) : null
        if (fails === 'silent') throw new Error('no answer')
        if (fails === 'moves') await sql`UPDATE cursors SET block_hash = ${word(7_777)}`
        return this.shown.balance(wallet, number)
      },
    }
  }
}

const rowsOf = ({ books }: Case): Rows => ({
  cursors: [{ name: 'follow', block_number: 1, block_hash: word(1), block_time: 10 }],
  blocks: HEADS.flatMap((_, n) => (n > 0 ? [] : Array.from({ length: 17 }, (_, i) => STORED_FROM + i))).map(
    (number) => ({
      ...{ number, hash: word(number), parent_hash: word(number - 1), time: 10 * number, prevrandao: word(0) },
    }),
  ),
  payment_wallets: books.wallets.map(({ wallet, watchedFrom, closedBlock }, n) => ({
    ...{ id: 1 + n, wallet, from_block: 0, from_time: 0, watched_from: watchedFrom, entered_by: 'test' },
    ...{
      closed_block: closedBlock,
      closed_at: closedBlock === null ? null : '2026-01-01',
      closed_by: closedBlock && 'eve',
    },
  })),
  wallet_books: books.wallets.map(({ wallet }) => ({ wallet })),
  evidence_modes: [{ from_block: 0, mode: books.isProven ? 'proven' : 'agreed', set_by: 'test' }],
})

/** The follower has read the blocks up to the head. */
async function follow(sql: Sql, here: Case): Promise<void> {
  const from = here.at === 0 ? 0 : (HEADS[here.at - 1] ?? 0) + 1
  for (const [n, { wallet, wei, ...one }] of here.moves.entries()) {
    if (!one.isSeen || one.block < from || one.block > here.head) continue
    const place = sql`${word(5_000 + n)}, ${word(5_000 + n)}, ${wallet}, ${one.block}::bigint, ${word(one.block)}, to_timestamp(${10 * one.block})`
    if (wei > 0n)
      await sql`INSERT INTO payments (ref, tx_hash, wallet, block_number, block_hash, block_time, from_address, value_wei, succeeded, state)
        VALUES (${place}, ${account(5)}, ${String(wei)}, true, 'seen')`
    else
      await sql`INSERT INTO wallet_outflows (ref, tx_hash, wallet, block_number, block_hash, block_time, to_address, value_wei, fee_wei)
        VALUES (${place}, ${account(6)}, ${String(-wei - 4n)}, 4)`
    here.books.wallets.find((each) => each.wallet === wallet)?.booked.push({ wei, ...one })
  }
  await sql`UPDATE cursors SET block_number = ${here.head}, block_hash = ${word(here.head)}, block_time = ${10 * here.head}`
}

async function readBooks(sql: Sql) {
  const wallets = await sql`SELECT wallet, base_block AS "baseBlock", audited_block AS audited, audited_proof AS proof,
    (base_wei + in_wei - out_wei)::text AS wei FROM wallet_books ORDER BY wallet`
  const residues = await sql`
    SELECT r.*, t.prove_at IS NOT NULL AS "isTold", coalesce(t.is_wide, false) AS "isWide",
      round(extract(epoch FROM t.prove_at - now()))::int AS "proveIn" FROM (
      SELECT ref, wallet, block_number AS block, value_wei::text AS wei, (SELECT (evidence ->> 'fromBlock')::int FROM payment_verdicts v
        WHERE v.payment_id = p.id ORDER BY id DESC LIMIT 1) AS "fromBlock"
      FROM payments p WHERE tx_hash IS NULL AND state = 'held' AND reason = 'unattributed'
      UNION ALL SELECT ref, wallet, block_number, (-value_wei)::text, from_block FROM wallet_outflows WHERE tx_hash IS NULL
    ) r LEFT JOIN residue_traces t USING (ref)`
  const told = await sql`SELECT action, subject, detail FROM audit WHERE action <> 'proofFailed' ORDER BY id`
  const [unproven] = await sql`SELECT EXISTS (SELECT FROM audit WHERE action = 'proofFailed') AS told`
  const lines = residues.map(
    (one) => `${one.ref} ${one.wallet} ${one.fromBlock}-${one.block} ${one.wei} ${one.isWide} ${one.proveIn}`,
  )
  return plain({
    wallets: [...wallets],
    residues: lines.toSorted(),
    told: inOrder<object>([...told]),
    unproven: unproven?.told,
  })
}

const refOf = (wallet: string, block: number, wei: bigint) => residueRef(1, wallet as never, word(block) as never, wei)
function expectedBooks({ wallets, told, toldUnproven }: model.Books) {
  const all = wallets.flatMap((one) => one.residues.map((residue) => ({ wallet: one.wallet, ...residue })))
  const subjectOf = ({ action, wallet, detail }: model.Told) => {
    const size = BigInt(String(detail.valueWei))
    const block = Number(detail.toBlock ?? detail.blockNumber)
    return refOf(wallet, block, action === 'unattributedOutflow' ? -size : size)
  }
  return plain({
    wallets: wallets.map((one) => ({
      ...{ wallet: one.wallet, baseBlock: one.base?.block, audited: one.audited?.block, proof: one.audited?.proof },
      wei: model.inBooks(one)?.toString(),
    })),
    residues: all
      .map(
        (one) =>
          `${refOf(one.wallet, one.block, one.wei)} ${one.wallet} ${one.fromBlock}-${one.block} ${one.wei} ${one.isWide} ${one.proveIn}`,
      )
      .toSorted(),
    told: inOrder<object>(told.map((one) => ({ action: one.action, subject: subjectOf(one), detail: one.detail }))),
    unproven: toldUnproven,
  })
}

async function compare(given: Drawn): Promise<void> {
  const here = new Case(given)
  await tables.within(rowsOf(here), async (sql) => {
    for (here.at = 0; here.at < HEADS.length; here.at += 1) {
      await letPass(sql, here.check.laterSec, { residue_traces: ['prove_at', 'tried_at'] })
      for (const { residues } of here.books.wallets)
        for (const one of residues) if (one.proveIn !== null) one.proveIn -= here.check.laterSec
      await follow(sql, here)
      const rules = { startBlock: given.startBlock, trustsProvider: given.trusts }
      const context = { pool: poolWithin(sql), chain: here.chain(sql), log: silentLog, rules }
      const cursor = { number: here.head, hash: word(here.head), time: 10 * here.head }
      const run = { checkLock: () => undefined, outOfTime: () => false }
      const counted = await checkWalletBalances(context as never, cursor as never, run)
      const isTold = `check ${here.at}`
      assert.equal(counted, model.check(here.books, here.shown), `counted by ${isTold}`)
      assert.deepEqual(await readBooks(sql), expectedBooks(here.books), `the books after ${isTold}`)
    }
  })
}

test('each wallet has its own books, and unexplained value is filed in the block that fits', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(130) })
})
