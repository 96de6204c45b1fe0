// Each kind of event, played from its cause: an operator's act, a transaction, a provider, or a pass. The test compares
// the plays with the table of kinds, so a new kind without its play fails.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { connect, inTransaction, type Pool } from '../../src/db/core/sql.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { insertFirstWallet } from '../../src/db/sale/payment-wallets.ts'
import { insertTerms } from '../../src/db/sale/terms.ts'
import { addEndpoint } from '../../src/db/webhooks.ts'
import { wei } from '../../src/domain/units.ts'
import { KINDS } from '../../src/domain/webhooks/kinds.ts'
import { watchBudget } from '../../src/passes/steps/budget.ts'
import { watchFunds } from '../../src/passes/steps/funds.ts'
import { SignerFault } from '../../src/ports/faults.ts'
import { type FalseProvider, forging } from '../chain/false-provider.ts'
import { beWellFor } from '../support/in-world.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { createDatabase } from '../support/postgres.ts'
import { endLies, throughTwo } from '../support/two-providers.ts'
import { until } from '../support/until.ts'
import { ETHER, INTERVAL_SEC, judgeOnly, SLOT_SEC, type World } from '../support/world.ts'
import { SECRET } from './receiver.ts'

const BASIC = ETHER / 100n
const ELSEWHERE = `0x${'ab'.repeat(32)}`
let desk: Desk
let world: World
let first: FalseProvider
let second: FalseProvider
/** A second ledger of the chain, which begins with nothing. */
let database: Awaited<ReturnType<typeof createDatabase>>
let fresh: Pool

const isTold = (pool: Pool) =>
  addEndpoint(pool, { url: 'https://hooks.example/a', secrets: [SECRET], events: ['all'] }, 'test')
before(async () => {
  const { between, providers } = throughTwo()
  desk = await startDesk({}, { between, rpcTimeoutMs: 2_000 })
  world = desk.world
  ;[first, second] = providers as [FalseProvider, FalseProvider]
  database = await createDatabase()
  fresh = connect(database.url, { max: 5, prepare: true, applicationName: 'test' })
  const genesisHash = (await world.ctx.chain.block(0))?.hash ?? assert.fail('no first block')
  const { chainId } = world.chain
  await recordIdentity(world.pool, { chainId, genesisHash, factory: world.factory, startBlock: 1 })
  await isTold(world.pool)
  await isTold(fresh)
  await world.settle()
})
after(async () => {
  await fresh.end({ timeout: 1 })
  await database.drop()
  await desk.close()
})

const mined = async () => {
  await world.chain.mine()
  await world.payments()
}
const done = async (path: string, body: object = {}) => {
  const answer = await desk.post(path, body)
  assert.ok(answer.status < 300, answer.text)
  return answer
}
const sold = async (from: number) => {
  const paid = await world.pay(from, BASIC)
  await world.settle()
  return paid
}
const held = async (from: number) => {
  const paid = await world.pay(from, BASIC - 9n)
  await world.settle()
  return paid
}
/** An instance whose minter's key is missing. */
const unsigned = () => {
  const { rpc, chain, factory } = world
  const sign = () => Promise.reject(new SignerFault('the signer is away'))
  const signer = { address: world.at(1), sign }
  return world.instance({ minter: createSignerAccount({ rpc, signer, chainId: chain.chainId, factory }) })
}
const budget = async (nodes: bigint, spent: 'nodes' | null) => {
  await world.act(0, 'setMinter', [world.at(1), nodes, 1_000n])
  await world.pool`DELETE FROM passes WHERE name = 'budget'`
  const cursor = (await readCursor(world.pool)) ?? assert.fail('no cursor')
  const { number } = await world.chain.block()
  await watchBudget(world.ctx, { ...cursor, number: Number(number) }, spent)
}

/** Enters a tier of ten nodes and buys some of them. */
const buyOf = async (tierId: 'rare' | 'last', nodes: number) => {
  const priceWei = ETHER / (tierId === 'rare' ? 11n : 13n)
  const tier = { tierId, label: tierId, priceWei: String(priceWei), maxPerWallet: 10, payoutBps: 10_000, supply: 10 }
  await done('tiers', tier)
  await world.chain.mine()
  await world.payments()
  for (let i = 0; i < nodes; i++) await world.pay(5 + i, priceWei)
  await world.settle()
}

