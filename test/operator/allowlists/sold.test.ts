// A tier that is sold to a list of wallets: who buys, how an allocation is used up, what a replaced list still allows, and what can-buy and the tiers
// say of it before. All payments are real ones.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../../src/domain/units.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { ETHER, type Instance, standingOf, type World } from '../../support/world.ts'

let desk: Desk
let world: World
/** Follows and judges, and mints nothing. */
let noMint: Instance
let prices = 0n
before(async () => {
  desk = await startDesk()
  world = desk.world
  noMint = world.instance({ minter: null })
})
after(() => desk.close())

/** Enters a list of accounts with their allocations. @returns its root. */
async function list(allocations: Readonly<Record<number, number>>): Promise<Hash> {
  const rows = Object.entries(allocations).map(([account, nodes]) => `${world.at(Number(account))},${nodes}`)
  const { status, json, text } = await desk.post('allowlists', { rows: rows.join('\n'), label: 'a list' })
  assert.equal(status, 200, text)
  return json.root
}

/** A new tier that is sold to a list. */
async function tierFor(allowlist: Hash | null, more: object = {}): Promise<{ tierId: string; priceWei: bigint }> {
  const priceWei = ETHER / 1_000n + ++prices
  const tierId = `listed-${prices}`
  const terms = { tierId, label: 'Listed', priceWei: priceWei.toString(), maxPerWallet: 9, allowlist, ...more }
  const { status, text } = await desk.post('tiers', terms)
  assert.equal(status, 200, text)
  await world.settle()
  return { tierId, priceWei }
}

/** Payments of these accounts, in one block and this order. @returns how each stands. */
async function pay(priceWei: bigint, accounts: readonly number[], by: { payments(): Promise<unknown> } = noMint) {
  const sent: Hash[] = []
  for (const account of accounts) sent.push(await world.pay(account, priceWei))
  await world.chain.mine()
  await by.payments()
  return sent
}
const stand = (sent: readonly Hash[]) => Promise.all(sent.map((txHash) => standingOf(world, txHash)))
const evidenceOf = async (txHash: Hash) => {
  const [row] = await world.pool<{ evidence: Record<string, unknown> }[]>`
    SELECT evidence FROM payment_verdicts v JOIN payments p ON p.id = v.payment_id WHERE p.tx_hash = ${txHash} ORDER BY v.id DESC LIMIT 1`
  const { allowlist, allocation, used } = row?.evidence ?? {}
  return { allowlist, allocation, used }
}

test('an allocation stays used by its node, and becomes free if a payment becomes none', async () => {
  const { priceWei } = await tierFor(await list({ 8: 1, 9: 1 }))
  const [bought] = await pay(priceWei, [8])
  await world.settle()
  assert.match(await standingOf(world, bought ?? '0x'), /^minted/)
  const [node] = (await desk.service.get(`/api/nodes/${world.at(8)}`)).json
  await world.act(8, 'transferFrom', [world.at(8), world.at(10), BigInt(node.nodeId)])
  await world.settle()
  assert.match((await stand(await pay(priceWei, [8]))).join(), /^held notListed/)
  const [first] = await pay(priceWei, [9])
  const prepared = await desk.post(`payments/${first}/refund/prepare`, {})
  assert.equal(prepared.status, 200, prepared.text)
  assert.match((await stand(await pay(priceWei, [9]))).join(), /^accepted/)
})

test('tiers show the list, can-buy a wallet’s allocation and use, and the judge agrees', async () => {
  const root = await list({ 15: 1 })
  const { tierId, priceWei } = await tierFor(root)
  const tiers = (await desk.service.get('/api/tiers')).json.tiers
  assert.equal(tiers.find(({ id }: { id: string }) => id === tierId)?.allowlistRoot, root)
  const checkOf = async (account: number) => {
    desk.service.clock.now += 60_000
    const { json } = await desk.service.get(`/api/can-buy/${world.at(account)}?tier=${tierId}`)
    return json.checks.find(({ check }: { check: string }) => check === 'allowlist')
  }
  const check = { check: 'allowlist', root }
  assert.deepEqual(await checkOf(15), { ...check, passes: true, limit: 1, used: 0 })
  assert.deepEqual(await checkOf(16), { ...check, passes: false, limit: 0, used: 0 })
  const [sent] = await pay(priceWei, [15])
  assert.match(await standingOf(world, sent ?? '0x'), /^accepted/)
  assert.deepEqual(await checkOf(15), { ...check, passes: false, limit: 1, used: 1 })
})

test('a tier accepts only an entered list, and lets anyone buy after the list is removed', async () => {
  const { tierId, priceWei } = await tierFor(await list({ 17: 1 }))
  const unknown = await desk.post(`tiers/${tierId}`, { allowlist: `0x${'99'.repeat(32)}` })
  assert.deepEqual([unknown.status, unknown.json.problems[0].field], [400, 'allowlist'])
  const opened = await desk.post(`tiers/${tierId}`, { allowlist: '0' })
  assert.equal(opened.json.tier.allowlist, null)
  await world.chain.mine()
  const [sent] = await pay(priceWei, [18])
  assert.match(await standingOf(world, sent ?? '0x'), /^accepted/)
  assert.deepEqual(await evidenceOf(sent ?? '0x'), { allowlist: undefined, allocation: undefined, used: undefined })
})
