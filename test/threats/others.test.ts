// The other keys of docs/THREATS.md: owner, pending owner, payments wallet, admin key. What each can do at worst, what it can never do, and
// what shows it.
import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/decide.ts'
import { changeTier } from '../../src/operator/tiers.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'
import { attack, balanceOf } from './stage.ts'

const BASIC = ETHER / 100n
const OPERATOR = { name: 'operator', requestId: null }

/** Any call of the contract, by an account; whether it went through. */
async function call(world: World, from: number, functionName: string, args: readonly unknown[] = []): Promise<boolean> {
  const data = encodeFunctionData({ abi: factoryFullAbi, functionName, args } as never)
  return (await world.succeeded(await world.call(from, world.factory, data))) === true
}

attack('a stolen owner takes the surplus, and nothing that was credited', async ({ world, doctor }) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  const owed = await balanceOf(world, 1)
  assert.ok(owed > 0n)
  await world.call(7, world.factory, '0x', ETHER)
  assert.equal(await call(world, 0, 'sweep', [world.at(9), ETHER + 1n]), false)
  assert.equal(await call(world, 0, 'sweep', [world.at(9), ETHER]), true)
  assert.equal(await call(world, 0, 'expel', [[paid]]), true, 'it passes over a node that was credited')
  assert.equal(await call(world, 0, 'pause'), true)
  assert.equal(await call(world, 0, 'transferOwnership', [world.at(9)]), true)
  const seen = await doctor()
  for (const check of ['owner.pause', 'owner.offer']) assert.ok(seen.includes(check), check)
  assert.equal(await balanceOf(world, 1), owed)
  assert.equal(
    await call(world, 5, 'withdraw', [1n, world.at(5), owed]),
    true,
    'owners withdraw while all else is paused',
  )
  await world.payments()
  const acts = await world.pool<{ name: string }[]>`SELECT name FROM owner_acts ORDER BY block_number, log_index`
  assert.ok(acts.length >= 3, 'each act of the owner is on record')
  assert.equal(await call(world, 0, 'unpause'), true)
})

attack('a pending owner can accept, and nothing before', async ({ world, doctor }) => {
  assert.equal(await call(world, 0, 'transferOwnership', [world.at(9)]), true)
  assert.ok((await doctor()).includes('owner.offer'))
  for (const [name, args] of [
    ['pause', []],
    ['setMinter', [world.at(9), world.at(1), 1n, 1n]],
    ['sweep', [world.at(9), 1n]],
    ['transferOwnership', [world.at(9)]],
  ] as const)
    assert.equal(await call(world, 9, name, args), false, name)
  // Offered to another, the offer is gone.
  assert.equal(await call(world, 0, 'transferOwnership', [world.at(10)]), true)
  assert.equal(await call(world, 9, 'acceptOwnership'), false)
  assert.equal(await call(world, 10, 'acceptOwnership'), true)
  assert.equal(await call(world, 0, 'pause'), false)
  assert.equal(await call(world, 10, 'transferOwnership', [world.at(0)]), true)
  assert.equal(await call(world, 0, 'acceptOwnership'), true)
})

attack('a stolen payments wallet loses what it holds; nodes and balances stay', async ({ world }) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  const before = await world.pool`SELECT FROM wallet_outflows`
  const stolen = await world.pay(3, BASIC, world.at(9))
  await world.settle()
  assert.equal((await world.pool`SELECT FROM wallet_outflows`).length, before.length + 1, 'what left is in the books')
  assert.equal((await world.pool`SELECT FROM wallet_outflows WHERE tx_hash = ${stolen}`).length, 1)
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

attack(
  'a stolen admin key decides what an operator decides, each in the audit log, and sends nothing',
  async ({ world }) => {
    const wrong = await world.pay(5, BASIC + 1n)
    await world.settle()
    assert.equal((await paymentOf(world, wrong))?.state, 'held')
    const thief = { name: 'stolen', requestId: null }
    const done = await releasePayment(world.ctx, thief, { payment: wrong, tierId: 'basic' })
    assert.ok(!isOperatorRefusal(done))
    await world.settle()
    assert.equal((await paymentOf(world, wrong))?.state, 'minted', 'a node at a price of the thief’s choice')
    assert.ok(!isOperatorRefusal(await changeTier(world.ctx, thief, { tierId: 'basic', priceWei: '1' })))
    await world.chain.mine()
    const cheap = await world.pay(6, 1n)
    await world.settle()
    assert.equal((await paymentOf(world, cheap))?.state, 'minted', 'a node for one wei')
    // As in the runbook: the operator's price, at once, leaves the thief's no grace.
    const own = { tierId: 'basic', priceWei: BASIC.toString(), atOnce: true }
    assert.ok(!isOperatorRefusal(await changeTier(world.ctx, OPERATOR, own)))
    await world.chain.mine()
    const late = await world.pay(6, 1n)
    await world.settle()
    assert.equal((await paymentOf(world, late))?.state, 'held')
    const acts = await world.pool<{ action: string }[]>`SELECT action FROM audit WHERE actor = 'stolen' ORDER BY id`
    assert.deepEqual(
      acts.map(({ action }) => action),
      ['released', 'tierChanged'],
    )
  },
)
