// The built service, watched from outside through reorganisations of one to two hundred blocks, with payments, mints,
// rounds, withdrawals and gifts in them. One goes below a final block: there the service halts until the operator has
// looked.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { runProcess, worldEnv } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { INTERVAL_SEC } from '../support/world.ts'
import { FATES, type Fate, reorganise } from './fates.ts'
import { type Outside, startOutside } from './outside.ts'
import { BASIC, endWell, isOneNode, nextPayer, openStage, paid, type Stage, stateOf } from './stage.ts'

const RUNS_MAX = 12

interface Health {
  halted: { reason: string; sealed: boolean } | null
  paused: boolean
}

/** Both passes and a block, until nothing is pending. */
async function runUntilDone({ world }: Stage, { pass }: Outside): Promise<void> {
  for (let i = 0; i < RUNS_MAX; i++) {
    for (const name of ['payments', 'credit'] as const) assert.equal((await pass(name))?.status, 200)
    await world.chain.mine()
    const [row] = await world.pool<{ open: number }[]>`
      SELECT (SELECT count(*) FROM payments WHERE state IN ('seen', 'accepted', 'minting'))
        + (SELECT count(*) FROM outbox WHERE state = 'pending') AS open`
    if (row?.open === 0 && i > 0) return
  }
  assert.fail(`something was still on its way after ${RUNS_MAX} runs`)
}

/** Runs `body` on its own chain with a service on it, which has two providers. */
async function onStage(
  slotsInEpoch: number,
  env: Record<string, string>,
  body: (stage: Stage, instance: Outside) => Promise<void>,
): Promise<void> {
  const stage = await openStage({ slotsInEpoch, providers: 2 })
  try {
    await stage.world.settle()
    const instance = await startOutside(stage, env)
    await body(stage, instance).finally(() => instance.service.stop())
  } finally {
    await stage.world.close()
  }
}

let stage: Stage
let instance: Outside
before(async () => {
  // So two hundred blocks are not final yet.
  stage = await openStage({ slotsInEpoch: 200, maxPerWallet: 200n })
  await stage.world.settle()
  instance = await startOutside(stage)
})
after(async () => {
  await instance?.service.stop()
  await endWell(stage).finally(() => stage.world.close())
})

/** One block each for payments, their mints, a round, a withdrawal and a gift; the passes run after each. */
const BUSY_BLOCKS = 8
for (const depth of [1, 2, 3, 4, 5, 6, 7, 8, 12, 21, 34, 55, 64, 200]) {
  test(`after a reorg of ${depth} blocks, what stayed is one node each, and what went leaves no trace`, async () => {
    const { world } = stage
    const ours = [world.at(1), world.at(2)]
    await world.chain.mine(Math.max(1, depth - BUSY_BLOCKS))
    const payments: Hash[] = []
    for (let block = 0; block < BUSY_BLOCKS; block++) {
      payments.push(await world.pay(nextPayer(), BASIC))
      if (block === 3) await world.chain.increaseTime(INTERVAL_SEC)
      await world.chain.mine()
      for (const name of ['payments', 'credit'] as const) assert.equal((await instance.pass(name))?.status, 200)
      if (block === 5 || block === 6) await ownerActs(block === 5)
    }
    let turn = 0
    const outcome = await reorganise(world, depth, (sender) =>
      ours.includes(sender as never) ? null : (FATES[turn++ % FATES.length] as Fate),
    )
    await world.chain.mine()
    await runUntilDone(stage, instance)
    for (const payment of payments) {
      const fate = outcome.get(payment) ?? 'kept'
      if (fate === 'kept' || fate === 'moved') await isOneNode(world, payment)
      else {
        assert.equal(await stateOf(world, payment), 'orphaned', `${fate}: a payment that is gone is no sale`)
        assert.equal(await world.read<bigint>('nodeOfRef', [payment]), 0n, `${fate}: and has no node`)
      }
    }
    const health = await instance.service.get<Health>('/api/cron/health')
    assert.equal(health.halted, null)
  })
}

/** A node's owner withdraws half of its balance, or gives the node away, in the next block. */
async function ownerActs(withdraws: boolean): Promise<void> {
  const { world } = stage
  const [node] = await world.pool<{ id: number; owner: string; balance: bigint }[]>`
    SELECT n.node_id AS id, n.owner, c.per_node_wei - n.per_node_at_mint_wei - n.withdrawn_wei AS balance
    FROM nodes n JOIN cohorts c USING (cohort) ORDER BY balance DESC, n.node_id LIMIT 1`
  const owner = [...Array(15).keys()].map((i) => i + 5).find((account) => world.at(account) === node?.owner)
  if (!node || owner === undefined) return
  const other = world.at(5 + ((owner - 4) % 15))
  if (withdraws) await world.act(owner, 'withdraw', [BigInt(node.id), other, node.balance / 2n])
  else await world.act(owner, 'transferFrom', [node.owner, other, BigInt(node.id)])
}

test('FINALITY=guarded: a mint is immediate, and vanishes with its payment’s block', () =>
  onStage(4, { FINALITY: 'guarded' }, async (own, service) => {
    const { world } = own
    const payment = await paid(world)
    await service.pass('payments')
    await world.chain.mine()
    await service.pass('payments')
    await isOneNode(world, payment)
    await world.chain.reorg(2)
    await world.chain.mine()
    await runUntilDone(own, service)
    assert.deepEqual([await stateOf(world, payment), await world.read('lastId')], ['orphaned', 0n])
    await endWell(own)
  }))

