// Changes of tiers that are entered ahead, over HTTP and on a real chain: a sale to a list that becomes public, what is refused at entry, and what
// pages show before.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readCursor } from '../../../src/db/blocks/blocks.ts'
import { inTransaction } from '../../../src/db/core/sql.ts'
import { lockTierTable } from '../../../src/db/sale/tiers.ts'
import { runHere, worldEnv } from '../../support/cli.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { ETHER, paymentOf, type World } from '../../support/world.ts'

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({ priceGraceSec: 120 })
  world = desk.world
  for (const [tierId, n] of [
    ['drop', 1n],
    ['next', 2n],
  ] as const) {
    const tier = { tierId, label: tierId, priceWei: String(PRICE + n), maxPerWallet: 3, onSale: tierId === 'next' }
    assert.equal((await desk.post('tiers', tier)).status, 200)
  }
  await world.settle()
})
after(() => desk.close())

const PRICE = ETHER / 60n
const headTime = async () => Number((await world.chain.block()).timestamp)
/** A time that may be planned: by the head, and by the clock. */
const ahead = async (sec: number) => Math.max(await headTime(), Math.ceil(Date.now() / 1000)) + sec
const follow = () => world.instance({ minter: null }).payments()
async function payAt(time: number, from: number, valueWei: bigint) {
  const hash = await world.pay(from, valueWei)
  await world.chain.rpc('evm_setNextBlockTimestamp', [time])
  await world.chain.mine()
  await follow()
  const payment = await paymentOf(world, hash)
  return payment?.reason ?? payment?.state
}
const planned = async (tierId: string) =>
  (await desk.get('tiers')).json.tiers.find((tier: { tierId: string }) => tier.tierId === tierId).planned

test('a sale to a list at a time, and to anyone ten minutes later, is entered before and held to', async () => {
  const rows = `address,allocation\n${world.at(5)},5\n`
  const { root } = (await desk.post('allowlists', { label: 'friends', rows })).json
  const start = await ahead(300)
  const first = await desk.post('tiers/drop', { onSale: true, allowlist: root, supply: 10, fromTime: start })
  assert.equal(first.status, 200, first.text)
  assert.match(first.json.says, /off sale -> on sale.* from 20.* UTC, in (4 min \d+ s|5 min)/)
  assert.match(first.json.says, /list allows a wallet up to 5 nodes, but the tier only 3/)
  const open = await desk.post('tiers/drop', { allowlist: '0', fromTime: start + 600 })
  assert.equal(open.status, 200, open.text)
  const [listed, anyone] = await planned('drop')
  assert.deepEqual([listed.fromTime, listed.unfit, anyone.fromTime, anyone.unfit], [start, null, start + 600, null])
  assert.match(anyone.says, /^allowlist 0x[0-9a-f]+ -> none$/)
  const { tiers } = (await desk.service.get('/api/tiers')).json
  const drop = tiers.find(({ id }: { id: string }) => id === 'drop')
  assert.equal(drop.state, 'closed')
  assert.deepEqual(
    drop.planned.map((one: { onSale: boolean; supply: number; allowlistRoot: string | null }) => [
      one.onSale,
      one.supply,
      one.allowlistRoot,
    ]),
    [
      [true, 10, root],
      [true, 10, null],
    ],
  )
  const price = PRICE + 1n
  assert.equal(await payAt(start - 1, 5, price), 'saleClosed')
  assert.equal(await payAt(start, 5, price), 'accepted')
  assert.equal(await payAt(start + 10, 6, price), 'notListed')
  assert.equal(await payAt(start + 599, 6, price), 'notListed')
  assert.equal(await payAt(start + 600, 6, price), 'accepted')
  assert.deepEqual(await planned('drop'), [])
})

test('a change is entered and cancelled until two minutes before its time', async () => {
  for (const fromTime of [await headTime(), (await ahead(0)) + 110]) {
    const late = await desk.post('tiers/next', { label: 'Late', fromTime })
    assert.equal(late.status, 409, late.text)
    assert.match(late.text, /at least 120 seconds/)
  }
  const time = await ahead(130)
  const entered = await desk.post('tiers/next', { label: 'Soon', fromTime: time })
  const [{ version }] = await planned('next')
  assert.equal(entered.json.tier.planned[0].version, version)
  await world.chain.rpc('evm_setNextBlockTimestamp', [time - 100])
  await world.chain.mine()
  const late = await desk.post('tiers/next/cancel', { version })
  assert.equal(late.status, 409)
  assert.match(
    late.text,
    new RegExp(`"Change ${version} takes effect at 20.* UTC, in .*: it is too late to cancel it[.]"`),
  )
  await payAt(time, 7, 1n)
  assert.equal((await desk.post('tiers/next/cancel', { version })).status, 404, 'it holds')
  const other = await desk.post('tiers/next', { label: 'Never', fromTime: 'in 3d' })
  const [plan] = other.json.tier.planned
  const cancelled = await desk.post('tiers/next/cancel', { version: plan.version, reason: 'a slip' })
  assert.match(
    cancelled.json.says,
    /^Cancelled: change \d+ of tier next, planned for .* UTC, in (2 d 23 h|3 d): name Soon -> Never\.$/,
  )
  assert.deepEqual(await planned('next'), [])
  const actions = await world.pool<{ action: string }[]>`
    SELECT action FROM audit WHERE subject = 'next' AND action LIKE 'tier%' ORDER BY id`
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['tierCreated', 'tierPlanned', 'tierChanged', 'tierPlanned', 'tierPlanCancelled'],
  )
})

