// The service, in its own process, killed at every boundary of its passes. Another one that takes over finds everything
// it needs: each payment ends as one node, each turn is paid once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { FAILPOINTS, type Failpoint } from '../../src/lib/failpoint.ts'
import { ETHER, enterTier, INTERVAL_SEC } from '../support/world.ts'
import { type Outside, startOutside } from './outside.ts'
import { endWell, isOneNode, locksAreFree, nextPayer, openStage, paid, type Stage } from './stage.ts'

/** Most blocks and passes until the service must have reached a point. */
const TICKS_MAX = 6

let stage: Stage
let survivor: Outside
before(async () => {
  stage = await openStage()
  await stage.world.settle()
  survivor = await startOutside(stage)
})
after(async () => {
  await survivor?.service.stop()
  await endWell(stage).finally(() => stage.world.close())
})

// First, because these processes exit normally and so leave their compile cache behind.
test('an unknown point is refused, with the list of those that exist', async () => {
  await assert.rejects(startOutside(stage, { NODE_LEDGER_FAILPOINT: 'mint.nowhere' }), /no point mint\.nowhere/)
})

test('a provider of another chain is refused at start, with what to check', async () => {
  stage.proxy.inject('wrongChainId', { times: 100 })
  await assert.rejects(startOutside(stage), /CHAIN_ID|RPC_URL/)
  stage.proxy.calm()
  assert.ok((stage.proxy.fired.get('wrongChainId') ?? 0) > 0)
})

test('in production no point can be armed', async () => {
  const secret = 'k7Jq2mXw9ZrT4vBn8LcY5hGd3sFpA6eU'
  const env = { NODE_ENV: 'production', SESSION_SECRET: secret, NODE_LEDGER_FAILPOINT: 'mint.stored' }
  const keys = {
    MINTER_PRIVATE_KEY: `0x${'1f9e3a7c5b2d8e64'.repeat(4)}`,
    DISTRIBUTOR_PRIVATE_KEY: `0x${'2e8d4b6a7c1f9053'.repeat(4)}`,
  }
  await assert.rejects(
    startOutside(stage, { ...env, ...keys, CRON_KEY: 'Zq8-vW3_nR6-tY1_mK5', PUBLIC_URL: 'https://ledger.example' }),
    /NODE_LEDGER_FAILPOINT is for tests/,
  )
})

let tiers = 3
/** The condition under which a tick passes the point. */
async function provoke(point: Failpoint, tick: number): Promise<Hash | null> {
  const { world, proxy } = stage
  const [place] = point.split('.')
  if (place === 'openCohorts' && tick === 0) {
    // A tier without open cohorts.
    tiers++
    const priceWei = (ETHER * BigInt(tiers)) as never
    await enterTier(world, { tierId: `tier${tiers}`, tierNo: tiers, priceWei })
    await world.chain.mine()
    return paid(world, nextPayer(), priceWei)
  }
  if (place === 'follow' && tick === 0) {
    // So the range in which it dies holds a mint.
    const payment = await paid(world)
    await world.payments()
    await world.chain.mine()
    return payment
  }
  if (place === 'credit' && tick === 0) await world.chain.increaseTime(INTERVAL_SEC)
  if ((place === 'bump' || place === 'resend') && tick === 0) proxy.inject('swallowed', { times: 2 })
  if (place === 'bump') await world.chain.mine(12)
  // Deep enough to rewind the mint and leave the payment.
  if (place === 'rewind' && tick === 2) await world.chain.reorg(2)
  return tick === 0 ? paid(world) : null
}

async function turnsPaid(): Promise<number> {
  const [row] = await stage.world.pool<{ turns: number }[]>`SELECT count(*) AS turns FROM turns`
  return row?.turns ?? 0
}

for (const point of FAILPOINTS) {
  test(`killed at ${point}: what it left undone is done once by another`, async () => {
    const { world, proxy } = stage
    await world.rest()
    const victim = await startOutside(stage, { NODE_LEDGER_FAILPOINT: point })
    let exit: NodeJS.Signals | null | undefined
    victim.service.exited.then(({ signal }) => {
      exit = signal
    })
    const payments: Hash[] = []
    for (let tick = 0; tick < TICKS_MAX && exit === undefined; tick++) {
      const payment = await provoke(point, tick)
      if (payment) payments.push(payment)
      await victim.pass('payments')
      await victim.pass('credit')
      await world.chain.mine()
    }
    if (exit === undefined) victim.service.kill('SIGTERM')
    await victim.service.exited
    assert.equal(exit, 'SIGKILL', `${point} was never reached`)

    proxy.calm()
    await locksAreFree(world)
    for (let tick = 0; tick < 3; tick++) {
      for (const name of ['payments', 'credit'] as const) {
        const outcome = await survivor.pass(name)
        assert.deepEqual([outcome?.status, outcome?.body.ran], [200, true], 'no lock outlives its process')
      }
      await world.chain.mine()
    }
    await world.rest()
    for (const payment of payments) await isOneNode(world, payment)
    if (point.startsWith('credit')) assert.ok((await turnsPaid()) > 0)
    assert.deepEqual(await proxy.broken(), [])
  })
}
