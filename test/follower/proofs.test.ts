// Once the ledger has seen this chain's headers recompute, one that does not is a bad answer: the follower accepts
// nothing of it, tries another provider, and reports the liar. No single provider can lower that standard.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { isProven, readMode } from '../../src/db/blocks/evidence.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import { insertMode } from '../../src/db/sale/contract-wallets.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { endLies, setModeTo, startAlone, startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'
import { lieBody, other, type Told, type Wire, walletOf } from './lies.ts'

const BASIC = ETHER / 100n

let world: World
let first: FalseProvider
let second: FalseProvider
before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  // The follower learns a list from a block that has one, some blocks behind the head.
  await world.pay(5, 1n)
  for (let block = 0; block < 5; block++) await world.chain.mine()
  await world.settle()
})
after(() => world.close())
afterEach(async () => {
  await endLies({ world, first, second })
  await world.settle()
})

type Header = Wire

/** Changes the headers of blocks from a height on, and answers everything else truly. */
const lie = (from: number, change: (header: Header) => Header): Rule => {
  return async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_getBlockByNumber' || !('result' in answer) || !answer.result) return answer
    const header = answer.result as Header
    return Number(header.number) < from ? answer : { result: { ...header, ...change(header) } }
  }
}
const failures = (of: World = world) =>
  of.pool<
    { subject: string; detail: Header }[]
  >`SELECT subject, detail FROM audit WHERE action = 'proofFailed' ORDER BY id`
const next = async (of: World = world) => Number(await of.chain.rpc('eth_blockNumber')) + 1

async function runUntilMinted(txHash: Hash) {
  for (let run = 0; run < 5 && (await paymentOf(world, txHash))?.state !== 'minted'; run++) {
    await world.payments().catch((error: Error) => assert.equal(error.name, 'LeftOutFault'))
    await world.chain.mine()
  }
}
const LIES: Record<string, (header: Header) => Header> = {
  'another mixHash': ({ mixHash }) => ({ mixHash: other(mixHash) }),
  'an hour more': ({ timestamp }) => ({ timestamp: `0x${(Number(timestamp) + 3_600).toString(16)}` }),
  'another state': ({ stateRoot }) => ({ stateRoot: other(stateRoot) }),
  'another bloom': ({ logsBloom }) => ({ logsBloom: other(logsBloom) }),
  'another hash': ({ hash }) => ({ hash: other(hash) }),
  'a field that is not known, and another time': ({ timestamp }) => ({
    timestamp: other(timestamp),
    fieldOfAFork: '0x1',
  }),
  'no mixHash': () => ({ mixHash: null }),
}

test('blocks must be proven from the first one on, if the newest ones prove themselves', async () => {
  assert.deepEqual(await readMode(world.pool), { mode: 'proven', fromBlock: 0, by: 'pass' })
})

for (const [name, change] of Object.entries(LIES))
  test(`${name} by the first provider: blocks, heads and ranges come from the other one`, async () => {
    const { number, hash } = await world.chain.mine()
    const at = Number(number)
    first.rule = lie(at, change)
    for (const read of ['observe', 'block', 'head'] as const) {
      const rpc = createRpc({ urls: [first.url, second.url], log: silentLog })
      const reader = createChainReader(rpc, { factory: world.factory, wallets: [], signers: [] })
      reader.proofs.require('proven')
      const block = read === 'observe' ? null : await (read === 'head' ? reader.head() : reader.block(at))
      const { blocks, failedProofs } = await reader.observe(at, at, null)
      assert.deepEqual([block?.hash ?? hash, blocks[0]?.hash], [hash, hash], read)
      // What lacks a part is no answer, and so no false one.
      assert.deepEqual(
        failedProofs?.map(({ host, blockNumber }) => [host, blockNumber]),
        name === 'no mixHash' ? undefined : [[new URL(first.url).host, at]],
      )
      await rpc.close()
    }
  })

