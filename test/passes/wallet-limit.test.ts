// The contract's cap on nodes per wallet, reached before a payment is judged or while its mint is pending: the payment
// is held, no other wallet's waits with it, and it becomes its node once there is room.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, standingOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
before(async () => {
  world = await startWorld({}, { maxPerWallet: 2n })
})
after(() => world.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const nodeOf = async (txHash: Hash) => BigInt((await paymentOf(world, txHash))?.nodeId ?? assert.fail('no node'))

test('a payment to a full wallet is held, judged by each pass, and minted once a node leaves', async () => {
  const first = await world.pay(5, BASIC)
  await world.pay(5, BASIC)
  const third = await world.pay(5, BASIC)
  await world.settle()
  assert.equal(await told(third), 'held walletLimit')
  const verdicts = () =>
    world.pool`SELECT FROM payment_verdicts v JOIN payments p ON p.id = payment_id WHERE tx_hash = ${third}`
  await world.settle()
  assert.equal((await verdicts()).length, 1, 'the same verdict is not written twice')
  await world.act(5, 'transferFrom', [world.at(5), world.at(6), await nodeOf(first)])
  await world.settle()
  assert.equal(await told(third), 'minted')
  assert.equal(await world.read('nodeOfRef', [third]), await nodeOf(third))
})

test('a wallet that fills up while its mint is under way is passed over by the contract, alone', async () => {
  const gift = await world.pay(7, BASIC)
  await world.settle()
  await world.pay(8, BASIC)
  await world.settle()
  const skipped = await world.pay(8, BASIC)
  const beside = await world.pay(9, BASIC)
  await world.chain.mine()
  await world.payments()
  assert.equal(await told(skipped), 'minting')
  // Before the mint's block, someone gives the wallet its last node.
  const minting = await world.chain.rpc<Hash>('eth_getTransactionByHash', [await lastSent()])
  assert.ok(minting)
  await world.chain.rpc('anvil_dropTransaction', [await lastSent()])
  await world.act(7, 'transferFrom', [world.at(7), world.at(8), await nodeOf(gift)])
  await world.settle()
  assert.deepEqual([await told(skipped), await told(beside)], ['held walletLimit', 'minted'])
  const [verdict] = await world.pool`
    SELECT v.evidence FROM payment_verdicts v JOIN payments p ON p.id = payment_id
    WHERE tx_hash = ${skipped} ORDER BY v.id DESC LIMIT 1`
  assert.equal(verdict?.evidence.by, 'contract')
  await world.act(8, 'transferFrom', [world.at(8), world.at(10), await nodeOf(gift)])
  await world.settle()
  assert.equal(await told(skipped), 'minted')
})

test('a wallet that is full only while the mint is estimated costs no buyer their node', async () => {
  const gift = await world.pay(12, BASIC)
  await world.pay(13, BASIC)
  await world.settle()
  const both = [await world.pay(13, BASIC), await world.pay(14, BASIC)]
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  assert.deepEqual(await Promise.all(both.map(told)), ['accepted', 'accepted'])
  await world.act(12, 'transferFrom', [world.at(12), world.at(13), await nodeOf(gift)])
  await world.payments()
  await world.chain.rpc('anvil_dropTransaction', [await lastSent()])
  await world.act(13, 'transferFrom', [world.at(13), world.at(15), await nodeOf(gift)])
  await world.payments()
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await Promise.all(both.map(told)), ['minted', 'minted'])
})

test('however many payments a full wallet has made, no other wallet’s waits for them', async () => {
  const own = await startWorld({}, { maxPerWallet: 1n })
  try {
    await own.settle()
    for (const buyer of [5, 6]) await own.pay(buyer, BASIC)
    const second = await own.pay(6, BASIC)
    await own.settle()
    const [held = assert.fail()] = await own.pool`SELECT * FROM payments WHERE tx_hash = ${second}`
    assert.equal(held.reason, 'walletLimit')
    // As many as a run judges, and earlier than the other's.
    await own.pool`
      INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, state, reason, tier_id, tier_version, block_number, block_hash,
        tx_index, block_time)
      SELECT h, h, ${own.at(3)}, ${own.at(5)}, 1, true, 'held', 'walletLimit', 'basic', 1, ${held.block_number - 1}, ${held.block_hash}, n, now()
      FROM (SELECT n, '0x' || lpad(to_hex(n), 64, '0') AS h FROM generate_series(1, 10000) n) many`
    const [{ id } = assert.fail()] = await own.pool`SELECT node_id AS id FROM nodes WHERE owner = ${own.at(6)}`
    await own.act(6, 'transferFrom', [own.at(6), own.at(7), id])
    await own.settle()
    assert.equal((await paymentOf(own, second))?.state, 'minted')
  } finally {
    await own.close()
  }
})

test('after all of this the ledger matches the chain', () => checkInvariants(world))

async function lastSent(): Promise<Hash> {
  const [row] = await world.pool<
    { hash: Hash }[]
  >`SELECT tx_hash AS hash FROM outbox_attempts ORDER BY signed_at DESC LIMIT 1`
  return row?.hash ?? assert.fail('nothing was sent')
}
