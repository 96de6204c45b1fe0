// The passes halt if the chain is not the one that the ledger followed: they send nothing and rewind nothing, and reads continue.
// A provider's brief lie clears itself; otherwise the operator has to clear the halt. Each test has its own world.
import assert from 'node:assert/strict'
import { readFinalized } from '../../src/db/blocks/halts.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { readHealth } from '../../src/db/reads/public-api.ts'
import type { PassContext } from '../../src/ports/contexts.ts'
import { startTestChain } from '../support/anvil.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { beWellFor, worldTest } from '../support/in-world.ts'
import { fingerprint } from '../support/invariants.ts'
import { bothCallFinal } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

const inWorld = worldTest({
  async prepare(world) {
    const { hash: genesisHash } = await world.chain.block(0)
    const { chainId } = world.chain
    await recordIdentity(world.pool, { chainId, genesisHash, factory: world.factory, startBlock: 1 })
  },
})

const halted = async (world: World) => (await readHealth(world.pool)).halted?.reason ?? null
const lines = async (world: World, action: string) =>
  (await world.pool`SELECT FROM audit WHERE action = ${action}`).length
const on = (world: World, chain: Partial<PassContext['chain']>) =>
  world.instance({ chain: { ...world.ctx.chain, ...chain } })

/** An instance whose provider has the ledger's blocks, but names another chain's id. */
const elsewhere = (world: World) => on(world, { chainId: async () => 1 })

/** As if the halt had lasted longer than a brief lie. */
const olden = (world: World) => world.pool`
  UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z", "looks": 99}' WHERE name = 'halted'`

inWorld('a provider on another chain halts both passes, until it is on the right one again', async (world) => {
  await world.pay(5, BASIC)
  await world.chain.mine()
  const before = { ...(await fingerprint(world)), audit: '' }
  const wrong = elsewhere(world)
  const outcome = await wrong.payments()
  // A halted run counts what waits, and says that it did not count the rest.
  assert.deepEqual([outcome.ran, outcome.fromBlock, outcome.detected, outcome.pending], [true, null, null, 0])
  const { ran, reason, dueNodes, totalWei } = await wrong.credit()
  assert.deepEqual([ran, reason, dueNodes, totalWei], [true, 'paused', null, null])
  assert.equal(await halted(world), 'otherChain')
  assert.deepEqual({ ...(await fingerprint(world)), audit: '' }, before)
  assert.equal(await lines(world, 'halted'), 1)
  assert.equal((await world.payments()).detected, 1)
  assert.equal(await halted(world), null)
  assert.equal(await lines(world, 'haltLifted'), 1)
})

inWorld('blocks after the ledger’s are stored only once their chain proves to be the ledger’s', async (world) => {
  await world.chain.mine()
  const before = { ...(await fingerprint(world)), audit: '' }
  await elsewhere(world).payments()
  assert.equal(await halted(world), 'otherChain')
  assert.deepEqual({ ...(await fingerprint(world)), audit: '' }, before)
  await world.payments()
  assert.equal(await halted(world), null)
  await world.chain.mine(80)
  const known = { ...(await fingerprint(world)), audit: '' }
  // If the ledger is far behind, it reads the id first. Another provider may answer once the blocks are read.
  let asked = 0
  const later = async () => (asked++ === 0 ? world.chain.chainId : 1)
  await on(world, { chainId: later }).payments()
  assert.equal(asked, 2)
  assert.equal(await halted(world), 'otherChain')
  assert.deepEqual({ ...(await fingerprint(world)), audit: '' }, known)
})

inWorld('a halt that comes and goes is reported once, its end once it stays away, then the next one', async (world) => {
  const told = () =>
    Promise.all(['halted', 'haltedAgain', 'haltLifted', 'haltWithdrawn'].map((act) => lines(world, act)))
  const wrong = elsewhere(world)
  for (let i = 0; i < 3; i++) {
    await wrong.payments()
    await wrong.credit()
    await world.payments()
  }
  assert.deepEqual(await told(), [1, 2, 3, 0])
  await beWellFor(world, 'halt')
  await world.payments()
  await world.payments()
  assert.deepEqual(await told(), [1, 2, 3, 1])
  await wrong.payments()
  assert.deepEqual(await told(), [2, 2, 3, 1])
  // The operator's command ends it at once.
  await runHere(['resume', '--halt', '--yes'], worldEnv(world))
  await wrong.payments()
  assert.deepEqual(await told(), [3, 2, 3, 1])
})

