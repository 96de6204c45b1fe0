// What a sync reads and writes: the ledger first, then single answers about the named node, never blocks; and only the caller's own nodes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { factoryTopics } from '../../src/chain/factory/abi.ts'
import { createSyncer } from '../../src/claims/sync.ts'
import { type Address, type Hash, hash } from '../../src/domain/units.ts'
import { BASIC, openStage, paid, type Stage } from '../faults/stage.ts'
import { loseNode } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { meetAt } from '../support/postgres.ts'

let stage: Stage
let sync: ReturnType<typeof createSyncer>
/** The mint of nodes 1 and 2, of accounts 5 and 7. */
let mint: Hash
before(async () => {
  stage = await openStage()
  const { world } = stage
  await world.settle()
  await world.pay(5, BASIC)
  await paid(world, 7)
  await world.settle()
  mint = await mintOf(1)
  // No pass repairs anything meanwhile.
  const { ctx, payments } = world.instance({ rules: { reconcileEverySec: 3_600 } })
  sync = createSyncer(ctx, payments)
})
after(async () => {
  await checkInvariants(stage.world)
  await stage.world.close()
})

async function mintOf(nodeId: number): Promise<Hash> {
  const [row] = await stage.world.pool<{ tx: Hash }[]>`SELECT mint_tx_hash AS tx FROM nodes WHERE node_id = ${nodeId}`
  return row?.tx ?? assert.fail('no such node')
}
const rows = async () => (await stage.world.pool`SELECT FROM nodes WHERE node_id = 1`).count

/** The provider's calls meanwhile; blocks in full apart from headers. */
async function askedBy(act: () => Promise<unknown>): Promise<string[]> {
  const { seen } = stage.proxy
  const from = seen.length
  await act()
  return seen.slice(from).map(({ method, params }) => (params[1] === true ? `${method} in full` : method))
}
const ofTransaction = (asked: readonly string[]) =>
  asked.filter((one) => !['eth_getBlockByNumber', 'eth_call'].includes(one))

test('a mint that the ledger has is read from there', async () => {
  const { world } = stage
  const asked = await askedBy(async () => assert.equal((await sync.byTransaction(mint, world.at(5))).kind, 'followed'))
  assert.deepEqual(ofTransaction(asked), [])
})

test('of a stranger’s transaction one receipt is read, and no block', async () => {
  const { world } = stage
  const transfer = await world.pay(13, 1n, world.at(14))
  await world.chain.mine()
  await world.payments()
  for (const [txHash, kind] of [
    [transfer, 'noMint'],
    [mint, 'followed'],
  ] as const) {
    const asked = await askedBy(async () => assert.equal((await sync.byTransaction(txHash, world.at(6))).kind, kind))
    assert.deepEqual(ofTransaction(asked), ['eth_getTransactionReceipt'])
  }
})

test('a mint from before the sale began is none', async () => {
  const { world } = stage
  const { ctx } = world.instance({ rules: { startBlock: 10_000 } })
  const asked = await askedBy(async () =>
    assert.deepEqual(await createSyncer(ctx, world.payments).byTransaction(mint, world.at(6)), { kind: 'noMint' }),
  )
  assert.deepEqual(asked, ['eth_getTransactionReceipt'])
})

test('a receipt that is larger than any mint’s is not read', async () => {
  const { world } = stage
  const logger = world.at(19)
  // LOG0, so many times.
  await world.chain.rpc('anvil_setCode', [logger, `0x61${(6_500).toString(16)}5b60006000a060019003806003575f00`])
  const large = await world.chain.send({ from: world.at(13), to: logger, gas: '0x1000000' })
  await world.chain.mine()
  await world.chain.rpc('anvil_setCode', [logger, '0x'])
  assert.equal(await world.succeeded(large), true)
  assert.equal((await world.ctx.chain.transaction(large))?.succeeded, null)
  assert.deepEqual(await sync.byTransaction(large, world.at(13)), { kind: 'noMint' })
})

