// The follower traces residues again: once their block can be traced, their parts replace them, unless someone has decided about them.
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { attributePayment } from '../../src/operator/acts/attribute.ts'
import { dismissPayment, releasePayment } from '../../src/operator/acts/decide.ts'
import { prepareRefund } from '../../src/operator/acts/refunds/prepare.ts'
import {
  FORWARDER,
  forwardTo,
  leakOf,
  payInside,
  putForwarder,
  SPLITTER,
  splitterOf,
  innerStands as stands,
  storedInner as stored,
} from '../support/forwarder.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const ADA = { name: 'ada', requestId: null }

const inWorld = worldTest({ prepare: (world) => putForwarder(world) })

/** Rewinds the ledger below a block. */
async function reorganiseOut(world: World, block: number): Promise<void> {
  const cursor = (await readCursor(world.pool)) ?? assert.fail()
  await rewindTo(world.ctx, (await readBlock(world.pool, block - 1)) ?? assert.fail(), cursor)
}

/** One transaction pays the wallet twice, and is followed: the price of a node, and next to nothing. */
async function paySplit(world: World) {
  await world.chain.rpc('anvil_setCode', [SPLITTER, splitterOf(world.at(3), [BASIC, 7n])])
  await world.chain.setBalance(SPLITTER, ETHER)
  await world.chain.mine()
  await world.payments()
  const txHash = await world.call(7, SPLITTER, '0x')
  const block = Number((await world.chain.block()).number)
  await world.settle()
  return { txHash, block }
}

/** The row id of the residue that combines both. */
async function splitResidue(world: World): Promise<string> {
  const [residue] = await world.pool<{ id: number; wei: bigint }[]>`
    SELECT id, value_wei AS wei FROM payments WHERE tx_hash IS NULL AND state = 'held'`
  assert.equal(residue?.wei, BASIC + 7n)
  return String(residue?.id)
}

