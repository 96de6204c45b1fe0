// The audit of the payments wallet: it finds value that no transaction of the ledger explains, in its block, files it
// once, and rewinds it with its block. Each test has its own world, because it breaks it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { residueRef } from '../../src/chain/digest.ts'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { TestTransaction } from '../support/anvil.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { FORWARDER, forwardTo, payInside, putForwarder, traceNothing } from '../support/forwarder.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

interface Filed {
  id: number
  ref: Hash
  value: bigint
  block: number
  state: string
  evidence: {
    fromBlock: number
    toBlock: number
    balanceBeforeWei: string | null
    balanceAfterWei: string
    expectedWei: string
  }
}

const inWorld = worldTest({ prepare: (world) => putForwarder(traceNothing(world)) })

/** Payments filed by the audit, by block. */
const filed = (world: World) =>
  world.pool<Filed[]>`
    SELECT p.id, p.ref, p.value_wei AS value, p.block_number AS block, p.state, v.evidence FROM payments p
    LEFT JOIN payment_verdicts v ON v.payment_id = p.id AND v.decided_by = 'pass'
    WHERE p.tx_hash IS NULL ORDER BY p.block_number`
const places = async (world: World) => (await filed(world)).map(({ value, block, state }) => [value, block, state])

/** The same context, which counts the balances it reads. */
function counting(world: World) {
  let readings = 0
  const chain = {
    ...world.ctx.chain,
    balanceAt: (...args: Parameters<typeof world.ctx.chain.balanceAt>) => {
      readings++
      return world.ctx.chain.balanceAt(...args)
    },
  }
  return { instance: world.instance({ chain }), readings: () => readings }
}

inWorld('a filed payment has the ledger’s chain id, even if a provider reports another one', async (world) => {
  const { hash: genesisHash } = await world.chain.block(0)
  const { chainId } = world.chain
  await recordIdentity(world.pool, { chainId, genesisHash, factory: world.factory, startBlock: 1 })
  let asked = 0
  const chain = { ...world.ctx.chain, chainId: async () => (asked++ === 0 ? chainId : 999) }
  const { hash } = await world.chain.block((await payInside(world, BASIC)).block)
  await world.instance({ chain }).payments()
  const [residue] = await filed(world)
  assert.equal(residue?.ref, residueRef(chainId, world.at(3), hash as Hash, BASIC))
})

inWorld('value that arrives by an internal call is held, unattributed, with the block it arrived in', async (world) => {
  await world.pay(5, BASIC)
  await world.chain.mine(7)
  const { block } = await payInside(world, BASIC)
  await world.chain.mine(20)
  const paid = await world.pay(7, BASIC)
  await world.chain.mine()
  assert.equal((await world.payments()).held, 1)
  const [row = assert.fail('nothing was filed'), ...others] = await filed(world)
  assert.deepEqual([row.value, row.block, row.state, others.length], [BASIC, block, 'held', 0])
  assert.deepEqual([row.evidence.fromBlock, row.evidence.toBlock], [block, block])
  const { balanceBeforeWei, balanceAfterWei, expectedWei } = row.evidence
  assert.equal(BigInt(balanceAfterWei ?? 0) - BigInt(balanceBeforeWei ?? 0), BASIC)
  assert.equal(expectedWei, balanceBeforeWei)
  assert.equal((await paymentOf(world, paid))?.state, 'minting', 'no other payment waits for it')
  await checkInvariants(world)
  assert.equal((await filed(world)).length, 1, 'and it is filed once')
})

inWorld('several residues in one range are each found in their own block, also ether out of nowhere', async (world) => {
  const { block: first } = await payInside(world, BASIC + 1n)
  await world.chain.mine(5)
  const { block: second } = await payInside(world, BASIC)
  const { block: third } = await payInside(world, BASIC + 3n)
  await world.chain.mine(9)
  const balance = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(3), 'latest']))
  // A validator's withdrawal, as far as this chain can play one: the head's header lacks it, the next block's has it.
  const { number } = await world.chain.block()
  await world.chain.setBalance(world.at(3), balance + BASIC + 4n)
  await world.chain.mine(3)
  await world.payments()
  assert.deepEqual(await places(world), [
    [BASIC + 1n, first, 'held'],
    [BASIC, second, 'held'],
    [BASIC + 3n, third, 'held'],
    [BASIC + 4n, Number(number) + 1, 'held'],
  ])
  await checkInvariants(world)
})

inWorld('if nothing differs, the audit costs one reading a block, and none for a block it has seen', async (world) => {
  const { instance, readings } = counting(world)
  await instance.payments()
  const before = readings()
  await instance.payments()
  assert.equal(readings() - before, 0)
  const paid = await world.pay(5, BASIC)
  await world.chain.mine(50)
  await instance.payments()
  assert.equal(readings() - before, 1)
  assert.equal((await paymentOf(world, paid))?.state, 'minting')
})