/** The cause of each kind. */
const PLAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'payment.held': () => held(5),
  'payment.minted': () => sold(5),
  'payment.decided': async () => done(`payments/${await held(6)}/dismiss`),
  'round.credited': async () => {
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
  },
  'withdrawal.seen': async () => {
    await world.act(5, 'withdraw', [1n, world.at(5), 1_000n])
    await world.payments()
  },
  'rounds.paused': () => done('pause'),
  'rounds.resumed': () => done('resume'),
  'refund.alarm': async () => {
    const paid = await world.pay(15, BASIC)
    await world.chain.mine()
    await judgeOnly(world)
    const value = `0x${BASIC.toString(16)}` as const
    const refundTxHash = await world.chain.send({ from: world.at(10), to: world.at(15), value })
    await world.chain.mine()
    await done(`payments/${paid}/refund`, { refundTxHash })
    // The reorganisation removes both.
    await world.chain.reorg(2)
    await mined()
  },
  'drift.found': async () => {
    await world.pool`UPDATE nodes SET owner = ${world.at(9)} WHERE node_id = 1`
    await world.payments()
  },
  'funds.low': async () => {
    const address = world.ctx.distributor?.address ?? assert.fail('no distributor')
    const before = await world.chain.rpc<string>('eth_getBalance', [address, 'latest'])
    await world.chain.setBalance(address, 1n)
    await world.pool`DELETE FROM passes WHERE name = 'funds'`
    await watchFunds({ ...world.ctx, rules: { ...world.ctx.rules, fundsWarnTransactions: 20 } })
    await world.chain.setBalance(address, BigInt(before))
  },
  'budget.low': () => budget(0n, null),
  'budget.spent': () => budget(0n, 'nodes'),
  'chain.reorganised': async () => {
    await budget(1_000n, null)
    await mined()
    await world.chain.reorg(1)
    await mined()
  },
  'passes.halted': async () => {
    await world.chain.mine()
    await world.instance({ chain: { ...world.ctx.chain, chainId: async () => 1, providers: [] } }).payments()
  },
  'passes.resumed': async () => {
    await world.payments()
    await beWellFor(world, 'halt')
    await world.payments()
  },
  'passes.stuck': async () => {
    await world.pay(6, BASIC)
    await world.chain.mine()
    for (const provider of [first, second])
      provider.rule = ({ method }) =>
        /Receipts?$/.test(method) ? { error: { code: -32603, message: 'internal error' } } : undefined
    const run = () => world.payments().catch(() => null)
    for (let i = 0; i < 4; i++) await run()
    await world.pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'stuck'`
    await run()
    await endLies({ world, first, second })
    await world.settle()
  },
  'passes.waiting': async () => {
    await world.pay(6, BASIC)
    await world.chain.mine()
    for (const provider of [first, second])
      provider.rule = ({ method }) =>
        method === 'eth_estimateGas' ? { error: { code: 3, message: 'execution reverted' } } : undefined
    for (let i = 0; i < 3; i++) {
      await world.payments()
      await world.pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'unsent payments'`
    }
    await endLies({ world, first, second })
    await world.settle()
  },
  'role.lost': async () => {
    await world.act(0, 'setMinter', [world.at(11), 1_000n, 1_000n])
    await world.pay(6, BASIC)
    await world.chain.mine()
    await world.payments()
  },
  'role.restored': async () => {
    await world.act(0, 'setMinter', [world.at(1), 1_000n, 1_000n])
    await world.payments()
    await beWellFor(world, 'role minter')
    await world.pay(6, BASIC)
    await world.settle()
  },
  'fee.capped': async () => {
    await world.pay(6, BASIC)
    await world.chain.mine()
    await world.instance({ rules: { feeCapWei: 1n } }).payments()
    await world.settle()
  },
  'terms.changed': () => done('terms', { payouts: false }),
  'tiers.changed': () => {
    const gold = { tierId: 'gold', label: 'Gold', priceWei: String(ETHER / 7n), maxPerWallet: 3, payoutBps: 10_000 }
    return done('tiers', gold)
  },
  'referrals.changed': () => done('referrals', { code: 'friends', payee: world.at(9), commissionBps: 500 }),
  'tier.scarce': () => buyOf('rare', 9),
  'tier.sold': () => buyOf('last', 10),
  'tier.unfit': async () => {
    await done('tiers/basic', { label: 'Late', fromTime: 'in 1h' })
    // As if the other tier had that price by now, through something that no entry foresees.
    await world.pool`UPDATE tiers SET names = '{"priceWei"}', price_wei = (SELECT price_wei FROM tiers WHERE tier_id = 'plus' AND live) WHERE from_block IS NULL`
    await world.chain.mine(2, 3_700)
    await world.settle()
  },
  'wallet.changed': () => done('payment-wallets', { address: world.at(14) }),
  'signer.down': async () => {
    await world.pay(6, BASIC)
    await world.chain.mine()
    await unsigned().payments()
  },
  'signer.restored': async () => {
    await world.payments()
    await beWellFor(world, 'signer minter')
    await world.pay(6, BASIC)
    await world.settle()
  },
  'key.used': async () => {
    await world.chain.send({ from: world.at(1), to: world.at(9), value: '0x1' })
    await mined()
  },
  'proof.failed': async () => {
    first.rule = forging('eth_getBlockByNumber', (block) => block && { ...block, stateRoot: ELSEWHERE })
    await mined()
    await endLies({ world, first, second })
  },
  'guard.refused': async () => {
    const before = await world.chain.snapshot()
    await world.chain.mine()
    const other = await world.chain.block()
    await world.chain.revert(before)
    await world.pay(7, BASIC)
    await world.chain.mine()
    // Whole blocks are true, so the payment is followed.
    second.rule = ({ method, params: [tag, isWhole] }) =>
      method === 'eth_getBlockByNumber' && tag === other.number && !isWhole ? { result: other } : undefined
    await world.payments()
    // As if they had differed for longer than a usual reorganisation takes.
    await world.pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'parted'`
    await world.payments()
    await endLies({ world, first, second })
  },
  'keys.wrong': async () => {
    for (let i = 0; i < 20; i++) await desk.get('senders', { headers: { 'x-admin-key': `${'wrong'.repeat(8)}${i}` } })
    const row = () => world.pool`SELECT FROM audit WHERE action = 'wrongAdminKeys'`
    await until('a row in the audit log', async () => (await row()).count > 0 || null)
  },
  'keys.changed': () => done('keys', { label: 'ci', scopes: ['read'] }),
  'action.proposed': async () => {
    await done('second-person', { aboveWei: '0' })
    const answer = await desk.post('terms', { payouts: true })
    assert.equal(answer.status, 202, answer.text)
  },
  'node.expelled': async () => {
    const paid = await sold(8)
    await world.act(0, 'expel', [[paid]])
    await world.payments()
  },
  'ledger.restored': async () => {
    const range = { minWei: wei(1n), maxWei: wei(2n), intervalSec: INTERVAL_SEC, slotSec: SLOT_SEC }
    await insertTerms(fresh, { fromTime: 0, payouts: true, ...range }, 'start')
    await inTransaction(fresh, (sql) => insertFirstWallet(sql, world.at(3), 0, 'start'))
    const begun = world.instance({ pool: fresh, directUrl: database.url })
    for (let i = 0; i < 3; i++) await begun.payments()
  },
}

test('every kind of event has its play', () => {
  assert.deepEqual(Object.keys(PLAYS).sort(), Object.keys(KINDS).sort())
})

for (const [type, play] of Object.entries(PLAYS)) {
  test(`${type} is raised by its cause`, async () => {
    const forget = () => Promise.all([world.pool, fresh].map((pool) => pool`DELETE FROM webhook_events`))
    await forget()
    await play()
    const told = await Promise.all(
      [world.pool, fresh].map((pool) => pool<{ type: string }[]>`SELECT type FROM webhook_events ORDER BY seq`),
    )
    const types = told.flat().map((event) => event.type)
    assert.ok(types.includes(type), `told: ${types.join(', ') || 'nothing'}`)
  })
}
