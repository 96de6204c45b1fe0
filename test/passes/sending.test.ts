// Calls that are stored before they are sent, and their fates: crashes on either side of the send, lost replies, stuck fees,
// pools that forget, nonces used by others, an empty balance, a paused contract. In each case every payment becomes one node.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { SignerFault } from '../../src/ports/faults.ts'
import type { SignerAccount } from '../../src/ports/sending.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const GWEI = 10n ** 9n

let world: World
const foreign: Hash[] = []
before(async () => {
  world = await startWorld()
})
after(() => world.close())

const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state
const attempts = () => world.pool<{ hash: Hash; nonce: number; fee: bigint; tip: bigint; outcome: string | null }[]>`
  SELECT a.tx_hash AS hash, o.nonce, a.max_fee_wei AS fee, a.max_priority_fee_wei AS tip, last_outcome AS outcome
  FROM outbox_attempts a JOIN outbox o ON o.id = a.outbox_id ORDER BY o.id, attempt`
const intents = () => world.pool<{ kind: string; state: string; hash: Hash | null }[]>`
  SELECT kind, state, tx_hash AS hash FROM outbox ORDER BY id`
const inPool = async (txHash: Hash) =>
  (await world.chain.rpc<{ blockNumber: string | null } | null>('eth_getTransactionByHash', [txHash])) !== null
const minter = (): SignerAccount => world.ctx.minter ?? assert.fail()
const distributor = (): SignerAccount => world.ctx.distributor ?? assert.fail()

/** The process ends between storing and sending. */
const crashBefore = (sender: SignerAccount): SignerAccount => ({
  ...sender,
  broadcast: async () => {
    throw new Error('killed before the send')
  },
})
/** The process ends, or the connection breaks, after the provider has the bytes and before its answer is read. */
const crashAfter = (sender: SignerAccount): SignerAccount => ({
  ...sender,
  broadcast: async (raw) => {
    await sender.broadcast(raw)
    throw new Error('killed after the send')
  },
})
const replyLost = (sender: SignerAccount): SignerAccount => ({
  ...sender,
  broadcast: async (raw) => {
    await sender.broadcast(raw)
    return { kind: 'unknown', detail: 'timeout' }
  },
})
/** The provider says it accepted the bytes, and no one ever sees them again. */
const swallow = (sender: SignerAccount): SignerAccount => ({ ...sender, broadcast: async () => ({ kind: 'accepted' }) })

/** Pays for a basic node, and has an instance with this sender try to mint it; returns the payment and the stored send. */
async function mintThrough(
  account: number,
  sender: SignerAccount,
): Promise<{ paid: Hash; sent: Hash; error: unknown }> {
  const paid = await world.pay(account, BASIC)
  await world.chain.mine()
  const error = await world
    .instance({ minter: sender })
    .payments()
    .then(() => null)
    .catch((e: unknown) => e)
  const sent = (await attempts()).at(-1)?.hash ?? assert.fail('nothing was stored')
  assert.equal(await stateOf(paid), 'minting')
  return { paid, sent, error }
}
async function isOneNode(paid: Hash): Promise<void> {
  assert.equal(await stateOf(paid), 'minted')
  const nodes = await world.pool<{ id: number }[]>`SELECT node_id AS id FROM nodes WHERE ref = ${paid}`
  assert.deepEqual(
    nodes.map((node) => BigInt(node.id)),
    [await world.read<bigint>('nodeOfRef', [paid])],
  )
}

test('cohorts whose opening was stored and not sent are opened by the next run, once', async () => {
  await world.chain.mine()
  await assert.rejects(world.instance({ minter: crashBefore(minter()) }).payments(), /killed before/)
  const [stored = assert.fail()] = await attempts()
  assert.equal(await inPool(stored.hash), false)
  await world.settle()
  assert.deepEqual([...(await intents())], [{ kind: 'openCohorts', state: 'mined', hash: stored.hash }])
  assert.equal((await world.pool`SELECT FROM cohorts`).length, 30)
})

test('a mint stored and not sent is sent by the next run, the same bytes', async () => {
  const { paid, sent, error } = await mintThrough(5, crashBefore(minter()))
  assert.match(String(error), /killed before/)
  assert.equal(await inPool(sent), false)
  await world.settle()
  assert.equal(await world.succeeded(sent), true)
  await isOneNode(paid)
})

test('a mint sent in the instant of the crash is settled by following', async () => {
  const { paid, sent, error } = await mintThrough(5, crashAfter(minter()))
  assert.match(String(error), /killed after/)
  assert.equal(await inPool(sent), true)
  await world.settle()
  assert.equal(await world.succeeded(sent), true)
  await isOneNode(paid)
})

