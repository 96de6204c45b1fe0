// Providers that lie about a read, or cannot answer: the ledger waits, retries, and never concludes that something does
// not exist because one provider did not show it.
import assert from 'node:assert/strict'
import { encodeFunctionData } from 'viem'
import { claimer } from '../../src/claims/claim.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import { type Hash, hash } from '../../src/domain/units.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import type { Call, Fault } from '../support/faults/names.ts'
import { ETHER, INTERVAL_SEC, ownerAbi } from '../support/world.ts'
import { attempt, attemptsOf, BASIC, cursorOf, isOneNode, nextPayer, type Play, paid, play, stateOf } from './stage.ts'

/** A read that hangs takes at least this long. */
const TIMEOUT_MS = 2_000
const stage = play({ rpcTimeoutMs: TIMEOUT_MS })
const { act } = stage

const headOf = async (world: { chain: { block(): Promise<{ number: string }> } }) =>
  Number((await world.chain.block()).number)

act(
  'F12: a provider that shows an older head rewinds nothing, and causes no send',
  ['staleHead'],
  async ({ world, proxy }) => {
    const first = await paid(world)
    await world.settle()
    const cursor = await cursorOf(world)
    const second = await paid(world)
    const before = (await attemptsOf(world)).length
    proxy.inject('staleHead', { method: 'eth_getBlockByNumber', times: 1_000 })
    for (let i = 0; i < 3; i++) {
      const outcome = await world.payments()
      assert.ok((await cursorOf(world)) >= cursor, 'the cursor never moves back')
      assert.ok((outcome.headBlock ?? 0) < (await headOf(world)))
    }
    assert.equal(await stateOf(world, first), 'minted')
    assert.equal((await attemptsOf(world)).length, before)
    proxy.calm()
    await world.settle()
    await isOneNode(world, second)
  },
)

act(
  'F13: a provider whose nonce is behind ours makes no second transaction at a used nonce',
  ['staleHead'],
  async ({ world, proxy }) => {
    await world.settle()
    const earlier = await paid(world)
    await world.settle()
    const payment = await paid(world)
    const before = (await attemptsOf(world)).length
    proxy.inject('staleHead', { method: 'eth_getTransactionCount', times: 2 })
    await world.payments()
    const nonces = (await attemptsOf(world)).map((row) => row.nonce)
    assert.equal(new Set(nonces).size, nonces.length)
    assert.ok(nonces.length - before <= 1)
    proxy.calm()
    await world.settle()
    for (const hash of [earlier, payment]) await isOneNode(world, hash)
  },
)

/** A payment minted in a block which the ledger has not followed yet, with blocks around it. */
async function unfollowedMint(world: Parameters<typeof paid>[0]): Promise<Hash> {
  const payment = await paid(world)
  await world.payments()
  await world.chain.mine(3)
  return payment
}

for (const [fault, times] of [
  ['emptyLogs', 1],
  ['emptyLogs', 1_000],
  ['partialLogs', 1],
  ['partialLogs', 1_000],
] as const) {
  const how = times === 1 ? 'once' : 'every time'
  act(
    `F14: ${fault} ${how}: no mint is overlooked: its block’s receipts have the logs`,
    [fault],
    async ({ world, proxy }) => {
      const payment = await unfollowedMint(world)
      proxy.inject(fault, { times })
      await world.payments()
      await isOneNode(world, payment)
      proxy.calm()
      await world.settle()
    },
  )
}

for (const fault of ['missingBlock', 'otherFork'] as const) {
  act(
    `F15: ${fault} in the middle of a range: the cursor stays before it until it is there`,
    [fault],
    async ({ world, proxy }) => {
      const payment = await unfollowedMint(world)
      const cursor = await cursorOf(world)
      const aim = { where: ({ params }: Call) => params[1] === true, times: 1_000, skip: 1 }
      proxy.inject(fault, aim)
      const error = await attempt(world.payments)
      // A header with another parent does not recompute. No other provider has a better one, so following halts until one does.
      if (fault === 'otherFork') assert.equal((await readHalt(world.pool))?.reason, 'unproven')
      else assert.notEqual(error, null)
      assert.equal(await cursorOf(world), cursor)
      assert.equal(await stateOf(world, payment), 'minting')
      proxy.calm()
      await world.payments()
      assert.equal(await readHalt(world.pool), null)
      await isOneNode(world, payment)
    },
  )
}