for (const [finality, needed] of [
  ['3', 3],
  ['finalized', 8],
] as const) {
  test(`FINALITY=${finality}: a payment that a reorg removes earlier is never minted, one that stays is`, () =>
    onStage(4, { FINALITY: finality }, async (own, service) => {
      const { world } = own
      await world.chain.mine(20)
      const gone = await paid(world)
      for (let block = 2; block < needed; block++) {
        assert.equal((await service.pass('payments'))?.status, 200)
        assert.equal(await stateOf(world, gone), 'seen')
        await world.chain.mine()
      }
      await world.chain.reorg(needed - 1)
      const stays = await paid(world)
      for (let block = 0; block < needed + 2; block++) {
        await service.pass('payments')
        await world.chain.mine()
      }
      await runUntilDone(own, service)
      assert.deepEqual([await stateOf(world, gone), await world.read('lastId')], ['orphaned', 1n])
      await isOneNode(world, stays)
    }))
}

/** Runs the command as a process; returns its exit code and output. */
async function resume({ world }: Stage): Promise<{ code: number | null; said: string }> {
  const { code, out, err } = await runProcess(['resume', '--halt', '--yes'], worldEnv(world))
  return { code, said: out + err }
}

/** Asserts that it is halted, reports so, moves nothing, and still serves its reads. */
async function isHalted({ world }: Stage, { service, pass }: Outside, reason: string, node: number): Promise<void> {
  const [before] = await world.pool`SELECT block_hash FROM cursors`
  const sent = await world.pool`SELECT FROM outbox_attempts`
  const outcomes = [await pass('payments'), await pass('credit')]
  assert.deepEqual(
    outcomes.map((answer) => answer?.status),
    [200, 200],
  )
  assert.equal((outcomes[1]?.body as { reason?: string } | undefined)?.reason, 'paused')
  assert.equal((await service.get<Health>('/api/cron/health')).halted?.reason, reason)
  assert.equal((await service.get<{ nodeId: string }>(`/api/node/${node}`)).nodeId, String(node))
  assert.deepEqual((await world.pool`SELECT block_hash FROM cursors`)[0], before)
  assert.equal((await world.pool`SELECT FROM outbox_attempts`).length, sent.length)
  const audit = await world.pool`SELECT FROM audit WHERE action = 'halted'`
  assert.equal(audit.length, 1)
}

test('a reorg of final blocks halts loudly, is sealed after a minute, and waits for the operator', () =>
  onStage(4, { LOG_LEVEL: 'error' }, async (own, service) => {
    const { world } = own
    const payment = await paid(world)
    await runUntilDone(own, service)
    await world.chain.mine(8)
    // Only the reconciler asks for the final block, every five minutes.
    await world.pool`UPDATE passes SET started_at = started_at - interval '5 minutes' WHERE name = 'reconcile'`
    await service.pass('payments')
    await world.chain.reorg(12)
    await world.chain.mine()
    for (let look = 0; look < 2; look++) await isHalted(own, service, 'pastFinalized', 1)
    const words = 'halted: the chain replaced blocks that it had reported as final'
    await until('its word for it', async () => service.service.output().includes(words))
    // Everything else about the minute is real: we move only its start.
    await world.pool`UPDATE troubles SET value = jsonb_set(value, '{since}', to_jsonb(iso(now() - interval '61 seconds')))
      WHERE name = 'halted'`
    for (let look = 0; look < 2; look++) await isHalted(own, service, 'pastFinalized', 1)
    const [halt] = await world.pool<{ sealed: boolean }[]>`
      SELECT (value ->> 'sealed')::boolean AS sealed FROM troubles WHERE name = 'halted'`
    assert.equal(halt?.sealed, true)
    const { code, said } = await resume(own)
    assert.equal(code, 0, said)
    assert.match(said, /pastFinalized/)
    await runUntilDone(own, service)
    assert.equal((await service.service.get<Health>('/api/cron/health')).halted, null)
    assert.equal(await stateOf(world, payment), 'orphaned')
    const next = await paid(world)
    await runUntilDone(own, service)
    await isOneNode(world, next)
    await endWell(own)
  }))

test('a reorg below the stored headers halts, and the command suggests a rebuild', () =>
  onStage(4_000, {}, async (own, service) => {
    const { world } = own
    await paid(world)
    await runUntilDone(own, service)
    await world.chain.mine(5)
    await service.pass('payments')
    const [head] = await world.pool<{ number: number }[]>`SELECT block_number AS number FROM cursors`
    // As if the ledger had followed thousands of blocks since.
    await world.pool`DELETE FROM blocks WHERE number < ${(head?.number ?? 0) - 3}`
    await world.chain.reorg(6)
    await world.chain.mine()
    await isHalted(own, service, 'tooDeep', 1)
    const { code, said } = await resume(own)
    assert.equal(code, 0, said)
    assert.match(said, /Rebuild it with "node-ledger rebuild"/)
    await service.pass('payments')
    assert.equal((await service.service.get<Health>('/api/cron/health')).halted?.reason, 'tooDeep')
  }))
