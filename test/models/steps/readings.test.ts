// Facts that no provider gives: src/passes/steps/judge.ts and src/db/payments/retries.ts read the wallets that the second reading reads, in runs that
// end early, and write its times at which to read again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { judge } from '../../../src/passes/steps/judge.ts'
import { account, at, openTables, type Rows, type Tables, word } from '../../db/direct-rows.ts'
import { cases } from '../../support/property.ts'
import * as model from './readings.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const [TOKEN, SALES, HEIGHT] = [account(91), account(1), 1_000]
const PRICE = { holders: 11n, plain: 10n, none: 7n }
const timeOf = (block: number) => 10_000 + 12 * block

const drawnWallet = fc.record({
  code: fc.constantFrom('delegation' as const, 'delegation' as const, 'contract' as const, null, null),
  heldWei: fc.constantFrom(4n, 5n, null, null, null),
})
const drawn = fc.record({
  payments: fc.array(
    fc.record({
      wallet: fc.nat(8),
      block: fc.nat(30),
      isInner: fc.constantFrom(false, false, true),
      price: fc.constantFrom('holders' as const, 'holders' as const, 'plain' as const, 'none' as const),
    }),
    { minLength: 4, maxLength: 16 },
  ),
  runs: fc.array(
    fc.record({
      after: fc.constantFrom(0, 1, 12, 60, 299, 300),
      most: fc.constantFrom(0, 1, 4, 5, 8, 99),
      limit: fc.constantFrom(1, 3, 99, 99),
      allowed: fc.subarray([5, 6, 7, 8, 9, 10, 11, 12, 13].map(account)),
      wallets: fc.array(drawnWallet, { minLength: 9, maxLength: 9 }),
    }),
    { minLength: 2, maxLength: 6 },
  ),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

/** In the order of the chain, and of their ids: each is alone in its place. */
const paymentsOf = ({ payments }: Drawn): model.Payment[] =>
  payments
    .toSorted((a, b) => a.block - b.block)
    .map(({ wallet, ...one }, n) => ({
      ...{ ...one, id: 1 + n, wallet: account(5 + wallet), time: timeOf(one.block) },
      ...{ state: 'seen', reason: null, shows: null, retryAt: null, code: null, wasAllowed: false },
    }))

const tier = (tierNo: number, price: 'holders' | 'plain', holdingWei: bigint) => ({
  ...{ tier_id: price, version: 1, tier_no: tierNo, label: price, price_wei: PRICE[price], max_per_wallet: 99 },
  ...{ payout_bps: 10_000, on_sale: true, live: true, from_block: 0, from_time: 0, entered_by: 'test' },
  ...{ holding_wei: holdingWei, holding_token: holdingWei === 0n ? null : TOKEN },
  ...{ holding_retry_sec: model.RETRY_SEC[price], grace_sec: 0, supply: null },
})

const rowsOf = (payments: model.Payment[]): Rows => ({
  cursors: [{ name: 'follow', block_time: timeOf(30), block_number: HEIGHT, block_hash: word(HEIGHT) }],
  credit_terms: [
    { from_time: 0, payouts: true, min_wei: 1n, max_wei: 2n, interval_sec: 60, slot_sec: 60, entered_by: 'test' },
  ],
  contract_wallet_modes: [{ from_block: 0, mode: 'proven', entered_by: 'test' }],
  tiers: [tier(1, 'holders', model.NEEDED_WEI), tier(2, 'plain', 0n)],
  payment_wallets: [
    {
      id: 1,
      wallet: SALES,
      from_block: 0,
      from_time: 0,
      stolen: false,
      grace_sec: 900,
      watched_from: 0,
      entered_by: 'test',
    },
  ],
  payments: payments.map(({ id, wallet, block, price, isInner, state }) => ({
    ...{ id, ref: word(id), tx_hash: word(id), wallet: SALES, from_address: wallet, value_wei: PRICE[price] },
    ...{ succeeded: true, inner_index: isInner ? 1 : 0, state, proof: isInner ? 'agreed' : 'proven', tx_index: id },
    ...{ block_time: at(timeOf(block)), block_number: block, block_hash: word(block) },
  })),
})

/** Judges as the pass does, until it has read so much. @returns what it read, in order. */
async function judgeBriefly(sql: Sql, { now, most, limit, wallets }: Omit<model.Run, 'allowed'>): Promise<string[]> {
  const asked: string[] = []
  const look = (fact: keyof model.Wallet, wallet: string, block: { number: number; hash: string }) => {
    assert.equal(block.hash, word(block.number))
    asked.push(`${fact} ${wallet} ${block.number}`)
    return wallets.get(wallet)?.[fact] ?? null
  }
  type Block = { number: number; hash: string }
  const context = {
    ...{ pool: poolWithin(sql), log: silentLog, rules: { trustsProvider: false } },
    ...{ contract: { maxPerWallet: async () => 99 }, minter: null, distributor: null },
    chain: {
      providers: ['one', 'two'],
      payerCode: async (wallet: string, block: Block) => {
        const code = look('code', wallet, block)
        return code === null ? null : { kind: code, to: account(77), codeHash: word(77), implementation: null }
      },
      holding: async (token: string, wallet: string, block: Block) => {
        assert.equal(token, TOKEN)
        return look('heldWei', wallet, block)
      },
    },
  }
  const run = { checkLock: () => undefined, outOfTime: () => asked.length >= most, most: limit }
  await judge(context as never, { number: HEIGHT, hash: word(HEIGHT), time: now } as never, HEIGHT, run)
  return asked
}

test('a run with few readings reads the longest waiting payers, and none during a back-off', async () => {
  const compare = async (given: Drawn) => {
    const payments = paymentsOf(given)
    await tables.within(rowsOf(payments), async (sql) => {
      let now = timeOf(30)
      for (const { after: sec, wallets, ...limits } of given.runs) {
        now += sec
        const run = { ...limits, now, wallets: new Map(wallets.map((wallet, n) => [account(5 + n), wallet])) }
        await sql`DELETE FROM allowed_wallets`
        for (const address of run.allowed)
          await sql`INSERT INTO allowed_wallets (address, label, reason, added_by) VALUES (${address}, 'a', 'b', 'test')`
        assert.deepEqual(await judgeBriefly(sql, run), model.judgeBriefly(payments, run))
        const rows = await sql`
          SELECT p.id, p.state, p.reason, r.retry_time AS "retryAt",
            (SELECT CASE WHEN (evidence ->> 'unreadable')::boolean THEN 'unreadable' ELSE coalesce(evidence ->> 'holdingReadWei', evidence ->> 'payerCode') END
              FROM payment_verdicts v WHERE v.payment_id = p.id ORDER BY v.id DESC LIMIT 1) AS shows
          FROM payments p LEFT JOIN payment_retries r ON r.payment_id = p.id ORDER BY p.id`
        assert.deepEqual(
          [...rows].map((row) => ({ ...row })),
          payments.map(({ id, state, reason, shows, retryAt }) => ({ id, state, reason, shows, retryAt })),
        )
      }
    })
  }
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(40) })
})
