// Transfers that are no sale in themselves. Anyone can send thousands of them, and no buyer may wait for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { claimer } from '../../src/claims/claim.ts'
import type { Hash } from '../../src/domain/units.ts'
import { rebuild } from '../../src/mending/rebuild/rebuild.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { showPayment } from '../../src/operator/acts/payments.ts'
import { rescan } from '../../src/operator/acts/rescan.ts'
import { flood } from '../support/flood.ts'
import { checkInvariants } from '../support/invariants.ts'
import { openDatabase } from '../support/postgres.ts'
import { contextOf, ETHER, paymentOf, startWorld, type World } from '../support/world.ts'
import { playFlood } from './junk-flood.ts'

const BASIC = ETHER / 100n
/** The least amount that is no dust if the lowest price is BASIC. */
const LEAST = BASIC / 1_000n

let world: World
before(async () => {
  world = await startWorld()
  await world.rest()
})
after(() => world.close())

const told = async (txHash: Hash) => {
  const payment = await paymentOf(world, txHash)
  return payment ? `${payment.state} ${payment.reason}` : null
}
const books = async () => {
  const [row] = await world.pool<{ in_wei: bigint; dust_transfers: number; zero_transfers: number }[]>`
    SELECT in_wei, dust_transfers, zero_transfers FROM wallet_books`
  return row ?? assert.fail()
}

test('2,000 dust transfers delay a buyer by two passes and cost 300 bytes each, at most', async () => {
  const { following, passes } = await playFlood(2_000, 100)
  assert.ok(following + passes <= 2)
})

test('less than a thousandth of the lowest price is dust, zero is counted, any other is held', async () => {
  const was = await books()
  const [dust, least] = [await world.pay(5, LEAST - 1n), await world.pay(5, LEAST)]
  for (let i = 0; i < 3; i++) await world.pay(6, 0n)
  await world.rest()
  assert.deepEqual([await told(dust), await told(least)], [null, 'held wrongAmount'])
  const now = await books()
  assert.equal(now.in_wei - was.in_wei, 2n * LEAST - 1n)
  assert.deepEqual([now.dust_transfers - was.dust_transfers, now.zero_transfers - was.zero_transfers], [1, 3])
  await checkInvariants(world)
})

test('a claim of dust or nothing gets its final answer, before its block is followed and after', async () => {
  const claim = claimer(world.ctx, world.payments)
  const [dust, zero] = [await world.pay(5, 7n), await world.pay(5, 0n)]
  await world.chain.mine()
  assert.deepEqual(await claim(dust), { kind: 'dust' })
  assert.equal((await claim(zero)).kind, 'notASale')
  const asked = claimer(
    { ...world.ctx, chain: { ...world.ctx.chain, transaction: () => assert.fail() } },
    world.payments,
  )
  assert.deepEqual(await asked(dust), { kind: 'dust' })
  const shown = await showPayment(operatorDeps(world.ctx, world.pool), { payment: dust })
  assert.match(isOperatorRefusal(shown) ? shown.message : '', /is dust/)
})

test('dust vanishes and returns with its block', async () => {
  const [dust, zero, wrong] = [await world.pay(7, 9n), await world.pay(7, 0n), await world.pay(8, BASIC + 1n)]
  const raws = [await world.raw(dust), await world.raw(zero), await world.raw(wrong)]
  await world.chain.mine()
  const before = await books()
  await world.payments()
  const stored = await books()
  assert.equal(stored.in_wei - before.in_wei, 9n + BASIC + 1n)
  await world.chain.reorg(1)
  await world.payments()
  assert.deepEqual(await books(), before)
  for (const raw of raws) await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await books(), stored)
  assert.equal(await told(wrong), 'held wrongAmount')
  await checkInvariants(world)
})

test('dust that failed is counted, and is dust once it succeeds in another block', async () => {
  const wallet = world.at(3)
  await world.chain.rpc('anvil_setCode', [wallet, '0x60006000fd'])
  const sent = await world.pay(10, 13n)
  const raw = await world.raw(sent)
  const before = await books()
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await books(), { ...before, zero_transfers: before.zero_transfers + 1 })
  assert.equal(await told(sent), null)
  await world.chain.reorg(1)
  await world.chain.rpc('anvil_setCode', [wallet, '0x'])
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.rest()
  const after = { in_wei: before.in_wei + 13n, dust_transfers: before.dust_transfers + 1 }
  assert.deepEqual(await books(), { ...before, ...after })
  assert.equal(await told(sent), null)
  await checkInvariants(world)
})

