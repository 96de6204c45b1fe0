// Claims and syncs: a hash is only a pointer. The ledger follows to it under the rules of any pass, and nothing but the
// follower writes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { claimer } from '../../src/claims/claim.ts'
import { createSyncer } from '../../src/claims/sync.ts'
import type { Hash } from '../../src/domain/units.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { payInside, putForwarder } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { HANGING_MS } from '../support/until.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
let claim: ReturnType<typeof claimer>
let sync: ReturnType<typeof createSyncer>
before(async () => {
  world = await startWorld({}, { maxPerWallet: 40n })
  await world.settle()
  claim = claimer(world.ctx, world.payments)
  sync = createSyncer(world.ctx, world.payments)
})
after(() => world.close())

const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state

test('without a provider a claim reports that, not an unknown payment, and stores nothing', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  const away = new ChainFault('no provider answered')
  const { ctx } = world.instance({ chain: { ...world.ctx.chain, transaction: () => Promise.reject(away) } })
  await assert.rejects(claimer(ctx, world.payments)(paid), away)
  assert.equal(await paymentOf(world, paid), undefined)
  await world.settle()
})

test('a claim follows to its payment, judges it, and starts its mint immediately', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  assert.deepEqual(await claim(paid), { kind: 'known' })
  assert.equal(await stateOf(paid), 'minting')
  await world.settle()
  assert.deepEqual(await claim(paid), { kind: 'known' })
  assert.equal(await stateOf(paid), 'minted')
})

test('a payment that waits for a final block costs one run a block, however often it is claimed', async () => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  let [runs, calls] = [0, 0]
  const counted: typeof world.ctx.chain = {
    ...world.ctx.chain,
    transaction: (txHash) => {
      calls++
      return world.ctx.chain.transaction(txHash)
    },
  }
  const { ctx, payments } = world.instance({ chain: counted, rules: { finality: 'finalized' } })
  const pollPolicy = { readMs: HANGING_MS, waitMs: HANGING_MS, looksMax: 2, pauseMs: 1 }
  const claim = claimer({ ...ctx, pollPolicy }, () => {
    runs++
    return payments()
  })
  for (let i = 0; i < 10; i++) assert.deepEqual(await claim(paid), { kind: 'known' })
  assert.equal(await stateOf(paid), 'seen')
  assert.ok(runs <= 2, `${runs} runs: one to follow to it, one for the newest block`)
  assert.equal(calls, 1)
  const before = runs
  await world.chain.mine()
  for (let i = 0; i < 10; i++) await claim(paid)
  assert.equal(runs - before, 1)
  await world.settle()
})

test('no sale: a transfer that failed, is early, goes elsewhere, or comes from the wallet', async () => {
  const whyOf = async (txHash: Hash) => {
    const outcome = await claim(txHash)
    return outcome.kind === 'notASale' ? outcome.why : outcome.kind
  }
  const elsewhere = await world.pay(5, BASIC, world.at(6))
  const self = await world.pay(3, BASIC)
  await world.chain.mine()
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x60006000fd'])
  const failed = await world.call(5, world.at(3), '0x', BASIC)
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
  await world.chain.mine()
  assert.match(await whyOf(self), /the payments wallet itself sent/)
  assert.match(await whyOf(failed), /failed on chain/)
  // The calls within it might pay. We know once the balances are checked up to its block.
  assert.match(await whyOf(elsewhere), /does not pay the payments wallet/)
  const later = claimer({ ...world.ctx, rules: { ...world.ctx.rules, startBlock: 10_000 } }, world.payments)
  const early = await world.pay(6, BASIC)
  await world.chain.mine()
  const outcome = await later(early)
  assert.match(outcome.kind === 'notASale' ? outcome.why : '', /before the sale began/)
  await world.settle()
})

