// Residues split by hand: several contract wallets' payments in one block appear as one sum. The operator takes each
// transfer out of it, by its trace or by their word, and each becomes its own payment.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startFalseProvider } from '../chain/false-provider.ts'
import {
  forwardTo,
  payAtOnce,
  payInside,
  putForwarder,
  SPLIT,
  splitTo,
  innerStands as stands,
  traceNothing,
} from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const [SAFE, OTHER_SAFE] = [18, 17]

let desk: Desk
let world: World
let traceBlocks: World['ctx']['chain']['blockTransfers']
before(async () => {
  desk = await startDesk()
  world = desk.world
  traceBlocks = world.ctx.chain.blockTransfers
  for (const safe of [SAFE, OTHER_SAFE]) await putForwarder(world, world.at(safe))
  await world.settle()
})
beforeEach(() => {
  traceNothing(world)
})
after(() => desk.close())

/** Pays by several contracts in one block; the follower files the sum and holds it. */
async function residueOf(...transfers: (readonly [by: number, valueWei: bigint])[]) {
  const txs = await payAtOnce(world, ...transfers)
  return { txs, id: await newestResidue() }
}

async function newestResidue(): Promise<number> {
  const [{ id, txHash }] = (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments
  assert.equal(txHash, null)
  return id
}
const show = async (id: number) => (await desk.get(`payments/${id}`)).json.payments[0]
const attribute = (id: number, body: object) => desk.post(`payments/${id}/attribute`, body)

/** Removes the residue's block and brings it back, with or without traces. */
async function comeAgain(blockNumber: number, chain: Partial<World['ctx']['chain']> = {}) {
  const [fork, cursor] = [await readBlock(world.pool, blockNumber - 1), await readCursor(world.pool)]
  assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
  const before = { ...world.ctx.chain }
  Object.assign(world.ctx.chain, chain)
  await world.settle()
  Object.assign(world.ctx.chain, before)
}

/** Runs `body` while no transaction can be traced. */
async function untraced<T>(body: () => Promise<T>): Promise<T> {
  const { innerTransfers } = world.ctx.chain
  Object.assign(world.ctx.chain, { innerTransfers: async () => null })
  try {
    return await body()
  } finally {
    Object.assign(world.ctx.chain, { innerTransfers })
  }
}

describe('a residue of several', () => {
  it('becomes several payments: each part is one, and the last part takes the residue over', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS])
    const first = await attribute(id, { txHash: txs[0], valueWei: BASIC.toString() })
    assert.equal(first.status, 200, first.text)
    const { from, innerIndex, status, proof, restWei, parts } = first.json
    assert.deepEqual(
      [from, innerIndex, status, proof, restWei, parts.length],
      [world.at(SAFE), 1, 'held', 'trace', PLUS.toString(), 1],
    )
    assert.notEqual(first.json.id, id)
    assert.equal((await show(id)).valueWei, PLUS.toString())
    await checkInvariants(world)
    const rest = await attribute(id, { txHash: txs[1] })
    assert.deepEqual([rest.json.id, rest.json.from, rest.json.restWei], [id, world.at(OTHER_SAFE), '0'])
    await desk.post(`payments/${txs[0]}/release`, { tierId: 'basic' })
    await desk.post(`payments/${txs[1]}/release`, { tierId: 'plus' })
    await world.settle()
    assert.deepEqual((await show(first.json.id)).mint.owner, world.at(SAFE))
    assert.deepEqual((await show(id)).mint.owner, world.at(OTHER_SAFE))
    await checkInvariants(world)
  })

  it('is split into several parts in one action, all or none', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS], [SAFE, 5n])
    const none = await attribute(id, { transfers: [{ txHash: txs[0] }, { txHash: txs[0] }] })
    assert.match(none.json.error, /already another payment/)
    assert.equal((await show(id)).parts.length, 0)
    const both = await attribute(id, { transfers: `${txs[0]},${txs[1]}#1` })
    assert.equal(both.status, 200, both.text)
    assert.deepEqual(
      both.json.parts.map((part: { from: Address; valueWei: string }) => [part.from, part.valueWei]),
      [
        [world.at(SAFE), BASIC.toString()],
        [world.at(OTHER_SAFE), PLUS.toString()],
      ],
    )
    const rest = await show(id)
    assert.deepEqual([rest.valueWei, rest.parts.length], ['5', 2])
    assert.equal((await show(both.json.id)).attribution.partOf, id)
    for (const payment of [id, ...both.json.parts.map((part: { id: number }) => part.id)])
      await desk.post(`payments/${payment}/dismiss`)
    await checkInvariants(world)
  })

  it('of one transaction with several transfers is split by their places', async () => {
    const splitter = world.at(16)
    await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
    const wallet = world.at(3)
    const txHash = await world.call(9, splitter, splitTo([wallet, BASIC], [wallet, PLUS], [wallet, BASIC]), ETHER)
    await world.settle()
    const id = await newestResidue()
    const vague = await attribute(id, { transfers: [{ txHash }] })
    assert.match(vague.json.error, /several of these transfers: choose one by its place.*2: 25000000000000000 wei from/)
    assert.match((await attribute(id, { txHash, innerIndex: 4 })).json.error, /no inner transfer at place 4/)
    assert.match((await attribute(id, { txHash, innerIndex: 1, valueWei: '7' })).json.error, /no inner transfer/)
    assert.match((await attribute(id, { txHash, innerIndex: 1, from: world.at(9) })).json.error, /no inner transfer/)
    // Two that differ only in position: the first free one.
    const alike = [
      await attribute(id, { txHash, valueWei: BASIC.toString() }),
      await attribute(id, { txHash, valueWei: BASIC.toString() }),
    ]
    assert.deepEqual(
      alike.map(({ json }) => json.innerIndex),
      [1, 3],
    )
    assert.equal((await attribute(id, { txHash })).json.innerIndex, 2)
    for (const { id: payment } of (await desk.get(`payments/${txHash}`)).json.payments)
      await desk.post(`payments/${payment}/dismiss`)
    await checkInvariants(world)
  })

  it('rejects a part that is booked, too large, for another wallet, or after a decision', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS])
    const other = await world.call(9, world.at(SAFE), forwardTo(world.at(8)), BASIC)
    const plain = await world.pay(5, BASIC)
    await world.settle()
    assert.equal((await attribute(id, { txHash: txs[0], valueWei: BASIC.toString() })).status, 200)
    const refusalOf = async (body: object) => {
      const answer = await attribute(id, body)
      assert.ok(answer.status === 400 || answer.status === 409, answer.text)
      return answer.json.error
    }
    assert.match(await refusalOf({ txHash: txs[0], innerIndex: 1 }), /already another payment/)
    assert.match(await refusalOf({ txHash: other, innerIndex: 1 }), /did not arrive/)
    assert.match(await refusalOf({ txHash: plain, innerIndex: 1 }), /did not arrive/)
    assert.match(await refusalOf({ txHash: txs[1], transfers: [] }), /transfers must be a list/)
    assert.match(await refusalOf({ txHash: txs[1], transfers: txs[1] }), /give one/)
    assert.match(await refusalOf({ transfers: [{ txHash: '0x12' }] }), /transfer 1: txHash must be a hash/)
    await desk.post(`payments/${id}/dismiss`)
    assert.match(await refusalOf({ txHash: txs[1] }), /is dismissed/)
    assert.match(await refusalOf({ txHash: txs[1], innerIndex: 1 }), /is dismissed/)
    await desk.post(`payments/${txs[0]}/dismiss`)
    await checkInvariants(world)
  })
})

