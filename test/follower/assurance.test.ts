// What a payment rests on, as its page says it: its block's hash is the chain's own once the contract, or two providers, have named it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readDistributions } from '../../src/db/reads/public-api.ts'
import { readPaymentsIn } from '../../src/db/reads/public-payments.ts'
import type { Hash } from '../../src/domain/units.ts'
import type { FalseProvider } from '../chain/false-provider.ts'
import { endLies, startTwoProviders, type TwoProviders } from '../support/two-providers.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const rpcTimeoutMs = 60_000

let world: World
let second: FalseProvider
let unguarded: TwoProviders
before(async () => {
  // Both answer, however slow the machine is.
  const parts = await startTwoProviders({ rpcTimeoutMs })
  ;({ world, second } = parts)
  unguarded = await startTwoProviders({ rpcTimeoutMs, facts: { guardUsable: false }, slotsInEpoch: 1 })
  for (const one of [parts, unguarded]) {
    await endLies(one)
    await one.world.settle()
  }
})
after(async () => {
  await world.close()
  await unguarded.world.close()
})

const assuranceOf = async (txHash: Hash, { pool } = world) => (await readPaymentsIn(pool, txHash))?.[0]?.assurance

test('a payment is linked until the contract mints it, bound to its block or a later one', async () => {
  const txHash = await world.pay(7, BASIC)
  await world.chain.mine()
  await world.payments()
  assert.equal(await assuranceOf(txHash), 'linked')
  await world.settle()
  assert.equal(await assuranceOf(txHash), 'proven')
})

test('without a mint, a payment is linked until two providers call its or a later block final', async () => {
  const { payments } = world.instance({ minter: null })
  const txHash = await world.pay(7, BASIC)
  await world.chain.mine(70)
  second.rule = ({ params }) => (params[0] === 'finalized' ? { result: null } : undefined)
  for (let run = 0; run < 2; run++) await payments()
  assert.equal(await assuranceOf(txHash), 'linked')
  second.rule = () => undefined
  await payments()
  assert.equal(await assuranceOf(txHash), 'proven')
  await world.settle()
})

/** Pays the turns that are due, and follows the round. @returns what its turns rest on. */
async function turnsPaid({ chain, pool, ...on }: World, { payments, credit }: Pick<World, 'payments' | 'credit'> = on) {
  await chain.increaseTime(INTERVAL_SEC)
  // So much that the word of one provider makes it final.
  await chain.mine(70, 15)
  await payments()
  assert.equal((await credit()).reason, null)
  await chain.mine(4)
  await payments()
  const [row] = await pool<{ kept: string }[]>`
    SELECT (SELECT string_agg(DISTINCT proof, ' ') FROM turns t WHERE t.round = r.round) AS kept FROM rounds r ORDER BY round DESC LIMIT 1`
  const [newest] = await readDistributions(pool, 1)
  const told = [...new Set(newest?.turns.map(({ assurance }) => assurance))].sort().join(' ')
  assert.equal(row?.kept, told)
  return told
}

test('without a usable guard a payment is believed, and agreed once two providers call it final', async () => {
  const { chain, payments, settle } = unguarded.world
  const txHash = await unguarded.world.pay(7, BASIC)
  await chain.mine(70)
  unguarded.second.rule = ({ params }) => (params[0] === 'finalized' ? { result: null } : undefined)
  await payments()
  assert.equal(await assuranceOf(txHash, unguarded.world), 'believed')
  unguarded.second.rule = () => undefined
  await payments()
  assert.equal(await assuranceOf(txHash, unguarded.world), 'agreed')
  await settle()
  assert.equal(await assuranceOf(txHash, unguarded.world), 'agreed')
})

test('without a usable guard a turn is agreed by two providers’ final block, believed by one’s', async () => {
  assert.equal(await turnsPaid(world), 'proven')
  assert.equal(await turnsPaid(unguarded.world), 'agreed')
  const [chain] = unguarded.world.ctx.chain.providers
  assert.ok(chain)
  assert.equal(await turnsPaid(unguarded.world, unguarded.world.instance({ chain })), 'believed')
})
