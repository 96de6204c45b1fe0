// Payments by contract wallets, found and split: if a payments wallet's balance differs, the follower traces the block,
// and each inner transfer becomes a payment of its own. What a trace does not prove stays one residue.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { innerRef } from '../../src/chain/digest.ts'
import type { Hash } from '../../src/domain/units.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
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
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n

const inWorld = worldTest({ prepare: (world) => putForwarder(world) })

/** The same context, which counts the balances and traces it reads. */
function counting(world: World) {
  const calls = { balanceAt: 0, blockTransfers: 0 }
  const { balanceAt, blockTransfers } = world.ctx.chain
  const chain: typeof world.ctx.chain = {
    ...world.ctx.chain,
    balanceAt: (...args) => {
      calls.balanceAt++
      return balanceAt(...args)
    },
    blockTransfers: (...args) => {
      calls.blockTransfers++
      return blockTransfers(...args)
    },
  }
  return { instance: world.instance({ chain }), calls }
}

describe('a payment by a contract wallet', () => {
  inWorld('becomes a payment with its own transaction, sender and ref, held as a contract wallet’s', async (world) => {
    const { txHash, block } = await payInside(world, BASIC)
    await world.settle()
    const [payment, ...others] = await stored(world)
    assert.deepEqual(others, [])
    assert.deepEqual(payment, {
      txHash,
      innerIndex: 1,
      from: FORWARDER,
      value: BASIC,
      block,
      stands: 'held contractWallet',
    })
    const [row] = await world.pool`SELECT ref, tier_id FROM payments WHERE tx_hash = ${txHash}`
    assert.deepEqual([row?.ref, row?.tier_id], [innerRef(txHash, world.at(3), 1), 'basic'])
    await checkInvariants(world)
  })

  inWorld('is minted to the contract once the operator has released it', async (world) => {
    const { txHash } = await payInside(world, BASIC)
    await world.settle()
    const actor = { name: 'ada', requestId: null }
    const released = await releasePayment(world.ctx, actor, { payment: txHash })
    assert.ok('status' in released && released.status === 'accepted', JSON.stringify(released))
    await world.settle()
    const [minted] = await world.pool`
      SELECT n.owner, n.ref, p.state FROM payments p JOIN nodes n ON n.payment_id = p.id WHERE p.tx_hash = ${txHash}`
    assert.deepEqual({ ...minted }, { owner: FORWARDER, ref: innerRef(txHash, world.at(3), 1), state: 'minted' })
    await checkInvariants(world)
  })

  inWorld('is separated from others in one transaction, one block, and one range of blocks', async (world) => {
    await world.chain.rpc('anvil_setCode', [SPLITTER, splitterOf(world.at(3), [BASIC, PLUS, BASIC])])
    await world.chain.setBalance(SPLITTER, ETHER)
    const call = { to: FORWARDER, gas: '0x60000' as const, data: forwardTo(world.at(3)) }
    const value = `0x${BASIC.toString(16)}` as const
    const sent: Hash[] = []
    sent.push(await world.chain.send({ ...call, from: world.at(6), value }))
    sent.push(await world.chain.send({ from: world.at(7), to: SPLITTER, gas: '0x80000' }))
    sent.push(await world.chain.send({ ...call, from: world.at(8), value }))
    await world.chain.mine(5)
    const later = []
    for (let i = 0; i < 20; i++) later.push((await payInside(world, BASIC, { from: 9 })).txHash)
    const paid = await world.pay(5, BASIC)
    await world.chain.mine(3)
    const { instance, calls } = counting(world)
    await instance.payments()
    const found = await stored(world)
    assert.deepEqual(
      found.map(({ txHash, innerIndex, value: wei }) => [txHash, innerIndex, wei]),
      [
        [sent[0], 1, BASIC],
        [sent[1], 1, BASIC],
        [sent[1], 2, PLUS],
        [sent[1], 3, BASIC],
        [sent[2], 1, BASIC],
        ...later.map((txHash) => [txHash, 1, BASIC]),
      ],
    )
    assert.ok(found.every(({ stands }) => stands === 'held contractWallet' || stands === 'held tierAllowance'))
    assert.equal(calls.blockTransfers, 21)
    const [plain] = await world.pool`SELECT state FROM payments WHERE tx_hash = ${paid}`
    assert.equal(plain?.state, 'minting')
    await world.settle()
    await checkInvariants(world)
  })

  inWorld('costs nothing if there is none: one balance a block, and no trace', async (world) => {
    const { instance, calls } = counting(world)
    await instance.payments()
    const before = { ...calls }
    await instance.payments()
    assert.deepEqual(calls, before)
    await world.pay(5, BASIC)
    await world.chain.mine(50)
    await instance.payments()
    assert.deepEqual(calls, { ...before, balanceAt: before.balanceAt + 1 })
    assert.equal((await world.pool`SELECT FROM trace_days`).length, 0)
  })

  inWorld('to another wallet of ours, in the same transaction, is another one', async (world) => {
    const other = world.at(12)
    const watchedFrom = Number((await world.chain.block()).number) + 1
    await world.pool`
      INSERT INTO payment_wallets (wallet, from_block, from_time, watched_from, entered_by) VALUES (${other}, 1000000, 0, ${watchedFrom}, 'test')`
    await world.chain.mine()
    await world.payments()
    const code = `0x${[world.at(3), other].map((to) => splitterOf(to, [BASIC]).slice(2)).join('')}`
    await world.chain.rpc('anvil_setCode', [SPLITTER, code])
    await world.chain.setBalance(SPLITTER, ETHER)
    const txHash = await world.call(7, SPLITTER, '0x')
    await world.settle()
    const rows =
      await world.pool`SELECT wallet, inner_index, ref FROM payments WHERE tx_hash = ${txHash} ORDER BY wallet`
    const expected = [world.at(3), other].map((wallet) => [wallet, 1, innerRef(txHash, wallet, 1)]).sort()
    assert.deepEqual(
      rows.map((row) => [row.wallet, row.inner_index, row.ref]),
      expected,
    )
  })
})

