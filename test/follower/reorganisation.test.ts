// Reorganisations: the follower rewinds what the blocks brought, takes up once what other blocks bring, and the service
// sends its own transactions again. Each test has its own world, because it breaks it.
import assert from 'node:assert/strict'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import type { Hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { FOREVER } from '../support/factory.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

const inWorld = worldTest()
const stateOf = async (world: World, txHash: Hash) => (await paymentOf(world, txHash))?.state
const reorganisations = (world: World) =>
  world.pool`SELECT detail FROM audit WHERE action = 'reorganisation' ORDER BY id`

/** The last transaction stored by a sender. */
async function lastSent(world: World): Promise<Hash> {
  const [row] = await world.pool<{ hash: Hash }[]>`
    SELECT tx_hash AS hash FROM outbox_attempts ORDER BY outbox_id DESC, attempt DESC LIMIT 1`
  return row?.hash ?? assert.fail('nothing was sent')
}

/** A node of account 5, minted in the block before the head, and its payment two blocks before. */
async function mintedNode(world: World): Promise<{ paid: Hash; mint: Hash }> {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  const mint = await lastSent(world)
  await world.chain.mine()
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  return { paid, mint }
}

/** Waits until the only node's turn is due, and sends the round that pays it; returns the round's transaction. */
async function sentRound(world: World): Promise<Hash> {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const { txHash, reason } = await world.credit()
  assert.equal(reason, null)
  return txHash ?? assert.fail('no round')
}

inWorld('a node whose payment disappears belongs to none, and to that payment if it comes back', async (world) => {
  const { paid } = await mintedNode(world)
  const goBack = async () => {
    const [fork, cursor] = [await readBlock(world.pool, 1), await readCursor(world.pool)]
    assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
  }
  const unpaid = async () => (await world.pool`SELECT FROM nodes WHERE payment_id IS NULL`).count
  const { chain } = world.ctx
  // As if the payments wallet had changed by now.
  const observe: typeof chain.observe = async (...asked) => ({ ...(await chain.observe(...asked)), transfers: [] })
  await goBack()
  await world.instance({ minter: null, chain: { ...chain, observe } }).payments()
  assert.deepEqual([await stateOf(world, paid), await unpaid()], ['orphaned', 1])
  const [{ number } = assert.fail()] = await world.pool<{ number: number }[]>`SELECT block_number AS number FROM nodes`
  // Reads the payment again, above its node, as if a mint without a guard had stayed while its payment moved.
  const { transfers } = await chain.observe(number - 1, number - 1, null)
  const late: typeof chain.observe = async (...asked) => {
    const range = await chain.observe(...asked)
    const last = range.blocks.at(-1) ?? assert.fail()
    const at = { blockNumber: last.number, blockHash: last.hash, blockTime: last.time, txIndex: 0 }
    return { ...range, transfers: transfers.map((transfer) => ({ ...transfer, ...at })) }
  }
  await world.chain.mine()
  await world.instance({ minter: null, chain: { ...chain, observe: late } }).payments()
  assert.deepEqual([await stateOf(world, paid), await unpaid()], ['minted', 0])
})

inWorld('a payment that a reorganisation drops is orphaned and never minted', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.chain.mine()
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minting')
  await world.chain.reorg(2)
  await world.settle()
  await world.chain.mine(2)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'orphaned')
  assert.equal(await world.read('lastId'), 0n)
  await checkInvariants(world)
})

inWorld('a payment that a reorganisation drops before anything was sent for it is never minted', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  assert.equal(await stateOf(world, paid), 'accepted')
  await world.chain.reorg(1)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'orphaned')
  assert.equal(await world.read('lastId'), 0n)
  await checkInvariants(world)
})

inWorld('a send of the payments wallet goes with its block, and counts once in its next block', async (world) => {
  const sent = await world.pay(3, BASIC, world.at(9))
  const raw = await world.raw(sent)
  await world.chain.mine()
  await world.payments()
  const outflows = () => world.pool`SELECT block_number AS block FROM wallet_outflows WHERE tx_hash = ${sent}`
  assert.equal((await outflows()).length, 1)
  await world.chain.reorg(1)
  await world.payments()
  assert.equal((await outflows()).length, 0)
  await checkInvariants(world)
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.payments()
  assert.equal((await outflows()).length, 1)
  await checkInvariants(world)
})

