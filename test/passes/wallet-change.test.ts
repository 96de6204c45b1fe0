// Reorganisations across a change of the payments wallet: the new blocks are read for the same wallets as the ones they
// replace. Each test has its own world, because it breaks it.
import assert from 'node:assert/strict'
import { operatorDeps } from '../../src/boot/app.ts'
import { readWalletHistory } from '../../src/db/sale/payment-wallets.ts'
import type { Address } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { changeWallet, closeBooks } from '../../src/operator/acts/payment-wallets.ts'
import { payInside, putForwarder } from '../support/forwarder.ts'
import { worldTest } from '../support/in-world.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const ADA = { name: 'ada', requestId: null }

const inWorld = worldTest({ prepare: (world) => putForwarder(world) })

/** Replaces the wallet as if it were stolen: the new one takes effect with the next block. */
async function replace(world: World, address: Address): Promise<void> {
  const done = await changeWallet(operatorDeps(world.ctx, world.pool), ADA, { address, stolen: true })
  assert.ok(!isOperatorRefusal(done), JSON.stringify(done))
}
async function close(world: World, address: Address): Promise<number> {
  const done = await closeBooks.unguarded(operatorDeps(world.ctx, world.pool), ADA, { address })
  if (isOperatorRefusal(done)) return assert.fail(done.message)
  return done.closedBlock
}
/** Mines blocks and follows them one by one; audits the last one. */
async function follow(world: World, blocks = 1): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await world.chain.mine()
    await world.payments()
  }
}
const watchedFrom = async (world: World) => (await readWalletHistory(world.pool)).map((row) => row.watchedFrom)
const inFull = (world: World) => world.pool`
  SELECT wallet, base_block AS base, audited_block AS audited, base_wei + in_wei - out_wei AS wei FROM wallet_books ORDER BY base_block`

inWorld('a payment to a new wallet is a sale even if it returns in a block from before its entry', async (world) => {
  await follow(world, 3)
  await replace(world, world.at(12))
  const [, entered] = await watchedFrom(world)
  const paid = await world.pay(6, BASIC, world.at(12))
  await follow(world)
  assert.notEqual(await standingOf(world, paid), 'unseen')
  const raw = await world.raw(paid)
  await world.chain.reorg(3, [[raw, 0]])
  const { blockNumber } = await world.chain.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [paid])
  assert.ok(Number(blockNumber) < (entered ?? 0))
  await world.settle()
  await follow(world)
  assert.equal(await standingOf(world, paid), 'minted')
  assert.deepEqual(await watchedFrom(world), [0, Number(blockNumber)])
  // Its books begin before that block, and add up.
  assert.equal((await world.pool`SELECT FROM payments WHERE tx_hash IS NULL`).count, 0)
  const books = (await inFull(world)).at(-1)
  assert.equal(books?.base, Number(blockNumber) - 1)
  assert.equal(books?.base + 1 < books?.audited, true)
})

inWorld('a transfer to a wallet before its entry is no payment, even if its block is read again', async (world) => {
  const before = await world.pay(9, BASIC, world.at(12))
  await follow(world, 2)
  await replace(world, world.at(12))
  const paid = await world.pay(6, BASIC, world.at(12))
  await world.settle()
  // The range to read again begins before the wallet's first block, and the fork is behind it.
  await world.chain.reorg(1)
  await world.settle()
  await follow(world)
  assert.equal(await standingOf(world, before), 'unseen')
  assert.equal(await standingOf(world, paid), 'minted')
  assert.equal((await world.pool`SELECT FROM payments WHERE tx_hash IS NULL`).count, 0)
})

inWorld('the last blocks of a wallet with closed books are read and audited again, no later ones', async (world) => {
  await follow(world, 2)
  await replace(world, world.at(12))
  await follow(world)
  const late = await world.pay(5, BASIC)
  const { txHash: inside } = await payInside(world, 77n)
  await world.payments()
  await follow(world)
  const closed = await close(world, world.at(3))
  const unseen = await world.pay(7, BASIC)
  await follow(world, 2)
  const stand = async () => [
    await standingOf(world, late),
    await standingOf(world, unseen),
    (await world.pool`SELECT FROM payments WHERE tx_hash IS NULL AND value_wei = 77 AND state = 'held'`).count,
    (await world.pool`SELECT FROM payments WHERE tx_hash IS NULL AND state <> 'orphaned'`).count,
  ]
  assert.deepEqual(await stand(), ['held oldWallet', 'unseen', 1, 1])
  const head = Number((await world.chain.block()).number)
  const depth = head - closed + 2
  const back = [late, inside, unseen]
  const raws = await Promise.all(back.map((hash) => world.raw(hash)))
  await world.chain.reorg(
    depth,
    raws.map((raw, i) => [raw, [0, 0, depth - 1][i] ?? 0] as const),
  )
  await world.payments()
  await follow(world)
  assert.deepEqual(await stand(), ['held oldWallet', 'unseen', 1, 1])
  const [books] = await world.pool`SELECT audited_block AS audited FROM wallet_books WHERE wallet = ${world.at(3)}`
  assert.equal(books?.audited, closed)
})