inWorld('a halt that was sealed during a look is not withdrawn by that look', async (world) => {
  const wrong = elsewhere(world)
  await wrong.payments()
  const looks = on(world, {
    head: async () => {
      await olden(world)
      await wrong.credit()
      return world.ctx.chain.head()
    },
  })
  await looks.payments()
  assert.equal(await halted(world), 'otherChain')
  assert.equal((await world.payments()).detected, null)
  assert.equal(await halted(world), 'otherChain')
})

inWorld('a provider that lags behind the ledger has no word on whether all is well again', async (world) => {
  await elsewhere(world).payments()
  const cursor = Number((await world.chain.block()).number)
  const lags = on(world, { head: async () => (await world.ctx.chain.block(cursor - 2)) ?? assert.fail('no block') })
  await lags.payments()
  assert.equal(await halted(world), 'otherChain')
  await world.payments()
  assert.equal(await halted(world), null)
})

inWorld('a lasting halt is sealed: nothing moves until the operator clears it, even if all is well', async (world) => {
  await world.chain.mine(70, 15)
  await world.payments()
  const final = await readFinalized(world.pool)
  assert.ok(final && final.number > 0)
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  const wrong = elsewhere(world)
  await wrong.payments()
  await olden(world)
  await wrong.payments()
  assert.deepEqual([(await world.payments()).detected, (await world.credit()).reason], [null, 'paused'])
  assert.equal(await halted(world), 'otherChain')
  const resume = () => runHere(['resume', '--halt', '--yes'], worldEnv(world))
  const [first, second] = [await resume(), await resume()]
  assert.equal(first.code, 0, first.err)
  assert.match(first.err, /otherChain/)
  assert.equal(second.code, 1)
  assert.match(second.err, /not halted/)
  assert.deepEqual([await halted(world), await lines(world, 'resumed')], [null, 1])
  assert.deepEqual(await readFinalized(world.pool), final, 'what was final still is')
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

inWorld('a reorg below the oldest stored header halts the passes and undoes nothing', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  await world.chain.mine(5)
  await world.payments()
  const head = Number((await world.chain.block()).number)
  await world.pool`DELETE FROM blocks WHERE number < ${head - 2}`
  await world.chain.reorg(4)
  await world.chain.mine()
  const before = { ...(await fingerprint(world)), audit: '' }
  await world.payments()
  assert.equal((await world.credit()).reason, 'paused')
  assert.equal(await halted(world), 'tooDeep')
  assert.deepEqual({ ...(await fingerprint(world)), audit: '' }, before)
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

inWorld('a chain that reorganises final blocks halts the passes, until the operator accepts it', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.settle()
  await world.chain.mine(3)
  const final = await world.ctx.chain.head()
  const early = on(world, bothCallFinal(world.ctx.chain, final))
  await world.chain.mine()
  await early.payments()
  const [row] = await world.pool`SELECT block_number AS number FROM payments WHERE tx_hash = ${paid}`
  await world.chain.reorg(Number((await world.chain.block()).number) - (row?.number ?? 0) + 1)
  await world.chain.mine()
  await world.payments()
  assert.equal(await halted(world), 'pastFinalized')
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  assert.equal((await runHere(['resume', '--halt', '--yes'], worldEnv(world))).code, 0)
  await world.payments()
  assert.deepEqual([await halted(world), (await paymentOf(world, paid))?.state], [null, 'orphaned'])
})

inWorld('a shorter chain with the same id and another past is more than a lagging provider', async (world) => {
  await world.chain.mine(20)
  await world.payments()
  // Chains that begin within one second have the same first block, so this would be no other chain.
  const { timestamp } = await world.chain.block(0)
  while (Date.now() < (Number(timestamp) + 1) * 1_000) await new Promise((resolve) => setTimeout(resolve, 50))
  const other = await startTestChain()
  try {
    await other.mine(5)
    const blockOf = async (number?: number) => {
      const block = await other.block(number)
      const { hash, parentHash } = block
      return { number: Number(block.number), time: Number(block.timestamp), hash, parentHash, prevrandao: hash }
    }
    const away = on(world, { head: () => blockOf(), block: (number) => blockOf(number) })
    await away.payments()
    assert.equal(await halted(world), 'otherChain', 'a stored header tells')
    await world.pool`DELETE FROM blocks WHERE number < 10`
    await world.payments()
    assert.equal(await halted(world), null)
    await away.payments()
    assert.equal(await halted(world), 'otherChain', 'below the stored headers, the first block tells')
  } finally {
    await other.stop()
  }
})

inWorld('a provider that lags on the ledger’s own chain halts nothing', async (world) => {
  await world.chain.mine(5)
  await world.payments()
  const late = await world.ctx.chain.block(Number((await world.chain.block()).number) - 3)
  await on(world, { head: async () => late ?? assert.fail() }).payments()
  assert.equal(await halted(world), null)
})