test('a claim is pending while its value may be in an unexplained residue', async () => {
  await putForwarder(world)
  const { txHash } = await payInside(world, BASIC)
  const elsewhere = await world.pay(5, BASIC, world.at(6))
  await world.chain.mine()
  const untraced = world.instance({ chain: { ...world.ctx.chain, blockTransfers: async () => null } })
  assert.deepEqual(await claimer(untraced.ctx, untraced.payments)(txHash), { kind: 'pending' })
  assert.equal(await paymentOf(world, txHash), undefined)
  assert.equal((await claim(elsewhere)).kind, 'notASale', 'another block is known')
  await world.payments()
  assert.deepEqual(await claim(txHash), { kind: 'known' })
  await world.settle()
})

test('simultaneous claims of one payment at several instances make one node', async () => {
  const paid = await world.pay(7, BASIC)
  await world.chain.mine()
  let asked = 0
  const allAsked = Promise.withResolvers<void>()
  const chain: typeof world.ctx.chain = {
    ...world.ctx.chain,
    // All ask here before any of them starts a pass.
    async transaction(txHash) {
      if (++asked === 8) allAsked.resolve()
      await allAsked.promise
      return world.ctx.chain.transaction(txHash)
    },
  }
  const claims = Array.from({ length: 4 }, () => {
    const { ctx, payments } = world.instance({ chain })
    return claimer({ ...ctx, pollPolicy: { ...ctx.pollPolicy, readMs: HANGING_MS } }, payments)
  })
  const outcomes = await Promise.all([...claims, ...claims].map((one) => one(paid)))
  assert.deepEqual(new Set(outcomes.map((outcome) => outcome.kind)), new Set(['known']))
  await world.settle()
  assert.equal((await world.pool`SELECT FROM nodes WHERE ref = ${paid}`).length, 1)
})

async function mintOf(paid: Hash): Promise<{ mint: Hash; nodeId: bigint }> {
  const [row] = await world.pool<{ mint: Hash; id: number }[]>`
    SELECT mint_tx_hash AS mint, node_id AS id FROM nodes WHERE ref = ${paid}`
  return { mint: row?.mint ?? assert.fail('no node'), nodeId: BigInt(row?.id ?? 0) }
}
/** A node of an account whose mint is mined and not followed yet. */
async function unfollowedMint(account: number): Promise<Hash> {
  const paid = await world.pay(account, BASIC)
  await world.chain.mine()
  await world.payments()
  await world.chain.mine()
  assert.equal(await stateOf(paid), 'minting')
  return paid
}

test('a sync by transaction follows to the mint and returns its nodes', async () => {
  const paid = await unfollowedMint(10)
  const [sent = assert.fail()] = await world.pool<
    { hash: Hash }[]
  >`SELECT tx_hash AS hash FROM outbox_attempts ORDER BY outbox_id DESC LIMIT 1`
  const outcome = await sync.byTransaction(sent.hash, world.at(10))
  const { nodeId } = await mintOf(paid)
  const node = { nodeId, mintedTo: world.at(10), ownerNow: world.at(10), created: true }
  assert.deepEqual(outcome, { kind: 'followed', nodes: [node] })
  assert.deepEqual(await sync.byTransaction(sent.hash, world.at(10)), {
    kind: 'followed',
    nodes: [{ ...node, created: false }],
  })
})

test('a sync of a node that the ledger lost brings it back', async () => {
  const [{ id } = assert.fail()] = await world.pool<
    { id: number }[]
  >`SELECT node_id AS id FROM nodes ORDER BY node_id LIMIT 1`
  await world.pool.begin(async (sql) => {
    await sql`UPDATE payments SET node_id = NULL, state = 'accepted' WHERE node_id = ${id}`
    await sql`DELETE FROM nodes WHERE node_id = ${id}`
  })
  const outcome = await sync.byNodeId(BigInt(id))
  assert.equal(outcome.kind, 'followed')
  assert.equal((await world.pool`SELECT FROM nodes WHERE node_id = ${id}`).length, 1)
})

test('after all of this the ledger matches the chain', () => checkInvariants(world))
