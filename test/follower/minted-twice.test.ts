// A mint of a node that the ledger already has: the ledger rewinds to before the block of its own record, and reads
// again. If that does not help, the passes halt and say so.
import assert from 'node:assert/strict'
import { readHealth } from '../../src/db/reads/public-api.ts'
import type { Hash } from '../../src/domain/units.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const inWorld = worldTest()
const halted = async (world: World) => (await readHealth(world.pool)).halted?.reason ?? null
const wentBack = async ({ pool }: World) =>
  (await pool<{ subject: string }[]>`SELECT subject FROM audit WHERE action = 'mintedTwice'`).map(
    ({ subject }) => subject,
  )

/** The ledger has the node of a payment from the head's height, and the chain mints it in the next block, which is not followed yet. */
async function mintedTwice(world: World, from?: Hash): Promise<Hash> {
  const { chain, pool } = world
  const paid = await world.pay(5, ETHER / 100n)
  await chain.mine()
  await world.payments()
  await chain.mine()
  assert.equal((await world.payments()).minted, 1)
  await pool`CREATE TABLE saved_nodes AS SELECT * FROM nodes`
  await pool`CREATE TABLE saved_transfers AS SELECT * FROM node_transfers`
  await chain.reorg(1)
  await world.payments()
  assert.equal((await pool`SELECT FROM nodes`).count, 0)
  const own = (await chain.block()).hash
  await pool.begin(async (sql) => {
    await sql`INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
      SELECT node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, ${from ?? own} FROM saved_nodes`
    await sql`INSERT INTO node_transfers SELECT * FROM saved_transfers`
    await sql`UPDATE cohorts SET size = size + 1 WHERE cohort = (SELECT cohort FROM saved_nodes)`
    await sql`INSERT INTO cohort_states (cohort, block_number, interval_sec, next_due, size, per_node_wei, turn_count, last_turn_at)
      SELECT c.cohort, n.block_number, interval_sec, next_due, size, per_node_wei, turn_count, last_turn_at
      FROM cohorts c JOIN saved_nodes n USING (cohort)
      ON CONFLICT (cohort, block_number) DO UPDATE SET size = excluded.size`
  })
  await chain.mine()
  return paid
}

async function isMintedOnce(world: World, paid: Hash): Promise<void> {
  await world.settle()
  assert.equal(await halted(world), null)
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  assert.equal(
    (await world.pool`SELECT FROM nodes JOIN blocks ON number = block_number AND hash = block_hash`).count,
    1,
  )
  await checkInvariants(world)
}

inWorld('a node that the ledger has from its own block is read again, once', async (world) => {
  const paid = await mintedTwice(world)
  assert.equal((await world.payments()).minted, 1)
  assert.deepEqual(await wentBack(world), ['1'])
  await isMintedOnce(world, paid)
})

inWorld('a provider that reports one mint twice in a range halts the passes until it is right again', async (world) => {
  const paid = await world.pay(5, ETHER / 100n)
  await world.chain.mine()
  await world.payments()
  await world.chain.mine()
  const { chain } = world.ctx
  const observe: ChainReader['observe'] = async (...asked) => {
    const range = await chain.observe(...asked)
    const again = range.events.filter(({ kind }) => kind === 'nodeMinted').map((event) => ({ ...event, logIndex: 99 }))
    return { ...range, events: [...range.events, ...again] }
  }
  await world.instance({ chain: { ...chain, observe } }).payments()
  assert.deepEqual([await halted(world), await wentBack(world)], ['mintedTwice', []])
  await isMintedOnce(world, paid)
})