describe('a residue', () => {
  const mute = (world: World) => world.instance({ chain: { ...world.ctx.chain, blockTransfers: async () => null } })
  const waitPast = (world: World) => world.pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`

  inWorld('is replaced by the payments that it was made of once its block can be traced', async (world) => {
    await world.chain.rpc('anvil_setCode', [SPLITTER, splitterOf(world.at(3), [BASIC, PLUS])])
    await world.chain.setBalance(SPLITTER, ETHER)
    await world.call(7, SPLITTER, '0x')
    await mute(world).payments()
    assert.deepEqual(await stands(world), [[BASIC + PLUS, 'held unattributed']])
    await world.payments()
    assert.deepEqual(await stands(world), [
      [BASIC, 'held contractWallet'],
      [PLUS, 'held contractWallet'],
      [BASIC + PLUS, 'orphaned unattributed'],
    ])
    const told = await world.pool`SELECT action FROM audit WHERE action = 'residueExplained'`
    assert.equal(told.length, 1)
    await world.settle()
    await checkInvariants(world)
  })

  inWorld('that was decided, or does not add up, stays', async (world) => {
    await payInside(world, BASIC)
    const { block } = await payInside(world, PLUS)
    await mute(world).payments()
    const [first] = await world.pool`SELECT id FROM payments WHERE value_wei = ${BASIC.toString()} AND tx_hash IS NULL`
    await dismissPayment({ pool: world.pool }, { name: 'ada', requestId: null }, { payment: String(first?.id) })
    const { blockTransfers } = world.ctx.chain
    const less: typeof blockTransfers = async (at, wallets) =>
      (await blockTransfers(at, wallets))?.map((transfer) => ({ ...transfer, valueWei: wei(1n) })) ?? null
    await world.instance({ chain: { ...world.ctx.chain, blockTransfers: less } }).payments()
    const both = [
      [BASIC, 'dismissed unattributed'],
      [PLUS, 'held unattributed'],
    ]
    assert.deepEqual(await stands(world), both)
    await waitPast(world)
    await world.payments()
    const [dismissed, ...rest] = await stored(world)
    const [noted] = await world.pool`
      SELECT t.shown, t.tries FROM residue_traces t JOIN payments p USING (ref) WHERE p.state = 'dismissed'`
    const parts = noted?.shown as { direction: string; other: string; valueWei: string }[]
    assert.deepEqual(
      parts.map(({ direction, other, valueWei }) => [direction, other, valueWei]),
      [['in', FORWARDER, BASIC.toString()]],
    )
    // Once is enough.
    await waitPast(world)
    await world.payments()
    const [again] = await world.pool`SELECT tries FROM residue_traces WHERE shown IS NOT NULL`
    assert.equal(again?.tries, noted?.tries)
    assert.deepEqual([dismissed?.value, dismissed?.stands], [BASIC, 'dismissed unattributed'])
    assert.deepEqual(
      rest.map(({ value, block: at }) => [value, at]),
      [
        [PLUS, block],
        [PLUS, null],
      ],
    )
  })

  inWorld('and its replacements go with their block, and return separated', async (world) => {
    await world.chain.mine()
    await world.payments()
    const { block } = await payInside(world, BASIC)
    await mute(world).payments()
    await world.payments()
    for (const instance of [world.instance(), mute(world), world.instance()]) {
      await reorganiseOut(world, block)
      assert.ok((await stands(world)).every(([, stands]) => String(stands).startsWith('orphaned')))
      await waitPast(world)
      await instance.payments()
    }
    await world.settle()
    assert.deepEqual(
      (await stands(world)).filter(([, stands]) => !String(stands).startsWith('orphaned')),
      [[BASIC, 'held contractWallet']],
    )
    await checkInvariants(world)
  })

  inWorld('of outgoing value becomes outflows and payments once its block can be traced', async (world) => {
    await world.pay(5, PLUS)
    await world.settle()
    // The wallet's own code sends a hundredth of an ether away.
    await world.chain.rpc('anvil_setCode', [world.at(3), leakOf(BASIC)])
    const out = await world.chain.send({
      from: world.at(9),
      to: world.at(3),
      gas: '0x60000',
      data: forwardTo(world.at(8)),
    })
    await world.chain.mine(2)
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
    await world.chain.mine()
    await mute(world).payments()
    const outflows = async () =>
      await world.pool`SELECT tx_hash, inner_index, to_address, value_wei FROM wallet_outflows WHERE fee_wei = 0`
    const [residue] = await outflows()
    assert.deepEqual([residue?.tx_hash, residue?.value_wei], [null, BASIC])
    await world.payments()
    assert.deepEqual(
      (await outflows()).map((row) => ({ ...row })),
      [{ tx_hash: out, inner_index: 1, to_address: world.at(8), value_wei: BASIC }],
    )
    const [told] = await world.pool`SELECT detail FROM audit WHERE action = 'residueExplained'`
    assert.equal(told?.detail.left, true)
    await world.settle()
    await checkInvariants(world)
  })

  inWorld('excludes what an earlier trace showed in the same block, even if no provider traces now', async (world) => {
    await world.chain.mine()
    await world.payments()
    const { txHash, block } = await payInside(world, BASIC)
    await world.settle()
    await releasePayment(world.ctx, ADA, { payment: txHash })
    await world.settle()
    const before = await stands(world)
    assert.deepEqual(before, [[BASIC, 'minted']])
    await reorganiseOut(world, block)
    await mute(world).payments()
    assert.deepEqual(await stands(world), before)
    await world.settle()
    await checkInvariants(world)
  })

  inWorld('is not decided as a whole while a part of it has its node: that part is attributed first', async (world) => {
    const { txHash, block } = await paySplit(world)
    await releasePayment(world.ctx, ADA, { payment: txHash })
    await world.settle()
    await reorganiseOut(world, block)
    const instance = mute(world)
    await instance.payments()
    const payment = await splitResidue(world)
    for (const act of [dismissPayment, prepareRefund]) {
      const refused = await act(operatorDeps(world.ctx, world.pool), ADA, { payment })
      assert.ok(isOperatorRefusal(refused) && refused.message.endsWith(`attribute the transaction ${txHash} first.`))
    }
    const part = await attributePayment(world.ctx, ADA, { payment, txHash, innerIndex: 1 })
    assert.ok('status' in part && part.status === 'minted' && part.restWei === 7n, JSON.stringify(part, String))
    assert.ok('status' in (await dismissPayment(world.ctx, ADA, { payment })))
    await world.settle()
    await checkInvariants(world)
  })
})