/** If a receipt is missing, we retry. If one does not recompute, following halts, because there is no other provider. */
async function isRefused(world: Parameters<typeof paid>[0], fault: 'nullReceipt' | 'foreignReceipt') {
  const error = await attempt(world.payments)
  if (fault === 'foreignReceipt') assert.equal((await readHalt(world.pool))?.reason, 'unproven')
  else assert.notEqual(error, null)
}

for (const fault of ['nullReceipt', 'foreignReceipt'] as const) {
  act(
    `F16: ${fault} of a payment’s transaction: we read it again, and never skip or believe it`,
    [fault],
    async ({ world, proxy }) => {
      const payment = await paid(world)
      const cursor = await cursorOf(world)
      proxy.inject(fault, { times: 1_000 })
      await isRefused(world, fault)
      assert.equal(await cursorOf(world), cursor)
      assert.equal(await stateOf(world, payment), undefined)
      proxy.calm()
      await world.settle()
      await isOneNode(world, payment)
    },
  )
  act(`F17: ${fault} of our own mint: it counts neither as mined nor as failed`, [fault], async ({ world, proxy }) => {
    const payment = await unfollowedMint(world)
    const before = (await attemptsOf(world)).length
    proxy.inject(fault, { times: 1_000 })
    await isRefused(world, fault)
    assert.equal(await stateOf(world, payment), 'minting')
    assert.equal((await attemptsOf(world)).length, before)
    proxy.calm()
    await world.payments()
    await isOneNode(world, payment)
  })
}

const ANYWHERE: readonly Fault[] = [
  'html',
  'giant',
  'slow',
  'truncated',
  'wrongId',
  'unavailable',
  'tooMany',
  'delay',
  'reset',
  'replyLost',
  'rateLimit',
  'internalError',
]
/** Each on its own stage, because after another fault batches are small for a while. */
const OF_BATCHES: readonly Fault[] = ['shortBatch', 'shuffled', 'batchRefused']

const readsAnswered = ({ act }: Play, fault: Fault) =>
  act(
    `F18: reads answered by ${fault}: the pass waits or asks again, and gets there`,
    [fault],
    async ({ world, proxy }) => {
      const payment = await unfollowedMint(world)
      const before = (await attemptsOf(world)).length
      // The chain is the one behind it: every other read passes through.
      const reads = ({ method }: Call) => method !== 'eth_sendRawTransaction'
      for (let skip = 0; skip < 4; skip++) proxy.inject(fault, { where: reads, times: 1, skip })
      for (let i = 0; i < 6; i++) {
        const cursor = await cursorOf(world)
        await attempt(world.payments)
        assert.ok((await cursorOf(world)) >= cursor)
      }
      proxy.calm()
      await world.payments()
      await isOneNode(world, payment)
      assert.equal((await attemptsOf(world)).length, before)
    },
  )
for (const fault of ANYWHERE) readsAnswered(stage, fault)
for (const fault of OF_BATCHES) readsAnswered(play({ rpcTimeoutMs: TIMEOUT_MS }), fault)

act(
  'F19: a read without an answer ends the pass in time, and the next one goes on',
  ['hang'],
  async ({ world, proxy }) => {
    const payment = await unfollowedMint(world)
    proxy.inject('hang', { method: 'eth_getLogs', times: 3 })
    const began = performance.now()
    assert.match((await attempt(world.payments)) ?? '', /no answer in time/)
    assert.ok(performance.now() - began < 10_000)
    await world.payments()
    await isOneNode(world, payment)
  },
)

act(
  'F20: a provider that gives logs of single blocks gets single requests, and none is skipped',
  ['rangeLimit'],
  async ({ world, proxy }) => {
    const payments: Hash[] = []
    for (let i = 0; i < 5; i++) {
      payments.push(await paid(world))
      await world.chain.mine(7)
    }
    proxy.inject('rangeLimit', { times: 100_000 })
    await world.payments()
    assert.equal(await cursorOf(world), await headOf(world), 'one pass, to the head')
    await world.settle()
    for (const payment of payments) await isOneNode(world, payment)
  },
)

