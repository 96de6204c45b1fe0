// A difference of each kind, planted in the database: within one reconciling it is mended, or doctor names its row.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { runHere, worldEnv } from '../support/cli.ts'
import { DIFFERENCES } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
/** Nodes 1 and 2, a round, a withdrawal and a transfer. */
beforeEach(async () => {
  world = await startWorld()
  for (const account of [5, 6]) await world.pay(account, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(5), 1000n])
  await world.act(6, 'transferFrom', [world.at(6), world.at(7), 2n])
  await world.rest()
})
afterEach(() => world.close())

/** What doctor says of the ledger's differences; null if it finds none. */
async function named(): Promise<string | null> {
  const { out } = await runHere(['doctor', '--json'], worldEnv(world))
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string }[] }
  return findings.find(({ check, verdict }) => check === 'ledger.drift' && verdict === 'fail')?.says ?? null
}

/** Two runs, because the first may go back and the second follows. A run that goes back ends with a fault. */
async function reconcile(): Promise<void> {
  for (let i = 0; i < 3; i++) await world.payments().catch((error: Error) => assert.equal(error.name, 'LeftOutFault'))
}

/** A payment whose absence the books of the wallet show. */
async function losePayment({ pool }: Pick<World, 'pool'>, _nodeId: number): Promise<boolean> {
  return await pool.begin(async (sql) => {
    await sql`UPDATE nodes SET payment_id = NULL WHERE node_id = 1`
    const [{ id } = assert.fail()] = await sql<{ id: number }[]>`
      UPDATE payments SET state = 'accepted', node_id = NULL WHERE node_id = 1 RETURNING id`
    await sql`DELETE FROM payment_verdicts WHERE payment_id = ${id}`
    await sql`DELETE FROM payments WHERE id = ${id}`
    await sql`UPDATE wallet_books SET in_wei = in_wei - ${BASIC.toString()}::numeric, audited_block = base_block`
    return true
  })
}

/** Node 2 was transferred, node 1 has a withdrawal. */
const MENDED: typeof DIFFERENCES = { ...DIFFERENCES, 'a payment fewer': losePayment }
for (const [kind, plant] of Object.entries(MENDED))
  test(`${kind} is mended`, async () => {
    assert.ok((await plant(world, 1)) || (await plant(world, 2)))
    await reconcile()
    await world.rest()
    assert.equal(await named(), null)
    await checkInvariants(world)
  })

const NAMED: Record<string, [plant: () => Promise<unknown>, row: RegExp]> = {
  'another owner of a node': [
    () => world.pool`UPDATE nodes SET owner = ${world.at(9)} WHERE node_id = 1`,
    /node 1: owner is /,
  ],
  'another sum withdrawn': [
    () => world.pool`UPDATE nodes SET withdrawn_wei = 999 WHERE node_id = 1`,
    /node 1: withdrawnWei is 999 /,
  ],
  'another turn of a cohort': [
    () => world.pool`UPDATE cohorts SET next_due = next_due + interval_sec WHERE size > 0`,
    /cohort \d+: nextDue is /,
  ],
}
for (const [kind, [plant, row]] of Object.entries(NAMED))
  test(`doctor reports ${kind} that no event explains`, async () => {
    await plant()
    await reconcile()
    assert.match((await named()) ?? '', row)
  })
