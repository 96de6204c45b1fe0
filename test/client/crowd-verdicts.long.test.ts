// A crowd that pays in one block for too few places, twice because of a reorganisation, and every public verdict of it recomputed by the client.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient as createChain, custom, http } from 'viem'
import { createClient, type LedgerClient } from '../../client/src/index.ts'
import { verifyVerdict } from '../../client/src/viem/verdict.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { payFrom } from '../support/wallets/payer.ts'
import { ETHER, enterTier } from '../support/world.ts'

const PLACES = 2_000
const BUYERS = 3_000
/** One buyer in this many pays an amount that is no price. */
const WRONG_EVERY = 50
const PRICE_WEI = ETHER / 100n + 7n
/** Room for all transfers in one block. */
const BLOCK_GAS = 70_000_000
const LANES = 16

let desk: Desk
let hashes: Hash[] = []
before(async () => {
  desk = await startDesk({}, { http: { settings: { trustedProxies: ['127.0.0.1'] } } })
  const { world } = desk
  await enterTier(world, { tierId: 'crowded', tierNo: 30, priceWei: wei(PRICE_WEI), supply: PLACES })
  await world.settle()
  await world.chain.rpc('evm_setBlockGasLimit', [`0x${BLOCK_GAS.toString(16)}`])
  await world.chain.mine()
  const buyers = Array.from({ length: BUYERS }, (_, i) => i + 1)
  await payAll(buyers)
  await world.payments()
  await world.chain.reorg(1)
  hashes = await payAll(buyers.toReversed())
  await world.settle()
})
after(() => desk.close())

/** These buyers pay in one block, in this order. */
async function payAll(buyers: readonly number[]): Promise<Hash[]> {
  const { world } = desk
  const sent: Hash[] = []
  for (const buyer of buyers) {
    const value = PRICE_WEI + (buyer % WRONG_EVERY === 0 ? 1n : 0n)
    sent.push((await payFrom(world.chain, buyer, { to: world.at(3), value })) as Hash)
  }
  await world.chain.mine()
  return sent
}

/** The client as many strangers use it: each request comes from another address. */
function manyClients(): LedgerClient {
  let requests = 0
  const fetchAs: typeof fetch = (input, init) => {
    const n = requests++
    const from = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
    return fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), 'x-forwarded-for': from } })
  }
  return createClient({ baseUrl: `http://127.0.0.1:${desk.service.port}`, fetch: fetchAs })
}

test('every public verdict of a crowd is recomputed, and places follow the order of the chain', async () => {
  const { world } = desk
  const client = manyClients()
  const wellKnown = { ...(await client.getWellKnown()), factoryAddress: world.factory }
  const ledger = { ...client, getWellKnown: async () => wellKnown }
  const { request } = http(world.chain.rpcUrl)({})
  const chain = createChain({ transport: custom({ request }, { retryCount: 0 }) })
  const outcomes = new Map<string, { outcome: string; index: number }>()
  const waiting = hashes.values()
  const lane = async () => {
    for (const hash of waiting) {
      const { matches, differences, verdicts } = await verifyVerdict(ledger, chain, hash)
      const [verdict] = verdicts
      assert.deepEqual([hash, matches, differences, verdict?.differences], [hash, true, [], []])
      const { kind, reason, evidence } = verdict?.reported.verdict ?? assert.fail('it is public')
      outcomes.set(hash, { outcome: reason ?? kind, index: Number(evidence.txIndex) })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const inOrder = [...outcomes.values()].sort((a, b) => a.index - b.index)
  const priced = inOrder.filter(({ outcome }) => outcome !== 'wrongAmount')
  assert.equal(inOrder.length - priced.length, BUYERS / WRONG_EVERY)
  assert.ok(priced.slice(0, PLACES).every(({ outcome }) => outcome === 'accepted'))
  assert.ok(priced.slice(PLACES).every(({ outcome }) => outcome === 'soldOut'))
})