act(
  'F21: an unreadable holding is read again, and neither passes nor is refused meanwhile',
  ['internalError'],
  async ({ world, proxy }) => {
    const account = nextPayer()
    await world.giveTokens(world.at(account), 1_000n * ETHER)
    const founder = await paid(world, account, ETHER / 20n)
    const basic = await paid(world)
    const holding = ({ method, params }: Call) =>
      method === 'eth_call' && (params[0] as { to?: string }).to === world.token
    proxy.inject('internalError', { where: holding, times: 1_000 })
    for (let i = 0; i < 3; i++) {
      await world.payments()
      await world.chain.mine()
    }
    assert.equal(await stateOf(world, founder), 'seen')
    assert.notEqual(await stateOf(world, basic), 'seen', 'no other payment waits for it')
    proxy.calm()
    await world.settle()
    await isOneNode(world, founder)
  },
)

act(
  'F22: a round that was mined and whose logs are kept from us is not paid a second time',
  ['emptyLogs'],
  async ({ world, proxy }) => {
    await paid(world)
    await world.settle()
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    const { txHash, reason } = await world.credit()
    assert.equal(reason, null)
    await world.chain.mine(2)
    const before = (await attemptsOf(world)).length
    proxy.inject('emptyLogs', { times: 1_000 })
    for (let i = 0; i < 3; i++) await world.credit()
    assert.equal((await attemptsOf(world)).length, before)
    proxy.calm()
    const [round] = await world.pool`SELECT tx_hash AS hash FROM rounds ORDER BY round DESC LIMIT 1`
    assert.equal(round?.hash, txHash)
    await world.rest()
  },
)

act(
  'F32: a provider hides an owner’s transfer beside a mint: the block’s receipts have it',
  ['partialLogs'],
  async ({ world, proxy }) => {
    const [giver, heir] = [nextPayer(), nextPayer()]
    const given = await paid(world, giver)
    await world.settle()
    await isOneNode(world, given)
    const nodeId = await world.read<bigint>('nodeOfRef', [given])
    await paid(world)
    await world.payments()
    // In one block with the mint, and after it.
    const data = encodeFunctionData({
      abi: ownerAbi,
      functionName: 'transferFrom',
      args: [world.at(giver), world.at(heir), nodeId],
    })
    await world.chain.send({ from: world.at(giver), to: world.factory, data, gas: '0x200000' })
    await world.chain.mine(2)
    proxy.inject('partialLogs', { times: 1_000 })
    // Checked before anything can repair it, because the reconciler would find a missed transfer.
    await world.payments()
    const [row] = await world.pool`SELECT owner FROM nodes WHERE node_id = ${Number(nodeId)}`
    assert.equal(row?.owner, world.at(heir))
    proxy.calm()
    await world.settle()
  },
)

act(
  'F23: a reorg between two reads of one range: nothing of the losing blocks is stored',
  [],
  async ({ world, proxy }) => {
    const payment = await world.pay(nextPayer(), BASIC)
    const raw = await world.raw(payment)
    await world.chain.mine(4)
    let done = false
    proxy.onAnswered = async ({ method, params }) => {
      // The ledger has the range's blocks, but not its receipts.
      if (done || method !== 'eth_getBlockByNumber' || params[1] !== true) return
      done = true
      await world.chain.reorg(4, [[raw, 2]])
    }
    await attempt(world.payments)
    assert.ok(done)
    proxy.onAnswered = () => {}
    await world.settle()
    await isOneNode(world, payment)
  },
)

act(
  'F114: a provider hangs during claims: each ends by its deadline with the state so far',
  ['hang'],
  async ({ world, proxy }) => {
    const accepted = await paid(world)
    await world.instance({ minter: null }).payments()
    const seen = await paid(world)
    const { ctx, payments } = world.instance({ minter: null, rules: { finality: 'finalized' } })
    await payments()
    assert.deepEqual([await stateOf(world, accepted), await stateOf(world, seen)], ['accepted', 'seen'])
    proxy.inject('hang', { times: 1_000 })
    // A pass that hangs as its reads do, without a pass's lock.
    const hangs = async () => assert.fail(`${(await ctx.chain.head()).number}`)
    const claim = claimer({ ...ctx, pollPolicy: { readMs: 200, waitMs: 200, looksMax: 40, pauseMs: 10 } }, hangs)
    const began = performance.now()
    for (const known of [accepted, seen]) assert.deepEqual(await claim(known), { kind: 'known' })
    await assert.rejects(claim(hash(`0x${'ee'.repeat(32)}`)), ChainFault)
    assert.ok(performance.now() - began < 2 * TIMEOUT_MS, 'no claim waited for the provider')
  },
)
