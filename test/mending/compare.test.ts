// A provider that leaves a transaction out of a block, or alters it. A list is always proven, so with one honest provider the sale goes on. Only the
// sender of a stranger's transaction may be false: our accounts' nonces show it, and the ledger goes back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { isProven } from '../../src/db/blocks/evidence.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { rescan } from '../../src/operator/acts/rescan.ts'
import type { Rule } from '../chain/false-provider.ts'
import { lieBody, type Told, type Wire } from '../follower/lies.ts'
import { authorize, carry } from '../support/authorizations.ts'
import { endLies, startAlone, startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const STRANGER = `0x${'57'.repeat(20)}` as Address
const THIEF = `0x${'7e'.repeat(20)}` as Address
const operator = { name: 'test', requestId: null }
const hex = (value: bigint) => `0x${value.toString(16)}`

/** Runs a test on a ledger that requires proofs of lists, with two providers. */
async function onProvenChain(body: (parts: Awaited<ReturnType<typeof startTwoProviders>>) => Promise<void>) {
  const parts = await startTwoProviders()
  const { world } = parts
  try {
    await world.pay(5, 1n)
    for (let block = 0; block < 5; block++) await world.chain.mine()
    await world.settle()
    assert.ok(await isProven(world.pool))
    await body(parts)
  } finally {
    await world.close()
  }
}

/** A payment, and an unrelated transfer before it, in one block. */
async function payBesideOthers({ chain, pay }: World, valueWei = BASIC) {
  const number = Number(await chain.rpc('eth_blockNumber')) + 1
  await pay(6, 1n, STRANGER)
  const txHash = await pay(5, valueWei)
  await chain.mine()
  return { number, txHash }
}

async function runs(world: World, upTo: number, isDone: () => Promise<boolean>): Promise<number> {
  for (let run = 1; run <= upTo; run++) {
    // A run that rewinds the ledger ends with a fault.
    await world.payments().catch((error: Error) => assert.equal(error.name, 'LeftOutFault'))
    await world.chain.mine()
    if (await isDone()) return run
  }
  return Number.POSITIVE_INFINITY
}
const isMinted = (world: World, txHash: Hash) => async () => (await paymentOf(world, txHash))?.state === 'minted'
const audited = async ({ pool }: World, action: string) =>
  (await pool`SELECT FROM audit WHERE action = ${action}`).count

const instead =
  (valueWei: bigint, change: (tx: Wire) => Wire): Told =>
  (transactions) =>
    transactions.map((tx) => (BigInt(String(tx.value)) === valueWei ? { ...tx, ...change(tx) } : tx))
const leftOut: Told = (transactions) => transactions.filter(({ value }) => BigInt(String(value)) !== BASIC)

const LIES: Record<string, Told> = {
  'T23: a payment left out': leftOut,
  'T23: a payment told as one to a stranger': instead(BASIC, () => ({ to: STRANGER })),
  'T23: a payment told a wei short': instead(BASIC, () => ({ value: hex(BASIC - 1n) })),
  'T23: a payment told as more': instead(BASIC, () => ({ value: hex(BASIC * 3n + 1n) })),
  'T23: a payment told as dust': instead(BASIC, () => ({ value: '0x1' })),
  'T23: a payment told as one of nothing': instead(BASIC, () => ({ value: '0x0' })),
}

for (const [name, told] of Object.entries(LIES))
  test(`${name} by the first provider: it is minted within five runs, and the lie is reported`, () =>
    onProvenChain(async ({ world, first }) => {
      const { number, txHash } = await payBesideOthers(world)
      first.rule = lieBody(world, number, told)
      assert.ok((await runs(world, 5, isMinted(world, txHash))) <= 5)
      assert.deepEqual([await audited(world, 'leftOut'), await audited(world, 'proofFailed')], [0, 1])
      const residues = await world.pool`SELECT FROM payments WHERE tx_hash IS NULL AND state <> 'orphaned'`
      assert.equal(residues.count, 0)
    }))

test('a payment that a provider calls dust in the first followed block is still minted', async () => {
  const parts = await startTwoProviders()
  try {
    const { world: began, first } = parts
    const { number, txHash } = await payBesideOthers(began)
    await began.chain.mine()
    await endLies(parts)
    first.rule = lieBody(
      began,
      number,
      instead(BASIC, () => ({ value: '0x1' })),
    )
    assert.equal(await readCursor(began.pool), null)
    const world = { ...began, ...began.instance({ rules: { startBlock: number } }) }
    assert.ok((await runs(world, 5, isMinted(world, txHash))) <= 5)
    assert.equal(await audited(world, 'proofFailed'), 1)
    const fromBlock = number
    const read = await rescan(operatorDeps(world.ctx, world.pool), operator, { fromBlock, dryRun: true })
    assert.deepEqual([!isOperatorRefusal(read) && read.missing, !isOperatorRefusal(read) && read.surplus], [[], []])
  } finally {
    await parts.world.close()
  }
})

test('T24: a provider calls a failed payment dust: the list exposes it, and it is reported', () =>
  onProvenChain(async ({ world, first }) => {
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x60006000fd'])
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    const txHash = await world.call(5, world.at(3), '0x', BASIC)
    await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
    first.rule = lieBody(
      world,
      number,
      instead(BASIC, () => ({ value: '0x1' })),
    )
    await world.settle()
    assert.equal(await audited(world, 'proofFailed'), 1)
    const { state, reason } = (await paymentOf(world, txHash)) ?? assert.fail('it is not there')
    assert.deepEqual([state, reason], ['ignored', 'failed'])
  }))

test('a provider that shows the whole block each second time: the payment is minted', () =>
  onProvenChain(async ({ world, first }) => {
    const { number, txHash } = await payBesideOthers(world)
    const lie = lieBody(world, number, leftOut)
    let asked = 0
    const everySecond: Rule = (call, forward) => {
      const isOfBlock =
        call.method === 'eth_getBlockByNumber' && call.params[1] === true && Number(call.params[0]) === number
      return isOfBlock && asked++ % 2 === 1 ? forward() : lie(call, forward)
    }
    first.rule = everySecond
    assert.ok((await runs(world, 5, isMinted(world, txHash))) <= 5)
    assert.equal(await audited(world, 'leftOut'), 0)
  }))

test('a contract’s payment has its block’s list compared, and the ledger does not go back', () =>
  onProvenChain(async ({ world }) => {
    const { txHash } = await payBesideOthers(world, BASIC + 5n)
    await world.payments()
    // As by an internal call.
    const balance = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(3), 'latest']))
    await world.chain.setBalance(world.at(3), balance + BASIC)
    await world.chain.mine()
    await runs(world, 2, async () => false)
    assert.equal(await audited(world, 'leftOut'), 0)
    assert.equal((await paymentOf(world, txHash))?.state, 'held')
  }))