test('T19: a false header is reported, not stored, and its payment is minted by the other one', async () => {
  // From then on a liar is the last choice, so the other one comes first.
  for (const liar of [first, second]) {
    const before = (await failures()).length
    const number = await next()
    const paid = await world.pay(5, BASIC)
    const { hash } = await world.chain.mine()
    liar.rule = lie(number, LIES['an hour more'] as (header: Header) => Header)
    await runUntilMinted(paid)
    assert.equal((await paymentOf(world, paid))?.state, 'minted')
    liar.rule = () => undefined
    await world.settle()
    const [told, ...others] = (await failures()).slice(before)
    assert.deepEqual([told?.detail.part, told?.detail.host, others], ['header', new URL(liar.url).host, []])
    const real = await world.chain.rpc<Header>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    const stored = await world.pool<{ hash: string; time: number; prevrandao: string }[]>`
      SELECT hash, time, prevrandao FROM blocks WHERE number = ${number}`
    assert.deepEqual({ ...stored[0] }, { hash, time: Number(real.timestamp), prevrandao: real.mixHash })
    await world.pool`DELETE FROM troubles WHERE name = 'trouble proof'`
  }
})

test('both providers lie, each in its own way: nothing is followed until one is honest again', async () => {
  const number = await next()
  first.rule = lie(number, ({ mixHash }) => ({ mixHash: other(mixHash) }))
  second.rule = lie(number, ({ stateRoot }) => ({ stateRoot: other(stateRoot) }))
  await world.chain.mine()
  await world.payments()
  const halt = await readHalt(world.pool)
  assert.deepEqual([halt?.reason, halt?.sealed, await isProven(world.pool)], ['unproven', false, true])
  second.rule = () => undefined
  await world.settle()
  assert.equal(await readHalt(world.pool), null)
})

test('if both providers give one false header of known fields, the ledger follows nothing', async () => {
  const number = await next()
  for (const liar of [first, second]) liar.rule = lie(number, ({ mixHash }) => ({ mixHash: other(mixHash) }))
  await world.chain.mine()
  await world.payments()
  assert.deepEqual([(await readHalt(world.pool))?.reason, await isProven(world.pool)], ['unproven', true])
})

test('if both providers give one false header with an unknown field, the ledger follows nothing', async () => {
  const number = await next()
  const fork = ({ stateRoot, mixHash }: Header) => ({ fieldOfAFork: stateRoot, mixHash: other(mixHash) })
  for (const liar of [first, second]) liar.rule = lie(number, fork)
  await world.chain.mine()
  await world.payments()
  assert.deepEqual([(await readHalt(world.pool))?.reason, await isProven(world.pool)], ['unproven', true])
})

test('a single provider whose headers cease to recompute is not followed until they do again', async () => {
  const { world: alone, liar } = await startAlone()
  try {
    await alone.chain.mine()
    await alone.settle()
    const number = await next(alone)
    liar.rule = lie(number, ({ mixHash }) => ({ mixHash: other(mixHash) }))
    await alone.chain.mine()
    for (let run = 0; run < 2; run++) await alone.payments()
    assert.deepEqual([(await readHalt(alone.pool))?.sealed, (await failures(alone)).length], [false, 1])
    liar.rule = () => undefined
    await alone.payments()
    assert.equal((await alone.pool`SELECT FROM blocks WHERE number = ${number}`).count, 1)
  } finally {
    await alone.close()
  }
})

const THIEF = `0x${'7e'.repeat(20)}` as Address
const STRANGER = `0x${'57'.repeat(20)}` as Address
/** The inputs of such a lie: the true transaction, and its replacement. */
interface BodyLie {
  /** The transaction really sent; default: a payment of a tier's price. */
  sent?: { valueWei?: bigint; to?: Address }
  told: Told
}
/** A block without its transactions is no answer: it is counted, and reported only once it lasts. */
const EMPTY = 'the only payment left out'
const BODY_LIES: Record<string, BodyLie> = {
  'a payment added': { told: ([tx]) => [tx, { ...tx, hash: other(tx.hash), from: THIEF, transactionIndex: '0x1' }] },
  'another sender': { told: ([tx]) => [{ ...tx, from: THIEF }] },
  'another recipient': { sent: { to: STRANGER }, told: ([tx], wallet) => [{ ...tx, to: wallet }] },
  'another value': { sent: { valueWei: 1n }, told: ([tx]) => [{ ...tx, value: `0x${BASIC.toString(16)}` }] },
  'another hash': { told: ([tx]) => [{ ...tx, hash: other(tx.hash) }] },
  'another type': { told: ([tx]) => [{ ...tx, type: '0x1' }] },
  [EMPTY]: { told: () => [] },
}

const send = (of: World, { valueWei = BASIC, to }: NonNullable<BodyLie['sent']> = {}, by = 5) =>
  of.pay(by, valueWei, to)