test('a mint whose answer was lost is sent again as it is, however often, and mined once', async () => {
  const before = (await attempts()).length
  const { paid, sent } = await mintThrough(6, replyLost(minter()))
  assert.match((await attempts()).at(-1)?.outcome ?? '', /^unknown: timeout/)
  for (let i = 0; i < 3; i++) await world.payments()
  assert.equal((await attempts()).length, before + 1)
  await world.settle()
  assert.equal(await world.succeeded(sent), true)
  await isOneNode(paid)
})

test('a mint that a provider swallowed is handed over again at every run', async () => {
  const { paid, sent } = await mintThrough(6, swallow(minter()))
  await world.chain.mine()
  await world.instance({ minter: swallow(minter()) }).payments()
  assert.equal(await inPool(sent), false)
  await world.settle()
  assert.equal(await world.succeeded(sent), true)
  await isOneNode(paid)
})

for (const [sentence, fault] of [
  ['stored and not sent', crashBefore],
  ['sent in the instant of the crash', crashAfter],
  ['whose answer was lost', replyLost],
] as const) {
  test(`a round ${sentence} pays its turn once`, async () => {
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    const [before] = await world.pool`SELECT count(*) AS rounds FROM rounds`
    const { due } = await dueTurns()
    assert.ok(due > 0)
    await world
      .instance({ distributor: fault(distributor()) })
      .credit()
      .catch(() => {})
    assert.equal((await intents()).at(-1)?.kind, 'credit')
    const sent = (await attempts()).at(-1)?.hash ?? assert.fail()
    await world.rest()
    assert.equal(await world.succeeded(sent), true)
    const [after] = await world.pool`SELECT count(*) AS rounds FROM rounds`
    assert.equal(after?.rounds, before?.rounds + 1)
  })
}

test('a mint stuck on its fee is offered again for at least an eighth more, and mints once', async () => {
  const { paid, sent } = await mintThrough(7, minter())
  const [low] = (await attempts()).slice(-1)
  await mineAtBaseFee((low?.fee ?? 0n) * 2n, 11)
  await world.payments()
  assert.equal((await attempts()).at(-1)?.hash, sent, 'not before it counts as stuck')
  await mineAtBaseFee((low?.fee ?? 0n) * 2n, 1)
  await world.payments()
  const [old, raised] = (await attempts()).slice(-2)
  assert.ok(old && raised && old.hash === sent && old.nonce === raised.nonce)
  assert.ok(raised.fee * 8n >= old.fee * 9n && raised.tip * 8n >= old.tip * 9n)
  await world.settle()
  assert.deepEqual([await world.succeeded(raised.hash), await world.succeeded(sent)], [true, null])
  await isOneNode(paid)
})

test('nothing new is sent while a mint is in a block that has not been followed', async () => {
  const first = await mintThrough(18, swallow(minter()))
  const second = await world.pay(19, BASIC)
  await world.chain.mine()
  await world.instance({ minter: swallow(minter()) }).payments()
  assert.equal(await stateOf(second), 'accepted')
  const before = (await attempts()).length
  const head = await world.ctx.chain.head()
  const [{ raw } = assert.fail()] = await world.pool`SELECT raw FROM outbox_attempts WHERE tx_hash = ${first.sent}`
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  assert.equal(await world.succeeded(first.sent), true)
  await world.instance({ chain: { ...world.ctx.chain, head: async () => head } }).payments()
  assert.deepEqual([await stateOf(second), (await attempts()).length], ['accepted', before])
  await world.settle()
  for (const paid of [first.paid, second]) await isOneNode(paid)
})

test('a fee above the cap is not offered: nothing new is signed, and a stuck transaction waits', async () => {
  const feeCapWei = GWEI
  const capped = world.instance({ rules: { feeCapWei } })
  const waits = await world.pay(9, BASIC)
  await world.chain.mine()
  await mineAtBaseFee(2n * GWEI, 1)
  const before = (await attempts()).length
  const told = async () => (await world.pool`SELECT FROM audit WHERE action = 'feeCapped'`).count
  assert.equal(await told(), 0)
  await capped.payments()
  assert.deepEqual([await stateOf(waits), (await attempts()).length], ['accepted', before])
  await capped.payments()
  assert.equal(await told(), 1, 'it is told once, and before anything is signed')
  // Sent by an instance with a higher cap, then stuck; the one with the low cap raises nothing.
  await world.payments()
  await mineAtBaseFee(((await attempts()).at(-1)?.fee ?? 0n) * 2n, 13)
  await world.pool`DELETE FROM troubles WHERE name LIKE 'trouble fee %'`
  await capped.payments()
  assert.deepEqual([(await attempts()).length, await told()], [before + 1, 2])
  await world.settle()
  await isOneNode(waits)
})

