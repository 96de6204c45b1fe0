// Waiting instead of the fork guard, if it cannot be used: the service signs nothing that depends on a block which a
// reorganisation may remove, and a call counts as pending until it expires, however many blocks pass.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { mayStillMint } from '../../src/db/sends/outbox.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import type { SignerAccount } from '../../src/ports/sending.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, enterTier, INTERVAL_SEC, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** Distance in blocks from the final block to the head. */
const FINAL_AFTER = 2
/** Contracts see the hashes of so many blocks. */
const HASHES_REACH = 256

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({}, { facts: { guardUsable: false }, slotsInEpoch: 1, between: twice })
  world = desk.world
  await world.settle()
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const intents = () => world.pool<{ id: number; kind: string; state: string; guardBlock: number | null; hash: Hash }[]>`
  SELECT o.id, kind, state, guard_block AS "guardBlock", a.tx_hash AS hash
  FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id ORDER BY o.id, attempt`
const minter = (): SignerAccount => world.ctx.minter ?? assert.fail()
/** The provider says it accepted the bytes, and no one ever sees them again. */
const swallowing = () => world.instance({ minter: { ...minter(), broadcast: async () => ({ kind: 'accepted' }) } })

/** A payment whose block is final, and no pass has run since. */
async function finalPayment(from: number, valueWei = BASIC): Promise<Hash> {
  const paid = await world.pay(from, valueWei)
  await world.chain.mine(1 + FINAL_AFTER)
  return paid
}

test('a mint on its way keeps its payment from being decided otherwise, as one with a guard does', async () => {
  const paid = await finalPayment(15)
  await swallowing().payments()
  assert.deepEqual([await told(paid), (await intents()).at(-1)?.guardBlock], ['minting', null])
  const { blockNumber } = (await desk.get(`payments/${paid}`)).json.payments[0]
  const [fork, cursor] = [await readBlock(world.pool, blockNumber - 1), await readCursor(world.pool)]
  assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
  await desk.post('senders', { address: world.at(15), label: 'exchange', reason: 'named meanwhile' })
  await world.instance({ minter: null }).payments()
  assert.equal(await told(paid), 'held senderDenied')
  assert.equal(await mayStillMint(world.pool, paid), true)
  const refused = await desk.post(`payments/${paid}/dismiss`)
  assert.equal(refused.status, 409, refused.text)
  const { mayStillMint: isSigned, safeAfter, sendNow } = (await desk.post(`payments/${paid}/refund/prepare`)).json
  assert.deepEqual([isSigned, safeAfter !== null, sendNow], [true, true, false])
  await world.settle()
  assert.equal(await told(paid), 'minted')
})

test('a round waits for a final block after its seed’s, or forever, and carries no guard', async () => {
  await world.rest()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine(1 + 2 * FINAL_AFTER)
  const before = (await intents()).length
  const { reason, dueNodes, txHash } = await world
    .instance({ chain: { ...world.ctx.chain, finalized: async () => null } })
    .credit()
  assert.deepEqual([reason, (dueNodes ?? 0) > 0, txHash, (await intents()).length], ['pending', true, null, before])
  assert.equal((await world.credit()).reason, null)
  const sent = (await intents()).at(-1)
  assert.deepEqual([sent?.kind, sent?.guardBlock], ['credit', null])
  await world.rest()
})

test('a round pays no turn whose block may yet be lost, though an earlier one is final', async () => {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine(1 + 2 * FINAL_AFTER)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, null)
  const [sent] = await world.pool<{ credits: { paid: number }[] }[]>`
    SELECT call -> 'credits' AS credits FROM outbox WHERE kind = 'credit' ORDER BY id DESC LIMIT 1`
  assert.ok(sent && sent.credits.length > 0)
  assert.deepEqual(new Set(sent.credits.map(({ paid }) => paid)), new Set([1]))
  await world.rest()
})

test('a mint uses no cohort whose opening block may yet be lost', async () => {
  await enterTier(world, { tierId: 'late', tierNo: 9, priceWei: wei(ETHER / 33n) })
  const paid = await finalPayment(16, ETHER / 33n)
  await world.payments()
  assert.deepEqual([await told(paid), (await intents()).at(-1)?.kind], ['accepted', 'openCohorts'])
  await world.chain.mine()
  const before = (await intents()).length
  await world.payments()
  assert.equal((await world.pool`SELECT FROM cohorts WHERE tier_no = 9`).count > 0, true, 'they are followed')
  assert.deepEqual([await told(paid), (await intents()).length], ['accepted', before])
  await world.settle()
  assert.equal(await told(paid), 'minted')
})

test('a mint is raised as it is after any number of blocks, as long as its time is not over', async () => {
  const paid = await finalPayment(17)
  await swallowing().payments()
  const { id } = (await intents()).at(-1) ?? assert.fail()
  await world.chain.mine(HASHES_REACH + 44)
  await world.settle()
  assert.equal(await told(paid), 'minted')
  const since = (await intents()).filter((intent) => intent.id >= id)
  assert.deepEqual(new Set(since.map((intent) => `${intent.id} ${intent.state}`)), new Set([`${id} mined`]))
})

test('a minter whose mints revert one after the other rests', async () => {
  const paid = await finalPayment(18)
  const rests = async () => (await world.pool`SELECT FROM audit WHERE action = 'senderRests'`).count
  for (let i = 0; i < 3; i++) {
    await world.payments()
    assert.equal(await told(paid), 'minting')
    // Paused before its block, and released afterwards.
    const price = `0x${(10n ** 12n).toString(16)}`
    await world.chain.rpc('eth_sendTransaction', [
      { from: world.at(0), to: world.factory, data: '0x8456cb59', maxFeePerGas: price, maxPriorityFeePerGas: price },
    ])
    await world.chain.mine()
    await world.payments()
    await world.act(0, 'unpause')
  }
  const before = (await intents()).length
  await world.payments()
  assert.deepEqual([await told(paid), (await intents()).length, await rests()], ['accepted', before, 1])
  await world.chain.increaseTime(901)
  await world.settle()
  assert.equal(await told(paid), 'minted')
})

test('after all of this the ledger matches the chain', () => checkInvariants(world))