for (const [name, { sent, told }] of Object.entries(BODY_LIES))
  test(`${name} by the first provider: the transactions come from the other one`, async () => {
    const number = await next()
    const txHash = await send(world, sent)
    await world.chain.mine()
    first.rule = lieBody(world, number, told)
    const rpc = createRpc({ urls: [first.url, second.url], log: silentLog })
    const wallets = [{ wallet: walletOf(world), watchedFrom: 0, closedBlock: null }]
    const reader = createChainReader(rpc, { factory: world.factory, wallets, signers: [] })
    reader.proofs.require('proven')
    const { transfers, failedProofs } = await reader.observe(number, number, null)
    const payer = world.chain.accounts[5]?.address.toLowerCase()
    assert.deepEqual(
      transfers.filter(({ valueWei }) => valueWei === BASIC).map((one) => [one.txHash, one.from, one.proof]),
      sent === undefined ? [[txHash, payer, 'proven']] : [],
    )
    assert.deepEqual(
      failedProofs?.map(({ part, host, blockNumber }) => [part, host, blockNumber]),
      name === EMPTY ? undefined : [['transactions', new URL(first.url).host, number]],
    )
    await rpc.close()
  })

const paidBefore = async () => {
  const rows = await world.pool<{ txHash: Hash }[]>`SELECT tx_hash AS "txHash" FROM payments`
  return rows.map(({ txHash }) => txHash)
}
/** The refs that were minted or accepted although no transaction truly paid. */
const unpaid = async (of: World, paid: readonly Hash[]) => {
  const rows = await of.pool<{ txHash: Hash; from: Address }[]>`
    SELECT tx_hash AS "txHash", from_address AS "from" FROM payments WHERE state IN ('accepted', 'minting', 'minted')`
  return rows.filter(({ txHash, from }) => !paid.includes(txHash) || from === THIEF)
}

/** Two runs follow nothing, and mint nothing but what was paid. What is false is told; of what is missing the ledger notes that it waits. */
async function assertRejected(of: World, { name, paid, before }: { name: string; paid: Hash[]; before: number }) {
  for (let run = 0; run < 2; run++) await of.payments().catch(() => assert.equal(name, EMPTY))
  assert.deepEqual(await unpaid(of, paid), [], name)
  const [stuck] = await of.pool`SELECT value FROM troubles WHERE name = 'stuck'`
  const told = [(await readHalt(of.pool))?.reason, (await failures(of))[before]?.detail.part, stuck?.value.rule]
  const isOfNumber = /^block \d+ came without its transactions$/
  if (name === EMPTY) assert.ok(told[0] === undefined && told[1] === undefined && isOfNumber.test(told[2]), name)
  else assert.deepEqual(told.slice(0, 2), ['unproven', 'transactions'], name)
}

test('T20: both providers give the same false transactions: only real payments are minted', async () => {
  const paid = await paidBefore()
  for (const [name, { sent, told }] of Object.entries(BODY_LIES)) {
    const before = (await failures()).length
    const number = await next()
    const txHash = await send(world, sent, 6)
    if (sent === undefined) paid.push(txHash)
    await world.chain.mine()
    for (const liar of [first, second]) liar.rule = lieBody(world, number, told)
    await assertRejected(world, { name, paid, before })
    for (const liar of [first, second]) liar.rule = () => undefined
    await world.settle()
    assert.equal((await paymentOf(world, txHash))?.state, sent === undefined ? 'minted' : undefined, name)
    await world.pool`DELETE FROM troubles WHERE name IN ('trouble proof', 'trouble halt')`
  }
})

test('T21: the only provider gives false transactions: only real payments are minted', async () => {
  const { world: alone, liar } = await startAlone()
  try {
    await send(alone, { valueWei: 1n })
    for (let block = 0; block < 5; block++) await alone.chain.mine()
    await alone.settle()
    const paid: Hash[] = []
    for (const [name, { sent, told }] of Object.entries(BODY_LIES)) {
      const number = await next(alone)
      const txHash = await send(alone, sent)
      if (sent === undefined) paid.push(txHash)
      await alone.chain.mine()
      const before = (await failures(alone)).length
      liar.rule = lieBody(alone, number, told)
      await assertRejected(alone, { name, paid, before })
      liar.rule = () => undefined
      await alone.settle()
      assert.equal((await paymentOf(alone, txHash))?.state, sent === undefined ? 'minted' : undefined, name)
      await alone.pool`DELETE FROM troubles WHERE name IN ('trouble proof', 'trouble halt')`
    }
  } finally {
    await alone.close()
  }
})

