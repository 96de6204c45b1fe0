// Transfers that are no sale in themselves. Anyone can send thousands of them, and no buyer may wait for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { claimer } from '../../src/claims/claim.ts'
import type { Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { showPayment } from '../../src/operator/acts/payments.ts'
import { flood } from '../support/flood.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'
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
