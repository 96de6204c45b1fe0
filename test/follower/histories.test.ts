// Providers on different histories of one chain. What lies above their last common block is followed and waits: it is not judged, minted, credited or
// quoted. It is told once it is no usual reorganisation, and ends when they agree. Of three, two that name a block go on.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { isSaleParted, readParted } from '../../src/db/blocks/parted.ts'
import { type FalseProvider, type Rule, startFalseProvider } from '../chain/false-provider.ts'
import { startSibling, type TestChain } from '../support/anvil.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const honest: Rule = () => undefined

let world: World
let fork: TestChain
let providers: FalseProvider[]

async function start(count: number): Promise<void> {
  providers = []
  const between = async (url: string) => {
    for (let i = 0; i < count; i++) providers.push(await startFalseProvider(url))
    const close = async () => void (await Promise.all(providers.map((provider) => provider.close())))
    return { urls: providers.map(({ url }) => url), close }
  }
  world = await startWorld({}, { between })
  await world.pay(5, BASIC)
  await world.rest()
  fork = await startSibling(world.chain)
}
beforeEach(() => start(2))
afterEach(async () => {
  await Promise.all([world.close(), fork.stop()])
})

/** A provider that has the fork's blocks. */
const forked: Rule = async ({ method, params }) => {
  try {
    return { result: await fork.rpc(method, params) }
  } catch (error) {
    return { error: { code: -32000, message: String(error) } }
  }
}
/** Both chains go on by blocks of their own. */
async function goOn(blocks = 1): Promise<void> {
  await world.chain.mine(blocks)
  await fork.setNextTime(Number((await world.chain.block()).timestamp) + 1)
  while (Number((await fork.block()).number) < Number((await world.chain.block()).number)) await fork.mine()
}
const told = () =>
  world.pool<{ detail: Record<string, unknown> }[]>`
    SELECT detail FROM audit WHERE action = 'guardRefused' AND detail ->> 'why' = 'histories' ORDER BY id`
const stateOf = async (txHash: string) => (await paymentOf(world, txHash as never))?.state
const sent = async () => (await world.pool`SELECT FROM outbox WHERE state = 'pending' OR state = 'mined'`).count
const doctor = async () => {
  const { out } = await runHere(['doctor', '--json'], worldEnv(world))
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string }[] }
  return findings.find(({ check }) => check === 'passes.histories')
}

for (const [index, which] of ['first', 'second'].entries())
  test(`if the ${which} provider forks, work above the fork waits with a report, then resumes on agreement`, async () => {
    const common = Number((await world.chain.block()).number)
    const liar = providers[index] ?? assert.fail()
    const before = await sent()
    liar.rule = forked
    // Each history has a payment of its own.
    const paid = await world.pay(6, BASIC)
    const madeUp = await fork.send({ from: world.at(7), to: world.at(3), value: `0x${BASIC.toString(16)}` })
    await goOn()
    await world.payments()
    const seen = index === 0 ? madeUp : paid
    assert.deepEqual([await stateOf(seen), await sent(), (await told()).count], ['seen', before, 0])
    assert.equal(await isSaleParted(world.pool), false)
    const { agreed, stops, lasts } = (await readParted(world.pool)) ?? assert.fail('no difference is noted')
    assert.deepEqual([agreed.number, stops, lasts], [common, true, false])

    // A turn that falls due above that block waits, too.
    await world.chain.increaseTime(INTERVAL_SEC)
    await goOn(12)
    for (let i = 0; i < 2; i++) {
      await world.payments()
      assert.equal((await world.credit()).txHash, null)
      await goOn()
    }
    const [{ detail } = assert.fail('nothing was told'), ...more] = await told()
    // The ledger follows the one that is asked first.
    const [other, host] = providers.map(({ url }) => new URL(url).host)
    assert.deepEqual([detail.host, detail.beside, (detail.agreed as typeof agreed).number], [host, [other], common])
    assert.deepEqual(
      [await stateOf(seen), await sent(), more.length, await isSaleParted(world.pool)],
      ['seen', before, 0, true],
    )
    const { verdict, says } = (await doctor()) ?? assert.fail('doctor says nothing')
    assert.equal(verdict, 'fail')
    assert.match(says, new RegExp(`${host} has 0x.* as block .* ${other} has: nothing above block ${common} is sold`))

    liar.rule = honest
    await world.rest()
    assert.deepEqual([await readParted(world.pool), await doctor()], [null, undefined])
    assert.equal(await stateOf(paid), 'minted')
    assert.notEqual(await stateOf(madeUp), 'minted')
    await checkInvariants(world)
  })

test('payments up to the last common block are judged and minted, by a guard on that block', async () => {
  const [first] = providers
  const paid = await world.pay(6, BASIC)
  await world.chain.mine()
  const common = await world.chain.block()
  const sibling = await startSibling(world.chain)
  await fork.stop()
  fork = sibling
  assert.ok(first)
  first.rule = forked
  await goOn(2)
  await world.payments()
  const [row] = await world.pool`SELECT call -> 'guard' ->> 'hash' AS hash, state FROM outbox ORDER BY id DESC LIMIT 1`
  assert.deepEqual([await stateOf(paid), row?.hash, row?.state], ['minting', common.hash, 'pending'])
  await goOn()
  first.rule = honest
  await world.rest()
  assert.equal(await stateOf(paid), 'minted')
  await checkInvariants(world)
})

for (const index of [0, 2])
  test(`of three providers, two that agree continue, and the third is reported: a fork at place ${index + 1}`, async () => {
    await Promise.all([world.close(), fork.stop()])
    await start(3)
    const liar = providers[index] ?? assert.fail()
    liar.rule = forked
    const paid = await world.pay(6, BASIC)
    await goOn()
    for (let i = 0; i < 14; i++) {
      await world.payments()
      await goOn()
    }
    assert.equal(await stateOf(paid), 'minted')
    const [{ detail } = assert.fail('nothing was told')] = await told()
    assert.deepEqual([detail.host, detail.stops], [new URL(liar.url).host, false])
    assert.equal(await isSaleParted(world.pool), false)
    assert.match((await doctor())?.says ?? '', /as block/)
    await checkInvariants(world)
  })