test('one of two providers gives a false sender: the payer gets the node, the lie is reported', async () => {
  const paid = await paidBefore()
  const told: { detail: Header }[] = []
  for (const liar of [first, second]) {
    const before = (await failures()).length
    const number = await next()
    const txHash = await send(world, {}, 7)
    paid.push(txHash)
    await world.chain.mine()
    liar.rule = lieBody(world, number, (BODY_LIES['another sender'] as BodyLie).told)
    await runUntilMinted(txHash)
    assert.deepEqual([(await paymentOf(world, txHash))?.state, await unpaid(world, paid)], ['minted', []])
    liar.rule = () => undefined
    await world.settle()
    told.push(...(await failures()).slice(before))
    await world.pool`DELETE FROM troubles WHERE name = 'trouble proof'`
  }
  assert.deepEqual([told.length > 0, new Set(told.map(({ detail }) => detail.part))], [true, new Set(['transactions'])])
})

test('T26: an unsigned deposit is held in every mode, with its sender’s parent chain address', async () => {
  await setModeTo(world.pool, 'agreed')
  const number = await next()
  const txHash = await send(world, {}, 8)
  await world.chain.mine()
  await insertMode(world.pool, { mode: 'all', fromBlock: 0 }, 'test')
  const told: Told = ([{ r, s, v, yParity, ...tx }]) => [
    { ...tx, type: '0x7e', sourceHash: tx.hash, from: `0x1111${'0'.repeat(32)}1112` },
  ]
  for (const provider of [first, second]) provider.rule = lieBody(world, number, told)
  for (let run = 0; run < 2; run++) await world.payments()
  const rows = await world.pool<{ reason: string; evidence: Header }[]>`
    SELECT v.reason, v.evidence FROM payments p JOIN payment_verdicts v ON v.payment_id = p.id WHERE p.tx_hash = ${txHash}`
  assert.deepEqual(
    rows.map(({ reason, evidence }) => [reason, evidence.unsignedType, evidence.onParentChain]),
    [['contractWallet', 126, `0x${'0'.repeat(39)}1`]],
  )
})

test('T22: without proofs, a true payment is minted, but not one that a provider adds alone', async () => {
  await setModeTo(world.pool, 'agreed')
  const paid = await paidBefore()
  for (const liar of [first, second]) {
    const number = await next()
    const txHash = await send(world, {}, 9)
    paid.push(txHash)
    await world.chain.mine()
    liar.rule = lieBody(world, number, (BODY_LIES['a payment added'] as BodyLie).told)
    await runUntilMinted(txHash)
    assert.deepEqual([(await paymentOf(world, txHash))?.state, await unpaid(world, paid)], ['minted', []])
    liar.rule = () => undefined
  }
  // Beside honest providers its block is read again, and neither knows the payment.
  for (let run = 0; run < 4; run++)
    await world.payments().catch((error: Error) => assert.equal(error.name, 'LeftOutFault'))
  const added = await world.pool<{ state: string }[]>`SELECT DISTINCT state FROM payments WHERE from_address = ${THIEF}`
  assert.deepEqual([...added], [{ state: 'orphaned' }])
  assert.deepEqual(await unpaid(world, paid), [])
  await world.pool`DELETE FROM payment_retries`
  await world.pool`DELETE FROM payments WHERE from_address = ${THIEF}`
})

test('on that chain a payment is judged once the second provider reports it, too', async () => {
  await setModeTo(world.pool, 'agreed')
  const silent: Rule = ({ method }) =>
    method === 'eth_getTransactionByHash' ? { error: { code: -32000, message: 'not now' } } : undefined
  const txHash = await send(world, {}, 6)
  await world.chain.mine()
  for (const provider of [first, second]) provider.rule = silent
  await world.payments()
  assert.equal((await paymentOf(world, txHash))?.state, 'seen')
  for (const provider of [first, second]) provider.rule = () => undefined
  await world.pool`DELETE FROM payment_retries`
  await world.settle()
  const [row] = await world.pool`SELECT state, proof FROM payments WHERE tx_hash = ${txHash}`
  assert.deepEqual({ ...row }, { state: 'minted', proof: 'agreed' })
})