describe('what leaves the wallet by an internal call', () => {
  inWorld('is an outflow with its transaction, beside what arrives in the same block', async (world) => {
    await world.chain.rpc('anvil_setCode', [world.at(3), leakOf(BASIC)])
    const out = await world.chain.send({
      from: world.at(9),
      to: world.at(3),
      gas: '0x60000',
      data: forwardTo(world.at(8)),
    })
    const value = `0x${(BASIC * 4n).toString(16)}` as const
    const inside = { from: world.at(6), to: FORWARDER, gas: '0x60000' as const, data: forwardTo(world.at(3)), value }
    const paid = await world.chain.send(inside)
    await world.chain.mine(2)
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
    await world.settle()
    const outflows =
      await world.pool`SELECT tx_hash, inner_index, to_address, value_wei, fee_wei FROM wallet_outflows ORDER BY to_address DESC`
    // If the other transfer arrives, the wallet's code pays again, to nowhere.
    const pays = { inner_index: 1, value_wei: BASIC, fee_wei: 0n }
    assert.deepEqual(
      outflows.map((row) => ({ ...row })),
      [
        { tx_hash: out, to_address: world.at(8), ...pays },
        { tx_hash: paid, to_address: `0x${'0'.repeat(40)}`, ...pays },
      ],
    )
    assert.equal((await stored(world)).filter(({ txHash }) => txHash === paid).length, 1)
  })
})

describe('what is too little to buy anything', () => {
  inWorld('is not traced: one residue over the blocks of the pass', async (world) => {
    const { block: first } = await payInside(world, 1n)
    await world.chain.mine(5)
    const { txHash } = await payInside(world, BASIC)
    const { block: last } = await payInside(world, BASIC - 1n)
    const { instance, calls } = counting(world)
    await instance.payments()
    assert.equal(calls.blockTransfers, 1)
    const [traced, residue, ...others] = await stored(world)
    assert.deepEqual(others, [])
    assert.deepEqual([traced?.txHash, traced?.value], [txHash, BASIC])
    assert.deepEqual([residue?.txHash, residue?.value, residue?.block], [null, BASIC, last])
    const [verdict] = await world.pool<{ evidence: { fromBlock: number; toBlock: number } }[]>`
      SELECT v.evidence FROM payment_verdicts v JOIN payments p ON p.id = v.payment_id WHERE p.tx_hash IS NULL`
    assert.deepEqual([verdict?.evidence.fromBlock, verdict?.evidence.toBlock], [first, last])
    await checkInvariants(world)
  })

  inWorld('is dust if a trace finds it beside a payment, like a plain transfer', async (world) => {
    await world.chain.rpc('anvil_setCode', [SPLITTER, splitterOf(world.at(3), [BASIC, 7n, 9n])])
    await world.chain.setBalance(SPLITTER, ETHER)
    await world.call(7, SPLITTER, '0x')
    await world.settle()
    assert.deepEqual(await stands(world), [[BASIC, 'held contractWallet']])
    const dust = await world.pool`SELECT inner_index, value_wei FROM dust ORDER BY 1`
    assert.deepEqual(
      dust.map((row) => [row.inner_index, row.value_wei]),
      [
        [2, 7n],
        [3, 9n],
      ],
    )
    await checkInvariants(world)
  })
})