describe('if no provider traces a transaction', () => {
  it('the service accepts the operator’s word for all of it, and records that', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS])
    await untraced(async () => {
      const asked = await attribute(id, { txHash: txs[0] })
      assert.deepEqual([asked.status, /state the transfer yourself/.test(asked.json.error)], [503, true])
      const stated = { txHash: txs[0], innerIndex: 1, from: world.at(SAFE) }
      assert.equal((await attribute(id, stated)).status, 503)
      const above = await attribute(id, { ...stated, valueWei: ETHER.toString() })
      assert.match(above.json.error, /These are 1000000000000000000 wei/)
      const done = await attribute(id, { ...stated, valueWei: BASIC.toString() })
      assert.deepEqual([done.json.proof, done.json.restWei], ['stated', PLUS.toString()])
      assert.equal((await show(done.json.id)).attribution.proof, 'stated')
    })
    const [told] = (await desk.get('audit?limit=1')).json.entries
    assert.deepEqual([told.action, told.detail.after.proof], ['attributed', 'stated'])
    for (const payment of [id, txs[0]]) await desk.post(`payments/${payment}/dismiss`)
    await checkInvariants(world)
  })

  it('which a provider is that refuses, not one that is too busy for now', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS])
    const provider = await startFalseProvider(world.chain.rpcUrl)
    const rpc = createRpc({ urls: [provider.url], log: silentLog, retryPauseMs: 1 })
    try {
      const { innerTransfers } = createChainReader(rpc, { factory: world.factory, wallets: [], signers: [] })
      provider.rule = ({ method }) =>
        method.includes('trace') ? { error: { code: -32005, message: 'rate limited' } } : undefined
      await assert.rejects(innerTransfers(txs[0] as Hash, world.at(3)), /too busy/)
      provider.rule = ({ method }) =>
        method.includes('trace') ? { error: { code: -32601, message: 'no such method' } } : undefined
      assert.equal(await innerTransfers(txs[0] as Hash, world.at(3)), null)
    } finally {
      await rpc.close()
      await provider.close()
    }
    await desk.post(`payments/${id}/dismiss`)
  })

  it('and a later trace contradicts it, the residue stays, and what it shows is noted', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS])
    await untraced(() =>
      attribute(id, { txHash: txs[0], innerIndex: 1, from: world.at(8), valueWei: BASIC.toString() }),
    )
    Object.assign(world.ctx.chain, { blockTransfers: traceBlocks })
    await world.settle()
    const residue = await show(id)
    assert.deepEqual([residue.status, residue.valueWei], ['held', PLUS.toString()])
    assert.deepEqual(
      residue.traceShows.map((shown: { txHash: Hash; other: Address }) => [shown.txHash, shown.other]),
      [[txs[1], world.at(OTHER_SAFE)]],
    )
    // The same if its block returns.
    await comeAgain(residue.blockNumber, { blockTransfers: traceBlocks })
    assert.deepEqual(
      [
        (await show(id)).valueWei,
        (await show(id)).status,
        (await desk.get(`payments/${txs[0]}`)).json.payments[0].from,
      ],
      [PLUS.toString(), 'held', world.at(8)],
    )
    for (const payment of [id, txs[0]]) await desk.post(`payments/${payment}/dismiss`)
    await checkInvariants(world)
  })
})

