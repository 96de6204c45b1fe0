// The other keys of docs/THREATS.md: owner, pending owner, payments wallet, admin key. The worst that each can do, what
// it can never do, and what shows it.
import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { previewExpel, previewMinter } from '../../src/operator/acts/owner.ts'
import { changeTier } from '../../src/operator/acts/tiers.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'
import { attack, balanceOf, nodesOf } from './stage.ts'

const BASIC = ETHER / 100n
const OPERATOR = { name: 'operator', requestId: null }
const CHEAP = { tierId: 'basic', priceWei: '1' }

/** Any call of the contract, by an account; returns whether it succeeded. */
async function call(world: World, from: number, functionName: string, args: readonly unknown[] = []): Promise<boolean> {
  const data = encodeFunctionData({ abi: factoryFullAbi, functionName, args } as never)
  return (await world.succeeded(await world.call(from, world.factory, data))) === true
}

attack('T10: a stolen owner takes the surplus, and nothing that was credited', async ({ world, doctor }) => {
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
  assert.equal(await call(world, 0, 'capTier', [1n, 1n]), true)
  assert.equal(await call(world, 0, 'capTier', [1n, 2n]), false, 'a cap is for ever')
  assert.equal(await call(world, 5, 'transferFrom', [world.at(5), world.at(6), 1n]), true)
  assert.equal(
    await call(world, 6, 'withdraw', [1n, world.at(6), owed]),
    true,
    'owners transfer and withdraw while all else is paused',
  )
  await world.payments()
  const acts = await world.pool<{ name: string }[]>`SELECT name FROM owner_acts ORDER BY block_number, log_index`
  assert.ok(acts.length >= 3, 'each act of the owner is on record')
  assert.equal(await call(world, 0, 'unpause'), true)
})

attack('T11: a pending owner can accept, and nothing before', async ({ world, doctor }) => {
  assert.equal(await call(world, 0, 'transferOwnership', [world.at(9)]), true)
  assert.ok((await doctor()).includes('owner.offer'))
  for (const [name, args] of [
    ['pause', []],
    ['setMinter', [world.at(9), world.at(1), 1n, 1n]],
    ['sweep', [world.at(9), 1n]],
    ['transferOwnership', [world.at(9)]],
  ] as const)
    assert.equal(await call(world, 9, name, args), false, name)
  // If the role is offered to another account, the first offer is void.
  assert.equal(await call(world, 0, 'transferOwnership', [world.at(10)]), true)
  assert.equal(await call(world, 9, 'acceptOwnership'), false)
  assert.equal(await call(world, 10, 'acceptOwnership'), true)
  assert.equal(await call(world, 0, 'pause'), false)
  assert.equal(await call(world, 10, 'transferOwnership', [world.at(0)]), true)
  assert.equal(await call(world, 0, 'acceptOwnership'), true)
})

attack('T13, T18: a stolen payments wallet loses only its balance, nodes and credits stay', async ({ world }) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  const before = await world.pool`SELECT FROM wallet_outflows`
  const stolen = await world.pay(3, BASIC, world.at(9))
  await world.settle()
  assert.equal((await world.pool`SELECT FROM wallet_outflows`).length, before.length + 1, 'what left is in the books')
  assert.equal((await world.pool`SELECT FROM wallet_outflows WHERE tx_hash = ${stolen}`).length, 1)
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  assert.ok((await balanceOf(world, 1)) > 0n, 'its turns are paid')
})

attack('T14: a stolen admin key decides as an operator does, with audit rows, and sends nothing', async ({ world }) => {
  const wrong = await world.pay(5, BASIC + 1n)
  await world.settle()
  assert.equal((await paymentOf(world, wrong))?.state, 'held')
  const thief = { name: 'stolen', requestId: null }
  const done = await releasePayment(world.ctx, thief, { payment: wrong, tierId: 'basic' })
  assert.ok(!isOperatorRefusal(done))
  await world.settle()
  assert.equal((await paymentOf(world, wrong))?.state, 'minted', 'a node at a price of the thief’s choice')
  assert.ok(!isOperatorRefusal(await changeTier(world.ctx, thief, { tierId: 'basic', priceWei: '1' })))
  await world.chain.increaseTime(1)
  await world.chain.mine()
  const cheap = await world.pay(6, 1n)
  await world.settle()
  assert.equal((await paymentOf(world, cheap))?.state, 'minted', 'a node for one wei')
  // As in the runbook: the operator's price, at once, leaves no grace to the thief's.
  const own = { tierId: 'basic', priceWei: BASIC.toString(), immediately: true }
  assert.ok(!isOperatorRefusal(await changeTier(world.ctx, OPERATOR, own)))
  await world.chain.increaseTime(1)
  await world.chain.mine()
  const late = await world.pay(6, 1n)
  await world.settle()
  assert.equal((await paymentOf(world, late))?.state, 'held')
  const acts = await world.pool<{ action: string }[]>`SELECT action FROM audit WHERE actor = 'stolen' ORDER BY id`
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['released', 'tierChanged'],
  )
})

attack(
  'T12: nodes that a thief of both keys buys for a wei count as paid until they are expelled',
  async ({ world, thief, done, desk, sign, doctor }) => {
    const honest = await world.pay(5, BASIC)
    await world.settle()
    const [{ cohort } = assert.fail()] = await nodesOf(world)
    assert.ok(!isOperatorRefusal(await changeTier(world.ctx, { name: 'stolen', requestId: null }, CHEAP)))
    await world.chain.increaseTime(1)
    await world.chain.mine()
    const bought = await world.pay(9, 1n)
    await world.chain.mine()
    await world.instance({ minter: null }).payments()
    assert.ok(await thief.mint({ to: world.at(9), cohort: cohort ?? 0, ref: bought }))
    await world.settle()
    assert.equal((await paymentOf(world, bought))?.state, 'minted', 'a node for each wei')
    const seen = await doctor()
    assert.ok(seen.includes('keys.foreign'))
    assert.ok(!seen.includes('nodes.unpaid'), 'it was paid for')
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
    const taken = await balanceOf(world, 2)
    assert.equal(taken, await balanceOf(world, 1), 'credited as the buyer is')
    // The operator's price, another key for the minter's role, and the node expelled while it is young.
    assert.ok(
      !isOperatorRefusal(
        await changeTier(world.ctx, OPERATOR, { ...CHEAP, priceWei: BASIC.toString(), immediately: true }),
      ),
    )
    await sign(await previewMinter(desk, { address: world.at(10), nodes: '10', cohorts: '10' }))
    assert.equal(await thief.mint({ to: world.at(9), cohort: cohort ?? 0, ref: honest }), false)
    await sign(await previewExpel(desk, { refs: bought, again: bought }))
    await sign(await previewMinter(desk, { address: world.at(1), nodes: '1000', cohorts: '1000' }))
    await world.payments()
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
    assert.equal(await balanceOf(world, 2), taken, 'it keeps what it was credited, and gets no more')
    assert.ok((await balanceOf(world, 1)) > taken)
    assert.equal(done.unpaidRefs.length, 0)
  },
)
