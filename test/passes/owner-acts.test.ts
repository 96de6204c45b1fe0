// Acts outside the service by the contract's owner and by holders of a hot key: the ledger follows them, reports them,
// and rewinds them with their blocks. Each test has its own world.
import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem'
import { operatorDeps } from '../../src/boot/app.ts'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { readNode } from '../../src/db/reads/public-api.ts'
import { type Hash, hash, wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { prepareRefund } from '../../src/operator/acts/refunds/prepare.ts'
import { refundPayment } from '../../src/operator/acts/refunds/record.ts'
import { FOREVER, mintData } from '../support/factory.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, enterTier, INTERVAL_SEC, ownerAbi, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const RARE = wei(BASIC + 9n)
const ROGUE = hash(`0x${'5a'.repeat(32)}`)

interface Purpose {
  unpaidRefs: Hash[]
  foreign: Hash[]
}

const inWorld = (sentence: string, body: (world: World, purpose: Purpose) => Promise<void>) =>
  worldTest()(sentence, async (world) => {
    const purpose: Purpose = { unpaidRefs: [], foreign: [] }
    await body(world, purpose)
    await checkInvariants(world, purpose)
  })

/** A node in the cohort of a paid one, which the minter's key minted without a payment. */
async function mintRogue(world: World, purpose: Purpose): Promise<number> {
  await world.pay(5, BASIC)
  await world.settle()
  const [{ cohort } = assert.fail()] = await world.pool<{ cohort: number }[]>`SELECT cohort FROM nodes`
  purpose.foreign.push(await world.call(1, world.factory, mintData({ to: world.at(9), cohort, ref: ROGUE })))
  purpose.unpaidRefs.push(ROGUE)
  await world.payments()
  return cohort
}

const ofRogue = async (world: World) => {
  const [row] = await world.pool<{ id: number; cohort: number | null; size: number; left: number }[]>`
    SELECT n.node_id AS id, n.cohort, (SELECT size FROM cohorts c JOIN nodes first USING (cohort) WHERE first.node_id = 1) AS size,
      (SELECT count(*) FROM expulsions) AS left FROM nodes n WHERE n.ref = ${ROGUE}`
  return row ?? assert.fail('no node')
}

inWorld(
  'an expelled node leaves its cohort, which is credited again, and a reorg brings it back',
  async (world, purpose) => {
    const cohort = await mintRogue(world, purpose)
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    assert.equal((await world.credit()).reason, 'unpaidNodes', 'its cohort waits for the operator')
    const before = await readCursor(world.pool)
    await world.act(0, 'expel', [[ROGUE]])
    await world.payments()
    assert.deepEqual(await ofRogue(world), { id: 2, cohort: null, size: 1, left: 1 })
    const [fork, cursor] = [await readBlock(world.pool, before?.number ?? 0), await readCursor(world.pool)]
    assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
    assert.deepEqual(await ofRogue(world), { id: 2, cohort, size: 2, left: 0 })
    await world.payments()
    assert.deepEqual(await ofRogue(world), { id: 2, cohort: null, size: 1, left: 1 })
    const round = await world.credit()
    assert.deepEqual([round.reason, round.nodeCount], [null, 1])
    await world.rest()
    const { node } = (await readNode(world.pool, 2n, 10)) ?? assert.fail()
    assert.deepEqual([node.creditedWei, node.balanceWei, node.nextCreditAt], ['0', '0', null])
  },
)

inWorld('an expelled node that was credited keeps its credits, is reported, and can be refunded', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  const shown = async () => {
    const { node, credits } = (await readNode(world.pool, 1n, 10)) ?? assert.fail()
    return { ...node, credits }
  }
  const before = await shown()
  assert.equal(before.credits.length, 1)
  assert.ok(BigInt(before.creditedWei) > 0n && before.expelledAt === null)
  await world.act(0, 'expel', [[paid]])
  await world.payments()
  const { expelledAt, nextCreditAt, ...kept } = await shown()
  assert.ok(expelledAt !== null && nextCreditAt === null)
  assert.deepEqual({ ...kept, expelledAt: null, nextCreditAt: before.nextCreditAt }, before)
  const told = await world.pool<{ subject: Hash }[]>`SELECT subject FROM audit WHERE action = 'paidNodeExpelled'`
  assert.deepEqual(
    told.map(({ subject }) => subject),
    [paid],
  )
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  assert.deepEqual((await shown()).credits, before.credits)
  const actor = { name: 'operator', requestId: null }
  const prepared = await prepareRefund.unguarded(operatorDeps(world.ctx, world.pool), actor, { payment: paid })
  assert.ok(isOperatorRefusal(prepared) && /Send it back now/.test(prepared.message))
  const back = await world.chain.send({ from: world.at(3), to: world.at(5), value: `0x${BASIC.toString(16)}` })
  await world.rest()
  const recorded = await refundPayment(operatorDeps(world.ctx, world.pool), actor, {
    payment: paid,
    refundTxHash: back,
  })
  assert.ok(!isOperatorRefusal(recorded) && recorded.alarm === null)
  await world.act(5, 'withdrawAll', [[1n], world.at(9)])
  await world.payments()
  assert.equal((await shown()).balanceWei, '0')
})

