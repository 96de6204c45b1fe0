// The limits that the contract's owner sets for the service's keys, and payments and turns beyond them: the minter's
// budget, the distributor's bounds, a call's expiry. Each test has its own world.
import assert from 'node:assert/strict'
import { privateKeyToAccount } from 'viem/accounts'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { readQuote } from '../../src/db/reads/public-api.ts'
import { MINT_BATCH_MAX } from '../../src/domain/send.ts'
import { type Address, type Hash, wei } from '../../src/domain/units.ts'
import { planDueRound } from '../../src/passes/steps/plan-round.ts'
import type { SignerAccount } from '../../src/ports/sending.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, enterTier, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const SILVER = ETHER / 50n

const inWorld = worldTest({ finish: (world) => checkInvariants(world) })

const setBudget = (world: World, nodes: number, cohorts: number) =>
  world.act(0, 'setMinter', [world.at(1), nodes, cohorts])
const refill = (world: World) => world.act(0, 'refillMinter', [world.at(1), 1_000n, 1_000n, 1_000n, 1_000n])
const stateOf = async (world: World, txHash: Hash) => (await paymentOf(world, txHash))?.state
const statesOf = (world: World, paid: readonly Hash[]) => Promise.all(paid.map((txHash) => stateOf(world, txHash)))
const intents = async (world: World) => (await world.pool`SELECT FROM outbox`).length
const swallow = (sender: SignerAccount): SignerAccount => ({ ...sender, broadcast: async () => ({ kind: 'accepted' }) })
const minterOf = (world: World) => world.ctx.minter ?? assert.fail('no minter')

inWorld('if no cohort can be opened, payments with a cohort are minted, and the others wait', async (world) => {
  await enterTier(world, { tierId: 'silver', tierNo: 9, priceWei: wei(SILVER) })
  // Cohort numbers are used up, so the contract refuses to open any.
  const slot = '0x6'
  const word = await world.chain.rpc<`0x${string}`>('eth_getStorageAt', [world.factory, slot, 'latest'])
  await world.chain.rpc('anvil_setStorageAt', [world.factory, `0x${'6'.padStart(64, '0')}`, `0xffff${word.slice(6)}`])
  const paid = [await world.pay(5, BASIC), await world.pay(6, SILVER)]
  for (let i = 0; i < 3; i++) {
    await world.chain.mine()
    assert.equal((await world.payments()).budgetSpent, null)
  }
  assert.deepEqual(await statesOf(world, paid), ['minted', 'accepted'])
  const now = await world.chain.rpc<string>('eth_getStorageAt', [world.factory, slot, 'latest'])
  await world.chain.rpc('anvil_setStorageAt', [
    world.factory,
    `0x${'6'.padStart(64, '0')}`,
    `${word.slice(0, 6)}${now.slice(6)}`,
  ])
  await world.settle()
  assert.deepEqual(await statesOf(world, paid), ['minted', 'minted'])
})

inWorld('a batch is cut to the nodes left, its remainder waits unsigned, and a refill mints it', async (world) => {
  await setBudget(world, 2, 0)
  const paid = [await world.pay(5, BASIC), await world.pay(6, BASIC), await world.pay(7, BASIC)]
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'nodes')
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await statesOf(world, paid), ['minted', 'minted', 'accepted'])
  const before = await intents(world)
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'nodes')
  assert.equal(await intents(world), before, 'nothing is signed at nothing left')
  await refill(world)
  await world.settle()
  assert.deepEqual(await statesOf(world, paid), ['minted', 'minted', 'minted'])
  assert.equal((await world.payments()).budgetSpent, null)
})

inWorld('once a pass mints the last node, nothing is quoted until a refill', async (world) => {
  const isSoldOut = async () => (await readQuote(world.pool, 'basic'))?.soldOut
  await setBudget(world, 2, 0)
  await world.chain.mine()
  await world.payments()
  assert.equal(await isSoldOut(), false)
  await world.pay(5, BASIC)
  await world.settle()
  assert.equal(await isSoldOut(), false)
  await world.pay(6, BASIC)
  await world.settle()
  assert.equal(await isSoldOut(), true)
  await refill(world)
  await world.settle()
  assert.equal(await isSoldOut(), false)
})

inWorld('if no cohort may be opened, payments with a cohort are minted, others wait for a refill', async (world) => {
  await setBudget(world, 1_000, 0)
  await enterTier(world, { tierId: 'silver', tierNo: 7, priceWei: wei(SILVER) })
  await world.chain.mine()
  const paid = [await world.pay(5, SILVER), await world.pay(6, BASIC)]
  await world.chain.mine()
  assert.equal((await world.payments()).budgetSpent, 'cohorts')
  await world.chain.mine()
  await world.payments()
  assert.deepEqual(await statesOf(world, paid), ['accepted', 'minted'])
  await refill(world)
  await world.settle()
  assert.deepEqual(await statesOf(world, paid), ['minted', 'minted'])
})

