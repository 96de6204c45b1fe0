// Two acts at once, one of them a person's: a waiting act holds nothing that the other one needs, and each read is of one moment.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { inTransaction, inUndoneTransaction, poolWithin, type Sql } from '../../src/db/core/sql.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { lockPayers, lockTiers } from '../../src/db/payments/lock-order.ts'
import { insertRefund, undoRefund } from '../../src/db/payments/refunds.ts'
import { lockPayments, rewindPayments } from '../../src/db/payments/rows.ts'
import { insertTerms, readCreditTerms } from '../../src/db/sale/terms.ts'
import { type Address, type Hash, wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { readStatement } from '../../src/operator/acts/books/statement.ts'
import { actOf } from '../../src/operator/define-act.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { meetAt } from '../support/postgres.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  await world.settle()
})
after(() => desk.close())

const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state

/**
 * Takes a wallet's lock, lets `begin` run into it, then takes the payment's row. That is everyone's order, so the other
 * one cannot have the row already.
 */
async function walletFirst<T>(from: number, txHash: Hash, begin: () => Promise<T>): Promise<T> {
  const [{ id } = assert.fail()] = await world.pool<{ id: number }[]>`SELECT id FROM payments WHERE tx_hash = ${txHash}`
  const wallet = (sql: Sql) => lockPayers(sql, [world.at(from)], { wait: true })
  return await inOrder(wallet, (sql) => lockPayments(sql, [id]), begin)
}

for (const act of ['dismiss', 'release'] as const) {
  test(`the operator’s act to ${act} a payment waits for its judge at the wallet, and locks no payment`, async () => {
    const wrong = await world.pay(5, BASIC - 1n)
    await world.settle()
    assert.equal(await stateOf(wrong), 'held')
    const body = act === 'release' ? { tierId: 'basic' } : {}
    const answer = await walletFirst(5, wrong, () => desk.post(`payments/${wrong}/${act}`, body))
    assert.equal(answer.status, 200, answer.text)
    await world.settle()
    assert.equal(await stateOf(wrong), act === 'release' ? 'minted' : 'dismissed')
  })
}

test('the judge waits for who decides at the wallet, and does not hold the payment meanwhile', async () => {
  const paid = await world.pay(6, BASIC)
  await world.chain.mine()
  await world.credit()
  assert.equal(await stateOf(paid), 'seen')
  await walletFirst(6, paid, () => world.payments())
  assert.equal(await stateOf(paid), 'minting')
  await world.settle()
})

/** Takes `first`, lets `begin` run into it, then takes `second`. If `begin` holds that already, the two wait for each other, and one fails. */
async function inOrder<T>(first: (sql: Sql) => Promise<unknown>, second: typeof first, begin: () => Promise<T>) {
  const [outcome] = await meetAt(world.pool, first, [begin], second)
  return outcome
}

/** Two held payments of the wrong amount, in one block, with the payer's wallet of each. The first wallet comes first in everyone's order. */
async function twoHeld(): Promise<{ txHash: Hash; id: number; wallet: Address }[]> {
  const payers = [10, 11].sort((a, b) => (world.at(a) < world.at(b) ? -1 : 1))
  const hashes = [await world.pay(payers[0] ?? 0, BASIC - 3n), await world.pay(payers[1] ?? 0, BASIC - 3n)]
  await world.settle()
  return await world.pool`
    SELECT tx_hash AS "txHash", id, from_address AS wallet FROM payments WHERE tx_hash = ANY(${hashes}) ORDER BY from_address`
}

test('a release locks its tier before its payment, as the judge does', async () => {
  const [{ id, txHash } = assert.fail()] = await twoHeld()
  const tier = (sql: Sql) => lockTiers(sql, [1], { wait: true })
  const payment = (sql: Sql) => lockPayments(sql, [id])
  const answer = await inOrder(tier, payment, () => desk.post(`payments/${txHash}/release`, { tierId: 'basic' }))
  assert.equal(answer.status, 200, answer.text)
  await world.settle()
  assert.equal(await stateOf(txHash), 'minted')
})

for (const [act, more] of [
  ['decideMany', { decision: 'dismiss' }],
  ['prepareRefunds', {}],
] as const) {
  test(`a second person’s confirmation of ${act} locks all wallets in one order, under any list`, async () => {
    const held = await twoHeld()
    const lock = (place: number) => (sql: Sql) =>
      lockPayers(sql, [held[place]?.wallet ?? assert.fail()], { wait: true })
    const input = { ...more, payments: held.map(({ txHash }) => txHash).toReversed() }
    const confirm = () =>
      inTransaction(world.pool, async (sql) => {
        const deps = { ...operatorDeps(world.ctx, world.pool), pool: poolWithin(sql) }
        return await (actOf(act) ?? assert.fail()).unguarded(deps as never, { name: 'ada', requestId: null }, input)
      })
    const done = (await inOrder(lock(0), lock(1), confirm)) as { results: { refusal: string | null }[] }
    assert.deepEqual(
      done.results.map(({ refusal }) => refusal),
      [null, null],
    )
  })
}

