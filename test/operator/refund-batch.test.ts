// A transaction that refunds several buyers, as a Safe's batch does: each transfer in it proves one refund, and none two.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checksum } from '../../src/chain/digest.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { batchChecksum } from '../../src/operator/acts/refunds/safe-batch.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { SPLIT, splitTo } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({}, { between: twice })
  world = desk.world
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const refund = (txHash: Hash, refundTxHash: Hash) => desk.post(`payments/${txHash}/refund`, { refundTxHash })
/** A payment of the wrong amount, held. */
async function heldPayment(from: number, valueWei: bigint): Promise<Hash> {
  const txHash = await world.pay(from, valueWei)
  await world.settle()
  assert.equal(await told(txHash), 'held wrongAmount')
  return txHash
}

test('several refunds are prepared by one act, each for itself, and paid by one file for a Safe', async () => {
  const [first, second] = [await heldPayment(5, BASIC - 21n), await heldPayment(6, BASIC - 22n)]
  const sold = await world.pay(7, BASIC)
  await world.settle()
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  const prepare = async (payments: unknown) => desk.post('payments/refunds/prepare', { payments, reason: 'by mail' })
  const early = await prepare([first, sold, 'x', second])
  assert.deepEqual([early.json.safeBatch, early.json.sendNowWei], [null, '0'], early.text)
  const refusals = early.json.results.map(({ refusal }: { refusal: string | null }) => refusal)
  assert.deepEqual([refusals[0], refusals[3]], [null, null])
  assert.match(refusals[1], /is minted/)
  assert.match(refusals[2], /as its transaction hash/)
  assert.deepEqual([await told(first), await told(second)], ['held refunding', 'held refunding'])
  assert.deepEqual((await prepare([])).status, 400)
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
  const { json } = await prepare([first, second, first])
  assert.equal(json.sendNowWei, String(2n * BASIC - 43n))
  const { chainId, transactions } = json.safeBatch
  assert.equal(chainId, String(world.chain.chainId))
  assert.deepEqual(transactions, [
    { to: checksum(world.at(5)), value: String(BASIC - 21n), data: '0x' },
    { to: checksum(world.at(6)), value: String(BASIC - 22n), data: '0x' },
  ])
  // The file's transfers, sent as one transaction, refund each.
  const splitter = world.at(17)
  await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
  const parts = transactions.map(
    ({ to, value }: { to: string; value: string }) => [to as Address, BigInt(value)] as const,
  )
  const paid = await world.call(10, splitter, splitTo(...parts), BigInt(json.sendNowWei))
  for (const txHash of [first, second]) assert.equal((await refund(txHash, paid)).json.alarm, null)
})

test('a transfer that had another index when it was recorded proves no second refund', async () => {
  const [first, second] = [await heldPayment(5, BASIC - 23n), await heldPayment(5, BASIC - 23n)]
  const splitter = world.at(17)
  await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
  await world.settle()
  const paid = await world.call(10, splitter, splitTo([world.at(5), BASIC - 23n]), BASIC - 23n)
  await world.settle()
  assert.equal((await refund(first, paid)).status, 200)
  // As in another block, where the transaction made more transfers before this one.
  await world.pool`UPDATE refunds SET inner_index = inner_index + 1 WHERE tx_hash = ${paid}`
  assert.match((await refund(second, paid)).json.error, /One transfer proves one refund/)
})

