// While the ledger reads blocks again because it differed from one of them, it may lack what it had. So it judges, mints, credits, sells and releases
// nothing until it is where it was.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { readMending } from '../../src/db/blocks/mending.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { loseNode } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { startTwoProviders } from '../support/two-providers.ts'
import { ETHER, INTERVAL_SEC, type Instance, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
beforeEach(async () => {
  desk = await startDesk()
  world = desk.world
})
afterEach(() => desk.close())

const cursorAt = async () => (await readCursor(world.pool))?.number ?? -1
const sent = async () => (await world.pool`SELECT FROM outbox`).count

/** An instance whose provider has no block after this one. */
const endingAt = (last: number): Instance => {
  const { chain } = world.ctx
  const head: typeof chain.head = async (options) => {
    const newest = await chain.head(options)
    return newest.number <= last ? newest : ((await chain.block(last)) ?? newest)
  }
  return world.instance({ chain: { ...chain, head } })
}

test('until the ledger is back, nothing is judged, minted, credited, quoted, released or changed', async () => {
  const lost = await world.pay(5, BASIC)
  await world.settle()
  const wrong = await world.pay(6, 3n * BASIC)
  await world.rest()
  const to = await cursorAt()
  // The ledger has a payment by another sender than the chain.
  const [row] = await world.pool<{ at: number }[]>`
    SELECT block_number::int AS at FROM payments WHERE tx_hash = ${lost}`
  const at = row?.at ?? assert.fail()
  await world.pool`UPDATE payments SET from_address = ${world.at(9)} WHERE tx_hash = ${lost}`
  const back = await desk.post('rescan', { fromBlock: at, reason: 'misread' })
  assert.equal(back.json.wentBackTo, at - 1, back.text)
  assert.deepEqual(await readMending(world.pool), { at: at - 1, to })

  const before = await sent()
  const run = endingAt(at)
  await run.payments()
  assert.deepEqual([await cursorAt(), await standingOf(world, lost), await sent()], [at, 'seen', before])
  assert.equal((await run.credit()).reason, 'pending')

  const quote = await desk.service.get('/api/deploy-quote?tier=basic')
  assert.equal(quote.status, 503)
  assert.match(quote.json.error, /reading some blocks again/)
  assert.equal((await desk.service.get(`/api/can-buy/${world.at(7)}?tier=basic`)).json.canBuy, null)
  for (const [path, input] of [
    [`payments/${wrong}/release`, { tierId: 'basic' }],
    ['payments/decide', { decision: 'release', tierId: 'basic', payments: [wrong] }],
    ['nodes/1/grant', { reason: 'a gift' }],
    ['tiers/basic', { priceWei: String(2n * BASIC), reason: 'dearer' }],
    ['tiers/basic', { onSale: false }],
  ] as const) {
    const { status, json } = await desk.post(path, input)
    const told = json.error ?? json.results?.[0]?.refusal ?? ''
    assert.match(
      told,
      new RegExp(`reads blocks ${at + 1} to ${to} again`),
      `${path}: ${status} ${JSON.stringify(json)}`,
    )
  }
  const { out } = await runHere(['doctor', '--json'], worldEnv(world))
  const { findings } = JSON.parse(out) as { findings: { check: string; says: string }[] }
  assert.match(findings.find(({ check }) => check === 'ledger.mending')?.says ?? '', new RegExp(`to ${to} again`))

  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  assert.equal(await readMending(world.pool), null)
  assert.equal((await desk.service.get('/api/deploy-quote?tier=basic')).status, 200)
  assert.deepEqual([await standingOf(world, lost), await standingOf(world, wrong)], ['minted', 'held wrongAmount'])
  await checkInvariants(world)
})

test('a reorg does not restart it, and a second difference extends it', async () => {
  await world.pay(5, BASIC)
  await world.rest()
  await world.chain.mine(4)
  await world.payments()
  const to = await cursorAt()
  await world.pool`UPDATE nodes SET ref = ${`0x${'9'.repeat(64)}`} WHERE node_id = 1`
  const [row] = await world.pool<{ at: number }[]>`SELECT block_number::int AS at FROM nodes WHERE node_id = 1`
  const at = row?.at ?? assert.fail()
  assert.equal((await desk.post('rescan', { fromBlock: at, reason: 'misread' })).json.wentBackTo, at - 1)
  await endingAt(at).payments()
  await world.pool`UPDATE nodes SET ref = ${`0x${'8'.repeat(64)}`} WHERE node_id = 1`
  assert.equal((await desk.post('rescan', { fromBlock: at, reason: 'misread' })).json.wentBackTo, at - 1)
  assert.deepEqual(await readMending(world.pool), { at: at - 1, to })
  await world.rest()
  assert.equal(await readMending(world.pool), null)
  await world.chain.reorg(1)
  await world.rest()
  assert.equal(await readMending(world.pool), null)
  await checkInvariants(world)
})

for (const index of [0, 1])
  test(`a lost node is found although provider ${index + 1} of two hides its events`, async () => {
    const { world, first, second } = await startTwoProviders()
    try {
      await world.pay(5, BASIC)
      await world.rest()
      await loseNode(world, 1)
      const liar = [first, second][index] ?? assert.fail()
      liar.rule = ({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined)
      assert.equal((await world.payments()).reconciled, 1)
      await world.rest()
      assert.equal((await world.pool`SELECT FROM nodes WHERE node_id = 1`).count, 1)
      await checkInvariants(world)
    } finally {
      await world.close()
    }
  })