inWorld('a payment that returns in another block is minted once, even if its first mint was sent', async (world) => {
  const paid = await world.pay(5, BASIC)
  const raw = await world.raw(paid)
  await world.chain.mine()
  await world.payments()
  const first = await lastSent(world)
  await world.chain.mine(1)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  await world.chain.reorg(2, [[raw, 1]])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.read('lastId'), 1n)
  assert.equal((await reorganisations(world)).length, 1)
  // The first mint was bound to a block that no longer exists, so the contract refused it.
  assert.equal(await world.succeeded(first), false)
  await checkInvariants(world)
})

inWorld('a mint that is mined on a fork without its payment reverts', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  const mint = await lastSent(world)
  const raw = await world.raw(mint)
  await world.chain.reorg(1, [])
  await world.chain.rpc('eth_sendRawTransaction', [raw]).catch(() => {})
  await world.chain.mine()
  assert.equal(await world.succeeded(mint), false)
  assert.equal(await world.read('lastId'), 0n)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'orphaned')
  await checkInvariants(world)
})

inWorld('a payment that is double-spent away is never minted', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  const { nonce } = await world.chain.rpc<{ nonce: `0x${string}` }>('eth_getTransactionByHash', [paid])
  await world.chain.reorg(1, [[{ from: world.at(5), to: world.at(6), value: '0x1', nonce, gas: '0x7530' }, 0]])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'orphaned')
  assert.equal(await world.read('lastId'), 0n)
  await checkInvariants(world)
})

inWorld('a mint whose block is lost is sent again if its payment stays, and mints one node', async (world) => {
  const { paid, mint } = await mintedNode(world)
  await world.chain.reorg(1)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minting')
  assert.deepEqual(
    [...(await world.pool`SELECT nodes, owners, sales_wei FROM totals`)],
    [{ nodes: 0, owners: 0, sales_wei: 0n }],
  )
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.succeeded(mint), true, 'the same bytes did it')
  await checkInvariants(world)
})

inWorld('a round whose block is lost is sent again and credits once', async (world) => {
  await mintedNode(world)
  const round = await sentRound(world)
  await world.chain.mine()
  await world.payments()
  const [before] = await world.pool`SELECT total_wei FROM rounds`
  assert.ok(before)
  await world.chain.reorg(1)
  await world.payments()
  assert.equal((await world.pool`SELECT FROM rounds`).length, 0)
  assert.equal((await world.credit()).reason, 'pending')
  await world.chain.mine()
  await world.rest()
  assert.equal(await world.succeeded(round), true)
  const [after] = await world.pool`SELECT total_wei FROM rounds WHERE round = 1`
  assert.deepEqual(after, before)
  await checkInvariants(world)
})

inWorld('two rounds, one mined and one pending, are both paid after a reorg of both', async (world) => {
  await mintedNode(world)
  await sentRound(world)
  await world.chain.mine()
  await world.payments()
  const second = await sentRound(world)
  assert.ok(second)
  // From before the first round's block on. The clock of the new blocks must not fall behind the turn.
  const [round] = await world.pool`SELECT block_number FROM rounds WHERE round = 1`
  const depth = Number((await world.chain.block()).number) - round?.block_number + 1
  const late = Number((await world.chain.block()).timestamp)
  await world.chain.reorg(depth)
  await world.chain.setNextTime(late + 1)
  await world.chain.mine()
  await world.rest()
  const turns = await world.pool`SELECT turn_no FROM turns ORDER BY turn_no`
  assert.deepEqual(
    turns.map((turn) => turn.turn_no),
    [1, 2],
  )
  await checkInvariants(world)
})

inWorld('withdrawals and transfers in lost blocks leave no trace, kept ones remain', async (world) => {
  await mintedNode(world)
  await sentRound(world)
  await world.rest()
  const kept = await world.act(5, 'withdraw', [1n, world.at(6), 1000n])
  await world.payments()
  await world.act(5, 'withdraw', [1n, world.at(6), 500n])
  await world.act(5, 'withdraw', [1n, world.at(6), 10n ** 24n])
  await world.act(5, 'transferFrom', [world.at(5), world.at(7), 1n])
  await world.payments()
  const now = async () => {
    const [node] = await world.pool`SELECT owner, withdrawn_wei FROM nodes`
    return [node?.owner, node?.withdrawn_wei, (await world.pool`SELECT FROM withdrawals`).length]
  }
  assert.deepEqual(await now(), [world.at(7), 1500n, 3])
  await world.chain.reorg(3)
  await world.payments()
  assert.deepEqual(await now(), [world.at(5), 1000n, 1])
  assert.equal(await world.succeeded(kept), true)
  await checkInvariants(world)
})