inWorld('a node that is expelled keeps its place in the tier until its payment is refunded', async (world) => {
  await enterTier(world, { tierId: 'rare', tierNo: 9, priceWei: RARE, supply: 1 })
  await world.settle()
  const paid = await world.pay(5, RARE)
  await world.settle()
  const late = await world.pay(6, RARE)
  await world.act(0, 'expel', [[paid]])
  await world.settle()
  assert.equal((await paymentOf(world, late))?.reason, 'soldOut')
  const back = await world.chain.send({ from: world.at(3), to: world.at(5), value: `0x${RARE.toString(16)}` })
  await world.rest()
  const actor = { name: 'operator', requestId: null }
  const recorded = await refundPayment(operatorDeps(world.ctx, world.pool), actor, {
    payment: paid,
    refundTxHash: back,
  })
  assert.ok(!isOperatorRefusal(recorded) && recorded.alarm === null)
  await world.settle()
  assert.equal((await paymentOf(world, late))?.state, 'minted')
})

inWorld(
  'a round in flight that counted a node which is expelled meanwhile is planned again',
  async (world, purpose) => {
    await mintRogue(world, purpose)
    await world.pool`INSERT INTO grants (ref, reason, granted_by) SELECT ref, 'by mistake', 'test' FROM nodes WHERE node_id = 2`
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    const sent = await world.credit()
    assert.equal(sent.nodeCount, 2)
    const price = `0x${(10n ** 12n).toString(16)}`
    await world.chain.rpc('eth_sendTransaction', [
      {
        from: world.at(0),
        to: world.factory,
        data: encodeFunctionData({ abi: ownerAbi, functionName: 'expel', args: [[ROGUE]] }),
        maxFeePerGas: price,
        maxPriorityFeePerGas: price,
      },
    ])
    await world.chain.mine()
    assert.equal(await world.succeeded(sent.txHash ?? assert.fail()), false)
    await world.rest()
    const rounds = await world.pool`SELECT node_count FROM rounds`
    assert.deepEqual([...rounds], [{ node_count: 1 }])
  },
)

