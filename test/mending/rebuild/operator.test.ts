// The operator's decisions outlive the ledger: a rebuild from the chain carries over their tiers, decisions, refunds,
// grants, deny list, pause and the log of their acts, all made over HTTP, and mints nothing that they had settled.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from '../../../src/db/core/sql.ts'
import { findLiveKey } from '../../../src/db/operator/admin-keys.ts'
import { raiseRecheck, readRecheck } from '../../../src/db/payments/recheck.ts'
import { rebuild } from '../../../src/mending/rebuild/rebuild.ts'
import { digestOfKey } from '../../../src/operator/acts/keys/secret.ts'
import { type Desk, startDesk } from '../../support/operator.ts'
import { openDatabase } from '../../support/postgres.ts'
import { ETHER, type Instance, paymentOf, type World } from '../../support/world.ts'

const BASIC = ETHER / 100n

/** Runs `body` on a desk and an instance of its world, `again`, on the empty ledger `pool`. */
function onBoth(
  sentence: string,
  body: (both: { desk: Desk; world: World; pool: Pool; again: Instance }) => Promise<void>,
): void {
  test(sentence, async () => {
    const desk = await startDesk()
    const { world } = desk
    await using database = await openDatabase(5)
    const { pool } = database
    try {
      await body({ desk, world, pool, again: world.instance({ pool, directUrl: database.url }) })
    } finally {
      await desk.close()
    }
  })
}

onBoth('a rebuilt ledger holds everything that the operator did', async ({ desk, world, pool, again }) => {
  await world.settle()
  const gold = { tierId: 'gold', label: 'Gold', priceWei: (BASIC * 2n).toString(), maxPerWallet: 2 }
  assert.equal((await desk.post('tiers', gold)).status, 200)
  assert.equal((await desk.post('tiers/gold', { label: 'Golden' })).status, 200)
  const hashes = []
  for (const account of [5, 6, 7, 8]) hashes.push(await world.pay(account, BASIC + 1n))
  const sold = await world.pay(9, BASIC * 2n)
  await world.settle()
  const [released, dismissed, refunded, waiting] = hashes
  await desk.post(`payments/${released}/release`, { tierId: 'gold' })
  await desk.post(`payments/${dismissed}/dismiss`)
  const value = `0x${(BASIC + 1n).toString(16)}` as const
  const refundTxHash = await world.chain.send({ from: world.at(10), to: world.at(7), value })
  await world.rest()
  assert.equal((await desk.post(`payments/${refunded}/refund`, { refundTxHash })).status, 200)
  await desk.post('senders', { address: world.at(11), label: 'Exchange', reason: 'many people' })
  await desk.post('pause', { reason: 'moving' })
  const keys = []
  for (const label of ['clerk', 'leaver']) keys.push((await desk.post('keys', { label, scopes: ['read'] })).json)
  await desk.post(`keys/${keys[1].id}/revoke`)
  await world.settle()

  const { comparison } = await rebuild(again.ctx, world.pool, () => {})
  assert.deepEqual(comparison?.differences, [])
  const stateIn = async (txHash: string | undefined) => {
    const [row] = await pool`SELECT state, reason, tier_id FROM payments WHERE tx_hash = ${txHash ?? ''}`
    return [row?.state, row?.reason, row?.tier_id]
  }
  assert.deepEqual(await stateIn(released), ['minted', null, 'gold'])
  assert.deepEqual(await stateIn(sold), ['minted', null, 'gold'])
  assert.deepEqual(await stateIn(dismissed), ['dismissed', 'wrongAmount', null])
  assert.deepEqual(await stateIn(refunded), ['refunded', 'wrongAmount', null])
  assert.deepEqual(await stateIn(waiting), ['held', 'wrongAmount', null])
  const acts = (sql: typeof pool) =>
    sql`SELECT at, actor, action, subject, detail, request_id FROM audit WHERE actor = 'ada' ORDER BY at, id`
  assert.equal((await acts(pool)).length, 10)
  assert.deepEqual([...(await acts(pool))], [...(await acts(world.pool))])
  assert.equal((await pool`SELECT FROM senders`).count, 1)
  // Their keys open there as before, and revoked ones stay revoked.
  const live = await Promise.all(keys.map(({ key }) => findLiveKey(pool, digestOfKey(key))))
  assert.deepEqual(
    live.map((key) => key?.label ?? null),
    ['clerk', null],
  )
  assert.equal((await pool`SELECT FROM ledger_state WHERE paused`).count, 1)

  await world.chain.mine()
  await again.payments()
  await world.chain.mine()
  await again.payments()
  assert.deepEqual(await stateIn(dismissed), ['dismissed', 'wrongAmount', null])
  for (const txHash of [dismissed, refunded, waiting]) assert.equal(await world.read('nodeOfRef', [txHash]), 0n)
  assert.equal((await paymentOf(world, sold))?.state, 'minted')
})

onBoth(
  'a rebuilt ledger drops decisions on failed transfers, and keeps holds and off-chain facts',
  async ({ desk, world, pool, again }) => {
    await world.settle()
    const failed = await world.pay(6, BASIC - 1n)
    const raw = await world.raw(failed)
    await world.settle()
    const [{ blockNumber }] = (await desk.get(`payments/${failed}`)).json.payments
    assert.equal((await desk.post(`payments/${failed}/release`, { tierId: 'basic' })).status, 200)
    await world.chain.reorg(Number((await world.chain.block()).number) - blockNumber + 1)
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x5f5ffd'])
    await world.chain.rpc('eth_sendRawTransaction', [raw])
    await world.settle()
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
    assert.equal((await paymentOf(world, failed))?.reason, 'failed')
    // It had been restored, and has yet to follow to its old height.
    const heldUpTo = Number((await world.chain.block()).number) + 2
    await raiseRecheck(world.pool, heldUpTo)
    await world.pool`INSERT INTO price_history (hour, usd, quoted_at) VALUES ('2026-10-01T00:00:00Z', 2345.678, now())`

    const { comparison } = await rebuild(again.ctx, world.pool, () => {})
    assert.deepEqual(comparison?.differences, [])
    assert.equal(await readRecheck(pool), heldUpTo)
    const prices = (sql: typeof pool) => sql`SELECT * FROM price_history`
    assert.deepEqual([...(await prices(pool))], [...(await prices(world.pool))])
    const before = await world.pay(7, BASIC)
    await world.chain.mine(2)
    const after = await world.pay(8, BASIC)
    await world.chain.mine()
    await again.payments()
    const states = await pool`SELECT tx_hash, state, reason FROM payments`
    const stateOf = (txHash: string) => states.find((row) => row.tx_hash === txHash)
    assert.deepEqual([stateOf(failed)?.state, stateOf(failed)?.reason], ['ignored', 'failed'])
    assert.deepEqual([stateOf(before)?.state, stateOf(before)?.reason], ['held', 'recheck'])
    assert.notEqual(stateOf(after)?.state, 'held')
  },
)
