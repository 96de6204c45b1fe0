// Providers with false receipts or logs for a block with something of ours: the block's root decides, the follower
// tries another provider, and reports the liar. It mints nothing for a failed payment.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { operatorDeps } from '../../src/boot/app.ts'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { readMode } from '../../src/db/blocks/evidence.ts'
import { readHalt } from '../../src/db/blocks/halts.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { rescan } from '../../src/operator/acts/rescan.ts'
import type { Answer, FalseProvider, Rule } from '../chain/false-provider.ts'
import { checkInvariants } from '../support/invariants.ts'
import { endLies, setModeTo, startTwoProviders } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'
import { other, type Wire, walletOf } from './lies.ts'

const BASIC = ETHER / 100n
const _PARTS = ['header', 'transactions', 'receipts'] as const

let world: World
let first: FalseProvider
let second: FalseProvider
before(async () => {
  ;({ world, first, second } = await startTwoProviders())
  await world.pay(5, 1n)
  await world.chain.mine(5)
  await world.settle()
})
afterEach(async () => {
  await endLies({ world, first, second })
  await world.settle()
  await checkInvariants(world)
})
after(() => world.close())

interface Log extends Wire {
  address: string
  topics: string[]
}
type Receipt = Wire & { transactionHash: Hash; logs: Log[] }
/** Answers false receipts of a block, all at once and one by one, and false logs. */
const lie =
  (blockHash: string, change: (receipts: Receipt[]) => Receipt[], options: { whole?: boolean } = {}): Rule =>
  async ({ method, params }, forward) => {
    if (method === 'eth_getBlockReceipts' && options.whole === false)
      return { error: { code: -32601, message: 'the method is not there' } }
    const answer = await forward()
    if (!('result' in answer) || answer.result === null) return answer
    const told = async () => change(await world.chain.rpc<Receipt[]>('eth_getBlockReceipts', [blockHash]))
    if (method === 'eth_getBlockReceipts') return params[0] === blockHash ? { result: await told() } : answer
    if (method === 'eth_getTransactionReceipt') {
      if ((answer.result as Wire).blockHash !== blockHash) return answer
      return { result: (await told()).find(({ transactionHash }) => transactionHash === params[0]) ?? null }
    }
    return method === 'eth_getLogs' ? await tellLogs(answer, blockHash, await told()) : answer
  }

async function tellLogs(answer: Answer, blockHash: string, told: Receipt[]): Promise<Answer> {
  const { result } = answer as { result: Log[] }
  if (result.every((log) => log.blockHash !== blockHash)) return answer
  const topics = new Set(result.map((log) => log.topics[0]))
  const logs = told.flatMap((receipt) => receipt.logs).filter((log) => topics.has(log.topics[0] as string))
  return { result: [...result.filter((log) => log.blockHash !== blockHash), ...logs] }
}

const failures = async () =>
  (
    await world.pool<{ detail: { part: string; host: string } }[]>`
      SELECT detail FROM audit WHERE action = 'proofFailed' ORDER BY id`
  ).map(({ detail }) => [detail.part, detail.host])

/** A payment that fails in a block, and the block's hash. */
async function failedPayment(): Promise<{ txHash: Hash; number: number; hash: string }> {
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x5f5ffd'])
  const txHash = await world.call(6, world.at(3), '0x', BASIC)
  const { number, hash } = await world.chain.block()
  await world.chain.mine()
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
  await world.chain.mine()
  return { txHash, number: Number(number), hash }
}
const succeedOrFail = (receipts: Receipt[]) =>
  receipts.map((receipt) => ({ ...receipt, status: receipt.status === '0x1' ? '0x0' : '0x1' }))
const succeed = (receipts: Receipt[]) => receipts.map((receipt) => ({ ...receipt, status: '0x1' }))

async function observe(number: number) {
  const rpc = createRpc({ urls: [first.url, second.url], log: silentLog })
  const wallets = [{ wallet: walletOf(world), watchedFrom: 0, closedBlock: null }]
  const signers = [world.at(1), world.at(2)] as Address[]
  const reader = createChainReader(rpc, { factory: world.factory, wallets, signers })
  reader.proofs.require((await readMode(world.pool))?.mode ?? 'proven')
  try {
    return await reader.observe(number, number, null)
  } finally {
    await rpc.close()
  }
}

/** The block of a mint, and its true events. */
async function mintBlock() {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  const [row] = await world.pool<{ number: number }[]>`SELECT max(block_number) AS number FROM nodes`
  const { number } = row ?? assert.fail('no mint')
  const { hash } = await world.chain.block(number)
  const { events } = await observe(number)
  assert.ok(events.length > 0)
  return { number, hash, events }
}

const withoutLogs = (receipts: Receipt[]) => receipts.map((receipt) => ({ ...receipt, logs: [] }))
const otherLogs = (receipts: Receipt[]) =>
  receipts.map((receipt) => ({
    ...receipt,
    logs: receipt.logs.map((log) => ({ ...log, topics: [...log.topics.slice(0, -1), other(log.topics.at(-1))] })),
  }))