test('a payment that returns stays one, though it would be dust now', async () => {
  const sent = await world.pay(9, 11n)
  const raw = await world.raw(sent)
  await world.chain.mine()
  // While no tier had a price, it was a payment.
  await world.pool`UPDATE tiers SET from_block = from_block + 1000000, from_time = from_time + 1000000000`
  await world.payments()
  await world.pool`UPDATE tiers SET from_block = from_block - 1000000, from_time = from_time - 1000000000`
  await world.payments()
  assert.equal(await told(sent), 'held wrongAmount')
  await world.chain.reorg(1)
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.rest()
  assert.equal(await told(sent), 'held wrongAmount')
})

test('a rescan finds missing dust, and nothing if none is missing', async () => {
  const [dust] = [await world.pay(5, 8n), await world.pay(5, 0n)]
  await world.rest()
  const deps = operatorDeps(world.ctx, world.pool)
  const ada = { name: 'ada', requestId: null }
  const fromBlock = Number((await world.chain.block()).number) - 5
  const well = await rescan(deps, ada, { fromBlock, dryRun: true })
  assert.ok(!isOperatorRefusal(well))
  assert.deepEqual([well.missing, well.surplus], [[], []])
  await world.pool`DELETE FROM dust WHERE tx_hash = decode(substr(${dust}, 3), 'hex')`
  const found = await rescan(deps, ada, { fromBlock })
  assert.ok(!isOperatorRefusal(found))
  assert.match(found.missing.map(({ key }) => key).join(), new RegExp(`^payment ${dust}`))
  await world.rest()
  const [back] = await world.pool`SELECT FROM dust WHERE tx_hash = decode(substr(${dust}, 3), 'hex')`
  assert.ok(back)
})

test('dust that failed moved nothing: it is counted, and a rescan finds it so', async () => {
  const was = await books()
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x60006000fd'])
  await world.pay(5, 8n)
  await world.chain.mine()
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
  await world.rest()
  assert.equal((await books()).zero_transfers - was.zero_transfers, 1)
  const deps = operatorDeps(world.ctx, world.pool)
  const fromBlock = Number((await world.chain.block()).number) - 5
  const scanned = await rescan(deps, { name: 'ada', requestId: null }, { fromBlock, dryRun: true })
  assert.ok(!isOperatorRefusal(scanned))
  assert.deepEqual([scanned.missing, scanned.surplus], [[], []])
})

test('a rebuilt ledger has the same dust', async () => {
  const other = await startWorld()
  await using database = await openDatabase(3)
  const { pool } = database
  try {
    await other.pay(5, 3n)
    await other.pay(5, 0n)
    await other.pay(5, BASIC)
    await other.rest()
    const parts = { chain: other.chain, rpc: other.rpc, pool, directUrl: database.url, factory: other.factory }
    const { comparison } = await rebuild(contextOf(parts), other.pool, () => {})
    assert.deepEqual(comparison?.differences, [])
    assert.equal((await pool`SELECT FROM dust`).count, 1)
  } finally {
    await other.close()
  }
})

test('thousands of payments of no price are judged together, after the buyer behind them', async () => {
  const wrong = 1_200
  await flood(world, wrong, { perBlock: 400, weiOf: () => LEAST })
  const bought = await world.pay(5, BASIC)
  await world.chain.mine()
  const judging: string[] = []
  const log = { ...world.ctx.log, info: (_: unknown, text?: string) => void judging.push(text ?? '') }
  const { held } = await world.instance({ log: log as never }).payments()
  assert.equal(await told(bought), 'minting null')
  assert.equal(held, wrong)
  const [first, ...others] = judging.filter((text) => text.includes('judged'))
  assert.equal(first, 'payment judged')
  assert.deepEqual([...new Set(others), others.length < 10], ['judged payments that match no price', true])
  await world.settle()
  const [evidence] = await world.pool<{ n: number; blocks: number }[]>`
    SELECT count(*) AS n, count(DISTINCT v.evidence ->> 'blockHash') AS blocks FROM payment_verdicts v JOIN payments p ON p.id = v.payment_id
    WHERE v.verdict = 'held' AND v.evidence ->> 'rule' = 'wrongAmount' AND v.evidence ->> 'receivedWei' = ${LEAST.toString()}
      AND v.evidence ->> 'blockHash' = p.block_hash`
  // One was held before.
  assert.deepEqual({ ...evidence }, { n: wrong + 1, blocks: 3 + 1 })
  assert.equal(await told(bought), 'minted null')
})
