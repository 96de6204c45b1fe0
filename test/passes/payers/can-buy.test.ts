// GET /api/can-buy on real parts, compared with the fate of that very payment: if it says yes the service mints a node,
// if it says no the rule that it named holds the payment.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient, watchAddress, watchPayment } from '../../../client/src/index.ts'
import { createReadings } from '../../../src/chain/pages/readings.ts'
import { listenForChanges } from '../../../src/db/core/changes.ts'
import { denyWallet } from '../../../src/db/payments/deny-list.ts'
import { insertMode } from '../../../src/db/sale/contract-wallets.ts'
import { follow } from '../../../src/follower/follow.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { changeTier } from '../../../src/operator/acts/tiers.ts'
import { type Service, startService } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { ETHER, judgeOnly, standingOf, startWorld, type World } from '../../support/world.ts'

const BASIC = ETHER / 100n
const FOUNDER = ETHER / 20n
const GAS_WEI = 21_000n

let world: World
let service: Service
before(async () => {
  world = await startWorld({}, { maxPerWallet: 3n })
  await world.settle()
  const { pool, rpc, factory, ctx } = world
  service = await startService({
    sql: pool,
    readSql: pool,
    paymentAddress: null,
    readings: createReadings({ rpc, factory, distributor: null }),
    operator: { ...ctx, readPool: pool, signers: { minter: world.at(1), distributor: world.at(2) } } as never,
  })
})
after(async () => {
  await service.close()
  await world.close()
})

interface Check {
  check: string
  passes: boolean | null
  [field: string]: unknown
}
interface Answer {
  canBuy: boolean | null
  inner: boolean | null
  checks: Check[]
}
async function ask(account: number, tier: string): Promise<Answer> {
  service.clock.now += 60_000
  const { status, json } = await service.get(`/api/can-buy/${world.at(account)}?tier=${tier}`)
  assert.equal(status, 200)
  return json
}
const failing = ({ checks }: Answer) => checks.filter(({ passes }) => passes !== true).map(({ check }) => check)
const checkOf = ({ checks }: Answer, name: string) => checks.find(({ check }) => check === name) ?? assert.fail(name)

/** Checks, pays whatever the answer is, and compares. */
async function askAndPay(account: number, tier: string, priceWei: bigint): Promise<[string[], string]> {
  const answer = await ask(account, tier)
  const paid = await world.pay(account, priceWei)
  await world.settle()
  const became = await standingOf(world, paid)
  assert.equal(answer.canBuy, became === 'minted', `${JSON.stringify(answer.checks)}: ${became}`)
  return [failing(answer), became]
}

test('the wallet’s checks predict what becomes of its payment, rule by rule', async () => {
  assert.deepEqual(await askAndPay(5, 'basic', BASIC), [[], 'minted'])
  assert.deepEqual(await askAndPay(6, 'founder', FOUNDER), [['holding'], 'held holding'])
  await world.giveTokens(world.at(7), 1_000n * ETHER)
  assert.deepEqual(await askAndPay(7, 'founder', FOUNDER), [[], 'minted'])
  assert.deepEqual(await askAndPay(7, 'founder', FOUNDER), [[], 'minted'])
  assert.deepEqual(await askAndPay(7, 'founder', FOUNDER), [['allowance'], 'held tierAllowance'])
  assert.deepEqual(await askAndPay(7, 'basic', BASIC), [[], 'minted'])
  assert.deepEqual(await askAndPay(7, 'basic', BASIC), [['cap'], 'held walletLimit'])
  assert.deepEqual(await askAndPay(1, 'basic', BASIC), [['review'], 'ignored operator'])
})

test('a denied wallet reads like any other that waits for a person', async () => {
  await denyWallet(world.pool, { address: world.at(8), label: 'exchange', reason: 'many', addedBy: 'test' })
  const answer = await ask(8, 'basic')
  assert.deepEqual(failing(answer), ['review'])
  assert.deepEqual(checkOf(answer, 'review'), { check: 'review', passes: false })
  const paid = await world.pay(8, BASIC)
  await world.settle()
  assert.equal(await standingOf(world, paid), 'held senderDenied')
})

test('it gives the required and present amounts in wei', async () => {
  const [gasPrice, balance] = await Promise.all([
    world.chain.rpc<string>('eth_gasPrice', []),
    world.chain.rpc<string>('eth_getBalance', [world.at(7), 'latest']),
  ])
  const answer = await ask(7, 'founder')
  assert.deepEqual(checkOf(answer, 'ether'), {
    check: 'ether',
    passes: true,
    requiredWei: String(FOUNDER + GAS_WEI * BigInt(gasPrice)),
    balanceWei: String(BigInt(balance)),
  })
  const { decimals, symbol, ...holding } = checkOf(answer, 'holding')
  assert.deepEqual([decimals, typeof symbol], [18, 'string'])
  assert.deepEqual(holding, {
    check: 'holding',
    passes: true,
    token: world.token,
    requiredWei: String(1_000n * ETHER),
    heldWei: String(1_000n * ETHER),
  })
  assert.deepEqual(checkOf(answer, 'allowance'), {
    check: 'allowance',
    passes: false,
    limit: 2,
    owned: 2,
    underWay: 0,
  })
  // Gas counts, too, so a wallet with exactly the price cannot pay.
  await world.chain.rpc('anvil_setBalance', [world.at(9), `0x${BASIC.toString(16)}`])
  await world.chain.mine()
  assert.deepEqual(failing(await ask(9, 'basic')), ['ether'])
})

