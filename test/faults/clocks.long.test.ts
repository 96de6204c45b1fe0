// The service's own clock jumps an hour ahead, an hour back, by days, or stands still, while its passes run. Rules use
// the chain's time and locks the database's, so nothing is credited twice or early, and no session revives.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { privateKeyToAccount } from 'viem/accounts'
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import type { Hash } from '../../src/domain/units.ts'
import { until } from '../support/until.ts'
import { INTERVAL_SEC } from '../support/world.ts'
import { createFakeClock, noFakeClock } from './fake-clock.ts'
import { type Outside, startOutside } from './outside.ts'
import { endWell, isOneNode, openStage, paid, type Stage } from './stage.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
const skip = noFakeClock

const clock = createFakeClock()
let stage: Stage
let moved: Outside
let right: Outside
before(async () => {
  if (skip) return
  stage = await openStage()
  // So something is already due at the first round.
  await paid(stage.world)
  await stage.world.settle()
  moved = await startOutside(stage, { ...clock.env, SCHEDULER: 'on', TICK_SEC: '1' })
  right = await startOutside(stage)
})
after(async () => {
  if (skip) return
  clock.shift(0)
  for (const { service } of [moved, right]) await service?.stop()
  await endWell(stage).finally(() => stage.world.close())
})

interface Health {
  stale: boolean
  secondsSinceLastTick: number
  lastTickAt: string
}

/** Seconds that the service's own clock is ahead of ours, by its own answer; this route is never cached. */
async function aheadBy({ service }: Outside): Promise<number> {
  const { message } = await service.get<{ message: string }>('/api/auth/nonce')
  const issuedAt = /Issued At: (\S+)/.exec(message)?.[1] ?? ''
  return Math.round((Date.parse(issuedAt) - Date.now()) / 1000)
}

async function turns(): Promise<number> {
  const [row] = await stage.world.pool<{ count: number }[]>`SELECT count(*) AS count FROM turns`
  return row?.count ?? -1
}

/** The timer alone mints a payment and credits a turn; the tick has its true age, by whichever clock. */
async function goesOn(): Promise<void> {
  const { world } = stage
  const payment: Hash = await paid(world)
  const before = await turns()
  await world.chain.increaseTime(INTERVAL_SEC)
  await until('the mint and a round', async () => {
    await world.chain.mine()
    const minted = await world.pool`SELECT FROM payments WHERE tx_hash = ${payment} AND state = 'minted'`
    return minted.count === 1 && (await turns()) > before
  })
  await isOneNode(world, payment)
  for (const { service } of [moved, right]) {
    const health = await service.get<Health>('/api/cron/health')
    assert.equal(health.stale, false)
    assert.ok(health.secondsSinceLastTick < 30, `${health.secondsSinceLastTick} s since the last tick`)
    assert.ok(Math.abs(Date.parse(health.lastTickAt) - Date.now()) < 60_000, 'the time of a tick is the database’s')
  }
}

for (const [sentence, move, ahead] of [
  ['an hour ahead', () => clock.shift(HOUR), HOUR],
  ['an hour back', () => clock.shift(-HOUR), -HOUR],
  ['a year ahead', () => clock.shift(365 * DAY), 365 * DAY],
] as const) {
  test(`the clock is set ${sentence}: payments are minted, turns credited once, and health is honest`, {
    skip,
  }, async () => {
    move()
    await until('the new time', async () => Math.abs((await aheadBy(moved)) - ahead) < 15)
    await goesOn()
    clock.shift(0)
    await goesOn()
  })
}

test('the clock stops: work continues, and cached answers still expire', { skip }, async () => {
  clock.freeze()
  await goesOn()
  // Limits are per minute. A minute that never ends would lock everyone out.
  const { service } = moved
  const first = await service.get<{ blockNumber: number }>('/api/cover')
  await stage.world.chain.mine(3)
  await until('a younger reading', async () => {
    const { blockNumber } = await service.get<{ blockNumber: number }>('/api/cover')
    return blockNumber > first.blockNumber
  })
  clock.shift(0)
})

test('a fast clock credits no turn early, and two differing instances credit none twice', {
  skip,
}, async () => {
  const { world } = stage
  clock.shift(HOUR)
  const before = await turns()
  for (let i = 0; i < 4; i++) {
    await world.chain.mine()
    await Promise.all([moved.pass('credit'), right.pass('credit')])
  }
  assert.equal(await turns(), before, 'nothing was due by the chain’s time')
  await world.chain.increaseTime(INTERVAL_SEC)
  for (let i = 0; i < 6; i++) {
    await world.chain.mine()
    await Promise.all([moved.pass('credit'), right.pass('credit'), moved.pass('payments')])
  }
  const doubled = await world.pool`SELECT FROM turns GROUP BY cohort, due HAVING count(*) > 1`
  assert.equal(doubled.count, 0)
  clock.shift(0)
})

test('an expired session stays expired, and a used nonce used, when the clock steps back', { skip }, async () => {
  const { url } = moved.service
  const account = privateKeyToAccount(DEVELOPMENT_ACCOUNTS[6]?.privateKey ?? '0x')
  const asked = await fetch(`${url}/api/auth/nonce?address=${account.address}`)
  const { message } = (await asked.json()) as { message: string }
  const nonce = asked.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const body = JSON.stringify({ address: account.address, signature: await account.signMessage({ message }) })
  const verify = () =>
    fetch(`${url}/api/auth/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: nonce },
      body,
    })
  const verified = await verify()
  assert.equal(verified.status, 200)
  const session =
    verified.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('nl_session='))
      ?.split(';')[0] ?? ''
  const me = async () => (await fetch(`${url}/api/me`, { headers: { cookie: session } })).status
  assert.equal(await me(), 200)
  clock.shift(7 * DAY + HOUR)
  await until('the session to expire', async () => (await me()) === 401)
  for (const back of [0, -HOUR]) {
    clock.shift(back)
    await until('the new time', async () => Math.abs((await aheadBy(moved)) - back) < 15)
    assert.deepEqual([await me(), (await verify()).status], [401, 401])
  }
})
