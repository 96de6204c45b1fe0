// Unreadable holdings keep no other wallet from being judged in the same run, and are retried less and less often.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { judge } from '../../src/passes/steps/judge.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, enterTier, paymentOf, startWorld, type World } from '../support/world.ts'

const PRICE = ETHER / 50n
const BASIC = ETHER / 100n
/** Wallets 5 to 16 pay for a node whose holding cannot be read; 17 holds enough; 18 buys a plain one. */
const UNREADABLE = Array.from({ length: 12 }, (_, i) => 5 + i)
/** Readings that a run has time for if each one times out. */
const READINGS = 4
const BLOCK_SEC = 12

let world: World
let unreadable: Hash[]
/** The first wallet's second payment, for a plain node. */
let behind: Hash
let reads: string[] = []
let readable: string[] = []

before(async () => {
  world = await startWorld()
  await world.settle()
  const holding = { holdingToken: world.token, holdingWei: wei(5n) }
  await enterTier(world, { tierId: 'holders', tierNo: 9, priceWei: wei(PRICE), ...holding })
  await world.giveTokens(world.at(17), 5n)
  await world.chain.mine()
  await world.settle()
})
after(() => world.close())

/** The world, in which only some wallets' holdings are readable. */
const blind = () =>
  world.instance({
    chain: {
      ...world.ctx.chain,
      async holding(token, owner, at) {
        reads.push(owner)
        return readable.includes(owner) ? world.ctx.chain.holding(token, owner, at) : null
      },
    },
  })

/** Judges as in a run that runs out of time after so many readings. */
async function judgeBriefly(): Promise<void> {
  const cursor = (await readCursor(world.pool)) ?? assert.fail('nothing was followed')
  reads = []
  const run = { checkLock: () => {}, outOfTime: () => reads.length >= READINGS }
  await judge(blind().ctx, cursor, cursor.number, run)
}
const state = async (txHash: Hash) => (await paymentOf(world, txHash))?.state

test('a plain buyer behind many unreadable holdings is judged in the same run', async () => {
  unreadable = []
  for (const account of UNREADABLE) unreadable.push(await world.pay(account, PRICE))
  await world.chain.mine()
  const holder = await world.pay(17, PRICE)
  const plain = await world.pay(18, BASIC)
  behind = await world.pay(5, BASIC)
  await world.chain.mine()
  // Follows, but judges nothing.
  await world.credit()
  readable = [world.at(17)]
  await judgeBriefly()
  assert.equal(await state(plain), 'accepted')
  assert.equal(reads.length, READINGS)
  // Each run begins with wallets that were never read, so a holder's turn comes after as many runs as it takes.
  for (let runs = 1; runs < Math.ceil((UNREADABLE.length + 1) / READINGS); runs++) {
    await world.chain.mine(1, BLOCK_SEC)
    await world.credit()
    await judgeBriefly()
  }
  assert.equal(await state(holder), 'accepted')
})

test('holdings that stay unreadable are asked for more and more seldom, and within a bound', async () => {
  const { payments } = blind()
  reads = []
  const blocks = 50
  for (let i = 0; i < blocks; i++) {
    await world.chain.mine(1, BLOCK_SEC)
    await payments()
  }
  const each = UNREADABLE.map((account) => reads.filter((owner) => owner === world.at(account)).length)
  for (const count of each) assert.ok(count >= 3 && count <= 12, `asked ${each.join(' ')} times in ${blocks} blocks`)
  assert.equal(await state(behind), 'seen', 'a later payment of a wallet waits for the earlier one')
})

test('a holding that can be read at last is judged once its pause is over, and so are the payments behind it', async () => {
  readable = UNREADABLE.map((account) => world.at(account))
  await world.giveTokens(world.at(5), 5n)
  await world.chain.increaseTime(300)
  await world.chain.mine()
  await blind().payments()
  assert.deepEqual(new Set(await Promise.all(unreadable.map(state))), new Set(['held']))
  await world.rest()
  const [noted] = await world.pool`SELECT count(*) AS notes FROM payment_retries`
  assert.equal(noted?.notes, 0)
  const [open] = await world.pool`SELECT count(*) AS open FROM payments WHERE state = 'seen'`
  assert.equal(open?.open, 0)
  await checkInvariants(world)
})
