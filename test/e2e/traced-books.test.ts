// Payments of contract wallets, seen from outside. Webhooks, the statement and the exports have each traced payment once and to the wei:
// its parts and dust, the one released by signing in, and refunds in one transaction of the payments wallet, beside its other transfers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordIdentity } from '../../src/db/core/state.ts'
import { proveWallet } from '../../src/db/payments/payers.ts'
import { addEndpoint } from '../../src/db/webhooks.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startWebhooks, type Webhooks } from '../../src/webhooks/worker.ts'
import { FORWARDER, payInside, putForwarder, SPLIT, splitTo } from '../support/forwarder.ts'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'
import { until } from '../support/until.ts'
import { ETHER, type World } from '../support/world.ts'
import { type Receiver, SECRET, startReceiver } from '../webhooks/receiver.ts'

const BASIC = ETHER / 100n
const ODD = BASIC + 11n
const DUST = 7n
const OTHER = 13n
const PAYER = '0x0000000000000000000000000000000000000e11' as Address

let desk: Desk
let world: World
let receiver: Receiver
let worker: Webhooks
/** The wallet's balance, and the block, before any payment. */
let opening: { block: number; wei: bigint }
let one: Hash
let several: Hash
let plain: Hash
let refund: Hash

before(async () => {
  ;[desk, receiver] = await Promise.all([startDesk(), startReceiver()])
  world = desk.world
  await addEndpoint(world.pool, { url: receiver.url, secrets: [SECRET] }, 'test')
  worker = startWebhooks({ pool: world.pool, allowPrivate: true, publicUrl: 'https://nodes.example', log: silentLog })
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  await putForwarder(world)
  // The payments wallet is a contract, too, so its refunds are internal calls.
  for (const at of [PAYER, world.at(3)]) await world.chain.rpc('anvil_setCode', [at, SPLIT])
  await desk.post('contract-wallets', { mode: 'proven' })
  await world.settle()
  const block = Number((await world.chain.block()).number)
  opening = { block, wei: await balance(block) }
  await play()
  await until('all is told', async () => {
    const [row] = await world.pool<
      { n: number }[]
    >`SELECT count(*)::int AS n FROM webhook_deliveries WHERE state = 'pending'`
    return row?.n === 0
  })
})
after(async () => {
  await worker.stop()
  await desk.close()
  await receiver.close()
})

const allTold = () =>
  until('all is told', async () => {
    const [row] = await world.pool<{ n: number }[]>`
      SELECT count(*)::int AS n FROM webhook_deliveries WHERE state = 'pending'`
    return row?.n === 0
  })
/** The events of a type sent so far. */
const told = (type: string) =>
  receiver.received
    .filter(({ event }) => event.type === type)
    .map(({ event, headers }) => ({ ...event.data, id: headers['webhook-id'] }) as Record<string, unknown>)
const balance = async (block: number) =>
  BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(3), `0x${block.toString(16)}`]))

async function play(): Promise<void> {
  const wallet = world.at(3)
  one = (await payInside(world, BASIC)).txHash
  const parts = splitTo([wallet, BASIC], [wallet, ODD], [wallet, BASIC], [wallet, DUST])
  several = await world.call(9, PAYER, parts, 2n * BASIC + ODD + DUST)
  plain = await world.pay(5, BASIC)
  await world.settle()
  // The forwarder has signed in, at whichever instance.
  await proveWallet(world.pool, FORWARDER, { deployed: true })
  await world.settle()
  refund = await world.call(10, wallet, splitTo([PAYER, BASIC], [PAYER, ODD], [world.at(12), OTHER]))
  await world.settle()
  for (const [index, valueWei] of [BASIC, ODD].entries()) {
    const { json } = await desk.get(`payments/${await idOf(several, index + 1)}`)
    assert.equal(json.payments[0].valueWei, `${valueWei}`)
    const done = await desk.post(`payments/${json.payments[0].id}/refund`, { refundTxHash: refund })
    assert.deepEqual([done.status, done.json.status], [200, 'refunded'], done.text)
  }
  await world.settle()
}