test('a payment under several names is refunded once, and by one file unless asked again', async () => {
  const txHash = await heldPayment(5, BASIC - 31n)
  const batch = async (...payments: string[]) => {
    const path = join(temporaryDirectory(), 'refunds.json')
    const { rpcUrl } = world.chain
    const env = { ...worldEnv(world), RPC_URL: `${rpcUrl},${rpcUrl.replace('127.0.0.1', 'localhost')}` }
    const { code, err } = await runHere(
      ['payments', 'refund-batch', payments.join(), '--safe-file', path, '--yes'],
      env,
    )
    return [code, err]
  }
  const later = 'Nothing may be sent yet: run it again later.\n'
  assert.deepEqual(await batch(txHash), [0, later])
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
  const [row] = await world.pool`SELECT id FROM payments WHERE tx_hash = ${txHash}`
  const capitals = `0x${txHash.slice(2).toUpperCase()}`
  const prepare = async (payments: unknown, more: object = {}) =>
    (await desk.post('payments/refunds/prepare', { payments, ...more })).json
  const held = await prepare([txHash], { holdOnly: true })
  assert.deepEqual([held.safeBatch, held.sendNowWei], [null, String(BASIC - 31n)], 'held, and in no file')
  const first = await prepare([txHash, capitals, row?.id, txHash])
  assert.deepEqual(
    first.results.map(({ payment, refusal }: { payment: string; refusal: string | null }) => [payment, refusal]),
    [txHash, capitals, String(row?.id), txHash].map((name, place) => [
      name,
      place === 0 ? null : `Given twice: ${txHash} is the same payment.`,
    ]),
  )
  assert.deepEqual([first.safeBatch.transactions.length, first.sendNowWei], [1, String(BASIC - 31n)])
  assert.equal(first.results[0].prepared.fileMadeAt, null)

  const [made] =
    await world.pool`SELECT iso(at) AS at FROM audit WHERE action = 'refundFileMade' AND subject = ${txHash}`
  for (const again of [false, true]) {
    const { results, safeBatch, sendNowWei } = await prepare([capitals], { again })
    assert.equal(results[0].prepared.fileMadeAt, made?.at)
    assert.match(results[0].prepared.says, new RegExp(`was made at ${made?.at}. Send it now unless that file was sent`))
    assert.deepEqual([safeBatch?.transactions.length ?? 0, sendNowWei], again ? [1, String(BASIC - 31n)] : [0, '0'])
  }
  assert.deepEqual(await batch(txHash), [0, ''], 'it is in a file, and nothing waits')
  assert.deepEqual(await batch('x', `0x${'1'.repeat(64)}`), [1, ''], 'each is refused')
  // Cancelled and prepared again, while the file still exists.
  const warning = `A file made at ${made?.at} pays it back: continue only if it was never sent.`
  const cancelled = (await desk.post(`payments/${txHash}/refund/cancel`, {})).json
  assert.deepEqual([cancelled.fileMadeAt, cancelled.says], [made?.at, `It is held (wrongAmount). ${warning}`])
  assert.equal((await desk.get(`payments/${txHash}`)).json.payments[0].fileMadeAt, made?.at)
  const declined = await runHere(['payments', 'release', txHash, '--tier-id', 'basic'], worldEnv(world), 'n')
  assert.ok(declined.err.includes(warning), declined.err)
  assert.match(declined.err, /\n {2}rule +wrongAmount\n/, 'its verdict that is not withdrawn')
  assert.equal((await desk.post(`payments/${txHash}/refund/prepare`, {})).json.fileMadeAt, made?.at)
  await desk.post(`payments/${txHash}/refund/cancel`, {})
  const released = (await desk.post(`payments/${txHash}/release`, { tierId: 'basic' })).json
  assert.deepEqual([released.fileMadeAt, released.says], [made?.at, `It is accepted, in tier basic. ${warning}`])
})

test('of two simultaneous requests for a file, one gets it, and the other learns that', async () => {
  const txHash = await heldPayment(6, BASIC - 32n)
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
  const answers = await Promise.all([1, 2].map(() => desk.post('payments/refunds/prepare', { payments: [txHash] })))
  for (const isTold of [false, true])
    assert.equal(answers.filter(({ json }) => (json.results[0].prepared.fileMadeAt !== null) === isTold).length, 1)
  assert.equal(answers.filter(({ json }) => json.safeBatch !== null).length, 1)
})

test('the file has the Transaction Builder’s checksum, with any order of fields', () => {
  const to = '0x49d4450977E2c95362C13D3a31a09311E0Ea26A6'
  const file = {
    transactions: [{ value: '7', to, data: '0x' }],
    meta: { description: 'd', name: 'Refunds' },
    chainId: '31337',
    createdAt: 1,
    version: '1.0',
  }
  const known = '0x1c47851e43a8ef036e6a595a14a9b5ad528b225ab3bbfec9d3c947d367a7d05f'
  assert.equal(batchChecksum(file), known)
  assert.equal(batchChecksum({ ...file, meta: { ...file.meta, name: 'renamed' } }), known)
  assert.notEqual(batchChecksum({ ...file, chainId: '1' }), known)
})

test('a refund of several buyers in one transaction is recorded once for each of them', async () => {
  const splitter = world.at(17)
  await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
  const [same, another] = [BASIC - 11n, BASIC - 12n]
  const held = [await heldPayment(5, same), await heldPayment(5, same), await heldPayment(6, another)]
  const late = await heldPayment(5, same)
  const [five, six] = [world.at(5), world.at(6)]
  const calldata = splitTo([five, same], [six, another], [five, same])
  const refundTxHash = await world.call(10, splitter, calldata, same + another + same)
  for (const txHash of held) {
    const recorded = await refund(txHash, refundTxHash)
    assert.deepEqual([recorded.status, recorded.json.status], [200, 'refunded'], recorded.text)
  }
  assert.equal((await refund(held[0] as Hash, refundTxHash)).status, 409, 'it is refunded already')
  const third = await refund(late, refundTxHash)
  assert.equal(third.status, 409, third.text)
  assert.match(third.json.error, /refund of another payment/)

  await world.chain.rpc('anvil_reorg', [1, []])
  for (let i = 0; i < 67; i++) await world.chain.mine()
  await world.payments()
  for (const txHash of held) assert.equal(await told(txHash), 'held recheck')
})