/** An instance whose audit is interrupted by something else after it has read the balance at the cursor. */
function interrupted(world: World, meanwhile: () => Promise<unknown>) {
  let pending = true
  const chain: typeof world.ctx.chain = {
    ...world.ctx.chain,
    async balanceAt(owner, at) {
      const wei = await world.ctx.chain.balanceAt(owner, at)
      if (pending) {
        pending = false
        await meanwhile()
      }
      return wei
    },
  }
  return world.instance({ chain })
}

test('if a provider lacks the block before the first, the books wait, and miss no later payment', async () => {
  const world = await startWorld()
  try {
    await putForwarder(world)
    const { block } = await payInside(world, 7n)
    const { chain, rules } = world.ctx
    // The follower has read it before.
    let asked = 0
    const hidden = async (number: number) => (number < rules.startBlock && asked++ > 0 ? null : chain.block(number))
    const lines: string[] = []
    const warn = (fields: { err?: Error }, line: string) => lines.push(`${line}: ${fields.err?.message}`)
    const log = { ...world.ctx.log, warn } as unknown as typeof world.ctx.log
    await world.instance({ chain: { ...chain, block: hidden }, log }).payments()
    assert.deepEqual(await places(world), [])
    assert.match(lines.join('\n'), /could not be checked.* block 0, .*RPC_URL/, 'the operator reads what to do')
    await world.settle()
    assert.deepEqual(await places(world), [[7n, block, 'held']])
    await checkInvariants(world)
  } finally {
    await world.close()
  }
})

inWorld('value whose block is lost while it is being located is not filed', async (world) => {
  await payInside(world, BASIC)
  const { payments } = interrupted(world, async () => {
    await world.chain.reorg(1)
    await world.chain.mine()
    await world.credit()
  })
  assert.equal((await payments()).held, 0)
  assert.deepEqual(await places(world), [])
  await world.settle()
  assert.deepEqual(await places(world), [])
  assert.equal((await world.pool`SELECT FROM wallet_outflows`).length, 0)
  await checkInvariants(world)
})

inWorld('a block that is lost while its balance is being read does not count as audited', async (world) => {
  await world.chain.mine(2)
  const { number } = await world.chain.block()
  const inside: TestTransaction = {
    ...{ from: world.at(6), to: FORWARDER, gas: '0x200000' },
    ...{ data: forwardTo(world.at(3)), value: `0x${BASIC.toString(16)}` },
  }
  const { payments } = interrupted(world, async () => {
    await world.chain.reorg(2, [[inside, 0]])
    await world.credit()
  })
  await payments()
  await world.payments()
  assert.deepEqual(await places(world), [[BASIC, Number(number) - 1, 'held']])
})

inWorld('a state that the provider does not have is no balance of nothing', async (world) => {
  await world.chain.mine()
  const proxy = await startFaultProxy({ target: world.chain.rpcUrl })
  const rpc = createRpc({ urls: [proxy.url], log: silentLog })
  try {
    const watched = { factory: world.factory, wallets: [], signers: [world.at(1), world.at(2)] }
    for (const method of ['eth_getProof', 'eth_getBalance']) proxy.inject('internalError', { method, times: 100 })
    await world.instance({ chain: createChainReader(rpc, watched) }).payments()
    assert.ok((proxy.fired.get('internalError') ?? 0) > 0)
    assert.equal((await world.pool`SELECT FROM wallet_outflows`).length, 0)
    await world.settle()
    assert.deepEqual(await places(world), [])
  } finally {
    await rpc.close()
    await proxy.close()
  }
})

inWorld('a provider that refuses a balance delays no payment', async (world) => {
  const chain: typeof world.ctx.chain = {
    ...world.ctx.chain,
    balanceAt: () => Promise.reject(new Error('out of order')),
  }
  await payInside(world, BASIC)
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.instance({ chain }).payments()
  assert.equal((await paymentOf(world, paid))?.state, 'minting')
  assert.deepEqual(await places(world), [])
  await world.settle()
  assert.equal((await filed(world)).length, 1)
})

test('the first block that is followed counts, and nothing before it', async () => {
  const first = 4
  const world = await startWorld({ startBlock: first })
  try {
    const early = await world.pay(5, BASIC)
    assert.equal(Number((await world.chain.mine()).number), first - 1)
    const paid = await world.pay(6, BASIC)
    assert.equal(Number((await world.chain.mine()).number), first)
    await world.settle()
    assert.equal(await paymentOf(world, early), undefined)
    assert.equal((await paymentOf(world, paid))?.state, 'minted')
    assert.deepEqual(await places(world), [])
    assert.equal((await world.pool`SELECT FROM wallet_outflows`).length, 0)
  } finally {
    await world.close()
  }
})