describe('if the states of its blocks are gone', () => {
  it('the operator splits a residue of several blocks by their transactions, also after a reorg', async () => {
    const { balanceAt } = world.ctx.chain
    const sent: Hash[] = []
    for (const [safe, valueWei] of [
      [SAFE, BASIC],
      [OTHER_SAFE, PLUS],
    ] as const)
      sent.push((await payInside(world, valueWei, { by: world.at(safe) })).txHash)
    await world.chain.mine()
    const head = Number((await world.chain.block()).number)
    const pruned = {
      balanceAt: async (...[owner, at]: Parameters<typeof balanceAt>) =>
        at.number < head ? null : balanceAt(owner, at),
    }
    await world.instance({ chain: { ...world.ctx.chain, ...pruned } }).payments()
    const id = await newestResidue()
    const { blockNumber, valueWei } = await show(id)
    assert.deepEqual([blockNumber, valueWei], [head, (BASIC + PLUS).toString()])
    const part = await untraced(() =>
      attribute(id, { txHash: sent[0], innerIndex: 1, from: world.at(SAFE), valueWei: BASIC.toString() }),
    )
    assert.equal(part.json.restWei, PLUS.toString(), part.text)
    await desk.post(`payments/${sent[0]}/release`, { tierId: 'basic' })
    await world.settle()
    await comeAgain(blockNumber, pruned)
    const [back] = (await desk.get(`payments/${sent[0]}`)).json.payments
    assert.deepEqual(
      [back.status, back.mint.owner, (await show(id)).valueWei],
      ['minted', world.at(SAFE), PLUS.toString()],
    )
    // If the states are readable after all, the follower finds each transfer in its own block, and the node is still its payment's.
    await comeAgain(blockNumber - 2, { blockTransfers: traceBlocks })
    const [own] = (await desk.get(`payments/${sent[0]}`)).json.payments
    assert.deepEqual([own.status, own.mint.owner, own.blockNumber], ['minted', world.at(SAFE), blockNumber - 2])
    assert.equal((await show(id)).status, 'orphaned')
    await desk.post(`payments/${sent[1]}/dismiss`)
    await checkInvariants(world)
  })
})