describe('if no price is set', () => {
  inWorld('as in a ledger that was begun again, all is traced', async (world) => {
    await world.chain.mine()
    const { txHash } = await payInside(world, BASIC)
    await payInside(world, BASIC)
    await world.pool`UPDATE tiers SET from_block = 1000`
    await world.payments()
    const found = await stored(world)
    assert.deepEqual([found.length, found[0]?.txHash, found[0]?.from], [2, txHash, FORWARDER])
  })
})

describe('a trace is not believed', () => {
  /** What a first pass files if traces have this answer. */
  async function filedWith(world: World, answer: (found: unknown[] | null) => unknown[] | null) {
    const { blockTransfers } = world.ctx.chain
    const chain: typeof world.ctx.chain = {
      ...world.ctx.chain,
      blockTransfers: async (...args) => answer(await blockTransfers(...args)) as never,
    }
    await world.instance({ chain }).payments()
    return await stands(world)
  }

  inWorld('if it does not add up to the difference: too little, too much, or none at all', async (world) => {
    await payInside(world, BASIC)
    const residue = [[BASIC, 'held unattributed']]
    assert.deepEqual(await filedWith(world, () => []), residue)
    const [day] = await world.pool`SELECT traced, failed FROM trace_days`
    assert.deepEqual({ ...day }, { traced: 1, failed: 1 })
    await payInside(world, PLUS)
    const twice = await filedWith(world, (found) => found?.flatMap((transfer) => [transfer, transfer]) ?? null)
    assert.deepEqual(twice, [...residue, [PLUS, 'held unattributed']])
    await payInside(world, BASIC)
    const less = (found: unknown[] | null) =>
      found?.map((transfer) => ({ ...(transfer as object), valueWei: BASIC - 1n })) ?? null
    assert.equal((await filedWith(world, less)).length, 3)
    await world.settle()
    await checkInvariants(world)
  })

  inWorld('if there is none, and one pass does not request it again and again', async (world) => {
    for (let i = 0; i < 6; i++) await payInside(world, BASIC)
    let asked = 0
    const found = await filedWith(world, () => {
      asked++
      return null
    })
    assert.deepEqual([found.length, asked], [6, 3])
    assert.ok(found.every(([, stands]) => stands === 'held unattributed'))
  })

  test('if two providers report two senders, or one of two reports none', async () => {
    const { world, first, second } = await startTwoProviders()
    try {
      await putForwarder(world)
      await world.settle()
      await payInside(world, BASIC)
      second.rule = async (call, forward) => {
        if (!call.method.includes('trace')) return undefined
        const other = world.at(11).slice(2)
        return JSON.parse(JSON.stringify(await forward()).replaceAll(FORWARDER.slice(2), other))
      }
      await world.payments()
      assert.deepEqual(await stands(world), [[BASIC, 'held unattributed']])
      second.rule = (call) => (call.method.includes('trace') ? { error: { code: -32601, message: 'no' } } : undefined)
      await payInside(world, BASIC)
      await world.payments()
      assert.equal((await stands(world)).length, 2)
      second.rule = () => undefined
      first.seen.length = 0
      await payInside(world, PLUS)
      await world.pool`UPDATE residue_traces SET tried_at = now() - interval '2 days'`
      await world.payments()
      const held = (await stands(world)).filter(([, stands]) => stands !== 'orphaned unattributed')
      // It also splits what it could not split before.
      assert.deepEqual(
        held.map(([value]) => value),
        [BASIC, BASIC, PLUS],
      )
      assert.ok(held.every(([, stands]) => stands === 'held contractWallet'))
    } finally {
      await world.close()
    }
  })
})

describe('a traced payment', () => {})
