// Seeds on a chain whose headers prove nothing: one of two providers must not choose what a turn pays.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readSeedWait } from '../../../src/db/nodes/seed-waits.ts'
import { readDistributions } from '../../../src/db/reads/public-api.ts'
import type { Hash } from '../../../src/domain/units.ts'
import { type FalseProvider, type Rule, startFalseProvider } from '../../chain/false-provider.ts'
import { setModeTo, startTwoProviders } from '../../support/two-providers.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../../support/world.ts'
import { other, type Wire } from '../lies.ts'

let world: World
let first: FalseProvider
let second: FalseProvider
before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  await world.pay(5, ETHER / 100n)
  await world.settle()
  await setModeTo(world.pool, 'agreed')
})
after(() => world.close())

const headers = (change: (header: Wire) => Wire): Rule => {
  return async ({ method }, forward) => {
    const answer = await forward()
    if (!method.startsWith('eth_getBlockBy') || !('result' in answer) || !answer.result) return answer
    const header = answer.result as Wire
    return { result: { ...header, ...change(header) } }
  }
}
const LIES: Record<string, (header: Wire) => Wire> = {
  'T35: another mixHash from one of two providers pays no turn, the agreed block’s seed does': ({ mixHash }) => ({
    mixHash: other(mixHash),
  }),
  'another time from one of two providers pays no turn, the agreed block’s seed does': ({ timestamp }) => ({
    timestamp: `0x${(Number(timestamp) - 1).toString(16)}`,
  }),
}
/** The newest round's first turn, whose seed is known. */
async function newestTurn({ pool } = world) {
  const [turn] = (await readDistributions(pool, 1))[0]?.turns ?? []
  if (!turn || turn.seed === null || turn.seedBlock === null) assert.fail('no seed is known')
  return { ...turn, seed: turn.seed, seedBlock: turn.seedBlock }
}

for (const [name, lie] of Object.entries(LIES))
  test(name, async () => {
    const before = await world.read<bigint>('round')
    await world.chain.increaseTime(INTERVAL_SEC)
    for (const liar of [first, second]) liar.rule = liar === first ? headers(lie) : () => undefined
    for (let run = 0; run < 3; run++) {
      await world.chain.mine()
      await world.payments()
      await world.credit().catch(() => undefined)
    }
    assert.equal(await world.read<bigint>('round'), before)
    first.rule = () => undefined
    await world.rest()
    const turn = await newestTurn()
    assert.deepEqual([await world.read<bigint>('round'), turn.assurance], [before + 1n, 'agreed'])
    const at = (number: number) => world.chain.rpc<Wire>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    const [block, parent] = [await at(turn.seedBlock), await at(turn.seedBlock - 1)]
    assert.equal(turn.seed, block.mixHash as Hash)
    assert.ok(Number(parent.timestamp) < turn.dueSec && turn.dueSec <= Number(block.timestamp))
  })

const next = async ({ chain }: World) => Number(await chain.rpc('eth_blockNumber')) + 1

const throughOne = (providers: FalseProvider[]) => async (target: string) => {
  const provider = await startFalseProvider(target)
  providers.push(provider)
  return { urls: [provider.url], close: () => provider.close() }
}

const dueNext = async ({ pool }: World) =>
  Number((await pool`SELECT min(next_due) AS due FROM cohorts WHERE size > 0`)[0]?.due)

/** Asserts that the newest turn has the seed of the first block at or after its time. */
async function assertSeedOfChain(of: World) {
  const turn = await newestTurn(of)
  const at = (number: number) => of.chain.rpc<Wire>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
  const [block, parent] = [await at(turn.seedBlock), await at(turn.seedBlock - 1)]
  assert.equal(turn.seed, block.mixHash as Hash)
  assert.ok(Number(parent.timestamp) < turn.dueSec && turn.dueSec <= Number(block.timestamp))
}

test('a false time of the last block from one of two providers: the chain’s seed pays the turn', async () => {
  await setModeTo(world.pool, 'agreed')
  const [due, number, round] = [await dueNext(world), await next(world), await world.read<bigint>('round')]
  await world.chain.setNextTime(due + 2)
  first.rule = headers((header) =>
    Number(header.number) === number ? { timestamp: `0x${(due - 1).toString(16)}` } : {},
  )
  await world.chain.mine()
  await world.payments()
  assert.equal((await world.pool`SELECT time FROM blocks WHERE number = ${number}`)[0]?.time, due - 1)
  first.rule = () => undefined
  await setModeTo(world.pool, 'proven')
  await world.rest()
  assert.equal(await world.read<bigint>('round'), round + 1n)
  await assertSeedOfChain(world)
})

for (const told of ['mixHash', 'timestamp'] as const)
  test(`an untrusted single provider’s false ${told} pays no turn, and the chain’s seed pays it later`, async () => {
    const providers: FalseProvider[] = []
    const alone = await startWorld({}, { between: throughOne(providers) })
    const [liar] = providers as [FalseProvider]
    const careful = alone.instance({ rules: { trustsProvider: false } })
    try {
      await alone.pay(5, ETHER / 100n)
      await alone.settle()
      await setModeTo(alone.pool, 'agreed')
      const [due, number] = [await dueNext(alone), await next(alone)]
      await alone.chain.setNextTime(due + 2)
      liar.rule = headers((header) => {
        if (Number(header.number) !== number) return {}
        return told === 'mixHash' ? { mixHash: other(header.mixHash) } : { timestamp: `0x${(due - 1).toString(16)}` }
      })
      await alone.chain.mine()
      await careful.payments()
      if (told === 'mixHash') {
        assert.equal((await careful.credit()).reason, 'pending')
        assert.match((await readSeedWait(alone.pool))?.says ?? '', /only one provider reports block/)
      }
      await setModeTo(alone.pool, 'proven')
      // It still tells the same of that block, which is now a false answer.
      await careful.credit().catch(() => undefined)
      assert.equal(await alone.read<bigint>('round'), 0n)
      liar.rule = () => undefined
      for (let run = 0; run < 3; run++) {
        await alone.chain.mine()
        await careful.payments()
        await careful.credit()
      }
      assert.equal(await alone.read<bigint>('round'), 1n)
      await assertSeedOfChain(alone)
    } finally {
      await alone.close()
    }
  })