inWorld(
  'the service pays turns that a foreign credit left out, and follows paid and skipped ones',
  async (world, purpose) => {
    const paid = await world.pay(5, BASIC)
    await world.settle()
    const [{ cohort, due } = assert.fail()] = await world.pool<{ cohort: number; due: number }[]>`
    SELECT cohort, next_due AS due FROM cohorts WHERE size = 1`
    const { distributor } = world.ctx
    assert.ok(distributor)
    await world.act(0, 'addNotOwed', [1n, BigInt(due), BigInt(due + INTERVAL_SEC + 1)])
    await world.chain.increaseTime(4 * INTERVAL_SEC)
    await world.chain.mine()
    const rounds = [
      { credits: [{ cohort, firstDue: due, skipped: 1, paid: 0, amountPerNodeWei: wei(0n) }], valueWei: wei(0n) },
      {
        credits: [{ cohort, firstDue: due + INTERVAL_SEC, skipped: 1, paid: 2, amountPerNodeWei: wei(70n) }],
        valueWei: wei(70n),
      },
    ]
    for (const [index, round] of rounds.entries()) {
      const options = { nonce: await distributor.nonce(), gasLimit: 500_000n, fees: await distributor.fees() }
      const ends = { guard: null, validUntil: FOREVER }
      const signed = await distributor.sign({ kind: 'credit', round: index + 1, ...round, ...ends }, options)
      await world.chain.rpc('eth_sendRawTransaction', [signed.raw])
      await world.chain.mine()
      assert.equal(await world.succeeded(signed.txHash), true)
      purpose.foreign.push(signed.txHash)
    }
    await world.payments()
    const [turn] = await world.pool`SELECT round, due, turns, amount_wei, seed, min_wei FROM turns`
    const following = { round: 2, due: due + 2 * INTERVAL_SEC, turns: 2, amount_wei: 70n, seed: null, min_wei: null }
    assert.deepEqual({ ...turn }, following)
    const [kept] = await world.pool`SELECT rounds, distributed_wei FROM totals`
    assert.deepEqual({ ...kept }, { rounds: 1, distributed_wei: 70n })
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    const sent = await world.credit()
    assert.deepEqual([sent.distributionId, sent.nodeCount], [3, 1])
    await world.rest()
    assert.equal((await paymentOf(world, paid))?.state, 'minted')
  },
)

inWorld(
  'a ref that another wallet’s node took is reported once, but not a node given away since',
  async (world, purpose) => {
    const [first, second] = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
    await world.settle()
    const [{ cohort } = assert.fail()] = await world.pool<
      { cohort: number }[]
    >`SELECT cohort FROM nodes WHERE ref = ${first}`
    await world.act(5, 'transferFrom', [world.at(5), world.at(7), await world.read('nodeOfRef', [first])])
    // The same order again, after its node was given away; and one for a wallet that never had the node of its ref.
    for (const order of [
      { to: world.at(5), cohort, ref: first },
      { to: world.at(8), cohort, ref: second },
    ])
      purpose.foreign.push(await world.call(1, world.factory, mintData(order)))
    await world.payments()
    const told = await world.pool<{ subject: Hash }[]>`SELECT subject FROM audit WHERE action = 'refTaken'`
    assert.deepEqual(
      told.map(({ subject }) => subject),
      [second],
    )
  },
)

inWorld('an act of the contract’s owner is on record, and goes with its block', async (world) => {
  const names = () => world.pool<{ name: string }[]>`SELECT name FROM owner_acts ORDER BY block_number, log_index`
  const before = await readCursor(world.pool)
  const deployed = (await names()).map(({ name }) => name)
  await world.act(0, 'setSwapsAllowance', [5n])
  await world.act(0, 'pause')
  await world.act(0, 'unpause')
  await world.payments()
  const since = async () => (await names()).map(({ name }) => name).slice(deployed.length)
  assert.deepEqual(await since(), ['SwapsAllowanceSet', 'Paused', 'Unpaused'])
  const [act] = await world.pool`SELECT detail FROM owner_acts WHERE name = 'SwapsAllowanceSet'`
  assert.deepEqual(act?.detail, { allowance: '5', former: '0' })
  const [fork, cursor] = [await readBlock(world.pool, before?.number ?? 0), await readCursor(world.pool)]
  assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
  assert.deepEqual(await since(), [])
})
