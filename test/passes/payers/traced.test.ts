// A contract buys without the operator, from its call in someone's transaction to its node: the balance finds it, its
// block's trace splits it, the mode judges it, and the service mints to the contract that paid.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { proveWallet } from '../../../src/db/payments/payers.ts'
import { insertMode } from '../../../src/db/sale/contract-wallets.ts'
import type { ContractWalletMode } from '../../../src/domain/payers/payer.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { payInside, putForwarder } from '../../support/forwarder.ts'
import { checkInvariants } from '../../support/invariants.ts'
import { ETHER, standingOf, startWorld, type World } from '../../support/world.ts'

const PRICE = ETHER / 100n
const [MINE, OTHER] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`] as [Address, Address]

let world: World
before(async () => {
  world = await startWorld()
  for (const at of [MINE, OTHER]) await putForwarder(world, at)
  await world.settle()
})
afterEach(() => checkInvariants(world))
after(() => world.close())

const paidBy = async (by: Address) => (await payInside(world, PRICE, { by })).txHash
async function enter(mode: ContractWalletMode): Promise<void> {
  const { number } = await world.chain.block()
  await insertMode(world.pool, { mode, fromBlock: Number(number) + 1 }, 'test')
}
const ownerOf = async (txHash: Hash) => {
  const [row] = await world.pool<{ owner: Address }[]>`
    SELECT n.owner FROM nodes n JOIN payments p USING (node_id) WHERE p.tx_hash = ${txHash}`
  return row?.owner
}

test('contracts’ payments are held without a mode, and buy once the payers prove themselves', async () => {
  const paid = [await paidBy(MINE), await paidBy(OTHER)] as const
  await world.settle()
  for (const txHash of paid) assert.equal(await standingOf(world, txHash), 'held contractWallet')
  await enter('proven')
  await proveWallet(world.pool, MINE, { deployed: true })
  await world.settle()
  await world.settle()
  assert.deepEqual([await standingOf(world, paid[0]), await ownerOf(paid[0])], ['minted', MINE])
  assert.equal(await standingOf(world, paid[1]), 'held contractWallet')
})

test('in the mode all any contract buys immediately', async () => {
  await enter('all')
  await world.chain.mine()
  const paid = await paidBy(OTHER)
  await world.settle()
  assert.deepEqual([await standingOf(world, paid), await ownerOf(paid)], ['minted', OTHER])
  const codes = async () =>
    (
      await world.pool`SELECT code ->> 'kind' AS kind FROM payer_codes JOIN payments p ON p.id = payment_id
      AND p.block_hash = payer_codes.block_hash WHERE p.tx_hash = ${paid}`
    ).length
  assert.equal(await codes(), 1)
})