const otherData = (receipts: Receipt[]) =>
  receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map((log) => ({ ...log, data: other(log.data) })) }))
const twice = (receipts: Receipt[]) =>
  receipts.map((receipt) => ({ ...receipt, logs: [...receipt.logs, ...receipt.logs] }))
const LOG_LIES = {
  'no logs': withoutLogs,
  'another topic': otherLogs,
  'other data': otherData,
  'each log twice': twice,
}

test('T30: the block’s root proves the logs that one provider hides or changes, and exposes it', async () => {
  const { number, hash, events } = await mintBlock()
  for (const [name, change] of Object.entries(LOG_LIES))
    for (const whole of [true, false]) {
      first.rule = lie(hash, change, { whole })
      second.rule = lie(hash, (receipts) => receipts, { whole })
      const read = await observe(number)
      assert.deepEqual(read.events, events, `${name}, ${whole}`)
      assert.deepEqual(
        read.failedProofs?.map(({ part, host }) => [part, host]),
        [['receipts', new URL(first.url).host]],
        `${name}, ${whole}`,
      )
    }
})

test('a wrong list of receipts is reported if it adds any to the block’s, and counted otherwise', async () => {
  const { number, hash, events } = await mintBlock()
  const listed =
    (change: (receipts: Receipt[]) => unknown): Rule =>
    async (call, forward) => {
      if (call.method !== 'eth_getBlockReceipts' || call.params[0] !== hash) return forward()
      return { result: change(await world.chain.rpc<Receipt[]>(call.method, [hash])) }
    }
  const without = (name: string) => (receipts: Receipt[]) =>
    receipts.map((receipt) => ({ ...receipt, [name]: undefined }))
  const counted = [() => [], () => null, (all: Receipt[]) => [...all, null], ...['logs', 'type', 'status'].map(without)]
  const told = [withoutLogs, succeedOrFail, (all: Receipt[]) => [...all, ...withoutLogs(all)]]
  for (const [at, change] of [...counted, ...told].entries()) {
    first.rule = listed(change)
    const read = await observe(number)
    assert.deepEqual(read.events, events, String(at))
    const parts = read.failedProofs?.map(({ part, host }) => [part, host])
    assert.deepEqual(parts, at < counted.length ? undefined : [['receipts', new URL(first.url).host]], String(at))
  }
})

test('T29: a failed payment that one provider calls a success stays failed', async () => {
  for (const liar of [first, second]) {
    const before = (await failures()).length
    const { txHash, hash } = await failedPayment()
    liar.rule = lie(hash, succeed)
    await world.payments()
    await world.payments()
    assert.notEqual((await paymentOf(world, txHash))?.state, 'accepted')
    liar.rule = () => undefined
    await world.settle()
    const payment = await paymentOf(world, txHash)
    assert.deepEqual([payment?.state, payment?.reason], ['ignored', 'failed'])
    const since = (await failures()).slice(before)
    assert.ok(since.every((one) => one.join() === `receipts,${new URL(liar.url).host}`))
    await world.pool`DELETE FROM troubles WHERE name = 'trouble proof'`
  }
})

test('both providers give the same false receipts: nothing is followed or minted', async () => {
  const { txHash, hash } = await failedPayment()
  for (const liar of [first, second]) liar.rule = lie(hash, succeed)
  for (let run = 0; run < 2; run++) await world.payments()
  assert.equal((await readHalt(world.pool))?.reason, 'unproven')
  assert.equal(await paymentOf(world, txHash), undefined)
  for (const liar of [first, second]) liar.rule = () => undefined
  await world.settle()
  assert.equal((await paymentOf(world, txHash))?.state, 'ignored')
})

test('T34: without receipt proofs two providers must agree on the outcome, or it stays seen', async () => {
  const { number, hash, txHash } = await failedPayment()
  await setModeTo(world.pool, 'agreed')
  const read = await observe(number)
  assert.deepEqual(
    read.transfers.map((one) => [one.txHash, one.succeeded, one.proof]),
    [[txHash, false, 'agreed']],
  )
  first.rule = lie(hash, succeed)
  const disputed = await observe(number)
  assert.deepEqual(
    disputed.transfers.map((one) => one.proof),
    ['believed'],
  )
  for (let run = 0; run < 2; run++) await world.payments()
  assert.equal((await paymentOf(world, txHash))?.state, 'seen')
  // The ledger has the false outcome, until the operator has the block read again.
  first.rule = () => undefined
  const found = await rescan(
    operatorDeps(world.ctx, world.pool),
    { name: 'test', requestId: null },
    { fromBlock: number },
  )
  assert.ok(!isOperatorRefusal(found) && found.wentBackTo === number - 1)
  await world.settle()
  assert.equal((await paymentOf(world, txHash))?.reason, 'failed')
})