async function idOf(txHash: Hash, innerIndex: number): Promise<number> {
  const [row] = await world.pool<{ id: number }[]>`
    SELECT id FROM payments WHERE tx_hash = ${txHash} AND inner_index = ${innerIndex}`
  return row?.id ?? assert.fail(`no payment ${innerIndex} of ${txHash}`)
}

/** The rows of an export as objects, without its last line; and that line's facts. */
async function exported(kind: string) {
  const headers = { 'x-admin-key': KEYS[0]?.key ?? '' }
  const answer = await fetch(`http://127.0.0.1:${desk.service.port}/api/admin/exports/${kind}.csv`, { headers })
  const text = await answer.text()
  const [head = '', ...lines] = text.trim().split('\r\n')
  const columns = head.split(',')
  const rows = lines.slice(0, -1).map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? '']))
  })
  const facts = Object.fromEntries(
    (lines.at(-1) ?? '')
      .split(',')
      .slice(1)
      .map((cell) => cell.split('=')),
  )
  return { rows, facts: facts as Record<string, string> }
}

test('webhooks report each traced payment once, by its own ref, to the wei', async () => {
  const held = told('payment.held')
  const facts = (data: Record<string, unknown>) => [data.txHash, data.from, data.valueWei, data.reason]
  assert.deepEqual(
    held.map(facts).sort(),
    [
      [one, FORWARDER, `${BASIC}`, 'contractWallet'],
      [several, PAYER, `${BASIC}`, 'contractWallet'],
      [several, PAYER, `${BASIC}`, 'contractWallet'],
      [several, PAYER, `${ODD}`, 'wrongAmount'],
    ].sort(),
  )
  assert.equal(new Set(held.map(({ ref }) => ref)).size, held.length)
  const minted = told('payment.minted')
  assert.deepEqual(
    minted.map(({ txHash, from, valueWei }) => [txHash, from, valueWei]).sort(),
    [
      [one, FORWARDER, `${BASIC}`],
      [plain, world.at(5), `${BASIC}`],
    ].sort(),
  )
  // A receiver matches a held payment and its node by the ref, because the transaction may have made others.
  assert.equal(minted.find(({ txHash }) => txHash === one)?.ref, held.find(({ txHash }) => txHash === one)?.ref)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids).size, ids.length)
})

test('the statement explains the payments wallet to the wei: payments, dust, refunds, outflows', async () => {
  const number = Number((await world.chain.block()).number)
  const { json, text } = await desk.get(`statement?from=${opening.block + 1}&to=${number}`)
  const account = json.accounts?.find(({ name }: { name: string }) => name === 'payments wallet') ?? assert.fail(text)
  assert.deepEqual([account.openingWei, account.closingWei], [`${opening.wei}`, `${await balance(number)}`])
  assert.deepEqual([account.otherWei, account.unexplainedWei, json.balanced], ['0', '0', true])
  assert.deepEqual(
    Object.fromEntries(account.movements.map(({ what, count, wei }: Record<string, unknown>) => [what, [count, wei]])),
    {
      payments: [5, `${4n * BASIC + ODD}`],
      dust: [1, `${DUST}`],
      refunds: [2, `${-(BASIC + ODD)}`],
      sent: [1, `${-OTHER}`],
      fees: [3, '0'],
    },
  )
  const { refunds, refundedWei, refundedFromWalletWei } = json.happened
  assert.deepEqual([refunds, refundedWei, refundedFromWalletWei], [2, `${BASIC + ODD}`, `${BASIC + ODD}`])
  assert.equal(json.totalSalesWei, `${2n * BASIC}`)
})