test('T25: the sender of a wrong amount is recovered, and gets the node instead of a false one', () =>
  onProvenChain(async ({ world, first }) => {
    const amount = BASIC + 7n
    const { number, txHash } = await payBesideOthers(world, amount)
    first.rule = lieBody(
      world,
      number,
      instead(amount, () => ({ from: THIEF })),
    )
    await world.payments()
    const [row] = await world.pool`SELECT state, reason, from_address, proof FROM payments WHERE tx_hash = ${txHash}`
    assert.deepEqual({ ...row }, { state: 'held', reason: 'wrongAmount', from_address: world.at(5), proof: 'proven' })
    assert.deepEqual([await audited(world, 'leftOut'), await audited(world, 'proofFailed')], [0, 1])
    assert.ok(!isOperatorRefusal(await releasePayment(world, operator, { payment: txHash, tierId: 'basic' })))
    assert.ok((await runs(world, 3, isMinted(world, txHash))) <= 3)
  }))

const isToFactory = (world: World, { to }: Wire) => to === world.factory

/** Hides some transactions of a block, with their receipts and logs. */
function hide(world: World, number: number, isHidden: (tx: Wire) => boolean): Rule {
  const lie = lieBody(world, number, (transactions) => transactions.filter((tx) => !isHidden(tx)))
  return async (call, forward) => {
    const answer = await lie(call, forward)
    if (!answer || !('result' in answer) || !Array.isArray(answer.result)) return answer
    return { result: (answer.result as Wire[]).filter((one) => Number(one.blockNumber) !== number || !isOf(one)) }
  }
  // A receipt names the sender and recipient as its transaction does, a log the contract.
  function isOf(one: Wire): boolean {
    return 'topics' in one || isHidden(one)
  }
}

test('T31: a contract call that a block hides is found by the contract’s storage, and reported', () =>
  onProvenChain(async ({ world, first }) => {
    const { txHash } = await payBesideOthers(world)
    assert.ok((await runs(world, 5, isMinted(world, txHash))) <= 5)
    await world.settle()
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    first.rule = hide(world, number, (tx) => isToFactory(world, tx))
    await world.chain.send({ from: world.at(6), to: STRANGER, value: '0x1' })
    await world.act(5, 'transferFrom', [world.at(5), world.at(6), 1n])
    assert.equal(Number(await world.chain.rpc('eth_blockNumber')), number)
    await world.payments()
    const nodes = await world.pool`SELECT owner FROM nodes`
    assert.deepEqual(
      nodes.map(({ owner }) => owner),
      [world.at(6)],
    )
    assert.equal(await audited(world, 'proofFailed'), 1)
  }))