inWorld('payments that wait for a cohort keep no others from being minted, however many they are', async (world) => {
  await setBudget(world, 1_000, 0)
  await enterTier(world, { tierId: 'silver', tierNo: 7, priceWei: wei(SILVER) })
  await world.chain.mine()
  // A wallet may have ten.
  for (let n = 0; n <= MINT_BATCH_MAX; n++) {
    const wallet = privateKeyToAccount(`0x${(1_000 + Math.floor(n / 10)).toString(16).padStart(64, '0')}`)
    if (n % 10 === 0) await world.chain.setBalance(wallet.address.toLowerCase() as Address, ETHER)
    const fees = { type: 'legacy', chainId: 31_337, gas: 21_000n, gasPrice: 10n ** 11n } as const
    const signed = await wallet.signTransaction({ ...fees, nonce: n % 10, to: world.at(3), value: SILVER })
    await world.chain.rpc('eth_sendRawTransaction', [signed])
    if (n % 50 === 49) await world.chain.mine()
  }
  await world.chain.mine()
  const paid = await world.pay(15, BASIC)
  const passes = async () => {
    for (let pass = 0; pass < 5; pass++) {
      await world.chain.mine()
      await world.payments()
    }
    return (await world.pool`SELECT FROM payments WHERE state = 'accepted'`).count
  }
  assert.equal(await passes(), MINT_BATCH_MAX + 1)
  assert.equal(await stateOf(world, paid), 'minted')
  await refill(world)
  assert.equal(await passes(), 0)
})

inWorld('no more cohorts are opened than may be, numbered after the contract’s last', async (world) => {
  const before = await world.read<bigint>('lastCohort')
  await setBudget(world, 1_000, 3)
  await enterTier(world, { tierId: 'silver', tierNo: 7, priceWei: wei(SILVER) })
  await world.chain.mine()
  await world.payments()
  await world.chain.mine()
  await world.payments()
  assert.equal(await world.read<bigint>('lastCohort'), before + 3n)
  const numbers = await world.pool<{ cohort: number }[]>`SELECT cohort FROM cohorts WHERE tier_no = 7 ORDER BY cohort`
  assert.deepEqual(
    numbers.map(({ cohort }) => BigInt(cohort)),
    [before + 1n, before + 2n, before + 3n],
  )
  await refill(world)
})

inWorld('an order that the contract skips for lack of budget goes back, and a refill mints it', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.instance({ minter: swallow(minterOf(world)) }).payments()
  assert.equal(await stateOf(world, paid), 'minting')
  await setBudget(world, 0, 0)
  await world.payments()
  await world.chain.mine()
  await world.payments()
  assert.deepEqual([await stateOf(world, paid), await world.read('lastId')], ['accepted', 0n])
  assert.equal((await world.pool`SELECT FROM audit WHERE action = 'mintSkipped'`).length, 0)
  await refill(world)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
})

inWorld('a cohort owed more than the bounds allow waits alone, until the bounds have room', async (world) => {
  await world.pay(5, BASIC)
  await world.pay(6, PLUS)
  await world.settle()
  await world.act(0, 'setBounds', [world.at(2), 0n, 0n])
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const refused = await world.credit()
  assert.deepEqual([refused.reason, refused.txHash, refused.dueNodes], ['pending', null, 2])
  const cursor = (await readCursor(world.pool)) ?? assert.fail('no cursor')
  const basis = { cursor, bounds: null, upTo: cursor.time }
  const { plan } = await planDueRound(world.ctx, basis)
  const [low, high] = plan.credits.map(({ amountWei }) => amountWei).sort((a, b) => (a < b ? -1 : 1))
  assert.ok(low !== undefined && high !== undefined && low < high)
  await world.act(0, 'setBounds', [world.at(2), 0n, low / 10n ** 9n + 1n])
  const first = await world.credit()
  assert.deepEqual([first.reason, first.nodeCount, first.totalWei], [null, 1, low])
  await world.chain.mine()
  await world.act(0, 'setBounds', [world.at(2), 0n, 10n ** 9n])
  const second = await world.credit()
  assert.deepEqual([second.reason, second.nodeCount, second.totalWei], [null, 1, high])
})

inWorld('a mint whose time is over yields to an empty call, and the payment is minted again', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.instance({ minter: swallow(minterOf(world)) }).payments()
  const [intent] = await world.pool<{ id: number; until: number; raw: Hash }[]>`
    SELECT o.id, o.valid_until AS until, a.raw FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id
    WHERE o.kind = 'mint'`
  assert.ok(intent)
  await world.chain.increaseTime(1_000)
  await world.chain.mine(12)
  assert.ok(Number((await world.chain.block()).timestamp) > intent.until)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  const attempts = await world.pool`SELECT FROM outbox_attempts WHERE outbox_id = ${intent.id}`
  assert.equal(attempts.length, 2, 'the same nonce, for a call that does nothing')
  const rows = await world.pool`SELECT state FROM outbox WHERE kind = 'mint' ORDER BY id`
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['mined', 'mined'],
  )
})

inWorld('a mint that is mined after its time reverts, does not tire the minter, and is made again', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  for (let i = 0; i < 4; i++) {
    await world.payments()
    await world.chain.increaseTime(1_000)
    await world.chain.mine()
    await world.payments()
    assert.equal(await stateOf(world, paid), 'minting')
  }
  assert.equal((await world.pool`SELECT FROM outbox WHERE state = 'reverted'`).length, 4)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal((await world.pool`SELECT FROM audit WHERE action = 'senderRests'`).length, 0)
})