inWorld('cohorts opened on a lost fork are opened again', async (world) => {
  const before = await world.pool`SELECT cohort, next_due FROM cohorts ORDER BY cohort`
  assert.equal(before.length, 30)
  const [opened] = await world.pool`SELECT min(block_number) AS block FROM cohorts`
  const depth = Number((await world.chain.block()).number) - opened?.block + 1
  // A transfer makes it a different block.
  await world.chain.reorg(depth, [[{ from: world.at(9), to: world.at(8), value: '0x1', gas: '0x7530' }, 0]])
  await world.payments()
  assert.equal((await world.pool`SELECT FROM cohorts`).length, 0)
  await world.settle()
  assert.deepEqual(await world.pool`SELECT cohort, next_due FROM cohorts ORDER BY cohort`, before)
  await mintedNode(world)
  await checkInvariants(world)
})

inWorld('a decision of the operator outlives the block of its payment', async (world) => {
  const paid = await world.pay(5, BASIC + 1n)
  const raw = await world.raw(paid)
  await world.settle()
  await world.pool`UPDATE payments SET state = 'refunded', reason = NULL WHERE tx_hash = ${paid}`
  await world.pool`
    INSERT INTO payment_verdicts (payment_id, verdict, evidence, decided_by)
    SELECT id, 'refunded', '{}', 'operator' FROM payments WHERE tx_hash = ${paid}`
  const [row] = await world.pool`SELECT block_number FROM payments WHERE tx_hash = ${paid}`
  const depth = Number((await world.chain.block()).number) - row?.block_number + 1
  await world.chain.reorg(depth)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'orphaned')
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'refunded')
  assert.equal(await world.read('lastId'), 0n)
})

inWorld('a held payment with a foreign mint is held again if a reorg removes that mint', async (world) => {
  await world.pool`INSERT INTO senders (address, label, reason, added_by) VALUES (${world.at(5)}, 'exchange', 'a test', 'test')`
  const paid = await world.pay(5, BASIC)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'held')
  await mintElsewhere(world, paid)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  await world.chain.reorg(1, [[{ from: world.at(9), to: world.at(8), value: '0x1', gas: '0x7530' }, 0]])
  await world.settle()
  assert.deepEqual(await paymentOf(world, paid), {
    ...{ state: 'held', reason: 'senderDenied', nodeId: null, tierId: 'basic' },
  })
  assert.equal(await world.read('lastId'), 0n)
})

inWorld('our own mint replaces a foreign one that a reorg removed', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  // Our mint disappears; someone with the same key mints the payment with our nonce.
  await world.chain.rpc('anvil_dropTransaction', [await lastSent(world)])
  await mintElsewhere(world, paid)
  const taken = await world.chain.block()
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  // Gone with everything above the payment, so the nonce is free again.
  const depth = Number((await world.chain.block()).number) - Number(taken.number) + 1
  await world.chain.reorg(depth)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.read('lastId'), 1n)
  await checkInvariants(world)
})

inWorld('a payment whose own mint was displaced is minted again if the foreign mint disappears', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  await world.chain.rpc('anvil_dropTransaction', [await lastSent(world)])
  const displacing = await world.chain.send({ from: world.at(1), to: world.at(8), value: '0x1', gas: '0x7530' })
  await world.chain.mine()
  await mintElsewhere(world, paid)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  await world.chain.reorg(1, [[{ from: world.at(9), to: world.at(8), value: '0x1', gas: '0x7530' }, 0]])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.read('lastId'), 1n)
  await checkInvariants(world, { foreign: [displacing] })
})

inWorld('a nonce that became free below ours is filled, so that ours is not stuck behind it', async (world) => {
  await world.chain.send({ from: world.at(1), to: world.at(8), value: '0x1', gas: '0x7530' })
  await world.chain.mine()
  const { paid, mint } = await mintedNode(world)
  // Payment and mint return; the foreign transaction before them does not, and the service does not send it again.
  const [paymentRaw, mintRaw] = [await world.raw(paid), await world.raw(mint)]
  await world.chain.reorg(3)
  await world.chain.rpc('eth_sendRawTransaction', [paymentRaw])
  await world.chain.rpc('eth_sendRawTransaction', [mintRaw])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.read('lastId'), 1n)
  await checkInvariants(world)
})