test('T33: a contract call hidden beside another block’s log is found by the storage after it', () =>
  onProvenChain(async ({ world, first }) => {
    for (let bought = 0; bought < 2; bought++) await payBesideOthers(world)
    await world.settle()
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    await world.act(5, 'transferFrom', [world.at(5), world.at(6), 1n])
    await world.chain.send({ from: world.at(6), to: STRANGER, value: '0x1' })
    await world.act(5, 'transferFrom', [world.at(5), world.at(6), 2n])
    assert.equal(Number(await world.chain.rpc('eth_blockNumber')), number + 1)
    first.rule = hide(world, number + 1, (tx) => isToFactory(world, tx))
    await world.payments()
    const nodes = await world.pool`SELECT owner FROM nodes`
    assert.deepEqual(
      nodes.map(({ owner }) => owner),
      [world.at(6), world.at(6)],
    )
    assert.equal(await audited(world, 'proofFailed'), 1)
  }))

/** Names another sender of our minter's transactions of a block, which no hash covers. */
const underOtherName = (world: World, number: number) =>
  lieBody(world, number, (transactions) =>
    transactions.map((tx) => (tx.from === world.at(1) ? { ...tx, from: STRANGER } : tx)),
  )

test('T32: our idle transaction under a stranger’s name stops no sale: the payment is minted', () =>
  onProvenChain(async ({ world, first }) => {
    const { txHash } = await payBesideOthers(world)
    await world.payments()
    const raw = await world.raw(txHash)
    // The block of its guard is gone.
    await world.chain.reorg(1, [[raw, 0]])
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    await world.chain.send({ from: world.at(6), to: STRANGER, value: '0x1' })
    const { transactions } = await world.chain.mine()
    assert.equal(transactions.length, 2)
    first.rule = underOtherName(world, number)
    assert.ok((await runs(world, 5, isMinted(world, txHash))) <= 5)
    assert.deepEqual([await audited(world, 'leftOut'), await audited(world, 'proofFailed')], [0, 1])
  }))

test('T32: a thief’s transaction under a stranger’s name is found by its nonce, and sales go on', () =>
  onProvenChain(async ({ world, first }) => {
    await payBesideOthers(world)
    await world.settle()
    const number = Number(await world.chain.rpc('eth_blockNumber')) + 1
    await world.pay(6, 1n, STRANGER)
    const txHash = await world.pay(1, 1n, STRANGER)
    await world.chain.mine()
    first.rule = underOtherName(world, number)
    await world.payments()
    assert.equal(await audited(world, 'foreignTransaction'), 0)
    const paid = await payBesideOthers(world)
    assert.ok((await runs(world, 5, isMinted(world, paid.txHash))) <= 5)
    assert.equal(await audited(world, 'leftOut'), 1)
    const [told] = await world.pool`SELECT subject FROM audit WHERE action = 'foreignTransaction'`
    assert.equal(told?.subject, txHash)
  }))

test('an authorization of our key, in any transaction, is reported, and its nonce adopted', () =>
  onProvenChain(async ({ world }) => {
    await payBesideOthers(world)
    await world.settle()
    const nonce = Number(await world.chain.rpc('eth_getTransactionCount', [world.at(1), 'latest']))
    await carry(world, 12, [await authorize(world, 1, { nonce })])
    const paid = await payBesideOthers(world)
    assert.ok((await runs(world, 5, isMinted(world, paid.txHash))) <= 5)
    assert.deepEqual([await audited(world, 'leftOut'), await audited(world, 'proofFailed')], [0, 0])
    const events = await world.pool`SELECT detail ->> 'sender' AS sender FROM audit WHERE action = 'foreignTransaction'`
    assert.deepEqual([...events], [{ sender: world.at(1) }])
    assert.equal(await audited(world, 'nonceTakenOver'), 1)
  }))

test('while the only provider contradicts a block, nothing of it is filed, with a report', async () => {
  const { world, liar } = await startAlone()
  try {
    await world.pay(5, 1n)
    await world.chain.mine(5)
    await world.settle()
    const { number, txHash } = await payBesideOthers(world)
    liar.rule = lieBody(
      world,
      number,
      instead(BASIC, () => ({ to: STRANGER })),
    )
    await runs(world, 2, async () => false)
    assert.equal((await world.pool`SELECT FROM payments WHERE state <> 'orphaned'`).count, 0)
    assert.equal(await audited(world, 'proofFailed'), 1)
    liar.rule = () => undefined
    assert.ok((await runs(world, 5, isMinted(world, txHash))) <= 5)
  } finally {
    await world.close()
  }
})