describe('after its block was lost and returned', () => {
  it('each part and the remainder keep their decisions', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS], [SAFE, BASIC * 2n])
    const { blockNumber } = await show(id)
    const parts = (await attribute(id, { transfers: [{ txHash: txs[0] }, { txHash: txs[1] }] })).json.parts
    await desk.post(`payments/${txs[0]}/release`, { tierId: 'basic' })
    await world.settle()
    const node = (await show(parts[0].id)).mint.nodeId
    await desk.post(`payments/${id}/dismiss`)
    const standing = async () =>
      await Promise.all(
        [parts[0].id, parts[1].id, id].map(async (one) => {
          const { status, valueWei, from, txHash } = await show(one)
          return [status, valueWei, from, txHash]
        }),
      )
    const before = await standing()
    assert.deepEqual(before, [
      ['minted', BASIC.toString(), world.at(SAFE), txs[0]],
      ['held', PLUS.toString(), world.at(OTHER_SAFE), txs[1]],
      ['dismissed', (BASIC * 2n).toString(), null, null],
    ])
    // Even through a provider that traces by now: the service does not sell what was dismissed.
    for (const chain of [{}, { blockTransfers: traceBlocks }]) {
      await comeAgain(blockNumber, chain)
      assert.deepEqual(await standing(), before)
      assert.equal((await show(parts[0].id)).mint.nodeId, node)
      assert.equal((await desk.get('nodes/unpaid')).json.nodes.length, 0)
      await checkInvariants(world)
    }
    await desk.post(`payments/${parts[1].id}/dismiss`)
  })

  it('a fully split residue returns split, and by a trace as well', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS], [SAFE, 5n])
    const { blockNumber } = await show(id)
    const whole = await attribute(id, { transfers: txs.join(',') })
    assert.deepEqual([whole.json.restWei, whole.json.parts.at(-1).id], ['0', id])
    await desk.post(`payments/${txs[1]}/release`, { tierId: 'plus' })
    await world.settle()
    for (const chain of [{}, { blockTransfers: traceBlocks }, {}]) {
      await comeAgain(blockNumber, chain)
      const [first] = (await desk.get(`payments/${txs[0]}`)).json.payments
      const [second] = (await desk.get(`payments/${txs[1]}`)).json.payments
      // An amount that only a trace would show as dust.
      const [third] = (await desk.get(`payments/${txs[2]}`)).json.payments
      assert.deepEqual([third.id, third.status, third.valueWei], [id, 'held', '5'])
      assert.deepEqual([first.status, second.status, second.mint?.owner], ['held', 'minted', world.at(OTHER_SAFE)])
      await checkInvariants(world)
    }
    for (const payment of [txs[0], txs[2]]) await desk.post(`payments/${payment}/dismiss`)
  })

  it('in another block, a part is decided again, and one that was refunded is refunded', async () => {
    const { txs, id } = await residueOf([SAFE, BASIC], [OTHER_SAFE, PLUS])
    const { blockNumber } = await show(id)
    const raws = await Promise.all(txs.map((txHash) => world.raw(txHash)))
    await attribute(id, { transfers: [{ txHash: txs[0] }, { txHash: txs[1] }] })
    await desk.post(`payments/${txs[0]}/release`, { tierId: 'basic' })
    const refundTxHash = await world.chain.send({
      from: world.at(4),
      to: world.at(OTHER_SAFE),
      value: `0x${PLUS.toString(16)}`,
      gas: '0x100000',
    })
    await world.chain.mine()
    const refunded = await desk.post(`payments/${txs[1]}/refund`, { refundTxHash })
    assert.equal(refunded.status, 200, refunded.text)
    await world.chain.rpc('anvil_reorg', [Number((await world.chain.block()).number) - blockNumber + 1, []])
    await world.chain.mine()
    await world.settle()
    assert.ok((await stands(world)).every(([, stand]) => !String(stand).startsWith('held')))
    for (const raw of raws) await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.settle()
    const fresh = await newestResidue()
    const again = await attribute(fresh, { transfers: [{ txHash: txs[0] }, { txHash: txs[1] }] })
    assert.equal(again.status, 200, again.text)
    assert.deepEqual(
      again.json.parts.map(({ status }: { status: string }) => status),
      ['held', 'refunded'],
    )
    await desk.post(`payments/${txs[0]}/dismiss`)
  })
})
