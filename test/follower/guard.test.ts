// Providers that lie about the block that a mint is bound to: the service signs nothing if they contradict each other,
// and no second mint if the contract refused the block that one provider named.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { toFunctionSelector } from 'viem/utils'
import { type FalseProvider, forging } from '../chain/false-provider.ts'
import { checkInvariants } from '../support/invariants.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const ELSEWHERE = `0x${'ab'.repeat(32)}`
const HASH_OF = toFunctionSelector('hashOf(uint256)')

let world: World
let first: FalseProvider
let second: FalseProvider
beforeEach(async () => {
  ;({ world, first, second } = await startTwoProviders())
  await world.settle()
})
afterEach(() => world.close())

const mints = async () => (await world.pool`SELECT FROM outbox WHERE kind = 'mint' AND guard_block IS NOT NULL`).count
/** As if the histories had differed for longer than a usual reorganisation. */
const longAgo = () =>
  world.pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'parted'`
const told = () =>
  world.pool<{ detail: Record<string, unknown> }[]>`SELECT detail FROM audit WHERE action = 'guardRefused'`
const isBlock = ({ method }: { method: string }) => method === 'eth_getBlockByNumber'

test('T38: if providers differ on a guard’s block, nothing is signed, with a report if it lasts', async () => {
  const before = await world.chain.snapshot()
  await world.chain.mine()
  const other = await world.chain.block()
  await world.chain.revert(before)
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  const instead = await world.chain.block()
  assert.deepEqual([instead.number, instead.parentHash], [other.number, other.parentHash])
  second.rule = forging('eth_getBlockByNumber', (block) => (block?.hash === instead.hash ? other : block))
  for (let i = 0; i < 2; i++) await world.payments()
  assert.deepEqual([(await paymentOf(world, paid))?.state, await mints(), (await told()).count], ['seen', 0, 0])
  await longAgo()
  for (let i = 0; i < 2; i++) await world.payments()
  const [{ detail } = assert.fail('nothing was told'), ...more] = await told()
  assert.deepEqual([detail.why, detail.theirs, more], ['histories', other.hash, []])
  second.rule = () => undefined
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  await checkInvariants(world)
})

for (const [index, which] of ['first', 'second'].entries())
  test(`a false header from the ${which} provider settles no guard, stops no sale, is reported`, async () => {
    const liar = [first, second][index] ?? assert.fail()
    const paid = await world.pay(5, BASIC)
    await world.chain.mine()
    const { number } = await world.chain.block()
    liar.rule = forging('eth_getBlockByNumber', (block) =>
      block?.number === number && Array.isArray(block.transactions) && typeof block.transactions[0] === 'string'
        ? { ...block, hash: ELSEWHERE }
        : block,
    )
    for (let i = 0; i < 3; i++) await world.payments()
    assert.deepEqual([(await paymentOf(world, paid))?.state, await mints()], ['minting', 1])
    assert.equal((await told()).count, 0)
    const failed = await world.pool`SELECT detail ->> 'host' AS host FROM audit WHERE action = 'proofFailed'`
    assert.deepEqual([...failed], [{ host: new URL(liar.url).host }])
    liar.rule = () => undefined
    await world.settle()
    await checkInvariants(world)
  })

test('after a refused guard of the ledger, mints need two providers, and a lie costs one revert', async (t) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  // One has no block, so the other's answer must do for the first mint.
  second.rule = (call) => (isBlock(call) ? { result: null } : undefined)
  await world.payments()
  assert.equal(await mints(), 1)
  // It fails on the chain although its simulation passed, because the contract has another block than the ledger.
  const price = `0x${(10n ** 12n).toString(16)}`
  await world.chain.rpc('eth_sendTransaction', [
    { from: world.at(0), to: world.factory, data: '0x8456cb59', maxFeePerGas: price, maxPriorityFeePerGas: price },
  ])
  await world.chain.mine()
  await world.payments()
  await world.act(0, 'unpause')
  first.rule = ({ method, params: [call] }) =>
    method === 'eth_call' && String((call as { data?: string }).data).startsWith(HASH_OF)
      ? { result: ELSEWHERE }
      : undefined
  for (let i = 0; i < 4; i++) {
    await world.payments()
    await world.chain.mine()
  }
  assert.deepEqual([(await paymentOf(world, paid))?.state, await mints()], ['accepted', 1])
  const [{ detail } = assert.fail('nothing was told'), ...more] = await told()
  assert.deepEqual([detail.why, more], ['staleFork', []])
  assert.ok(Number(detail.gasUsed) < 100_000)
  t.diagnostic(`one lie cost ${detail.gasUsed} gas, ${detail.feeWei} wei`)
  second.rule = () => undefined
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  await checkInvariants(world)
})