test('a refund that is gone is removed under its payment’s lock', async () => {
  const [{ id } = assert.fail()] = await twoHeld()
  const [{ ref, blockNumber, blockHash } = assert.fail()] = await world.pool<
    { ref: Hash; blockNumber: number; blockHash: Hash }[]
  >`SELECT ref, block_number AS "blockNumber", block_hash AS "blockHash" FROM payments WHERE id = ${id}`
  const transfer = { txHash: ref, innerIndex: 0, from: world.at(3), to: world.at(10), valueWei: wei(1n) }
  const proof = { paymentRef: ref, commissionOf: null, blockNumber, blockHash, final: false, recordedBy: 'ada' }
  const refund = { ...transfer, ...proof }
  await insertRefund(world.pool, refund)
  await world.pool`UPDATE payments SET state = 'refunded' WHERE id = ${id}`
  const undone = () => inTransaction(world.pool, (sql) => undoRefund(sql, refund))
  const touch = (sql: Sql) => sql`UPDATE refunds SET recorded_by = 'grace' WHERE payment_ref = ${ref}`
  assert.equal(await inOrder((sql) => lockPayments(sql, [id]), touch, undone), true)
})

test('a rewind locks the payments in chain order, wherever their rows are', async () => {
  const held = await twoHeld()
  const [{ height } = assert.fail()] = await world.pool<{ height: number }[]>`
    SELECT min(block_number) - 1 AS height FROM payments WHERE id = ANY(${held.map(({ id }) => id)})`
  const inChainOrder = await world.pool<{ id: number }[]>`
    SELECT id FROM payments WHERE block_number > ${height} ORDER BY block_number, tx_index, inner_index`
  // Its new version comes after the others.
  await world.pool`UPDATE payments SET updated_at = now() WHERE id = ${inChainOrder[0]?.id ?? 0}`
  const lock = (place: number) => (sql: Sql) => lockPayments(sql, [inChainOrder[place]?.id ?? assert.fail()])
  const rewind = () => inUndoneTransaction(world.pool, (sql) => rewindPayments(sql, height))
  assert.equal(await inOrder(lock(0), lock(1), rewind), inChainOrder.length)
})

test('a statement shows one moment, even if a reorg happens while it is made', async () => {
  const opening = (await readCursor(world.pool)) ?? assert.fail()
  await world.chain.increaseTime(5)
  const paid = await world.pay(7, BASIC)
  await world.settle()
  const cursor = (await readCursor(world.pool)) ?? assert.fail()
  const fork = (await readBlock(world.pool, opening.number)) ?? assert.fail()
  let isReorganised = false
  const chain: typeof world.ctx.chain = {
    ...world.ctx.chain,
    async balanceAt(...asked) {
      // It has read the sales by then, but not the reversal.
      if (!isReorganised) {
        isReorganised = true
        assert.ok(await rewindTo(world.ctx, fork, cursor))
      }
      return world.ctx.chain.balanceAt(...asked)
    },
  }
  const deps = operatorDeps({ ...world.ctx, chain }, world.pool)
  const made = await readStatement(deps, { from: String(opening.number + 1), to: String(cursor.number) })
  const statement = isOperatorRefusal(made) ? assert.fail(made.message) : made
  assert.deepEqual([isReorganised, await stateOf(paid)], [true, 'orphaned'])
  assert.deepEqual([statement.totalSalesWei, statement.balanced], [BASIC, true])
  await world.settle()
  assert.equal(await stateOf(paid), 'minted')
})

test('of two simultaneous requests under one Idempotency-Key, one is done, the other must retry', async () => {
  const wrong = await world.pay(8, BASIC - 1n)
  await world.settle()
  const headers = { 'idempotency-key': 'at-once' }
  const ask = () => desk.post(`payments/${wrong}/dismiss`, {}, { headers })
  const wallet = (sql: Sql) => lockPayers(sql, [world.at(8)], { wait: true })
  const [first] = await meetAt(world.pool, wallet, [ask], async () => assert.equal((await ask()).status, 409))
  assert.equal(first.status, 200)
  assert.equal((await ask()).status, 200, 'answered as it was')
})

test('a round waits for terms that are being entered, and is planned again', async () => {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const rounds = async () => (await world.pool`SELECT FROM outbox WHERE kind = 'credit'`).count
  const before = await rounds()
  const [terms = assert.fail()] = (await readCreditTerms(world.pool)).slice(-1)
  const [fault] = await meetAt(
    world.pool,
    (sql) => insertTerms(sql, { ...terms, fromTime: terms.fromTime + 1_000_000 }, 'ada'),
    [() => world.credit().catch((error: unknown) => error)],
  )
  assert.match(String(fault), /terms were entered while a round was being signed/)
  assert.equal(await rounds(), before)
  await world.rest()
  assert.ok((await rounds()) > before)
})
