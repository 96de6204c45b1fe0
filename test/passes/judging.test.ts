// Payments judged in pages: what interrupts a page, what blocks it, and what a page leaves for the next run.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import type { Sql } from '../../src/db/core/sql.ts'
import { lockPayers, lockTiers } from '../../src/db/payments/lock-order.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { Killed, watchFailpoints } from '../../src/lib/failpoint.ts'
import { beginJudging } from '../../src/passes/steps/judge.ts'
import { createDice } from '../support/faults/dice.ts'
import { meetAt } from '../support/postgres.ts'
import { ETHER, enterTier, standingOf, startWorld, type World } from '../support/world.ts'
import { enterPayments, type JudgeOptions, judgePages, keyOf, type Paid, payer, statesOf } from './judging/judged.ts'

const BASIC = ETHER / 100n
const FOUNDER = ETHER / 20n
const SOLO = ETHER / 30n
const WRONG = BASIC + 1n
/** The contract's cap per wallet; the allowance of `solo` is 1. */
const CAP = 3

let world: World
before(async () => {
  // The chain has none of the payments that these tests enter.
  world = await startWorld({ reconcileEverySec: 86_400 }, { maxPerWallet: BigInt(CAP) })
  await enterTier(world, { tierId: 'solo', tierNo: 9, priceWei: wei(SOLO), maxPerWallet: 1 })
  await world.giveTokens(payer(3), 1_000n * ETHER)
  await world.settle()
  await world.pool`INSERT INTO senders (address, label, reason, added_by) VALUES (${payer(0)}, 'an exchange', 'test', 'test')`
  await world.pool`
    INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by) VALUES ('test', 'https://example.com/', '{a}', 'test')`
})
afterEach(async () => {
  watchFailpoints(null)
  await world.pool`TRUNCATE payments, payment_verdicts, payment_retries, webhook_events, tier_openings CASCADE`
})
after(() => world.close())

const enter = (paid: readonly Paid[]) => enterPayments(world, paid)
const judgeAll = (page: number, options?: JudgeOptions) => judgePages(world, page, options)
const states = () => statesOf(world)

/** Everything that judging writes, by payment. */
async function written() {
  const rows = await world.pool`
    SELECT p.tx_index, p.state, p.reason, p.tier_id, p.tier_version,
      (SELECT coalesce(json_agg(json_build_array(v.verdict, v.reason, v.evidence, v.decided_by) ORDER BY v.id), '[]')
        FROM payment_verdicts v WHERE v.payment_id = p.id) AS verdicts
    FROM payments p ORDER BY p.tx_index`
  const events = await world.pool<{ id: string }[]>`SELECT id FROM webhook_events ORDER BY id`
  return { rows: rows.map((row) => ({ ...row })), events: events.map(({ id }) => id) }
}

const drawn = (seed: number, count: number): Paid[] => {
  const { pick, roll } = createDice(seed)
  return Array.from({ length: count }, () => ({
    from: pick('from', [0, 1, 2, 3, 4, 5, 6, 7].map(payer)),
    valueWei: pick('value', [BASIC, BASIC, BASIC, SOLO, SOLO, FOUNDER, WRONG, 0n]),
    succeeded: roll('failed') > 0.1,
  }))
}

/** Makes the database refuse a change of one payment, as a broken row would. */
async function poisoned(txHash: Hash, body: () => Promise<void>): Promise<void> {
  await world.pool.unsafe(`
    CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'poison'; END $$;
    CREATE TRIGGER poison BEFORE UPDATE ON payments FOR EACH ROW WHEN (OLD.tx_hash = '${txHash}') EXECUTE FUNCTION poison()`)
  try {
    await body()
  } finally {
    await world.pool.unsafe('DROP FUNCTION poison CASCADE')
  }
}

test('a payment whose judging fails delays the later ones of its wallet only', async () => {
  const bad = payer(1)
  const paid = Array.from({ length: 40 }, (_, n) => ({
    from: payer(n === 17 || n === 30 ? 1 : n + 10),
    valueWei: BASIC,
  }))
  await enter(paid)
  const errors: object[] = []
  const log = { ...world.ctx.log, error: (told: object) => void errors.push(told) } as typeof world.ctx.log
  await poisoned(keyOf(17), async () => {
    const { accepted, failed } = await judgeAll(25, { log })
    assert.deepEqual([accepted, failed], [38, 2])
    assert.equal(await states(), paid.map(({ from }) => (from === bad ? 's' : 'a')).join(''))
  })
  assert.deepEqual(
    errors.map((told) => 'txHash' in told && told.txHash),
    [keyOf(17)],
  )
  await judgeAll(25)
  assert.equal(await states(), 'a'.repeat(40))
})

async function faultOnRecord(): Promise<string> {
  const [row] = await world.pool<{ error: string | null }[]>`SELECT error FROM passes WHERE name = 'payments'`
  return row?.error ?? ''
}

