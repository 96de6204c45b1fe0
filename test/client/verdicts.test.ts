// A sale on a real chain that plays every reason once, and the client that recomputes each verdict from the chain and from public answers. A service
// that lies about one field is found out, unless only the service can know that field.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient as createChain, custom, http } from 'viem'
import { createClient, type LedgerClient, type Payment } from '../../client/src/index.ts'
import { type VerifiedVerdicts, verifyVerdict } from '../../client/src/viem/verdict.ts'
import { operatorDeps } from '../../src/boot/app.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { changeWallet } from '../../src/operator/acts/payment-wallets.ts'
import { payInside, putForwarder } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, enterTier, judgeOnly, standingOf } from '../support/world.ts'

const BASIC = ETHER / 100n
const price = (n: number) => ETHER / 50n + BigInt(n)
const HOLDING = 1_000n * ETHER

/** Answers each request once, so that a lie is the only difference between two verifications. */
function memo<Args extends readonly unknown[], T>(ask: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  const answers = new Map<string, Promise<T>>()
  return (...args) => {
    const key = JSON.stringify(args, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    const answer = answers.get(key) ?? ask(...args)
    answers.set(key, answer)
    return answer
  }
}

let desk: Desk
let ledger: LedgerClient
let chain: ReturnType<typeof createChain>
/** What was sent, by the verdict that it must get. */
const sent: Record<string, Hash> = {}
before(async () => {
  desk = await startDesk({}, { maxPerWallet: 3n })
  const url = `http://127.0.0.1:${desk.service.port}`
  const service = createClient({ baseUrl: url })
  const methods = ['getWellKnown', 'getPayment', 'getSale', 'getAllowlisted', 'getAllowlist'] as const
  ledger = Object.fromEntries(methods.map((name) => [name, memo(service[name] as never)])) as unknown as LedgerClient
  const wellKnown = await service.getWellKnown()
  ledger.getWellKnown = async () => ({ ...wellKnown, factoryAddress: desk.world.factory })
  const { request } = http(desk.world.chain.rpcUrl)({})
  chain = createChain({ transport: custom({ request: memo(request) }, { retryCount: 0 }) })
  await enterTiers()
  await playSales()
  await playOthers()
})
after(() => desk.close())

/** Pays in a block of its own, and judges it. */
async function pay(name: string, from: number, valueWei: bigint, to?: `0x${string}`): Promise<void> {
  const { world } = desk
  sent[name] = await world.pay(from, valueWei, to as never)
  await world.chain.mine()
  await judgeOnly(world)
}

/** Enters a tier for each rule. */
async function enterTiers(): Promise<void> {
  const { world } = desk
  const now = Number((await world.chain.block()).timestamp)
  const { json: list } = await desk.post('allowlists', { rows: `${world.at(11)},1`, label: 'first', reason: 'sale' })
  const tiers = [
    { tierId: 'off', onSale: false },
    { tierId: 'later', opensAt: now + 86_400 },
    { tierId: 'past', closesAt: now - 1_000, graceSec: 120 },
    { tierId: 'scarce', supply: 1 },
    { tierId: 'step', opensAfter: 'scarce' },
    { tierId: 'listed', allowlist: list.root },
    { tierId: 'once', maxPerWallet: 1 },
    { tierId: 'changed' },
    { tierId: 'closing', opensAt: now - 100, closesAt: now - 10 },
  ]
  for (const [n, tier] of tiers.entries()) await enterTier(world, { ...tier, tierNo: 11 + n, priceWei: wei(price(n)) })
  await putForwarder(world)
  await world.chain.mine()
  await enterTier(world, { tierId: 'changed', tierNo: 18, priceWei: wei(price(20)) })
  await world.giveTokens(world.at(15), HOLDING)
  await world.settle()
}

async function playSales(): Promise<void> {
  const { world } = desk
  for (const n of [1, 2, 3]) await pay(`accepted ${n}`, 5, BASIC)
  await world.settle()
  await pay('walletLimit', 5, BASIC)
  await pay('wrongAmount', 6, BASIC - 1n)
  await pay('saleClosed', 6, price(0))
  await pay('notOpenYet', 6, price(1))
  await pay('saleClosed by time', 6, price(2))
  await pay('notOpenYet by step', 10, price(4))
  await pay('accepted with a place', 7, price(3))
  await pay('soldOut', 8, price(3))
  await pay('accepted by step', 9, price(4))
  await pay('accepted by list', 11, price(5))
  await pay('notListed', 11, price(5))
  await pay('notListed at all', 12, price(5))
  await pay('accepted once', 13, price(6))
  await pay('tierAllowance', 13, price(6))
  await pay('holding', 14, 5n * BASIC)
  await pay('accepted by holding', 15, 5n * BASIC)
  await pay('accepted by grace', 16, price(7))
  await pay('accepted while closing', 17, price(8))
}

/** Payments that the operator decides, and transfers that buy nothing. The payments wallet changes last. */
async function playOthers(): Promise<void> {
  const { world } = desk
  await desk.post('senders', { address: world.at(18), label: 'Exchange', reason: 'hot wallet' })
  await pay('senderDenied', 18, BASIC)
  await pay('released', 19, BASIC - 2n)
  assert.equal((await desk.post(`payments/${sent.released}/release`, { tierId: 'basic' })).status, 200)
  sent.contractWallet = (await payInside(world, BASIC)).txHash
  await pay('zero', 6, 0n)
  await pay('self', 3, BASIC)
  await pay('elsewhere', 6, BASIC, world.at(12))
  await pay('operator', 2, BASIC)
  await world.chain.rpc('anvil_setCode', [world.at(3), '0xfe'])
  const call = { from: world.at(6), to: world.at(3), value: `0x${BASIC.toString(16)}`, gas: '0x20000' } as const
  sent.failed = await world.chain.send(call)
  await world.chain.mine()
  await world.chain.rpc('anvil_setCode', [world.at(3), '0x'])
  await world.settle()
  const replaced = await changeWallet(
    operatorDeps(world.ctx, world.pool),
    { name: 'ada', requestId: null },
    {
      address: world.at(12),
      stolen: true,
    },
  )
  assert.ok(!('problems' in replaced))
  await world.chain.mine()
  await pay('oldWallet', 6, BASIC)
  await world.settle()
}

const named = (name: string): Hash => sent[name] ?? assert.fail(`nothing was sent as ${name}`)
const verify = (name: string, service: Partial<LedgerClient> = {}): Promise<VerifiedVerdicts> =>
  verifyVerdict({ ...ledger, ...service }, chain, named(name))

const JUDGED = [
  ...['accepted 1', 'accepted with a place', 'accepted by step', 'accepted by list', 'accepted once'],
  ...['accepted by holding', 'accepted by grace', 'accepted while closing', 'walletLimit', 'wrongAmount', 'saleClosed'],
  ...['notOpenYet', 'saleClosed by time', 'notOpenYet by step', 'soldOut', 'notListed', 'tierAllowance', 'holding'],
  'oldWallet',
]

for (const name of JUDGED)
  test(`anyone can recompute a verdict: ${name}`, async () => {
    const { matches, differences, verdicts } = await verify(name)
    assert.deepEqual(
      [differences, verdicts.map((one) => one.differences), verdicts.map((one) => one.unchecked)],
      [[], [[]], [[]]],
    )
    assert.equal(matches, true)
    const { kind, reason } = verdicts[0]?.reported.verdict ?? assert.fail('it is public')
    assert.equal(reason ?? kind, name.split(' ')[0])
  })

test('a verdict that rests on what only the service knows is never called right', async () => {
  const { matches, verdicts } = await verify('contractWallet')
  assert.deepEqual([matches, verdicts[0]?.differences, verdicts[0]?.isPublic], [null, [], true])
  assert.deepEqual(verdicts[0]?.unchecked.toSorted(), ['from', 'reason', 'receivedWei', 'wallet'])
})

test('a payment of a denied sender and one that the operator released show nothing of it', async () => {
  for (const [name, standing] of [
    ['senderDenied', 'held review'],
    ['released', 'minted'],
  ] as const) {
    const { matches, verdicts } = await verify(name)
    assert.deepEqual([matches, verdicts[0]?.isPublic, verdicts[0]?.differences], [null, false, []])
    const { status, reason, verdict } = verdicts[0]?.reported ?? assert.fail('it is listed')
    assert.deepEqual([reason ? `${status} ${reason}` : status, verdict], [standing, null])
  }
  assert.equal(await standingOf(desk.world, named('senderDenied')), 'held senderDenied')
})

for (const name of ['zero', 'self', 'elsewhere', 'operator', 'failed'])
  test(`a transfer that buys nothing is rightly no payment: ${name}`, async () => {
    assert.deepEqual(await verify(name), { matches: true, differences: [], verdicts: [] })
  })

test('a service that hides a payment is found out', async () => {
  const getPayment = () => ledger.getPayment(`0x${'0'.repeat(64)}`)
  const { matches, differences } = await verify('accepted 1', { getPayment })
  assert.deepEqual([matches, differences], [false, ['payments']])
})

test('a wallet that is not listed is checked against the whole list, once that is published', async () => {
  const { matches, verdicts } = await verify('notListed at all')
  assert.deepEqual([matches, verdicts[0]?.unchecked], [null, ['allocation']])
  const root = verdicts[0]?.reported.verdict?.evidence.allowlist ?? assert.fail('it has a list')
  assert.equal((await desk.service.get(`/api/allowlists/${root}`)).status, 404)
  assert.equal((await desk.post(`allowlists/${root}/publish`, {})).json.changed, true)
  assert.equal((await desk.post(`allowlists/${root}/publish`, {})).json.changed, false)
  const service = createClient({ baseUrl: `http://127.0.0.1:${desk.service.port}` })
  assert.equal((await verify('notListed at all', { getAllowlist: service.getAllowlist })).matches, true)
  const missing = {
    root: root as Hash,
    total: 1,
    entries: [{ address: named('failed').slice(0, 42) as Hash, allocation: 1 }],
  }
  const lie = await verify('notListed at all', { getAllowlist: async () => missing })
  assert.deepEqual(lie.verdicts[0]?.differences, ['allocation'])
})

test('a step that opened without a payment is never called right', async () => {
  const said = await ledger.getPayment(named('accepted by step'))
  const { evidence } = said.verdict ?? assert.fail('it is public')
  const opened = { ...(evidence.opened ?? assert.fail('it is a step')), txIndex: -1, innerIndex: 0 }
  const verdict = { ...said.verdict, evidence: { ...evidence, opened } }
  const sale = await ledger.getSale(said.blockNumber ?? 0)
  const versions = sale.versions.map((one) => (one.tierId === 'step' ? { ...one, opened } : one))
  const { matches, verdicts } = await verify('accepted by step', {
    getPayment: async () => ({ ...said, verdict, payments: [{ ...said, verdict }] }) as Payment,
    getSale: async () => ({ ...sale, versions }),
  })
  assert.deepEqual([matches, verdicts[0]?.differences, verdicts[0]?.unchecked], [null, [], ['opened']])
})

/** Another value of the same kind. */
function altered(value: unknown): unknown {
  if (typeof value === 'bigint') return value + 1n
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (value instanceof Date) return new Date(value.getTime() + 1000)
  if (typeof value === 'string')
    return value.startsWith('0x') ? `${value.slice(0, -1)}${value.endsWith('1') ? 2 : 1}` : `${value}x`
  return Object.fromEntries(Object.entries(value as object).map(([key, part]) => [key, altered(part)]))
}

/** Only the service can know these. */
const CLAIMS = ['countedAtBlock', 'inFlightOfTier', 'payerCode', 'reserved', 'sold', 'used', 'walletInFlight']

test('a service that lies about one field is found out, for each field that is not its own claim', async () => {
  const missed = new Set<string>()
  const told = new Set<string>()
  for (const name of JUDGED) {
    const said = await ledger.getPayment(named(name))
    const { evidence } = said.verdict ?? assert.fail('it is public')
    for (const [field, value] of Object.entries(evidence)) {
      if (value === null) continue
      told.add(field)
      for (const lie of [altered(value), null]) {
        const verdict = { ...said.verdict, evidence: { ...evidence, [field]: lie } }
        const payment = { ...said, verdict, payments: [{ ...said, verdict }] } as Payment
        const verified = await verify(name, {
          getPayment: async (hash) => (hash === said.txHash ? payment : ledger.getPayment(hash)),
        }).catch(() => null)
        if (verified?.matches === true) missed.add(field)
      }
    }
  }
  assert.deepEqual(
    [...missed].sort(),
    CLAIMS.filter((field) => told.has(field)),
  )
  assert.deepEqual(
    Object.keys((await ledger.getPayment(named('accepted 1'))).verdict?.evidence ?? {}).filter(
      (field) => !told.has(field),
    ),
    ['payerCode'],
  )
})

test('a service that lies about the payment itself, the verdict or the sale is found out', async () => {
  const said = await ledger.getPayment(named('accepted by grace'))
  for (const field of ['txHash', 'from', 'valueWei', 'tierId', 'blockNumber', 'paidAt'] as const) {
    const payment = { ...said, payments: [{ ...said, [field]: altered(said[field]) }] } as Payment
    const { verdicts } = await verify('accepted by grace', { getPayment: async () => payment })
    assert.ok(verdicts[0]?.differences.includes(field), field)
  }
  const held = { ...said, status: 'held', reason: 'holding' } as const
  const { verdicts } = await verify('accepted by grace', {
    getPayment: async () => ({ ...held, payments: [held] }) as Payment,
  })
  assert.deepEqual(verdicts[0]?.differences, ['status'])
  const sale = await ledger.getSale(said.blockNumber ?? 0)
  for (const field of ['priceWei', 'onSale', 'maxPerWallet'] as const) {
    const versions = sale.versions.map((one) => ({ ...one, [field]: altered(one[field]) })) as typeof sale.versions
    const lie = await verify('accepted by grace', { getSale: async () => ({ ...sale, versions }) })
    assert.equal(lie.matches, false, field)
  }
})