test('at a terminal, a cancelled change is shown before the question and after it', async () => {
  const env = worldEnv(world)
  const [{ version }] = (await desk.post('tiers/next', { label: 'Later', fromTime: 'in 3h' })).json.tier.planned
  const cancel = (number: number | string) => runHere(['tiers', 'cancel', 'next', String(number)], env, 'y')
  const change = `change ${version} of tier next, planned for 20.* UTC, in .*: name .* -> Later[.]\n`
  for (const [number, code, refusal] of [
    [version + 1, 1, /Tier next has no planned change/],
    ['x', 2, /<version> must be a whole number/],
  ] as const) {
    const refused = await cancel(number)
    assert.equal(refused.code, code, refused.err)
    assert.match(refused.err, refusal)
    assert.doesNotMatch(refused.err, /Cancel this change/)
  }
  const agreed = await cancel(version)
  assert.match(agreed.err, new RegExp(`^To cancel: ${change}Cancel this change[?]`))
  assert.match(agreed.out, new RegExp(`^Cancelled: ${change}`))
  assert.equal((await desk.post('tiers/next', { maxPerWallet: 4 })).status, 200)
  const [heads = '', ...rows] = (await runHere(['tiers', 'list'], env)).out.split('\n')
  const row = rows.find((one) => one.startsWith('next ')) ?? ''
  assert.equal(Number.parseInt(row.slice(heads.indexOf('  version ') + 2), 10), version + 1)
})

test('a dry run shows what a change would do, and enters nothing', async () => {
  const fromTime = await ahead(4_000)
  const dry = await desk.post('tiers/next', { closesAt: fromTime - 1, fromTime, dryRun: true })
  assert.deepEqual([dry.status, dry.json.dryRun, dry.json.changed], [200, true, true], dry.text)
  assert.match(
    dry.json.says,
    /^To enter: closes none -> .* It closes before it begins, so these terms sell only until 20.* UTC, when the grace period after the closing ends\. Earlier terms still buy for the grace period\.$/,
  )
  assert.deepEqual(await planned('next'), [])
  const now = await desk.post('tiers/next', { closesAt: 5, dryRun: true })
  assert.match(now.json.says, /It closes before it begins, so these terms sell nothing\./)
  assert.equal((await desk.post('tiers/next', { label: 'Soon', fromTime, dryRun: true })).json.changed, false)
})

test('a change that keeps a past closing shows what it still sells', async () => {
  const fromTime = await ahead(4_000)
  assert.equal((await desk.post('tiers/next', { closesAt: fromTime - 1 })).status, 200)
  const dry = async (change: object) =>
    (await desk.post('tiers/next', { onSale: true, label: 'Public', dryRun: true, ...change })).json.says
  const kept = /The tier closes at 20.* UTC, and this change keeps that, so these terms/
  assert.match(await dry({ fromTime }), new RegExp(`${kept.source} sell only until 20.* UTC, when`))
  const later = await dry({ fromTime: fromTime + 899 })
  assert.match(later, new RegExp(`${kept.source} sell nothing[.] Change the closing too [(]0: never[)][.]$`))
  const open = await desk.post('tiers/next', { label: 'Public', closesAt: 0, fromTime, dryRun: true })
  assert.doesNotMatch(open.json.says, /these terms/)
  assert.equal((await desk.post('tiers/next', { closesAt: Math.floor(Date.now() / 1000) - 1_000 })).status, 200)
  assert.match(await dry({}), /The tier closed at 20.* UTC, and this change keeps that, so these terms sell nothing/)
  assert.match(await dry({ onSale: false, label: 'Soon' }), /^To enter: on sale -> off sale from block \d+\.$/)
  assert.equal((await desk.post('tiers/next', { closesAt: 0 })).status, 200)
})

test('a dry run waits for no change and no follower', async () => {
  const dry = await inTransaction(world.pool, async (sql) => {
    await lockTierTable(sql)
    await readCursor(sql, { lock: true })
    return await desk.post('tiers/next', { label: 'Unlocked', dryRun: true })
  })
  assert.deepEqual([dry.status, dry.json.changed], [200, true], dry.text)
})

test('a price that another tier will have is refused with the time from which it has it', async () => {
  const [fromTime, priceWei] = [await ahead(5_000), String(PRICE + 40n)]
  assert.equal((await desk.post('tiers/drop', { onSale: true, priceWei, fromTime })).status, 200)
  const refused = await desk.post('tiers/next', { onSale: true, priceWei, fromTime: fromTime + 1 })
  assert.equal(refused.status, 409)
  assert.match(refused.text, /Tier drop will be on sale at that price from 20.* UTC/)
  const [plan] = await planned('drop')
  assert.equal((await desk.post('tiers/drop/cancel', { version: plan.version })).status, 200)
})
