// Tiers entered over HTTP and used on a real chain: bought, credited, repriced with a grace, taken off sale; and
// refusals, so an amount selects one tier only.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runChecks } from '../../../src/checks/check.ts'
import { SALE_CHECKS } from '../../../src/checks/sale.ts'
import { inTransaction } from '../../../src/db/core/sql.ts'
import { lockTierTable } from '../../../src/db/sale/tiers.ts'
import { type Hash, wei } from '../../../src/domain/units.ts'
import { readNow } from '../../../src/operator/acts/terms.ts'
import { readFigure } from '../../metrics/figure.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { meetAt } from '../../support/postgres.ts'
import { ETHER, enterTier, INTERVAL_SEC, paymentOf, type World } from '../../support/world.ts'

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
const buy = async (from: number, valueWei: bigint) => {
  const txHash = await world.pay(from, valueWei)
  await world.settle()
  return told(txHash)
}
const gold = { tierId: 'gold', label: 'Gold', priceWei: PRICE.toString(), maxPerWallet: 3, payoutBps: 30_000 }

describe('a tier', () => {
  it('created here is on sale from the next block on, gets its cohorts, a buyer and credit', async () => {
    const early = await world.pay(6, PRICE)
    await world.chain.mine()
    const before = Number((await world.chain.block()).number)
    const created = await desk.post('tiers', { ...gold, reason: 'opening' })
    assert.equal(created.status, 200, created.text)
    const { tier } = created.json
    assert.deepEqual(
      [tier.tierNo, tier.version, tier.onSale, tier.priceWei, tier.cohorts, tier.fromBlock, tier.enteredBy],
      [4, 1, true, PRICE.toString(), 0, before + 1, 'ada'],
    )
    assert.equal((await desk.service.get('/api/tiers')).json.tiers.at(-1).id, 'gold')
    await world.settle()
    assert.equal(await told(early), 'held wrongAmount', 'paid for in a block before it was entered')
    const { tiers } = (await desk.get('tiers')).json
    assert.ok(tiers.at(-1).cohorts > 0, 'the pass has opened its cohorts')
    assert.equal(await buy(5, PRICE), 'minted gold')
    await world.chain.mine(2, INTERVAL_SEC + 60)
    await world.rest()
    const [node] = (await desk.service.get(`/api/nodes/${world.at(5)}`)).json
    assert.equal(node.tierId, 'gold')
    assert.ok(BigInt(node.creditedWei) >= (ETHER / 2000n) * 3n, 'at three times the base rate')
    const [entry] = (await desk.get('audit?action=tierCreated')).json.entries
    assert.deepEqual([entry.subject, entry.detail.before, entry.detail.after.tierNo], ['gold', null, 4])
  })

  it('is in force from the block after the newest of any provider', async () => {
    const { chain } = world.ctx
    const head = await chain.head()
    const ahead = { ...head, number: head.number + 2, time: head.time + 2 }
    const providers = chain.providers.map((provider) => ({ ...provider, head: async () => ahead }))
    const now = await inTransaction(world.pool, (sql) => readNow({ chain: { ...chain, providers } }, sql))
    assert.deepEqual([now.number, now.time], [ahead.number, ahead.time])
  })

  it('with a new price still sells at the old one, and no other tier may take that price', async () => {
    const changed = await desk.post('tiers/gold', { priceWei: (PRICE * 2n).toString(), reason: 'price rise' })
    assert.deepEqual([changed.json.tier.version, changed.json.changed], [2, true])
    assert.equal(changed.json.tier.versions.length, 2)
    const taken = await desk.post('tiers', { ...gold, tierId: 'taker', label: 'Taker' })
    assert.equal(taken.status, 409)
    assert.match(taken.json.error, /still buys tier gold until \d{4}-/)
    assert.equal(await buy(7, PRICE), 'minted gold')
  })

  it('never shares its price with another on sale, even if both are entered together', async () => {
    const price = (PRICE * 3n).toString()
    const create = (tierId: string) => () => desk.post('tiers', { ...gold, tierId, label: tierId, priceWei: price })
    const answers = await meetAt(world.pool, lockTierTable, ['one', 'two', 'three'].map(create))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409])
    const loser = answers.findIndex(({ status }) => status === 409)
    const asleep = { ...gold, tierId: `asleep-${loser}`, label: 'Asleep', priceWei: price, onSale: false }
    assert.equal((await desk.post('tiers', asleep)).status, 200, 'off sale it may have any price')
    assert.equal((await desk.post(`tiers/asleep-${loser}`, { onSale: true })).status, 409)
  })

  it('taken off sale immediately loses its grace, and the next change has its grace again', async () => {
    const hasty = { ...gold, tierId: 'hasty', label: 'Hasty', priceWei: (PRICE + 9n).toString(), graceSec: 300 }
    assert.equal((await desk.post('tiers', hasty)).json.tier.graceSec, 300)
    await desk.post('tiers/hasty', { priceWei: (PRICE + 11n).toString() })
    const closed = await desk.post('tiers/hasty', { onSale: false, immediately: true })
    assert.deepEqual([closed.json.changed, closed.json.tier.graceSec], [true, 0])
    assert.deepEqual([await buy(11, PRICE + 9n), await buy(11, PRICE + 11n)], ['held wrongAmount', 'held saleClosed'])
    const reopened = await desk.post('tiers/hasty', { onSale: true })
    assert.equal(reopened.json.tier.graceSec, 300)
    const again = await desk.post('tiers/hasty', { onSale: true, graceSec: 600 })
    assert.equal(again.json.changed, false, 'a grace alone changes nothing')
    const refused = await desk.post('tiers/hasty', { priceWei: '5', graceSec: 119 })
    assert.match(refused.json.error, /graceSec/)
    assert.equal((await desk.post('tiers/hasty', { onSale: false })).json.changed, true)
    const ended = await desk.post('tiers/hasty', { onSale: false, immediately: true })
    assert.equal(ended.json.changed, true, 'it ends the grace that was left')
  })

  it('that waits to be entered applies from the block after its entry, not its request', async () => {
    const ask = () => desk.post('tiers/gold', { payoutBps: 5_000 })
    const [answer] = await meetAt(world.pool, lockTierTable, [ask], async () => {
      await world.chain.mine(3)
      await world.settle()
    })
    const { tier } = answer.json
    const head = await world.chain.block()
    assert.deepEqual([tier.fromBlock, tier.fromTime], [Number(head.number) + 1, Number(head.timestamp) + 1])
  })

  it('that requires a token needs one that the chain can read', async () => {
    const asking = { ...gold, tierId: 'holders', label: 'Holders', priceWei: (PRICE * 5n).toString(), holdingWei: '5' }
    assert.match((await desk.post('tiers', asking)).json.error, /needs a holdingToken/)
    const unreadable = await desk.post('tiers', { ...asking, holdingToken: world.at(9) })
    assert.match(unreadable.json.error, /is that an ERC-20 token/)
    const entered = await desk.post('tiers', { ...asking, holdingToken: world.token, holdingSymbol: 'DEMO' })
    assert.equal(entered.json.tier.holdingToken, world.token)
    assert.equal(await buy(10, PRICE * 5n), 'held holding')
    const another = world.at(19)
    await world.chain.rpc('anvil_setCode', [another, await world.chain.rpc('eth_getCode', [world.token, 'latest'])])
    const moved = await desk.post('tiers/holders', { holdingToken: another })
    const { holdingToken, holdingSymbol } = moved.json.tier
    assert.deepEqual([holdingToken, holdingSymbol], [another, null], 'a symbol is that of one token')
    const opened = await desk.post('tiers/holders', { holdingWei: '0' })
    assert.deepEqual([opened.json.tier.holdingToken, opened.json.tier.holdingSymbol], [null, null])
  })

  it('is refused with all that is wrong with it', async () => {
    const empty = await desk.post('tiers', {})
    assert.equal(empty.status, 400)
    for (const field of ['tierId', 'label', 'priceWei', 'maxPerWallet'])
      assert.match(empty.json.error, new RegExp(`${field} is required`))
    for (const wrong of [
      { tierId: 'Not an id' },
      { priceWei: 5 },
      { priceWei: '0' },
      { priceWei: '1e18' },
      { maxPerWallet: 0 },
      { payoutBps: 1_000_001 },
      { label: '' },
      { label: 'x'.repeat(65) },
      { onSale: 'yes' },
      { holdingToken: '0x12' },
    ]) {
      const answer = await desk.post('tiers', { ...gold, tierId: 'wrong', priceWei: '123456789', ...wrong })
      assert.equal(answer.status, 400, JSON.stringify(wrong))
    }
    assert.equal((await desk.post('tiers', gold)).status, 409, 'there is one of that name')
    assert.equal((await desk.post('tiers', { ...gold, tierId: 'wrong', priceWei: '5', tierNo: 1 })).status, 409)
    assert.equal((await desk.post('tiers/nope', { label: 'x' })).status, 404)
  })
})

