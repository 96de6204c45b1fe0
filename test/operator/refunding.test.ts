// Refunds in two steps, over HTTP and on a real chain: a payment is held before its ether goes back, and mints signed for it must have
// expired for good. Whatever happens between (mints that land, reorganisations, a lost ledger), no refund of a minted payment goes unseen.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import { raiseRecheck } from '../../src/db/payments/recheck.ts'
import type { Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { prepareRefund } from '../../src/operator/acts/refunds/prepare.ts'
import { rescan } from '../../src/operator/acts/rescan.ts'
import { readFigure } from '../metrics/figure.ts'
import { checkInvariants, firstBalance } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { twice } from '../support/two-providers.ts'
import {
  acceptedPayment,
  alarmsOf,
  beginSlot,
  ETHER,
  judgeOnly,
  paymentOf,
  standingOf,
  type World,
} from '../support/world.ts'

const BASIC = ETHER / 100n
const ACTOR = { name: 'ada', requestId: null }
/** So many blocks on top make one final, and a signed call is valid for less than so many seconds. */
const [FINAL_BLOCKS, RUN_OUT_SEC] = [64, 1_000]

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
const height = async () => Number((await world.chain.block()).number)
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
/** Advances time until every call signed by now has expired, in blocks that become final. */
async function runOut(): Promise<void> {
  await world.chain.increaseTime(RUN_OUT_SEC)
  await world.chain.mine(FINAL_BLOCKS + 1)
  await follow()
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

  it('of a skipped payment gets a report of the node if a reorg lets it mint', async () => {
    await beginSlot(world)
    const gifts = [await world.pay(8, BASIC), await world.pay(8, BASIC)]
    await world.settle()
    const { paid, mint } = await minting(9)
    const fork = await height()
    for (const gift of gifts) {
      const nodeId = (await paymentOf(world, gift))?.nodeId ?? assert.fail()
      await world.act(8, 'transferFrom', [world.at(8), world.at(9), BigInt(nodeId)])
    }
    await world.chain.rpc('eth_sendRawTransaction', [mint])
    await world.chain.mine()
    await follow()
    assert.equal(await told(paid), 'held walletLimit', 'its order was passed over: the wallet was full')
    const prepared = await prepare(paid)
    assert.equal(prepared.json.mayStillMint, true, 'though its mint is in a block')
    assert.equal(prepared.json.sendNow, false)
    await world.chain.reorg((await height()) - fork, [[mint, 0]])
    await world.settle()
    assert.equal(await told(paid), 'minted')
    assert.deepEqual(await alarmsOf(world, paid), ['mintedThoughRefunding'])
  })

  it('of value that is gone with its block is gone, and back with it', async () => {
    const paid = await accepted(11)
    const raw = await world.raw(paid)
    await prepare(paid)
    await world.chain.reorg(1)
    await follow()
    assert.equal(await told(paid), 'orphaned refunding')
    assert.deepEqual(await alarmsOf(world, paid), ['refundOfOrphaned'])
    assert.match((await prepare(paid)).json.error, /is orphaned/)
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.chain.mine()
    await world.settle()
    assert.equal(await told(paid), 'held refunding')
    // In another block than the one in which it was accepted.
    assert.deepEqual((await cancel(paid)).json.status, 'seen')
    const { blockNumber } = (await desk.get(`payments/${paid}`)).json.payments[0]
    await world.chain.reorg((await height()) - blockNumber + 1)
    await follow()
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.settle()
    assert.equal(await told(paid), 'minted', 'given up, it is no word of the operator’s any more')
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

  it('is reported while it waits, since it was prepared', async () => {
    const paid = await world.pay(12, BASIC + 9n)
    await world.settle()
    assert.equal(await readFigure(world.pool, 'node_ledger_refund_oldest_age_seconds'), 0)
    await prepare(paid)
    await world.pool`UPDATE payment_verdicts SET decided_at = now() - interval '25 hours' WHERE reason = 'refunding' AND withdrawn_at IS NULL
      AND payment_id = (SELECT id FROM payments WHERE tx_hash = ${paid})`
    assert.ok(Number(await readFigure(world.pool, 'node_ledger_refund_oldest_age_seconds')) > 86_400)
    await cancel(paid)
    assert.equal(await readFigure(world.pool, 'node_ledger_refund_oldest_age_seconds'), 0)
  })

  it('has a bound in a lost ledger: an hour after the block that it had reached', async () => {
    const own = await startDesk({}, { between: twice })
    const w = own.world
    try {
      const paid = await w.pay(5, BASIC - 1n)
      await w.settle()
      await w.chain.mine(FINAL_BLOCKS)
      await w.payments()
      const head = await w.chain.block()
      await raiseRecheck(w.pool, Number(head.number))
      const until = Number(head.timestamp) + 3_600
      const asked = await own.post(`payments/${paid}/refund/prepare`)
      assert.deepEqual([asked.json.safeAfter, asked.json.sendNow], [new Date(until * 1000).toISOString(), false])
      await w.chain.setNextTime(until + 1)
      await w.chain.mine(FINAL_BLOCKS + 1)
      await w.payments()
      assert.equal((await own.post(`payments/${paid}/refund/prepare`)).json.sendNow, true)
    } finally {
      await own.close()
    }
  })

  it('waits for 64 blocks if the chain calls none final, or for more by the settings', async () => {
    const paid = await accepted(13)
    const asks = async (finality: number | 'guarded') => {
      const chain = { ...world.ctx.chain, finalized: async () => null }
      const deps = operatorDeps({ ...world.ctx, chain, rules: { ...world.ctx.rules, finality } }, world.pool)
      const answer = await prepareRefund.unguarded(deps, ACTOR, { payment: paid })
      return isOperatorRefusal(answer) ? answer.message : answer.sendNow
    }
    await world.chain.mine(63)
    await follow()
    assert.equal(await asks('guarded'), false)
    await world.chain.mine(1)
    await follow()
    assert.deepEqual([await asks('guarded'), await asks(10), await asks(65)], [true, true, false])
    await cancel(paid)
    await world.settle()
  })
})

describe('a refund that is cancelled', () => {
  it('keeps its wallet’s place meanwhile if a mint was signed', async () => {
    const { paid, mint } = await minting(17)
    await prepare(paid)
    const others = [await world.pay(17, BASIC), await world.pay(17, BASIC)]
    await world.chain.mine()
    await follow()
    assert.deepEqual(await Promise.all(others.map(told)), ['accepted', 'held walletLimit'])
    await cancel(paid)
    await world.chain.rpc('eth_sendRawTransaction', [mint])
    await world.settle()
    assert.deepEqual(await Promise.all([paid, ...others].map(told)), ['minted', 'minted', 'held walletLimit'])
  })
})

describe('a refund that is on chain', () => {
  it('is recorded before anything was signed, and stops the mint', async () => {
    const paid = await accepted(18)
    const recorded = await record(paid, await sendBack(18))
    assert.deepEqual([recorded.json.status, recorded.json.alarm], ['refunded', null], recorded.text)
    await world.settle()
    assert.equal(await world.read('nodeOfRef', [paid]), 0n)
  })

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

  it('is recorded and reported for a payment with a node, and remains if the node is undone', async () => {
    const paid = await accepted(18)
    const fork = await height()
    await world.settle()
    assert.equal(await told(paid), 'minted')
    const value = `0x${BASIC.toString(16)}` as const
    const refundTxHash = await world.chain.send({ from: world.at(19), to: world.at(18), value })
    await world.chain.mine()
    const raw = await world.raw(refundTxHash)
    const recorded = await record(paid, refundTxHash)
    assert.deepEqual([recorded.json.status, recorded.json.alarm], ['minted', 'refundOfMinted'], recorded.text)
    assert.equal(await told(paid), 'minted')
    assert.deepEqual(await alarmsOf(world, paid), ['refundOfMinted by ada'])
    // The other fork has the refund, but not the mint.
    await world.chain.reorg((await height()) - fork, [[raw, 0]])
    await follow()
    assert.equal(await told(paid), 'refunded')
    await runOut()
    await world.settle()
    assert.equal(await world.read('nodeOfRef', [paid]), 0n)
  })

  it('of a payment with its node is reported if it vanishes, and is no decision any more', async () => {
    const paid = await accepted(10)
    await world.settle()
    assert.equal((await record(paid, await sendBack(10))).json.alarm, 'refundOfMinted')
    await world.chain.reorg(1)
    await world.chain.mine(70)
    await world.payments()
    assert.deepEqual(await alarmsOf(world, paid), ['refundOfMinted by ada', 'refundGone'])
    const [word] = (await desk.get(`payments/${paid}`)).json.payments[0].verdicts.slice(-1)
    assert.deepEqual([word.verdict, word.withdrawnBy, await told(paid)], ['refunded', 'refundCheck', 'minted'])
  })

  it('of a payment that a reorg removes is reported, and a rescan reports nothing', async () => {
    const paid = await accepted(18)
    const raw = await world.raw(paid)
    const refundTxHash = await sendBack(18)
    const back = await world.raw(refundTxHash)
    assert.equal((await record(paid, refundTxHash)).json.alarm, null)
    await follow()
    const fromBlock = (await height()) - 1
    await world.pool`UPDATE payments SET from_address = ${world.at(9)} WHERE tx_hash = ${paid}`
    const rescanned = await rescan(operatorDeps(world.ctx, world.pool), ACTOR, { fromBlock })
    assert.ok(!isOperatorRefusal(rescanned) && rescanned.wentBackTo !== null)
    await follow()
    assert.deepEqual([await told(paid), await alarmsOf(world, paid)], ['refunded', []])
    await world.chain.reorg(2, [[back, 0]])
    await follow()
    assert.equal(await told(paid), 'orphaned')
    assert.deepEqual(
      [await alarmsOf(world, paid), await webhooksOf(paid)],
      [['refundOfOrphaned'], ['refundOfOrphaned']],
    )
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.chain.mine()
    await world.settle()
    assert.equal(await told(paid), 'refunded')
  })

  it('of an orphaned payment is recorded, reported, and remains when the payment returns', async () => {
    const paid = await accepted(18)
    const raw = await world.raw(paid)
    await world.chain.reorg(1)
    await follow()
    assert.equal(await told(paid), 'orphaned')
    const recorded = await record(paid, await sendBack(18))
    assert.deepEqual([recorded.json.status, recorded.json.alarm], ['orphaned', 'refundOfOrphaned'], recorded.text)
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.chain.mine()
    await world.settle()
    assert.equal(await told(paid), 'refunded')
  })
})

it('after all of this the ledger matches the chain', () => checkInvariants(world))
