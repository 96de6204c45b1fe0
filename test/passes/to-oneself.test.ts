// Transfers to oneself: nothing changes hands, and everything still adds up.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { readEventBlocks } from '../../src/db/nodes/nodes.ts'
import type { Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { readStatement, type Statement } from '../../src/operator/acts/books/statement.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, startWorld, type World } from '../support/world.ts'

let world: World
const foreign: Hash[] = []
before(async () => {
  world = await startWorld()
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  await world.settle()
})
after(() => world.close())

async function statementSince(block: number): Promise<Statement> {
  const cursor = (await readCursor(world.pool)) ?? assert.fail()
  const deps = operatorDeps(world.ctx, world.pool)
  const made = await readStatement(deps, { from: String(block + 1), to: String(cursor.number) })
  return isOperatorRefusal(made) ? assert.fail(made.message) : made
}
/** Runs `body` in its own blocks; returns their statement. */
async function statementOf(body: () => Promise<unknown>): Promise<Statement> {
  const { number } = (await readCursor(world.pool)) ?? assert.fail()
  await world.chain.increaseTime(5)
  await body()
  await world.chain.mine()
  await world.settle()
  return statementSince(number)
}
const countAudited = async () => (await world.pool`SELECT FROM audit WHERE action LIKE 'unattributed%'`).count

test('a node handed to its own owner stays theirs, and its ledger is as long as its history', async () => {
  const paid = await world.pay(5, ETHER / 100n)
  await world.settle()
  const id = BigInt((await paymentOf(world, paid))?.nodeId ?? assert.fail())
  await world.act(5, 'transferFrom', [world.at(5), world.at(5), id])
  await world.act(5, 'transferFrom', [world.at(5), world.at(5), id])
  await world.settle()
  const [row] =
    await world.pool`SELECT n.owner, o.nodes FROM nodes n JOIN owners o USING (owner) WHERE node_id = ${id.toString()}`
  assert.deepEqual({ ...row }, { owner: world.at(5), nodes: 1 })
  assert.equal((await readEventBlocks(world.pool, id, 0)).length, 4, 'its mint, and three transfers')
  assert.deepEqual([...(await world.pool`SELECT action FROM audit WHERE action ILIKE '%drift%'`)], [])
})

test('a payment of the payments wallet to itself is no sale, and costs its books only the fee', async () => {
  let sent: Hash | null = null
  const { balanced } = await statementOf(async () => {
    sent = await world.pay(3, ETHER / 100n)
  })
  assert.equal(balanced, true)
  assert.deepEqual((await paymentOf(world, sent ?? assert.fail()))?.reason, 'self')
  assert.equal(await countAudited(), 0, 'nothing came or went unseen')
})

test('a transfer of a sender to itself costs its gas, and its account adds up', async () => {
  for (const sender of [1, 2]) {
    const { balanced, accounts } = await statementOf(async () => {
      foreign.push(await world.pay(sender, 3n, world.at(sender)))
    })
    const account = accounts.find(({ address }) => address === world.at(sender))
    assert.deepEqual([balanced, account?.otherWei], [true, 0n])
  }
})

test('after all of this the ledger matches the chain', () => checkInvariants(world, { foreign }))