test('a run in which a payment fails to be judged mints the others, and has that on record', async () => {
  const [bad, good] = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
  await world.chain.mine()
  await poisoned(bad, async () => {
    await world.payments()
    assert.match(await faultOnRecord(), /^1 payments could not be judged/)
    assert.deepEqual([await standingOf(world, bad), await standingOf(world, good)], ['seen', 'minting'])
  })
  await world.settle()
  assert.deepEqual([await standingOf(world, bad), await standingOf(world, good)], ['minted', 'minted'])
  assert.equal(await faultOnRecord(), '')
})

test('a process that ends within a page has stored the earlier pages and nothing of that one', async () => {
  await enter(Array.from({ length: 30 }, (_, n) => ({ from: payer(n % 8), valueWei: BASIC })))
  await judgeAll(1)
  const single = await written()
  await world.pool`TRUNCATE payment_verdicts, webhook_events CASCADE`
  await world.pool`UPDATE payments SET state = 'seen', reason = NULL, tier_id = NULL, tier_version = NULL`
  await world.pool`TRUNCATE webhook_events CASCADE`
  let pages = 0
  watchFailpoints((point) => {
    if (point === 'judge.storing' && ++pages === 2) throw new Killed()
  })
  await assert.rejects(judgeAll(10), Killed)
  watchFailpoints(null)
  assert.equal((await states()).slice(10), 's'.repeat(20))
  assert.equal((await world.pool`SELECT FROM payment_verdicts`).count, 10)
  await judgeAll(10)
  assert.deepEqual(await written(), single)
})

test('two simultaneous judges decide each payment once, and give no place twice', async () => {
  const paid = drawn(4, 200)
  await enter(paid)
  // Both have read their first page before either has judged this wallet's payments.
  const wallet = (sql: Sql) => lockPayers(sql, [payer(1)], { wait: true })
  const both = await meetAt(world.pool, wallet, [() => judgeAll(20), () => judgeAll(33)])
  const { rows } = await written()
  assert.deepEqual(new Set(rows.map(({ verdicts }) => verdicts.length)), new Set([1]))
  const accepted = rows.filter(({ state }) => state === 'accepted')
  assert.equal(both[0].accepted + both[1].accepted, accepted.length)
  const ofWallets = Map.groupBy(accepted, ({ tx_index }) => paid[tx_index]?.from)
  for (const [wallet, ofWallet] of ofWallets) assert.ok(ofWallet.length <= CAP, `${wallet} has ${ofWallet.length}`)
})

for (const held of ['wallet', 'payment'] as const)
  test(`while a person decides about a ${held}, its page goes one by one, and waits without another lock`, async () => {
    const decided = payer(1)
    await enter([payer(5), decided, decided, payer(2), payer(6), payer(2)].map((from) => ({ from, valueWei: SOLO })))
    const deciding = (sql: Sql) =>
      held === 'wallet'
        ? lockPayers(sql, [decided], { wait: true })
        : sql`SELECT FROM payments WHERE tx_index = 1 FOR UPDATE`
    await meetAt(world.pool, deciding, [() => judgeAll(500)], async (sql) => {
      assert.equal(await states(), 'asssss')
      await lockPayers(sql, [payer(6)], { wait: true })
    })
    assert.equal(await states(), 'aahaah')
  })

test('five thousand payments of junk delay a buyer by two ticks at most', async () => {
  const junk = Array.from({ length: 5_000 }, (_, n) => ({ from: payer(n % 50), valueWei: WRONG }))
  await enter([...junk, { from: payer(60), valueWei: BASIC }])
  const buyer = async () => (await states()).at(-1)
  let ticks = 1
  for (await world.payments(); (await buyer()) !== 'm'; ticks++) await world.payments()
  assert.ok(ticks <= 2, `the buyer waited for ${ticks} ticks`)
  await world.settle()
  assert.doesNotMatch(await states(), /s/)
})

const PLACES = ETHER / 70n
const scarce = (supply: number, closesAt: number | null = null) =>
  enterTier(world, {
    tierId: 'scarce',
    tierNo: 11,
    priceWei: wei(PLACES),
    maxPerWallet: 2,
    supply,
    closesAt,
  })

test('the judge waits for a tier’s place if another transaction holds it', async () => {
  await scarce(3)
  await world.settle()
  await enter([{ from: payer(1), valueWei: PLACES }])
  const place = (sql: Sql) => lockTiers(sql, [11], { wait: true })
  await meetAt(world.pool, place, [() => judgeAll(1)], async () => assert.equal(await states(), 's'))
  assert.equal(await states(), 'a')
})

test('a supply that is entered while payments are judged applies to them', async () => {
  const free = { tierId: 'free', tierNo: 12, priceWei: wei(PLACES + 1n), maxPerWallet: 2 }
  await enterTier(world, free)
  await scarce(3)
  await world.settle()
  await enter([1, 2].flatMap((n) => [PLACES, PLACES + 1n].map((valueWei) => ({ from: payer(n), valueWei }))))
  const cursor = (await readCursor(world.pool)) ?? assert.fail()
  const judging = await beginJudging(world.ctx, cursor, cursor.number)
  await enterTier(world, { ...free, supply: 1 })
  await scarce(1)
  await judging.goOn(() => false)
  assert.equal(await states(), 'aahh')
})
