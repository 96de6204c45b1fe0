// The ref of an inner transfer: a transfer that the ledger knows under the former one keeps it, any other has the present one, and no two
// have the same.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { innerRefs } from '../../src/chain/digest.ts'
import { connect, inTransaction, type Pool, type Sql } from '../../src/db/core/sql.ts'
import { decideRefs } from '../../src/db/payments/identity.ts'
import { type Address, address, type Hash, hash } from '../../src/domain/units.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'

const word = (n: number) => hash(`0x${n.toString(16).padStart(64, '0')}`)
const account = (n: number) => address(`0x${n.toString(16).padStart(40, '0')}`)
const [WALLET, OTHER, PAYER] = [account(1), account(2), account(3)]
const TX = word(7)

let database: TestDatabase
let pool: Pool
before(async () => {
  database = await createDatabase()
  pool = connect(database.url, { max: 1, prepare: true, applicationName: 'test' })
})
after(async () => {
  await pool.end({ timeout: 1 })
  await database.drop()
})

const transfer = (wallet: Address, innerIndex = 1, from = PAYER) => ({
  ...{ txHash: TX, wallet, innerIndex, from, ...innerRefs(TX, wallet, innerIndex) },
})
const { ref: presentRef, formerRef } = innerRefs(TX, WALLET, 1)

/** The refs that are decided after `enter`, of which nothing stays. */
async function decided(enter: (sql: Sql) => Promise<unknown>, transfers = [transfer(WALLET)]): Promise<Hash[]> {
  let refs: Hash[] = []
  const undo = new Error('undo')
  await inTransaction(pool, async (sql) => {
    await enter(sql)
    refs = await decideRefs(sql, transfers)
    throw undo
  }).catch((error) => assert.equal(error, undo))
  return refs
}

const attribute = (sql: Sql, wallet: Address | null) => sql`
  INSERT INTO attributions (residue_ref, ref, tx_hash, tx_index, inner_index, from_address, attributed_by, wallet)
  VALUES (${word(9)}, ${formerRef}, ${TX}, 0, 1, ${PAYER}, 'ada', ${wallet})`
const pay = (sql: Sql, ref: Hash, wallet: Address) => sql`
  INSERT INTO payments (tx_hash, inner_index, ref, wallet, from_address, value_wei, succeeded, state, block_number, block_hash, block_time)
  VALUES (${TX}, 1, ${ref}, ${wallet}, ${PAYER}, 1, true, 'seen', 5, ${word(5)}, now())`
async function mint(sql: Sql, ref: Hash, owner: Address) {
  await sql`
    INSERT INTO cohorts (cohort, tier_no, interval_sec, next_due, block_number, block_hash) VALUES (1, 1, 60, 60, 1, ${word(1)})`
  await sql`
    INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
    VALUES (1, ${owner}, 1, ${ref}, 0, 0, ${word(2)}, now(), 6, ${word(6)})`
}

test('a transfer that the ledger does not know has the present one', async () => {
  assert.deepEqual(await decided(async () => {}), [presentRef])
})

test('one that was attributed keeps the former one, also where the wallet was not noted', async () => {
  assert.deepEqual(await decided((sql) => attribute(sql, WALLET)), [formerRef])
  assert.deepEqual(await decided((sql) => attribute(sql, null)), [formerRef])
})

test('one to another wallet does not take it', async () => {
  assert.deepEqual(await decided((sql) => attribute(sql, OTHER)), [presentRef])
  const both = [transfer(OTHER), transfer(WALLET)]
  const wallets = await decided((sql) => attribute(sql, WALLET), both)
  assert.deepEqual(wallets, [both[0]?.ref, formerRef])
  const noted = async (sql: Sql) => {
    await attribute(sql, null)
    await pay(sql, formerRef, OTHER)
  }
  assert.deepEqual(await decided(noted), [presentRef])
})

test('one whose node was minted to its sender keeps it; a node of somebody else is none of its', async () => {
  assert.deepEqual(await decided((sql) => mint(sql, formerRef, PAYER)), [formerRef])
  assert.deepEqual(await decided((sql) => mint(sql, formerRef, OTHER)), [presentRef])
})

test('of two that could have it, one has', async () => {
  const both = [transfer(WALLET), transfer(OTHER)]
  assert.deepEqual(await decided((sql) => mint(sql, formerRef, PAYER), both), [formerRef, both[1]?.ref])
})

test('one that is a payment, or a node, by the present one keeps that', async () => {
  const paid = async (sql: Sql) => {
    await attribute(sql, WALLET)
    await pay(sql, presentRef, WALLET)
  }
  assert.deepEqual(await decided(paid), [presentRef])
  const minted = async (sql: Sql) => {
    await attribute(sql, WALLET)
    await mint(sql, presentRef, PAYER)
  }
  assert.deepEqual(await decided(minted), [presentRef])
})
