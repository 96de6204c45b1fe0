// The steps of a ladder, as payments for them are judged: before and behind the payment that opens one, and while it may yet open.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { wei } from '../../../src/domain/units.ts'
import { ETHER, enterTier, startWorld, type World } from '../../support/world.ts'
import { enterPayments, judgePages, keyOf, payer, statesOf } from './judged.ts'

let world: World
before(async () => {
  world = await startWorld({}, { maxPerWallet: 3n })
  await ladder()
})
afterEach(async () => {
  await world.pool`TRUNCATE payments, payment_verdicts, payment_retries, webhook_events, tier_openings CASCADE`
})
after(() => world.close())

const PLACES = ETHER / 70n
const STEP = PLACES + 7n
const ladder = async () => {
  await enterTier(world, { tierId: 'before', tierNo: 11, priceWei: wei(PLACES), maxPerWallet: 2, supply: 2 })
  await enterTier(world, {
    tierId: 'step',
    tierNo: 13,
    priceWei: wei(STEP),
    maxPerWallet: 3,
    opensAfter: 'before',
  })
  await enterTier(world, { tierId: 'last', tierNo: 14, priceWei: wei(STEP + 1n), maxPerWallet: 3, opensAfter: 'step' })
  await world.settle()
}

for (const page of [1, 2, 500])
  test(`a step sells behind the payment that takes the last place before it, pages of ${page}`, async () => {
    const [step, before] = [STEP, PLACES].map((valueWei) => (n: number) => ({ from: payer(n), valueWei }))
    assert.ok(step && before)
    await enterPayments(world, [step(5), before(1), step(4), before(2), step(2), before(4)])
    await judgePages(world, page)
    assert.equal(await statesOf(world), 'hahaah')
  })

test('who pays too early for a step may still take the last place before it', async () => {
  await enterPayments(
    world,
    [STEP, PLACES, PLACES, STEP].map((valueWei) => ({ from: payer(3), valueWei })),
  )
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'haaa')
})

test('several steps open in one block, each behind the last place before it', async () => {
  const last = STEP + 1n
  await world.pool`UPDATE tiers SET supply = 1 WHERE tier_id = 'step'`
  const paid = [last, PLACES, STEP, PLACES, last, STEP, last].map((valueWei, n) => ({ from: payer(1 + n), valueWei }))
  await enterPayments(world, paid)
  await judgePages(world, 1)
  assert.equal(await statesOf(world), 'hahahaa')
  await world.pool`UPDATE tiers SET supply = NULL WHERE tier_id = 'step'`
})

test('a step opens behind that payment, even if the service judges it hours later', async () => {
  await enterPayments(
    world,
    [1, 2, 4].map((n) => ({ from: payer(n), valueWei: n === 4 ? STEP : PLACES })),
  )
  await world.pool`UPDATE payments SET block_time = block_time - interval '2 hours'`
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'aaa')
})

test('a step opens at the block of the payment that takes the last place, even if the service judges it in a later one', async () => {
  await enterPayments(
    world,
    [1, 2, 4].map((n) => ({ from: payer(n), valueWei: n === 4 ? STEP : PLACES })),
  )
  await world.pool`UPDATE payments SET block_number = block_number - 1`
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'aaa')
  const opened = await world.pool`SELECT FROM tier_openings o JOIN payments p ON p.block_number = o.from_block`
  assert.equal(opened.count, 3)
})

test('a step that opens late, at a block from before, sells to who had paid since that block, and to nobody else', async () => {
  const BASIC = ETHER / 100n
  const paid: [payer: number, valueWei: bigint][] = [...Array(3).fill([2, BASIC]), [1, PLACES], [2, PLACES]]
  for (const n of [4, 5, 6, 7]) paid.push([n, STEP])
  await enterPayments(
    world,
    paid.map(([n, valueWei]) => ({ from: payer(n), valueWei })),
  )
  // One is from the block before, and another one was sent back.
  await world.pool`UPDATE payments SET block_number = block_number - 1 WHERE tx_index = 6`
  const [at] = await world.pool`SELECT block_number, block_hash FROM payments WHERE tx_index = 7`
  await world.pool`
    INSERT INTO wallet_outflows (ref, tx_hash, wallet, to_address, value_wei, fee_wei, block_number, block_hash, block_time)
    VALUES (${keyOf(99)}, ${keyOf(99)}, ${world.at(3)}, ${payer(6)}, ${STEP.toString()}, 0, ${at?.block_number}, ${at?.block_hash}, now())`
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'aaaahhhhh', 'the wallet of the last place is full')
  await world.pool`UPDATE payments SET state = 'dismissed', reason = 'soldOut' WHERE tx_index = 0`
  await judgePages(world, 500)
  await world.pool`UPDATE payments SET block_time = block_time - interval '1 day' WHERE tx_index = 8`
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'daaaaahhh')
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'daaaaahhh')
  await world.pool`DELETE FROM wallet_outflows WHERE ref = ${keyOf(99)}`
})

test('what is paid for a step before that is held', async () => {
  await enterPayments(
    world,
    [1, 4].map((n) => ({ from: payer(n), valueWei: n === 1 ? PLACES : STEP })),
  )
  await judgePages(world, 500)
  const rows = await world.pool`SELECT state, reason FROM payments ORDER BY tx_index`
  assert.deepEqual(
    rows.map(({ state, reason }) => `${state} ${reason}`),
    ['accepted null', 'held notOpenYet'],
  )
})

for (const [fate, expected] of [
  ['agreed', 'aaa'],
  ['failed', 'iah'],
] as const)
  test(`while undecided payments may take the last places, a step waits: once they are ${fate}, it is decided`, async () => {
    await enterPayments(
      world,
      [1, 2, 4].map((n) => ({ from: payer(n), valueWei: n === 4 ? STEP : PLACES })),
    )
    await world.pool`UPDATE payments SET proof = 'believed' WHERE tx_index = 0`
    const { chain } = world.ctx
    await judgePages(world, 500, { chain: { ...chain, providers: [...chain.providers, ...chain.providers] } })
    assert.equal(await statesOf(world), 'sas')
    await world.pool`TRUNCATE payment_retries`
    await world.pool`UPDATE payments SET proof = 'agreed', succeeded = ${fate === 'agreed'} WHERE tx_index = 0`
    await judgePages(world, 500)
    assert.equal(await statesOf(world), expected)
  })
