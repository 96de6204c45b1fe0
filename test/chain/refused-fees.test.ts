// Fees that a pool rejects, as Polygon's does below 25 gwei whatever its blocks show. We raise them in the next block,
// but never because of insufficient funds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTransaction } from 'viem'
import { readRecentTrouble } from '../../src/db/reads/doctor.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'
import { type Answer, type FalseProvider, startFalseProvider } from './false-provider.ts'

const GWEI = 10n ** 9n
const LEAST = 25n * GWEI
const SUGGESTED = 30n * GWEI

/** A separate world, behind a provider that a test can make refuse. */
function inWorld(sentence: string, body: (world: World, provider: FalseProvider) => Promise<void>): void {
  test(sentence, async () => {
    let provider: FalseProvider | null = null
    const between = async (target: string) => {
      const started = await startFalseProvider(target)
      provider = started
      return { urls: [started.url], close: () => started.close() }
    }
    const world = await startWorld({}, { between })
    try {
      await world.settle()
      await body(world, provider ?? assert.fail('no provider'))
      await checkInvariants(world)
    } finally {
      await world.close()
    }
  })
}

/** Makes the pool reject lower tips, and the provider suggest one. @returns the tips offered so far. */
function poolOf(provider: FalseProvider, leastWei: bigint, suggestedWei: bigint): bigint[] {
  const offered: bigint[] = []
  provider.rule = ({ method, params }): Answer | undefined => {
    if (method === 'eth_maxPriorityFeePerGas') return { result: `0x${suggestedWei.toString(16)}` }
    if (method !== 'eth_sendRawTransaction') return undefined
    const { maxPriorityFeePerGas = 0n } = parseTransaction(params[0] as `0x${string}`)
    offered.push(maxPriorityFeePerGas)
    if (maxPriorityFeePerGas >= leastWei) return undefined
    return { error: { code: -32000, message: `transaction underpriced: gas tip cap needed ${leastWei}` } }
  }
  return offered
}

/** Runs passes, each in a new block, until a payment is minted or so many have run. */
async function passes(world: World, most: number): Promise<number> {
  const paid = await world.pay(5, ETHER / 100n)
  for (let pass = 1; pass <= most; pass++) {
    await world.chain.mine()
    await world.payments()
    if ((await paymentOf(world, paid))?.state === 'minted') return pass
  }
  return most + 1
}

inWorld(
  'if a pool refuses a fee that blocks accept, the next block has the provider’s suggestion',
  async (world, provider) => {
    const offered = poolOf(provider, LEAST, SUGGESTED)
    assert.ok((await passes(world, 6)) <= 5)
    assert.deepEqual([...new Set(offered)].slice(1), [SUGGESTED])
  },
)

inWorld('one that refuses the suggestion, too, is offered twice as much, block by block', async (world, provider) => {
  const offered = poolOf(provider, 50n * GWEI, SUGGESTED)
  assert.ok((await passes(world, 7)) <= 6)
  assert.deepEqual([...new Set(offered)].slice(1), [SUGGESTED, 2n * SUGGESTED])
})

inWorld('no pool is offered more than TIP_MAX', async (world, provider) => {
  const offered = poolOf(provider, 1_000n * GWEI, SUGGESTED)
  await passes(world, 8)
  assert.deepEqual([...new Set(offered)].slice(1), [SUGGESTED, 2n * SUGGESTED, 100n * GWEI])
  provider.rule = () => undefined
  await world.settle()
})

inWorld('a lack of funds that we do not compute is reported, and raises no fee', async (world, provider) => {
  const offered = new Set<unknown>()
  provider.rule = ({ method, params }): Answer | undefined => {
    if (method !== 'eth_sendRawTransaction') return undefined
    offered.add(params[0])
    return { error: { code: -32000, message: 'insufficient funds for gas * price + value: L1 cost' } }
  }
  await passes(world, 16)
  assert.equal(offered.size, 1)
  assert.deepEqual((await readRecentTrouble(world.pool, null)).unfunded, [world.at(1)])
  provider.rule = () => undefined
  await world.settle()
  assert.deepEqual((await readRecentTrouble(world.pool, null)).unfunded, [])
})