test('a contract is judged as the payer of an inner transfer, and pays the price alone', async () => {
  const contract = world.at(10)
  await world.chain.rpc('anvil_setCode', [contract, '0x5f5ff3'])
  await world.chain.rpc('anvil_setBalance', [contract, `0x${BASIC.toString(16)}`])
  await world.chain.mine()
  const held = await ask(10, 'basic')
  assert.equal(held.inner, false)
  assert.deepEqual(failing(held), ['review'])
  assert.equal(checkOf(held, 'ether').requiredWei, String(BASIC))
  await insertMode(world.pool, { mode: 'all', fromBlock: 0 }, 'test')
  const taken = await ask(10, 'basic')
  assert.deepEqual([taken.canBuy, taken.inner], [true, true])
  // An account that is no contract sends each transfer itself.
  assert.equal((await ask(5, 'basic')).inner, false)
})

test('without traces nothing is bought inside a transaction', async () => {
  const { pool, rpc, factory, ctx } = world
  const refuse = async (method: string, params: readonly unknown[], options?: object) =>
    /trace/i.test(method)
      ? { ok: false as const, error: { code: -32601, message: 'the method does not exist' } }
      : rpc.call(method, params, options)
  const traceless = { ...rpc, providers: rpc.providers.map((provider) => ({ ...provider, call: refuse })) }
  const deaf = await startService({
    sql: pool,
    readSql: pool,
    paymentAddress: null,
    readings: createReadings({ rpc: traceless as never, factory, distributor: null }),
    operator: { ...ctx, readPool: pool, signers: { minter: world.at(1), distributor: world.at(2) } } as never,
  })
  const { json } = await deaf.get(`/api/can-buy/${world.at(10)}?tier=basic`)
  assert.deepEqual([json.canBuy, json.inner], [true, false])
  await deaf.close()
})

test('the watchers of a wallet and of its payment hear of each step without a request', async () => {
  const changes = listenForChanges(world.directUrl, silentLog)
  const { pool } = world
  const watched = await startService({ sql: pool, readSql: pool, paymentAddress: null, changes })
  try {
    const ledger = createClient({ baseUrl: `http://127.0.0.1:${watched.port}` })
    const stop = new AbortController()
    const lives: boolean[] = []
    const options = { signal: stop.signal, onLive: (isLive: boolean) => void lives.push(isLive) }
    const states: unknown[] = []
    const wallets: unknown[] = []
    const paid = await world.pay(4, BASIC)
    const watching = [
      (async () => {
        for await (const payment of watchPayment(ledger, paid, options)) states.push(payment?.status ?? null)
      })(),
      (async () => {
        for await (const { payments, nodes } of watchAddress(ledger, world.at(4), options))
          wallets.push([payments[0]?.status ?? null, nodes.length])
      })(),
    ]
    const bothSay = (state: string, nodes: number) =>
      until(
        state,
        async () => `${states.at(-1)}` === state && `${wallets.at(-1)}` === `${state === 'null' ? '' : state},${nodes}`,
      )
    await bothSay('null', 0)
    await world.chain.mine()
    await follow(world.ctx, { checkLock: () => {}, outOfTime: () => false })
    await bothSay('seen', 0)
    await judgeOnly(world)
    await bothSay('accepted', 0)
    await world.settle()
    await bothSay('minted', 1)
    // Between two consecutive steps of a run, the answer may include the first step or not.
    assert.deepEqual(
      [lives, states.filter((state) => state !== 'seen' && state !== 'minting')],
      [
        [true, true],
        [null, 'accepted', 'minted'],
      ],
    )
    stop.abort()
    await Promise.all(watching)
  } finally {
    await watched.close()
    await changes.close()
  }
})

test('taking a tier off sale has the grace of a price change: the page that was open still buys', async () => {
  const taken = await changeTier(world.ctx, { name: 'test', requestId: null }, { tierId: 'basic', onSale: false })
  assert.ok('tier' in taken)
  await world.settle()
  const offSale = await ask(5, 'basic')
  assert.deepEqual(failing(offSale), ['onSale'])
  assert.equal((await service.get('/api/deploy-quote?tier=basic')).status, 400)
  const graced = await world.pay(5, BASIC)
  await world.settle()
  assert.equal(await standingOf(world, graced), 'minted')
  const { fromTime, graceSec } = taken.tier
  await world.chain.setNextTime(fromTime + graceSec)
  const late = await world.pay(5, BASIC)
  await world.rest()
  assert.equal(await standingOf(world, late), 'held saleClosed')
})