inWorld('a nonce that became free is not filled at a price that is never offered', async (world) => {
  const spent = await world.chain.send({ from: world.at(1), to: world.at(8), value: '0x1', gas: '0x7530' })
  await world.chain.mine()
  const { paid } = await mintedNode(world)
  const raw = await world.raw(paid)
  await world.chain.reorg(3)
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.instance({ rules: { feeCapWei: 1n } }).payments()
  assert.equal((await world.pool`SELECT FROM outbox WHERE call -> 'orders' = '[]'`).count, 0)
  await world.settle()
  assert.deepEqual([await stateOf(world, paid), await world.succeeded(spent)], ['minted', null])
})

inWorld('a provider that lags behind the ledger rewinds nothing, and gets neither reads nor sends', async (world) => {
  const { paid } = await mintedNode(world)
  const waits = await world.pay(6, BASIC)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  assert.equal(await stateOf(world, waits), 'accepted')
  const cursor = await world.pool`SELECT * FROM cursors`
  const old = (await world.ctx.chain.block(3)) ?? assert.fail()
  const sent = await world.pool`SELECT FROM outbox`
  const lagging = world.instance({
    chain: { ...world.ctx.chain, head: async () => old },
    contract: { ...world.ctx.contract, counters: () => assert.fail('asked for a block that it does not have') },
  })
  assert.equal((await lagging.payments()).ran, true)
  assert.equal((await lagging.credit()).reason, 'pending')
  assert.deepEqual(await world.pool`SELECT * FROM cursors`, cursor)
  assert.equal((await world.pool`SELECT FROM outbox`).length, sent.length)
  assert.deepEqual([...(await world.pool`SELECT error FROM passes WHERE error IS NOT NULL`)], [])
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal((await reorganisations(world)).length, 0)
  await checkInvariants(world)
})

inWorld('a chain that came back shorter is followed back if that is allowed', async (world) => {
  const { paid } = await mintedNode(world)
  const raw = await world.raw(paid)
  await world.chain.rpc('anvil_rollback', [2])
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted', 'not where it is not allowed')
  const embedded = world.instance({ rules: { rewindsToShorterChain: true } })
  await embedded.payments()
  assert.equal(await stateOf(world, paid), 'orphaned')
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  await checkInvariants(world)
})

inWorld('a chain that parted before the oldest header stored stops the passes and changes nothing', async (world) => {
  await mintedNode(world)
  await world.pool`DELETE FROM blocks WHERE number < (SELECT block_number FROM cursors)`
  const cursor = await world.pool`SELECT * FROM cursors`
  await world.chain.reorg(3, [[{ from: world.at(9), to: world.at(8), value: '0x1', gas: '0x7530' }, 0]])
  await world.chain.mine()
  assert.equal((await world.payments()).toBlock, null)
  assert.equal((await world.credit()).reason, 'paused')
  assert.match((await world.pool`SELECT error FROM passes WHERE name = 'payments'`)[0]?.error, /forked from the ledger/)
  assert.deepEqual(await world.pool`SELECT * FROM cursors`, cursor)
  assert.equal((await world.pool`SELECT FROM nodes`).length, 1)
})

/** Mints a payment's ref with the minter's key, outside the outbox, with the chain's next nonce. */
async function mintElsewhere(world: World, ref: Hash): Promise<Hash> {
  const minter = world.ctx.minter ?? assert.fail()
  const [{ cohort } = assert.fail()] = await world.pool<{ cohort: number }[]>`
    SELECT cohort FROM cohorts WHERE tier_no = 1 ORDER BY next_due DESC LIMIT 1`
  const call = { kind: 'mint' as const, orders: [{ to: world.at(5), cohort, ref }], guard: null, validUntil: FOREVER }
  const signed = await minter.sign(call, { nonce: await minter.nonce(), gasLimit: 500_000n, fees: await minter.fees() })
  await world.chain.rpc('eth_sendRawTransaction', [signed.raw])
  await world.chain.mine()
  assert.equal(await world.succeeded(signed.txHash), true)
  return signed.txHash
}

inWorld('a turn has the same seed if its first block is followed again as the first of a range', async (world) => {
  const seeds = () => world.pool`SELECT round, seed_block, seed FROM turns`
  await world.pay(5, BASIC)
  await world.settle()
  await sentRound(world)
  await world.settle()
  const [before] = await seeds()
  const [fork, cursor] = [await readBlock(world.pool, Number(before?.seed_block) - 1), await readCursor(world.pool)]
  assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
  assert.equal((await seeds()).length, 0)
  assert.equal((await world.pool`SELECT FROM seed_blocks WHERE number > ${fork.number}`).length, 0)
  await world.payments()
  assert.deepEqual([...(await seeds())], [before])
})