test('another contract’s log of a mint is no mint', async () => {
  const { world } = stage
  const liar = world.at(19)
  const word = (value: bigint | Address | Hash) => BigInt(value).toString(16).padStart(64, '0')
  const topics = [factoryTopics.NodeMinted, 1n, world.at(13), mint] as const
  const pushed = topics.map((topic) => `7f${word(topic)}`).toReversed()
  await world.chain.rpc('anvil_setCode', [liar, `0x${pushed.join('')}60205fa400`])
  const lie = await world.call(13, liar, '0x')
  await world.chain.rpc('anvil_setCode', [liar, '0x'])
  assert.equal(await world.succeeded(lie), true)
  assert.deepEqual(await sync.byTransaction(lie, world.at(13)), { kind: 'noMint' })
})

/** The ledger goes back once for a block's hash, and these tests lose a node of it twice. `isMinuteOver`: the last claim was a minute ago. */
async function loseAgain({ isMinuteOver = true } = {}): Promise<void> {
  await stage.world.pool`DELETE FROM audit WHERE action = 'leftOut'`
  if (isMinuteOver) await stage.world.pool`UPDATE ledger_state SET claimed_block = NULL, claimed_at = NULL`
  await loseNode(stage.world, 1)
}

test('any caller makes the ledger follow a lost node again, once a minute for all', async () => {
  const { world } = stage
  const nodes = [
    { nodeId: 1n, mintedTo: world.at(5), ownerNow: world.at(5), created: true },
    { nodeId: 2n, mintedTo: world.at(7), ownerNow: world.at(7), created: true },
  ]
  await loseAgain()
  assert.deepEqual(await sync.byNodeId(1n), { kind: 'followed', nodes: nodes.slice(0, 1) })
  assert.equal(await rows(), 1)
  await loseAgain({ isMinuteOver: false })
  const { ctx, payments } = world.instance({ rules: { reconcileEverySec: 3_600 } })
  for (const one of [sync, createSyncer(ctx, payments)])
    assert.deepEqual(await one.byTransaction(mint, world.at(6)), { kind: 'following' })
  assert.equal(await rows(), 0)
  await world.pool`UPDATE ledger_state SET claimed_at = now() - interval '1 minute'`
  assert.deepEqual((await createSyncer(ctx, payments).byTransaction(mint, world.at(6))).kind, 'followed')
  assert.equal(await rows(), 1)
})

test('two callers who sync a lost node together both get it, one of them at a second try', async () => {
  await loseAgain()
  const { world } = stage
  const instances = [0, 1].map(() => createSyncer(world.instance().ctx, world.payments))
  const outcomes = await meetAt(
    world.pool,
    (sql) => sql`SELECT FROM ledger_state FOR UPDATE`,
    instances.map((one) => () => one.byNodeId(1n)),
  )
  // The ledger goes back for the first, which waits until it has followed again.
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['followed', 'following'],
  )
  for (const one of instances) assert.equal((await one.byNodeId(1n)).kind, 'followed')
})

test('no instance stores a node that one provider makes up', async () => {
  const { world } = stage
  const { contract, history } = world.ctx
  const block = await world.chain.block(2)
  const made = { nodeId: 77n, owner: world.at(13), creditedWei: 0n, withdrawnWei: 0n, cohort: 1 }
  const { ctx, payments } = world.instance({
    contract: {
      ...contract,
      nodes: async (first, ...rest) => (first === 77n ? [made as never] : contract.nodes(first, ...rest)),
    },
    history: { ...history, logsOfNode: async () => [[{ blockNumber: 2, blockHash: hash(block.hash) }]] },
  })
  assert.deepEqual(await createSyncer(ctx, payments).byNodeId(77n), { kind: 'following' })
  assert.equal((await world.pool`SELECT FROM nodes WHERE node_id = 77`).count, 0)
  assert.equal((await world.pool`SELECT FROM audit WHERE action = 'leftOut' AND subject = ${block.hash}`).count, 0)
})

test('a hash that the chain does not have is not found', async () => {
  assert.deepEqual(await sync.byTransaction(hash(`0x${'ee'.repeat(32)}`), stage.world.at(5)), { kind: 'notFound' })
})
