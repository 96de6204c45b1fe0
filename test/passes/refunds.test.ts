// The service watches recorded refunds until they are final: it finds one that a reorganisation removes whenever that
// happens. If a provider cannot show one, or shows it on another fork, it stays as it is.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { FORWARD, payInside, traceNothing } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const WRONG = ETHER / 100n - 1n
/** Blocks on top of a refund that make it final, or after which it would count as gone. */
const MANY = 70

let desk: Desk
/** Sent with the minter's key outside the service. */
const foreign: Hash[] = []
const unpaidRefs: Hash[] = []
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
})
after(() => desk.close())

const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state
const refundOf = async (txHash: Hash) => {
  const [row] = await world.pool<{ hash: Hash; number: number; final: boolean }[]>`
    SELECT r.block_hash AS hash, r.block_number AS number, r.final FROM refunds r JOIN payments p ON p.ref = r.payment_ref
    WHERE p.tx_hash = ${txHash}`
  return row ?? assert.fail('no refund')
}

/** A payment of the wrong amount, refunded in the head's block by a wallet of the operator, and recorded. */
async function refunded(account: number): Promise<Hash> {
  const payment = await world.pay(account, WRONG)
  await world.settle()
  const back = { from: world.at(10), to: world.at(account), value: `0x${WRONG.toString(16)}` } as const
  const refundTxHash = await world.chain.send(back)
  await world.chain.mine()
  assert.equal((await desk.post(`payments/${payment}/refund`, { refundTxHash })).status, 200)
  return payment
}
const through = (parts: Partial<ChainReader>) => world.instance({ chain: { ...world.ctx.chain, ...parts } })

test('one of value by an internal call stays its only refund if that moves to another block', async () => {
  const own = await startDesk()
  const w = own.world
  traceNothing(w)
  const safe = w.at(18)
  const become = (code: string) => w.chain.rpc('anvil_setCode', [safe, code])
  const attributed = async (txHash: Hash): Promise<{ id: number; blockNumber: number }> => {
    await w.settle()
    const [payment] = (await own.get('payments?reason=unattributed&status=held&limit=1')).json.payments
    assert.equal((await own.post(`payments/${payment.id}/attribute`, { txHash })).status, 200)
    return payment
  }
  const payBack = async () => {
    const refundTxHash = await w.chain.send({ from: w.at(10), to: safe, value: `0x${WRONG.toString(16)}` })
    await w.chain.mine()
    return refundTxHash
  }
  try {
    await become(FORWARD)
    const { txHash: paid } = await payInside(w, WRONG, { by: safe })
    const before = await attributed(paid)
    // Ether refunded to it stays there.
    await become('0x')
    const refundTxHash = await payBack()
    assert.equal((await own.post(`payments/${before.id}/refund`, { refundTxHash })).status, 200)
    const both = [await w.raw(paid), await w.raw(refundTxHash)]
    await w.chain.reorg(Number((await w.chain.block()).number) - before.blockNumber + 1)
    for (const [i, code] of [FORWARD, '0x'].entries()) {
      await become(code)
      await w.chain.rpc('eth_sendRawTransaction', [both[i]])
      await w.chain.mine(2)
    }
    const later = await attributed(paid)
    assert.notEqual(later.id, before.id)
    // The payment takes its value out of the residue of the other block, and has its refund.
    const rows = await w.pool`SELECT id, state, value_wei::text AS value FROM payments ORDER BY id`
    assert.deepEqual(
      rows.map(({ id, state, value }) => [id, state, value]),
      [
        [before.id, 'refunded', WRONG.toString()],
        [later.id, 'orphaned', '0'],
      ],
    )
    const refundTxHashes = [await payBack(), refundTxHash]
    for (const hash of refundTxHashes) {
      const ofResidue = await own.post(`payments/${later.id}/refund`, { refundTxHash: hash })
      assert.equal(ofResidue.status, 400, ofResidue.text)
    }
    const second = await own.post(`payments/${before.id}/refund`, { refundTxHash: refundTxHashes[0] })
    assert.equal(second.status, 409, second.text)
  } finally {
    await own.close()
  }
})

test('refunds in followed blocks cost no request, on a chain that calls nothing final', async () => {
  const all = [await refunded(14), await refunded(15), await refunded(16)]
  const asked: unknown[] = []
  const counted = through({
    finalized: async () => null,
    minedTransaction: async (txHash) => {
      asked.push(txHash)
      return world.ctx.chain.minedTransaction(txHash)
    },
    block: async (number) => {
      asked.push(number)
      return world.ctx.chain.block(number)
    },
  })
  for (let i = 0; i < 3; i++) await counted.payments()
  assert.deepEqual(asked, [])

  // As when their headers are pruned: read once more, and final.
  const last = (await refundOf(all[2] ?? assert.fail())).number
  await world.chain.mine()
  await counted.payments()
  await world.pool`DELETE FROM blocks WHERE number <= ${last}`
  const [{ open } = assert.fail()] = await world.pool<
    { open: number }[]
  >`SELECT count(*) AS open FROM refunds WHERE NOT final`
  asked.length = 0
  for (let i = 0; i < 3; i++) await counted.payments()
  assert.equal(asked.length, open)
  for (const payment of all) assert.equal((await refundOf(payment)).final, true)
})

test('one that vanishes is found out however many others wait on a chain without finality', async () => {
  const payment = await refunded(13)
  const { hash, number } = await refundOf(payment)
  const [below = assert.fail()] = await world.pool<
    { hash: Hash }[]
  >`SELECT hash FROM blocks WHERE number = ${number - 1}`
  await world.pool`
    INSERT INTO refunds (payment_ref, tx_hash, from_address, to_address, value_wei, block_number, block_hash, recorded_by)
    SELECT ref, ref, ${world.at(10)}, ${world.at(13)}, 1, ${number - 1}, ${below.hash}, 'ada'
    FROM (SELECT '0x' || lpad(to_hex(n), 64, '0') AS ref FROM generate_series(1, 60) n) old`
  await world.chain.reorg(1)
  await world.chain.mine(MANY)
  assert.notEqual((await world.chain.block(number)).hash, hash)
  await through({ finalized: async () => null }).payments()
  assert.equal(await stateOf(payment), 'held')
  await world.pool`DELETE FROM refunds WHERE value_wei = 1`
})

test('after all of this the ledger matches the chain', () => checkInvariants(world, { foreign, unpaidRefs }))
