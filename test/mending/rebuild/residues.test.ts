// A ledger with contract wallets' payments in every state (minted, held, refunded, attributed by hand, split,
// dismissed) equals its rebuild, through a provider that traces and one that does not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../../src/domain/units.ts'
import { rebuild } from '../../../src/mending/rebuild/rebuild.ts'
import { payAtOnce, payInside, putForwarder, traceNothing } from '../../support/forwarder.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { openDatabase } from '../../support/postgres.ts'
import { ETHER, type World } from '../../support/world.ts'

const BASIC = ETHER / 100n
const PLUS = ETHER / 40n
const SAFES = [16, 17, 18] as const

let desk: Desk
let world: World
let tracing: World['ctx']['chain']
before(async () => {
  desk = await startDesk()
  world = desk.world
  tracing = { ...world.ctx.chain }
  for (const safe of SAFES) await putForwarder(world, world.at(safe))
  await world.settle()
})
after(() => desk.close())

const done = async (path: string, body: object = {}) => {
  const answer = await desk.post(path, body)
  assert.equal(answer.status, 200, answer.text)
  return answer.json
}
const newestResidue = async (): Promise<number> =>
  (await desk.get('payments?reason=unattributed&status=held&limit=1')).json.payments[0].id

async function refund(payment: string, by: number, valueWei: bigint) {
  const call = { from: world.at(4), to: world.at(by), value: `0x${valueWei.toString(16)}`, gas: '0x100000' } as const
  const refundTxHash = await world.chain.send(call)
  await world.chain.mine()
  await done(`payments/${payment}/refund`, { refundTxHash })
}

async function differences(chain: World['ctx']['chain']) {
  await using database = await openDatabase(5)
  const { pool } = database
  const { ctx } = world.instance({ pool, directUrl: database.url, chain })
  const { comparison } = await rebuild(ctx, world.pool, () => {})
  const states = await pool<{ stands: string }[]>`
    SELECT DISTINCT concat_ws(' ', state, CASE WHEN tx_hash IS NULL THEN 'residue' END) AS stands FROM payments
    WHERE (inner_index > 0 OR tx_hash IS NULL) AND state <> 'orphaned' ORDER BY 1`
  assert.equal((await pool`SELECT FROM nodes WHERE payment_id IS NULL`).count, 0)
  return { found: comparison?.differences, states: states.map(({ stands }) => stands) }
}

test('a rebuilt ledger keeps manual attributions, in part or whole, and their decisions', async () => {
  traceNothing(world)
  const [first, second] = await payAtOnce(world, [SAFES[0], BASIC], [SAFES[1], PLUS], [SAFES[2], BASIC * 3n])
  const id = await newestResidue()
  await done(`payments/${id}/attribute`, { transfers: [{ txHash: first }, { txHash: second }] })
  await done(`payments/${first}/release`, { tierId: 'basic' })
  await refund(second as Hash, SAFES[1], PLUS)
  await done(`payments/${id}/dismiss`)
  // All of it, the last part in the residue's own row.
  const [third, fourth, ...small] = await payAtOnce(
    world,
    [SAFES[0], PLUS],
    [SAFES[1], BASIC],
    [SAFES[2], 5n],
    [SAFES[0], 7n],
  )
  const transfers = [third, ...small, fourth].map((txHash) => ({ txHash }))
  await done(`payments/${await newestResidue()}/attribute`, { transfers: transfers.toReversed() })
  await done(`payments/${fourth}/release`, { tierId: 'basic' })
  // Decided as a whole.
  await payAtOnce(world, [SAFES[0], PLUS], [SAFES[1], PLUS])
  const whole = await newestResidue()
  const { json } = await desk.get(`payments/${whole}`)
  await refund(String(whole), SAFES[2], BigInt(json.payments[0].valueWei))
  // Too little to buy anything: one residue over the blocks of each pass, the first of them split.
  for (const value of [BASIC - 2n, BASIC - 3n]) {
    const small: Hash[] = []
    for (const safe of [SAFES[0], SAFES[1]]) small.push((await payInside(world, value, { by: world.at(safe) })).txHash)
    await world.settle()
    const transfers = small.map((txHash) => ({ txHash }))
    if (value === BASIC - 2n) await done(`payments/${await newestResidue()}/attribute`, { transfers })
  }
  await world.settle()
  Object.assign(world.ctx.chain, tracing)
  // By traces: held, released, refunded, and an outflow's sum beside them.
  for (const [value, decide] of [
    [BASIC, async () => {}],
    [PLUS, (txHash: Hash) => done(`payments/${txHash}/release`, { tierId: 'plus' })],
    [BASIC * 2n, (txHash: Hash) => refund(txHash, SAFES[2], BASIC * 2n)],
    [BASIC * 5n, (txHash: Hash) => done(`payments/${txHash}/dismiss`)],
  ] as const) {
    const { txHash } = await payInside(world, value, { by: world.at(SAFES[2]) })
    await world.settle()
    await decide(txHash)
  }
  await world.rest()
  const expected = ['dismissed', 'dismissed residue', 'held', 'held residue', 'minted', 'refunded', 'refunded residue']
  assert.deepEqual(await differences(tracing), { found: [], states: expected })
})