test('every export has each of them once, and its totals are theirs', async () => {
  const payments = await exported('payments')
  assert.deepEqual(
    payments.rows.map((row) => [row.txHash, row.innerIndex, row.valueWei, row.state, row.refundTxHash]).sort(),
    [
      [one, '1', `${BASIC}`, 'minted', ''],
      [several, '1', `${BASIC}`, 'refunded', refund],
      [several, '2', `${ODD}`, 'refunded', refund],
      [several, '3', `${BASIC}`, 'held', ''],
      [plain, '0', `${BASIC}`, 'minted', ''],
    ].sort(),
  )
  assert.deepEqual([payments.facts.valueWei, payments.facts.soldWei], [`${4n * BASIC + ODD}`, `${2n * BASIC}`])
  const refunds = await exported('refunds')
  assert.deepEqual(
    refunds.rows.map((row) => [row.paymentTxHash, row.refundTxHash, row.from, row.to, row.valueWei]).sort(),
    [BASIC, ODD].map((valueWei) => [several, refund, world.at(3), PAYER, `${valueWei}`]).sort(),
  )
  assert.equal(refunds.facts.valueWei, `${BASIC + ODD}`)
  const refs = new Map(payments.rows.map(({ ref, valueWei }) => [ref, valueWei]))
  for (const { paymentRef, valueWei } of refunds.rows) assert.equal(refs.get(paymentRef ?? ''), valueWei)
  const outflows = await exported('outflows')
  assert.deepEqual(
    outflows.rows.map((row) => [row.txHash, row.to, row.valueWei, row.feeWei]).sort(),
    [
      [refund, PAYER, `${BASIC}`, '0'],
      [refund, PAYER, `${ODD}`, '0'],
      [refund, world.at(12), `${OTHER}`, '0'],
    ].sort(),
  )
  assert.equal(outflows.facts.valueWei, `${BASIC + ODD + OTHER}`)
  const nodes = await exported('nodes')
  assert.deepEqual(
    nodes.rows.map((row) => [row.owner, row.paymentTxHash, row.priceWei]).sort(),
    [
      [FORWARDER, one, `${BASIC}`],
      [world.at(5), plain, `${BASIC}`],
    ].sort(),
  )
})

test('a payment that a reorg moves to another block is reported, and booked once', async () => {
  const wallet = world.at(3)
  const txHash = await world.call(9, PAYER, splitTo([wallet, BASIC], [wallet, ODD]), BASIC + ODD)
  const raw = await world.raw(txHash)
  await world.settle()
  await allTold()
  const mine = () => told('payment.held').filter((data) => data.txHash === txHash)
  const rowsOf = async () => (await exported('payments')).rows.filter((row) => row.txHash === txHash)
  assert.deepEqual([mine().length, (await rowsOf()).length], [2, 2])

  const { blockNumber } = mine()[0] ?? assert.fail()
  const depth = Number((await world.chain.block()).number) - Number(blockNumber) + 1
  await world.chain.rpc('anvil_reorg', [depth, []])
  await world.settle()
  await allTold()
  assert.equal(told('chain.reorganised').at(-1)?.orphanedPayments, 2)
  assert.deepEqual(await rowsOf(), [], 'they are in no block')

  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.settle()
  await allTold()
  assert.deepEqual(
    mine()
      .map(({ valueWei }) => valueWei)
      .sort(),
    [BASIC, BASIC, ODD, ODD].map(String).sort(),
  )
  assert.equal(new Set(mine().map(({ id }) => id)).size, 4, 'another block, another event')
  assert.equal(new Set(mine().map(({ ref }) => ref)).size, 2)
  assert.deepEqual(
    (await rowsOf()).map(({ valueWei, innerIndex }) => [valueWei, innerIndex]),
    [
      [`${BASIC}`, '1'],
      [`${ODD}`, '2'],
    ],
  )
  const { json } = await desk.get(
    `statement?from=${opening.block + 1}&to=${Number((await world.chain.block()).number)}`,
  )
  assert.equal(json.balanced, true)
})
