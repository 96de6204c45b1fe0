// The fate of payments, each kind of them: judged by the terms of its block, in chain order, minted once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Hash, wei } from '../../src/domain/units.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, enterTier, standingOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
/** Transactions of the service's own wallets that are neither mint nor round. */
const foreign: Hash[] = []
before(async () => {
  world = await startWorld()
  // Opens cohorts once, so no test below has to wait for it.
  await world.settle()
})
after(() => world.close())

const told = (txHash: Hash) => standingOf(world, txHash)

test('the earlier place wins, even if a reorg moved the earlier payment to a later block', async () => {
  await enterTier(world, { tierId: 'lone', tierNo: 11, priceWei: wei(ETHER / 31n), maxPerWallet: 1 })
  // The block that a reorganisation brings may be as old as its parent.
  await world.chain.mine()
  const [replaced, kept] = [await world.pay(7, ETHER / 31n), await world.pay(7, ETHER / 31n)]
  await world.chain.mine()
  // Followed and judged, but not minted, because the mint's cohorts are only being opened.
  await world.payments()
  assert.deepEqual([await told(replaced), await told(kept)], ['accepted', 'held tierAllowance'])
  const { nonce } = await world.chain.rpc<{ nonce: `0x${string}` }>('eth_getTransactionByHash', [replaced])
  const raw = await world.raw(kept)
  const value = `0x${(ETHER / 31n).toString(16)}` as const
  const again = { from: world.at(7), to: world.at(3), value, nonce, gas: '0x7530' } as const
  await world.chain.reorg(1, [
    [again, 0],
    [raw, 0],
  ])
  await world.settle()
  const [winner] = await world.pool<{ hash: Hash; index: number }[]>`
    SELECT tx_hash AS hash, tx_index AS index FROM payments
    WHERE from_address = ${world.at(7)} AND tier_id = 'lone' AND state = 'minted'`
  assert.notEqual(winner?.hash, kept)
  assert.equal(winner?.index, 0)
  assert.deepEqual([await told(replaced), await told(kept)], ['orphaned', 'held tierAllowance'])
})

test('payments of one block become nodes in one transaction', async () => {
  const hashes = [await world.pay(5, BASIC), await world.pay(6, BASIC), await world.pay(7, BASIC)]
  await world.settle()
  const rows = await world.pool`SELECT DISTINCT mint_tx_hash FROM nodes WHERE ref = ANY(${hashes})`
  const nodes = await world.pool`SELECT FROM nodes WHERE ref = ANY(${hashes})`
  assert.deepEqual([nodes.length, rows.length], [3, 1])
})

test('a payment on its way to a node is reported as pending until it is one', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  assert.equal((await world.payments()).pending, 1)
  assert.equal(await told(paid), 'minting')
  await world.settle()
})

test('a transfer that is no sale is ignored with its reason: failed, nothing, our own wallets', async () => {
  const wallet = world.at(3)
  await world.chain.rpc('anvil_setCode', [wallet, '0x60006000fd'])
  const failed = await world.call(15, wallet, '0x', BASIC)
  await world.chain.rpc('anvil_setCode', [wallet, '0x'])
  const zero = await world.pay(15, 0n)
  const self = await world.pay(3, BASIC)
  const [fromMinter, fromDistributor] = [await world.pay(1, BASIC), await world.pay(2, BASIC)]
  foreign.push(fromMinter, fromDistributor)
  await world.settle()
  assert.deepEqual(await Promise.all([failed, zero, self, fromMinter, fromDistributor].map(told)), [
    'ignored failed',
    // Only counted.
    'unseen',
    'ignored self',
    'ignored operator',
    'ignored operator',
  ])
  assert.equal(await world.read('nodeOfRef', [failed]), 0n)
})

test('after all of this the ledger matches the chain', async () => {
  const failedArrivals = await world.pool`SELECT FROM payments WHERE NOT succeeded`
  assert.equal(failedArrivals.length, 1)
  await checkInvariants(world, { foreign })
})
