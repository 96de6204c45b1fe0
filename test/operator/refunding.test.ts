// Refunds in two steps, over HTTP and on a real chain: a payment is held before its ether goes back, and mints signed for it must have
// expired for good. If such a mint lands all the same, that is reported.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import type { Hash } from '../../src/domain/units.ts'
import { readFigure } from '../metrics/figure.ts'
import { checkInvariants, firstBalance } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { twice } from '../support/two-providers.ts'
import { acceptedPayment, alarmsOf, ETHER, judgeOnly, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** So many blocks on top make one final. */
const FINAL_BLOCKS = 64

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({}, { maxPerWallet: 2n, between: twice })
  world = desk.world
  await firstBalance(world)
  await world.settle()
  await world.pool`INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by) VALUES ('books', 'https://x.example', '{whsec_x}', 'test')`
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const prepare = (txHash: Hash) => desk.post(`payments/${txHash}/refund/prepare`, { reason: 'a wish' })
const cancel = (txHash: Hash) => desk.post(`payments/${txHash}/refund/cancel`)
const record = (txHash: Hash, refundTxHash: Hash) => desk.post(`payments/${txHash}/refund`, { refundTxHash })
const follow = () => judgeOnly(world)
const accepted = (account: number) => acceptedPayment(world, account, BASIC)

/** A payment whose mint is signed and sent, but in no block; with the mint's bytes. */
async function minting(account: number): Promise<{ paid: Hash; mint: `0x${string}` }> {
  const paid = await accepted(account)
  await world.payments()
  assert.equal(await told(paid), 'minting')
  return { paid, mint: await takeFromPool() }
}
/** Removes our last transaction from the pool. */
async function takeFromPool(): Promise<`0x${string}`> {
  const [last = assert.fail()] = await world.pool<{ txHash: Hash; raw: `0x${string}` }[]>`
    SELECT tx_hash AS "txHash", raw FROM outbox_attempts ORDER BY outbox_id DESC, attempt DESC LIMIT 1`
  await world.chain.rpc('anvil_dropTransaction', [last.txHash])
  return last.raw
}
/** The ether of a payment sent back to an account, mined. */
async function sendBack(account: number, valueWei = BASIC): Promise<Hash> {
  const value = `0x${valueWei.toString(16)}` as const
  const refundTxHash = await world.chain.send({ from: world.at(19), to: world.at(account), value })
  await world.chain.mine()
  return refundTxHash
}
/** As the events show them. */
const webhooksOf = async (ref: Hash) => {
  const rows = await world.pool<{ alarm: string }[]>`
    SELECT body::jsonb #>> '{data,alarm}' AS alarm FROM webhook_events
    WHERE type = 'refund.alarm' AND body::jsonb #>> '{data,ref}' = ${ref} ORDER BY seq`
  return rows.map(({ alarm }) => alarm)
}

describe('a refund that is prepared', () => {
  it('holds an accepted payment: no mint is signed, and ether may go once its block is final', async () => {
    const paid = await accepted(5)
    const early = await prepare(paid)
    assert.equal(early.status, 200, early.text)
    const { status, reason, safeAfter, mayStillMint, isPaymentFinal, sendNow, says } = early.json
    assert.deepEqual(
      { status, reason, safeAfter, mayStillMint, isPaymentFinal, sendNow },
      {
        ...{ status: 'held', reason: 'refunding', safeAfter: null, mayStillMint: false },
        ...{ isPaymentFinal: false, sendNow: false },
      },
    )
    assert.match(says, /^Do not send it yet: the payment’s own block is not final/)
    await world.settle()
    assert.equal(await told(paid), 'held refunding')
    await world.chain.mine(FINAL_BLOCKS)
    await follow()
    const late = await prepare(paid)
    assert.deepEqual([late.json.isPaymentFinal, late.json.sendNow], [true, true], late.text)
    assert.match(late.json.says, /^Send it now/)
    const recorded = await record(paid, await sendBack(5))
    assert.deepEqual([recorded.status, recorded.json.status, recorded.json.alarm], [200, 'refunded', null])
    await world.settle()
    assert.equal(await told(paid), 'refunded refunding')
    assert.equal(await world.read('nodeOfRef', [paid]), 0n)
    assert.deepEqual(await alarmsOf(world, paid), [])
    const { entries } = (await desk.get(`audit?subject=${paid}`)).json
    assert.deepEqual(
      entries.map(({ action }: { action: string }) => action),
      ['refunded', 'refundPrepared'],
      'asked again, nothing is done again',
    )
  })

  it('waits until a mint that was signed has run out in a final block, whichever key signed it', async () => {
    const { paid } = await minting(6)
    const first = await prepare(paid)
    assert.equal(await told(paid), 'held refunding')
    const [intent = assert.fail()] = await world.pool<{ until: number }[]>`
      SELECT valid_until AS until FROM outbox WHERE kind = 'mint' ORDER BY id DESC LIMIT 1`
    assert.equal(first.json.safeAfter, new Date(intent.until * 1000).toISOString())
    assert.deepEqual([first.json.mayStillMint, first.json.sendNow], [true, false])
    assert.match(first.json.says, /^Do not send it yet: a mint signed/)
    // The key of that mint is no longer ours, but what it signed is still valid.
    const signer = localSigner(world.chain.accounts[10]?.privateKey ?? assert.fail())
    const { rpc, chain, factory } = world
    await world.instance({ minter: createSignerAccount({ rpc, signer, chainId: chain.chainId, factory }) }).payments()
    assert.equal((await prepare(paid)).json.mayStillMint, true)
    // It has expired at the head, which is not final.
    await world.chain.setNextTime(intent.until + 1)
    await world.chain.mine()
    await follow()
    assert.equal((await prepare(paid)).json.mayStillMint, true)
    await world.chain.mine(FINAL_BLOCKS)
    await follow()
    assert.equal((await prepare(paid)).json.sendNow, true)
    assert.equal((await record(paid, await sendBack(6))).json.alarm, null)
    await world.settle()
    assert.equal(await world.read('nodeOfRef', [paid]), 0n)
  })

  it('yields to a signed mint that lands first, and warns the operator not to send', async () => {
    const { paid, mint } = await minting(7)
    await prepare(paid)
    await world.chain.rpc('eth_sendRawTransaction', [mint])
    await world.settle()
    assert.equal(await told(paid), 'minted')
    assert.deepEqual(await alarmsOf(world, paid), ['mintedThoughRefunding'])
    assert.deepEqual(await webhooksOf(paid), ['mintedThoughRefunding'])
    assert.ok(Number(await readFigure(world.pool, 'node_ledger_refund_alarms')) > 0)
    const again = await prepare(paid)
    assert.deepEqual([again.status, /Send nothing back/.test(again.json.error)], [409, true], again.text)
  })

  it('of a transfer that failed is refused, also before it is judged: nothing came', async () => {
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x60006000fd'])
    const paid = await world.pay(16, BASIC)
    await world.chain.mine()
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
    // Follows, but judges nothing.
    await world.credit()
    assert.equal(await told(paid), 'seen')
    for (const refused of [await prepare(paid), await record(paid, await sendBack(16))]) {
      assert.equal(refused.status, 409, refused.text)
      assert.match(refused.json.error, /no sale \(failed\)/)
    }
    await world.settle()
    assert.equal(await told(paid), 'ignored failed')
  })

  it('leaves nothing else to decide until it is recorded or given up', async () => {
    const paid = await world.pay(12, BASIC / 100n)
    await world.settle()
    await prepare(paid)
    for (const [act, body] of [
      ['release', { tierId: 'basic' }],
      ['dismiss', {}],
    ] as const) {
      const refused = await desk.post(`payments/${paid}/${act}`, body)
      assert.deepEqual([refused.status, /cancel it first/.test(refused.json.error)], [409, true], refused.text)
    }
    assert.equal(
      (await desk.post('payments/dismiss', { belowWei: (BASIC / 99n).toString(), dryRun: true })).json.count,
      0,
    )
    assert.equal((await cancel(paid)).json.reason, 'wrongAmount')
    assert.equal((await cancel(paid)).status, 409)
    await desk.post(`payments/${paid}/dismiss`)
    assert.equal(await told(paid), 'dismissed wrongAmount')
  })
})

describe('a refund that is on chain', () => {
  it('is recorded and reported if a signed mint may still land, and then the node, too', async () => {
    const { paid, mint } = await minting(18)
    const recorded = await record(paid, await sendBack(18))
    assert.deepEqual([recorded.json.status, recorded.json.alarm], ['refunded', 'refundTooEarly'], recorded.text)
    await world.chain.rpc('eth_sendRawTransaction', [mint])
    await world.settle()
    assert.equal(await told(paid), 'minted')
    assert.deepEqual(await alarmsOf(world, paid), ['refundTooEarly by ada', 'mintedThoughRefunded'])
    assert.deepEqual(await webhooksOf(paid), ['refundTooEarly', 'mintedThoughRefunded'])
  })
})

it('after all of this the ledger matches the chain', () => checkInvariants(world))
