// The service's timer. test/models/answers/timer.test.ts compares when it runs the passes.
import { test } from 'node:test'
import { MINT_BATCH_MAX } from '../../src/domain/send.ts'
import { worldEnv } from '../support/cli.ts'
import { startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { payFrom } from '../support/wallets/payer.ts'
import { ETHER, startWorld } from '../support/world.ts'

const TICK_SEC = 3_600

test('the service’s timer continues a sale from a claim, though its tick is an hour off', async () => {
  const world = await startWorld()
  const buyers = MINT_BATCH_MAX + 1
  try {
    await world.settle()
    const env = {
      ...worldEnv(world),
      SCHEDULER: 'on',
      TICK_SEC: String(TICK_SEC),
    }
    const service = await startService(temporaryDirectory(), env)
    try {
      const ran = async () =>
        (await world.pool`SELECT FROM passes WHERE name = 'credit' AND finished_at > started_at`).count > 0
      await until('the first tick', ran)
      let last = ''
      for (let n = 0; n < buyers; n++) last = await payFrom(world.chain, n, { to: world.at(3), value: ETHER / 100n })
      await world.chain.mine()
      await service.post('/api/payments/claim', { txHash: last })
      await until('all nodes', async () => {
        await world.chain.mine()
        return (await world.pool`SELECT FROM nodes`).count === buyers
      })
    } finally {
      await service.stop()
    }
  } finally {
    await world.close()
  }
})