describe('the bounds of a tier', () => {
  const rare = { tierId: 'rare', label: 'Rare', priceWei: (PRICE + 21n).toString(), maxPerWallet: 3, supply: 2 }

  it('a supply is sold to its last place, and no release goes beyond it', async () => {
    assert.equal((await desk.post('tiers', rare)).status, 200)
    await world.settle()
    assert.equal(await buy(5, PRICE + 21n), 'minted rare')
    assert.equal(await buy(6, PRICE + 21n), 'minted rare')
    const txHash = await world.pay(7, PRICE + 21n)
    await world.settle()
    assert.equal(await told(txHash), 'held soldOut')
    const refused = await desk.post(`payments/${txHash}/release`, { reason: 'a friend' })
    assert.equal(refused.status, 409, refused.text)
    assert.equal((await desk.post('tiers/rare', { supply: 1 })).status, 409, 'less than is sold')
    assert.equal((await desk.post('tiers/rare', { supply: 3, reason: 'one more' })).json.tier.supply, 3)
    await world.settle()
    const released = await desk.post(`payments/${txHash}/release`, { reason: 'the one more' })
    assert.equal(released.status, 200, released.text)
    await world.settle()
    assert.equal(await told(txHash), 'minted rare')
    const offered = (await desk.service.get('/api/tiers')).json.tiers.find(({ id }: { id: string }) => id === 'rare')
    assert.deepEqual([offered.state, offered.supply, offered.sold, offered.remaining], ['soldOut', 3, 3, 0])
    assert.deepEqual([offered.onSale, offered.soldOut], [true, false])
    assert.equal((await desk.service.get('/api/deploy-quote?tier=rare')).json.error, 'All nodes of the tier are sold.')
    const { checks } = (await desk.service.get(`/api/can-buy/${world.at(8)}?tier=rare`)).json
    assert.deepEqual(checks.slice(0, 2), [
      { check: 'onSale', passes: false },
      { check: 'supply', passes: false, limit: 3, sold: 3, reserved: 0 },
    ])
    const [listed] = (await desk.get('tiers')).json.tiers.filter(({ tierId }: { tierId: string }) => tierId === 'rare')
    assert.equal(listed.sold, 3)
    const acts = (await desk.get('audit?limit=200')).json.entries.filter((row: { action: string }) =>
      ['tierNearlySold', 'tierSoldOut'].includes(row.action),
    )
    assert.deepEqual(
      acts.map(({ action, detail }: { action: string; detail: object }) => [action, detail]).toReversed(),
      [
        ['tierNearlySold', { tierId: 'rare', supply: 2, sold: 2 }],
        ['tierSoldOut', { tierId: 'rare', supply: 2, sold: 2 }],
      ],
    )
  })

  it('the lower of supply and contract cap counts, and doctor and metrics report the difference', async () => {
    const priceWei = PRICE + 31n
    const created = await desk.post('tiers', { ...rare, tierId: 'capped', priceWei: priceWei.toString(), supply: 10 })
    await world.settle()
    const offered = async () => {
      const { tiers } = (await desk.service.get('/api/tiers')).json
      const { state, supply, sold, remaining, enforcedBy } = tiers.find(({ id }: { id: string }) => id === 'capped')
      return [state, supply, sold, remaining, enforcedBy.supply]
    }
    assert.deepEqual(await offered(), ['open', 10, 0, 10, 'operator'])
    const preview = async (supply: number) => {
      const { notes } = (await desk.post('tiers/capped', { supply, dryRun: true })).json
      return notes.join(' ')
    }
    assert.match(await preview(1), /supply 10 -> 1 .*owner cap-tier capped --most 1/)
    await world.act(0, 'capTier', [BigInt(created.json.tier.tierNo), 1n])
    await world.settle()
    assert.match(await preview(2), /supply 10 -> 2 .*The contract mints 1 at most/)
    assert.deepEqual(await offered(), ['open', 1, 0, 1, 'contract'])
    const looked = async (name: string) => {
      const findings = await runChecks({ [name]: SALE_CHECKS[name] ?? assert.fail() }, { pool: world.pool } as never)
      return findings.find(({ says }) => says.includes('tier capped'))
    }
    assert.match((await looked('owner.cap'))?.says ?? '', /mints 1 at most, and its supply is 10$/)
    const { verdict, says } = (await looked('owner.supply')) ?? assert.fail()
    assert.deepEqual([verdict, says.includes('0 of 10 are sold')], ['ok', true])
    const measured = ['sold', 'reserved', 'supply', 'cap'].map((what) =>
      readFigure(world.pool, `node_ledger_tier_${what}`, { tier: 'capped', state: 'open' }),
    )
    assert.deepEqual(await Promise.all(measured), [0, 0, 10, 1])
    assert.equal(await buy(5, priceWei), 'minted capped')
    assert.equal(await buy(6, priceWei), 'held soldOut')
    assert.deepEqual(await offered(), ['soldOut', 1, 1, 0, 'contract'])
    assert.equal((await desk.service.get('/api/deploy-quote?tier=capped')).status, 503)
    const { checks } = (await desk.service.get(`/api/can-buy/${world.at(8)}?tier=capped`)).json
    assert.deepEqual(checks[1], { check: 'supply', passes: false, limit: 1, sold: 1, reserved: 0 })
    assert.equal((await desk.post('tiers/capped', { supply: 1, reason: 'as the contract' })).status, 200)
    assert.equal(await looked('owner.cap'), undefined)
    assert.equal((await looked('owner.supply'))?.verdict, 'ok', 'a tier that is sold out asks for nothing')
  })

  it('nothing is sold before it opens', async () => {
    const { time } = await world.chain.block().then(({ timestamp }) => ({ time: Number(timestamp) }))
    const early = { ...rare, tierId: 'early', priceWei: (PRICE + 22n).toString(), supply: 0, opensAt: time + 1_000_000 }
    const created = await desk.post('tiers', early)
    assert.equal(created.status, 200, created.text)
    assert.deepEqual([created.json.tier.supply, created.json.tier.opensAt], [null, time + 1_000_000])
    await world.settle()
    const offered = (await desk.service.get('/api/tiers')).json.tiers.at(-1)
    const opensAt = new Date((time + 1_000_000) * 1000).toISOString()
    assert.deepEqual([offered.state, offered.opensAt, offered.remaining], ['upcoming', opensAt, null])
    const quote = await desk.service.get('/api/deploy-quote?tier=early')
    assert.match(quote.json.error, /not open yet/)
    const { checks } = (await desk.service.get(`/api/can-buy/${world.at(5)}?tier=early`)).json
    assert.deepEqual(checks[1], { check: 'opening', passes: false, opensAt, closesAt: null, opensAfter: null })
    for (const [afterSec, status] of [
      [-1, 400],
      [0, 400],
      [1, 200],
    ] as const) {
      const { status: answered } = await desk.post('tiers/early', { closesAt: time + 1_000_000 + afterSec })
      assert.equal(answered, status, `closes ${afterSec} s after it opens`)
    }
  })
})

describe('a tier that was entered with a provider that is ahead', () => {
  it('comes before a later entry, which may have its former price but not its next', async () => {
    const [present, next] = [PRICE + 101n, PRICE + 102n]
    const head = await world.chain.block()
    const leading = { tierId: 'leading', tierNo: 90, graceSec: 0 }
    await enterTier(world, { ...leading, priceWei: wei(present) })
    const later = { fromBlock: Number(head.number) + 20, fromTime: Number(head.timestamp) + 60 }
    await enterTier(world, { ...leading, ...later, priceWei: wei(next) })
    const enter = async (price: bigint) => {
      const tier = { ...gold, tierId: 'behind', label: 'Behind', priceWei: price.toString() }
      return await desk.post('tiers', tier)
    }
    const refused = await enter(next)
    assert.equal(refused.status, 409, refused.text)
    assert.match(refused.json.error, /^Tier leading is on sale at that price/)
    const entered = await enter(present)
    assert.equal(entered.status, 200, entered.text)
    assert.equal(entered.json.tier.fromTime, later.fromTime)
  })
})
