// Lost keys, and a wallet that others fill: their cost by docs/THREATS.md, and the recovery.
import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem'
import { factoryFullAbi } from '../../contracts/factory.full.abi.ts'
import { previewDistributor, previewExpel, previewMinter, previewRefill } from '../../src/operator/acts/owner.ts'
import { ETHER, INTERVAL_SEC, standingOf, type World } from '../support/world.ts'
import { attack, balanceOf, type Stage } from './stage.ts'

const BASIC = ETHER / 100n

/** Any call of the contract, by an account; returns whether it succeeded. */
async function call({ world, done }: Stage, from: number, functionName: string, args: readonly unknown[] = []) {
  const data = encodeFunctionData({ abi: factoryFullAbi, functionName, args } as never)
  const txHash = await world.call(from, world.factory, data)
  done.foreign.push(txHash)
  return (await world.succeeded(txHash)) === true
}

async function toNextTurn({ chain }: World, turns = 1): Promise<void> {
  await chain.increaseTime(turns * INTERVAL_SEC)
  await chain.mine()
}

attack('T15: a lost minter costs nothing: payments wait, and another key mints them', async (stage) => {
  const { world, desk, sign } = stage
  // Account 10 has the role, and its key is gone.
  await sign(await previewMinter(desk, { address: world.at(10), nodes: '1000', cohorts: '1000' }))
  const keyless = world.instance({ minter: null })
  const paid = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
  await world.chain.mine()
  await keyless.payments()
  for (const txHash of paid) assert.equal(await standingOf(world, txHash), 'accepted')
  await sign(await previewMinter(desk, { address: world.at(1), nodes: '1000', cohorts: '1000' }))
  await world.settle()
  for (const txHash of paid) assert.equal(await standingOf(world, txHash), 'minted')
})

attack('T16: a lost distributor costs nothing: every due turn waits, and another key pays it', async (stage) => {
  const { world, desk, sign } = stage
  await world.pay(5, BASIC)
  await world.settle()
  // Account 11 has the role, and its key is gone.
  const wide = { floorGwei: '0', ceilingGwei: '1000000000' }
  await sign(await previewDistributor(desk, { address: world.at(11), ...wide }))
  await toNextTurn(world, 3)
  const keyless = world.instance({ distributor: null })
  await keyless.payments()
  assert.equal((await keyless.credit()).txHash, null)
  assert.equal(await balanceOf(world, 1), 0n)
  await sign(await previewDistributor(desk, { address: world.at(2), ...wide }))
  await world.rest()
  const [paid] = await world.pool<{ turns: number }[]>`SELECT sum(turns)::int AS turns FROM turns`
  assert.ok((paid?.turns ?? 0) >= 3, `${paid?.turns} turns`)
  assert.ok((await balanceOf(world, 1)) > 0n)
})

attack('T17: a lost owner stops no sale within the budget, no round, and hands no power to others', async (stage) => {
  const { world, desk, sign } = stage
  await sign(await previewMinter(desk, { address: world.at(1), nodes: '2', cohorts: '10' }))
  // From here on account 0 signs nothing.
  const paid = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
  await world.settle()
  for (const txHash of paid) assert.equal(await standingOf(world, txHash), 'minted')
  await toNextTurn(world)
  await world.rest()
  const owed = await balanceOf(world, 1)
  assert.ok(owed > 0n)
  const late = await world.pay(7, BASIC)
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'nodes')
  assert.equal(await standingOf(world, late), 'accepted', 'it waits')
  await world.call(8, world.factory, '0x', ETHER)
  for (const from of [1, 2, 3, 9])
    for (const [name, args] of [
      ['refillMinter', [world.at(1), 1n, 10n, 1n, 10n]],
      ['setMinter', [world.at(from), world.at(1), 10n, 10n]],
      ['setDistributor', [world.at(from), world.at(2), 0n, 1n]],
      ['setBounds', [world.at(2), 0n, 1n]],
      ['setSwapsAllowance', [world.at(2), 1n, 0n]],
      ['setInterval', [1n, 700n]],
      ['addNotOwed', [1n, 1n, 2n]],
      ['capTier', [1n, 2n]],
      ['expel', [[paid[0]]]],
      ['sweep', [world.at(from), 1n]],
      ['pause', []],
      ['acceptOwnership', []],
    ] as const)
      assert.equal(await call(stage, from, name, args), false, `${name} by account ${from}`)
  await toNextTurn(world)
  await world.payments()
  await world.credit()
  await world.chain.mine()
  await world.payments()
  assert.ok((await balanceOf(world, 1)) > owed, 'rounds go on')
  assert.equal(await call(stage, 5, 'withdraw', [1n, world.at(5), owed]), true)
  await world.payments()
  assert.ok((await stage.alerts()).includes('NodeLedgerBudgetSpent'))
  // If someone finds the key again, the payment is still waiting.
  await sign(await previewRefill(desk, { nodes: '10' }))
  await world.settle()
  assert.equal(await standingOf(world, late), 'minted')
})

attack(
  'a wallet full of gifts declines more, moves one and buys, expelling alone makes no room',
  async (stage) => {
    const { world, desk, sign } = stage
    const gifts = [await world.pay(9, BASIC), await world.pay(9, BASIC)]
    await world.settle()
    for (const txHash of gifts) assert.equal(await standingOf(world, txHash), 'minted', 'a node for each place')
    for (const id of [1n, 2n]) assert.ok(await call(stage, 9, 'transferFrom', [world.at(9), world.at(5), id]))
    const paid = await world.pay(5, BASIC)
    await world.settle()
    assert.equal(await standingOf(world, paid), 'held walletLimit')
    // The contract's owner expels one, but that makes no room.
    await sign(await previewExpel(desk, { refs: gifts[0], again: gifts[0] }))
    assert.equal(await call(stage, 9, 'transferFrom', [world.at(9), world.at(5), 1n]), false)
    assert.equal(await world.read('balanceOf', [world.at(5)]), 2n)
    assert.ok(await call(stage, 5, 'declineGifts', [true]))
    assert.ok(await call(stage, 5, 'transferFrom', [world.at(5), world.at(10), 1n]))
    assert.ok(await call(stage, 10, 'approve', [world.at(9), 1n]))
    assert.equal(await call(stage, 9, 'transferFrom', [world.at(10), world.at(5), 1n]), false, 'by no other account')
    await world.settle()
    assert.equal(await standingOf(world, paid), 'minted', 'what it pays for comes all the same, once there is room')
  },
  { maxPerWallet: 2n },
)
