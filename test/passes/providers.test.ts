// The answer of one of several providers alone moves no money and stops nothing: providers must agree on holdings, and
// a chain that is not the ledger's halts the passes only if no provider has the ledger's.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { checkDeployment } from '../../src/chain/factory/check-deployment.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { startTestChain, type TestChain } from '../support/anvil.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, enterTier, paymentOf, type World } from '../support/world.ts'

const PRICE = ETHER / 50n
const BASIC = ETHER / 100n

let world: World
let other: TestChain
let first: FalseProvider
let second: FalseProvider

before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  other = await startTestChain()
  await other.mine(3)
  const { hash: genesisHash } = await world.chain.block(0)
  await recordIdentity(world.pool, { chainId: world.chain.chainId, genesisHash, factory: world.factory, startBlock: 1 })
  await enterTier(world, {
    tierId: 'holders',
    tierNo: 9,
    priceWei: wei(PRICE),
    holdingToken: world.token,
    holdingWei: wei(5n),
  })
  await world.chain.mine()
  await world.settle()
})
after(async () => {
  await world.close()
  await other.stop()
})
beforeEach(() => {
  for (const provider of [first, second]) {
    provider.rule = () => undefined
    provider.http = () => undefined
  }
})

const halts = async () => (await world.pool`SELECT FROM audit WHERE action = 'halted'`).count
/** As if the halt had lasted longer than a brief lie. */
const olden = () => world.pool`
  UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z", "looks": 99}' WHERE name = 'halted'`

/** Answers this amount for a wallet's holding of the token. */
const holds = (amount: bigint): Rule => {
  return ({ method, params: [call] }) =>
    method === 'eth_call' && (call as { to: string }).to === world.token
      ? { result: `0x${amount.toString(16).padStart(64, '0')}` }
      : undefined
}

/** Answers everything from another chain. */
const elsewhere: Rule = async ({ method, params }) => {
  if (method === 'eth_chainId') return { result: '0x1092' }
  return other.rpc(method, params).then(
    (result) => ({ result }),
    () => ({ error: { code: -32000, message: 'unknown block' } }),
  )
}

test('a holding that one of two providers makes up does not buy a node', async () => {
  const paid = await world.pay(5, PRICE)
  await world.chain.mine()
  first.rule = holds(1_000n)
  await world.payments()
  assert.equal((await paymentOf(world, paid))?.state, 'seen')
  first.rule = () => undefined
  await world.payments()
  assert.deepEqual(
    { ...(await paymentOf(world, paid)), nodeId: null },
    {
      state: 'held',
      reason: 'holding',
      nodeId: null,
      tierId: 'holders',
    },
  )
})

test('a holding that one of two providers denies, or cannot read, does not hold a payment', async () => {
  await world.giveTokens(world.at(6), 5n)
  const paid = await world.pay(6, PRICE)
  await world.chain.mine()
  first.rule = holds(0n)
  await world.payments()
  assert.equal((await paymentOf(world, paid))?.state, 'seen')
  first.rule = ({ method }) =>
    method === 'eth_call' ? { error: { code: -32603, message: 'internal error' } } : undefined
  await world.payments()
  assert.equal((await paymentOf(world, paid))?.state, 'seen')
  first.rule = () => undefined
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

test('a first provider on another chain halts nothing beside a right one, and is tried last then', async () => {
  const before = await halts()
  const paid = await world.pay(7, BASIC)
  await world.chain.mine()
  first.rule = elsewhere
  assert.equal((await world.payments()).detected, 1)
  first.seen.length = 0
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  assert.equal((await world.credit()).reason, 'nothingDue')
  assert.deepEqual([await readHalt(world.pool), await halts()], [null, before])
  // Each call that it still gets, the other one gets as well.
  const alone = new Set(first.seen.map(({ method }) => method))
  for (const method of ['eth_getLogs', 'eth_getTransactionCount', 'eth_estimateGas'])
    assert.ok(!alone.has(method), method)
})

test('a halt that one provider reports alone, while the other does not answer, is not sealed', async () => {
  first.rule = elsewhere
  second.http = () => ({ status: 503, body: '' })
  await world.payments()
  await olden()
  await world.payments()
  const halt = await readHalt(world.pool)
  assert.deepEqual([halt?.reason, halt?.sealed], ['otherChain', false])
  second.http = () => undefined
  await world.payments()
  assert.equal(await readHalt(world.pool), null)
})

test('a halt that all providers report is sealed', async () => {
  first.rule = elsewhere
  second.rule = elsewhere
  await world.payments()
  await olden()
  await world.payments()
  assert.equal((await readHalt(world.pool))?.sealed, true)
})

test('a start goes by the provider that is on the ledger’s chain', async () => {
  first.rule = elsewhere
  const rpc = createRpc({ urls: [first.url, second.url], log: silentLog })
  const { factory } = world
  const options = { rpc, factory, chainId: world.chain.chainId, minter: null, distributor: null, paymentAddress: null }
  assert.deepEqual((await checkDeployment(options)).problems, [])
  second.rule = elsewhere
  assert.deepEqual(
    (await checkDeployment(options)).problems.map(({ setting }) => setting),
    ['CHAIN_ID'],
  )
  await rpc.close()
})