/** A full pool drops waiting transactions, so each run sends them again, whatever else it cannot do about them. */
for (const [account, sentence, parts] of [
  [8, 'cannot be raised above the cap', () => ({ rules: { feeCapWei: 1n } })],
  [
    9,
    'cannot be raised as its signer does not sign',
    () => ({ minter: { ...minter(), sign: () => Promise.reject(new SignerFault('it is down')) } }),
  ],
  [
    10,
    'is not known to be mined or not',
    () => ({ minter: { ...minter(), nonce: async () => 10_000, nonces: async () => [null, null] } }),
  ],
] as const) {
  test(`a stuck mint that ${sentence} is handed over again as it is`, async () => {
    const { paid, sent } = await mintThrough(account, swallow(minter()))
    await world.chain.mine(13)
    const handed: string[] = []
    const { minter: sender = minter(), ...others } = parts() as { minter?: SignerAccount }
    const broadcast: SignerAccount['broadcast'] = async (raw) => {
      handed.push(raw)
      return { kind: 'accepted' }
    }
    const before = (await attempts()).length
    await world.instance({ ...others, minter: { ...sender, broadcast } }).payments()
    const [{ raw } = assert.fail()] = await world.pool`SELECT raw FROM outbox_attempts WHERE tx_hash = ${sent}`
    assert.deepEqual([handed, (await attempts()).length], [[raw], before])
    await world.settle()
    await isOneNode(paid)
  })
}

test('a foreign transaction displaces ours, the payment is minted again, the operator is warned', async () => {
  const { paid, sent } = await mintThrough(10, swallow(minter()))
  const taker = await world.chain.send({ from: world.at(1), to: world.at(9), value: '0x1', gas: '0x7530' })
  foreign.push(taker)
  await world.settle()
  assert.equal(await world.succeeded(sent), null)
  await isOneNode(paid)
  const told = await world.pool`SELECT action FROM audit WHERE subject = ${taker} ORDER BY action`
  assert.deepEqual(
    told.map((row) => row.action),
    ['displaced', 'foreignTransaction'],
  )
})

test('a mint with a lapsed guard yields to an empty call, and is minted under a new guard', async () => {
  const { paid, sent } = await mintThrough(11, swallow(minter()))
  // With the block that settling mines it is just out of reach of the next block's contracts.
  await world.chain.mine(255)
  await world.settle()
  assert.deepEqual(
    (await intents()).slice(-2).map((intent) => intent.state),
    ['mined', 'mined'],
  )
  await isOneNode(paid)
  const [empty] = await world.pool<{ txHash: Hash; nonce: number }[]>`
    SELECT o.tx_hash AS "txHash", o.nonce FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id WHERE a.tx_hash = ${sent}`
  const onChain = await world.chain.rpc<{ gas: string; hash: Hash }>('eth_getTransactionByHash', [empty?.txHash])
  assert.notEqual(onChain.hash, sent)
  assert.equal(Number(onChain.gas), 100_000, 'it could carry no node')
})

test('while the contract is paused a payment stays accepted and unsigned, and is minted later', async () => {
  await world.act(0, 'pause')
  const paid = await world.pay(12, BASIC)
  await world.chain.mine()
  const before = (await attempts()).length
  await world.payments()
  assert.deepEqual([await stateOf(paid), (await attempts()).length], ['accepted', before])
  await world.act(0, 'unpause')
  await world.settle()
  await isOneNode(paid)
})

test('a mint signed before the contract was paused reverts, and is issued again when it is not', async () => {
  const { paid, sent } = await mintThrough(13, swallow(minter()))
  await world.act(0, 'pause')
  await world.payments()
  await world.chain.mine()
  await world.payments()
  assert.equal(await world.succeeded(sent), false)
  assert.equal(await stateOf(paid), 'accepted')
  await world.act(0, 'unpause')
  await world.settle()
  await isOneNode(paid)
})

test('an empty account uses no nonce, and the work is sent when there is ether again', async () => {
  const purse = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(1), 'latest']))
  await world.chain.setBalance(world.at(1), 1000n)
  const paid = await world.pay(14, BASIC)
  await world.chain.mine()
  const before = (await attempts()).length
  await world.payments()
  await world.payments()
  assert.deepEqual([await stateOf(paid), (await attempts()).length], ['accepted', before])
  await world.chain.setBalance(world.at(1), purse)
  await world.settle()
  await isOneNode(paid)
})

test('after all of this the ledger matches the chain', () => checkInvariants(world, { foreign }))

async function dueTurns(): Promise<{ due: number }> {
  const head = Number((await world.chain.block()).timestamp)
  const rows = await world.pool`SELECT FROM cohorts WHERE size > 0 AND next_due <= ${head}`
  return { due: rows.length }
}

/** Mines blocks whose base fee is too high for the waiting transactions. */
async function mineAtBaseFee(wei: bigint, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await world.chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`])
    await world.chain.mine()
  }
}
