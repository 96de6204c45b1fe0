// Old blocks that an only provider had the ledger survey: their seeds count only once their headers are linked to a followed one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { oldestBlockNumber } from '../../../src/db/blocks/blocks.ts'
import { readSurveyedTo } from '../../../src/db/blocks/surveyed.ts'
import { readLinked, readSeedWait } from '../../../src/db/nodes/seed-waits.ts'
import { readDistributions } from '../../../src/db/reads/public-api.ts'
import { type FalseProvider, startFalseProvider } from '../../chain/false-provider.ts'
import { ETHER, INTERVAL_SEC, type Instance, startWorld, type World } from '../../support/world.ts'
import type { Wire } from '../lies.ts'

let world: World
let liar: FalseProvider
let careful: Instance
/** A block of the chain, and another block that would follow the same parent. */
let [seedBlock, invented]: Wire[] = []
let due: number

const wireAt = (number: number) => world.chain.rpc<Wire>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
const head = async () => Number((await world.chain.block()).number)
const dues = async () =>
  (await world.pool<{ due: number }[]>`SELECT next_due AS due FROM cohorts WHERE size > 0 ORDER BY 1`).map(
    (row) => row.due,
  )
const round = () => world.read<bigint>('round')

/** One block, and both passes of the instance that trusts no provider. */
async function run() {
  await world.chain.mine()
  await careful.payments()
  return await careful.credit()
}

before(async () => {
  world = await startWorld(
    { survey: { behind: 12, blocksMin: 2 }, trustsProvider: false },
    {
      slotsInEpoch: 1,
      between: async (target) => {
        liar = await startFalseProvider(target)
        return { urls: [liar.url], close: () => liar.close() }
      },
    },
  )
  careful = world.instance()
  await world.chain.send({ from: world.at(3), to: world.at(9), value: '0x1' })
  await world.chain.mine(20, 2)
  await world.pay(5, ETHER / 100n)
  await world.settle()
  ;[due] = (await dues()) as [number]
  // A node whose turns come later.
  await world.chain.setNextTime(due - INTERVAL_SEC / 3)
  await world.pay(6, ETHER / 100n)
  await world.settle()
  assert.equal((await dues()).length, 2)
  await surveyTurn()
})
after(() => world.close())

/** The first turn falls due in a block that no run sees until hundreds of blocks follow it. */
async function surveyTurn(): Promise<void> {
  const one = await world.chain.snapshot()
  await world.chain.setNextTime(due + 2)
  await world.chain.mine()
  invented = await wireAt(await head())
  await world.chain.revert(one)
  await world.chain.setNextTime(due + 2)
  await world.chain.mine()
  const number = await head()
  seedBlock = await wireAt(number)
  assert.equal(seedBlock.parentHash, invented.parentHash)
  assert.notEqual(seedBlock.hash, invented.hash)
  await world.chain.mine(400, 1)
  liar.rule = async ({ method, params }, forward) =>
    method === 'eth_getBlockByNumber' && Number(params?.[0]) === number ? { result: invented } : await forward()
}

test('an invented block with its own hash pays no turn: linking fails, with a report', async () => {
  await careful.payments()
  assert.ok((await readSurveyedTo(world.pool)) > Number(seedBlock?.number), 'the block was surveyed')
  for (let turn = 0; turn < 4; turn++) await run()
  assert.equal(await round(), 1n, 'the other cohort is paid')
  assert.equal((await dues())[0], due)
  const wait = await readSeedWait(world.pool)
  assert.match(wait?.says ?? '', /cannot be linked.*has another block as its parent/)
  const told =
    await world.pool`SELECT FROM audit WHERE action = 'proofFailed' AND subject = ${Number(seedBlock?.number)}`
  assert.equal(told.count, 1)
})

test('once it gives the chain’s block, linking continues, and the chain’s seed pays the turn', async () => {
  const from = await readLinked(world.pool)
  assert.ok(from && from.number > Number(seedBlock?.number))
  liar.rule = () => undefined
  liar.seen.length = 0
  for (let turn = 0; turn < 3; turn++) await run()
  const oldest = await oldestBlockNumber(world.pool)
  const between = liar.seen.filter(
    ({ method, params }) =>
      method === 'eth_getBlockByNumber' && Number(params?.[0]) >= from.number && Number(params?.[0]) < Number(oldest),
  )
  assert.deepEqual(between, [], 'no header is read twice')
  assert.equal(await round(), 2n)
  assert.equal(await readSeedWait(world.pool), null)
  const [newest] = await readDistributions(world.pool, 1)
  assert.equal(newest?.turns[0]?.seed, seedBlock?.mixHash)
  assert.equal(newest?.turns[0]?.assurance, 'proven')
})
