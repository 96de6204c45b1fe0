// The steps of a ladder that open late, and while undecided payments may yet open one.
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

test('a step opens behind the last place before it, even if the service judges that hours later', async () => {
  await enterPayments(
    world,
    [1, 2, 4].map((n) => ({ from: payer(n), valueWei: n === 4 ? STEP : PLACES })),
  )
  await world.pool`UPDATE payments SET block_time = block_time - interval '2 hours'`
  await judgePages(world, 500)
  assert.equal(await statesOf(world), 'aaa')
})

test('a step that opens late sells to payers since its block, and to no others', async () => {
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
