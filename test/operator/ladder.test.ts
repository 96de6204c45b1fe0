// The steps of a ladder, entered over HTTP: when one opens on a real chain, that it never closes again, and what is refused.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const GRACE_SEC = 900
const PRICE = ETHER / 50n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({ priceGraceSec: GRACE_SEC })
  world = desk.world
  await world.settle()
})
after(() => desk.close())

const told = async (txHash: Hash) => {
  const payment = await paymentOf(world, txHash)
  return payment?.reason ? `${payment.state} ${payment.reason}` : `${payment?.state} ${payment?.tierId}`
}

describe('a ladder', () => {
  const firstWei = PRICE + 41n
  const secondWei = PRICE + 42n
  const stateOf = async (tierId: string) => {
    const { tiers } = (await desk.service.get('/api/tiers')).json
    return tiers.find(({ id }: { id: string }) => id === tierId).state
  }

  it('a step opens at the block that takes the last place before it, and closes only with it', async () => {
    const step = { label: 'Step', maxPerWallet: 3 }
    await desk.post('tiers', { ...step, tierId: 'first', priceWei: firstWei.toString(), supply: 1 })
    const second = { ...step, tierId: 'second', priceWei: secondWei.toString(), opensAfter: 'first', supply: 5 }
    assert.equal((await desk.post('tiers', { ...second, opensAfter: 'none' })).status, 400)
    assert.equal((await desk.post('tiers', { ...second, opensAfter: 'basic' })).status, 400, 'it has no supply')
    const created = await desk.post('tiers', second)
    assert.equal(created.json.tier?.opensAfter, 'first', created.text)
    assert.equal((await desk.post('tiers/first', { opensAfter: 'second' })).status, 400, 'a circle')
    assert.equal((await desk.post('tiers/first', { supply: 0 })).status, 409, 'a step waits for it')
    await world.settle()
    assert.equal(await stateOf('second'), 'upcoming')
    const quote = await desk.service.get('/api/deploy-quote?tier=second')
    const awaits = 'The tier is not open yet: it opens once all nodes of tier first are sold.'
    assert.deepEqual([quote.status, quote.json.error], [503, awaits])
    const { checks } = (await desk.service.get(`/api/can-buy/${world.at(5)}?tier=second`)).json
    const opening = { check: 'opening', passes: false, opensAt: null, closesAt: null, opensAfter: 'first' }
    assert.deepEqual(checks[1], opening)
    const noMint = world.instance({ minter: null })
    const last = await world.pay(6, firstWei)
    await world.chain.mine()
    await noMint.payments()
    assert.equal(await told(last), 'accepted first')
    assert.equal(await stateOf('second'), 'open')
    const bought = await world.pay(7, secondWei)
    await world.chain.mine()
    await noMint.payments()
    assert.equal(await told(bought), 'accepted second')
    const refused = await desk.post('tiers/first', { supply: 2 })
    assert.match(refused.text, /Tier second has opened/)
    assert.equal((await desk.post(`payments/${last}/refund/prepare`, {})).status, 200)
    await noMint.payments()
    assert.deepEqual([await stateOf('first'), await stateOf('second')], ['open', 'open'], 'it never closes again')
    await desk.post(`payments/${last}/refund/cancel`, {})
    const [{ block } = { block: 0 }] = await world.pool<{ block: number }[]>`
      SELECT block_number AS block FROM payments WHERE tx_hash = ${last}`
    await world.chain.reorg(Number((await world.chain.block()).number) - Number(block) + 1)
    await world.chain.mine()
    await noMint.payments()
    assert.equal(await stateOf('second'), 'upcoming', 'the block that opened it is gone')
    assert.equal((await desk.post('tiers/first', { supply: 2 })).status, 200)
    assert.equal((await desk.post('tiers/second', { opensAfter: '-' })).json.tier.opensAfter, null)
  })
})
