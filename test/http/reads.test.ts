// The public reads against a ledger written by hand: every field, empty ledgers, and the answers while the database or
// the chain is down.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { connect } from '../../src/db/core/sql.ts'
import { noteCalm, noteTrouble } from '../../src/db/core/troubles.ts'
import { wei } from '../../src/domain/units.ts'
import type { Readings } from '../../src/ports/contract.ts'
import { PAYMENT_ADDRESS, type Service, START_MS, startService } from '../support/http.ts'
import {
  hashOf,
  insertAnyTerms,
  insertCohort,
  insertNode,
  insertRound,
  insertSmallLedger,
  insertTiers,
  walletOf,
} from '../support/http-ledger.ts'
import { until } from '../support/until.ts'

/** When the chain was read: before the answer based on it. */
const READ_AT = START_MS - 7_000

/** Readings that match the small ledger by default. */
const readings: Readings = {
  node: async (nodeId, blockNumber) =>
    nodeId === 1n
      ? { owner: walletOf(1), balanceWei: wei(750n), creditedWei: wei(1200n), withdrawnWei: wei(450n), blockNumber }
      : null,
  cover: async () => ({
    contractBalanceWei: wei(3000n),
    outstandingWei: wei(2150n),
    isSolvent: true,
    blockNumber: 100,
    checkedAt: READ_AT,
  }),
  distributorBalanceWei: async () => wei(5n),
  ...{ paused: async () => false, nodesOf: async () => [], maxPerWallet: async () => 7, tracesWork: async () => true },
  buyer: () => assert.fail('no wallet is about to buy'),
}

describe('a fresh deployment', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.close())

  it('answers stats with zeroes', async () => {
    assert.deepEqual((await service.get('/api/stats')).json, {
      totalNodes: 0,
      totalOwners: 0,
      totalDistributions: 0,
      totalDistributedWei: '0',
      totalWithdrawnWei: '0',
      outstandingWei: '0',
      totalSalesWei: '0',
      lastDistributionAt: null,
    })
  })
  it('answers empty lists with 200', async () => {
    for (const path of [`/api/nodes/${walletOf(1)}`, '/api/distributions']) {
      const answer = await service.get(path)
      assert.equal(answer.status, 200)
      assert.equal(answer.text, '[]')
    }
    assert.deepEqual((await service.get('/api/tiers')).json, { tiers: [] })
  })
  it('has no node, and nothing to quote', async () => {
    assert.equal((await service.get('/api/node/1')).status, 404)
    assert.equal((await service.get('/api/deploy-quote')).status, 503)
  })
  it('reports a worker that never ticked as stale, and unread balances as null', async () => {
    const { status, json } = await service.get('/api/cron/health')
    assert.equal(status, 200)
    assert.deepEqual(json, {
      lastTickAt: null,
      secondsSinceLastTick: null,
      stale: true,
      staleAfterSec: 300,
      tickSec: 60,
      distEnabled: false,
      distMode: 'treasury',
      paused: false,
      dueNodes: 0,
      scheduledNodes: 0,
      distributorBalanceWei: null,
      contractBalanceWei: null,
      outstandingWei: null,
      isSolvent: null,
      ...{ halted: null, stuck: null },
      notSigning: [],
    })
  })
  it('reports whose signer did not sign, by its part and not by its address', async () => {
    const trouble = { address: walletOf(7), detail: 'the signer of 0x07 does not answer' }
    await noteTrouble(service.sql, 'signer minter', trouble)
    const { json, text } = await service.get('/api/cron/health')
    assert.deepEqual(json.notSigning, ['minter'])
    assert.doesNotMatch(text, /0x0/)
    await noteCalm(service.sql, 'signer minter')
    assert.deepEqual((await service.get('/api/cron/health')).json.notSigning, [])
  })
  it('answers the cover with nulls if there is no chain', async () => {
    const { status, json } = await service.get('/api/cover')
    assert.equal(status, 200)
    assert.ok(Object.values(json).every((value) => value === null))
  })
})

describe('a small ledger', () => {
  let service: Service
  before(async () => {
    service = await startService({ readings })
    await insertSmallLedger(service.sql)
    await service.sql`INSERT INTO price_history (hour, usd, quoted_at) VALUES ('2025-06-15T15:00:00Z', 2500.5, now())`
  })
  after(() => service.close())

  it('sums the stats', async () => {
    assert.deepEqual((await service.get('/api/stats')).json, {
      totalNodes: 3,
      totalOwners: 2,
      totalDistributions: 2,
      totalDistributedWei: '2600',
      totalWithdrawnWei: '450',
      outstandingWei: '2150',
      totalSalesWei: '35000000000000000',
      lastDistributionAt: '2025-06-15T15:08:00.000Z',
    })
  })

  it('lists every tier with its terms, off sale too', async () => {
    const { tiers } = (await service.get('/api/tiers')).json
    assert.deepEqual(
      tiers.map((tier: { id: string; onSale: boolean }) => [tier.id, tier.onSale]),
      [
        ['basic', true],
        ['plus', true],
        ['founder', true],
        ['legacy', false],
      ],
    )
    assert.deepEqual(tiers[2], {
      id: 'founder',
      label: 'FOUNDER',
      priceWei: '50000000000000000',
      maxPerWallet: 2,
      holdingWei: '1000000000000000000000',
      holdingToken: walletOf(0x7e),
      holdingSymbol: 'DEMO',
      holdingDecimals: 18,
      ...{ payoutBps: 20000, credit: { minWei: '2', maxWei: '4', intervalSec: 86400 } },
      ...{ onSale: true, soldOut: false, state: 'open', supply: null, sold: 0, remaining: null, reserved: 0 },
      ...{ opensAt: null, closesAt: null, opensAfter: null, allowlistRoot: null, openTo: 'holders', planned: [] },
      enforcedBy: { price: 'operator', maxPerWallet: 'operator', holding: 'operator', supply: 'none' },
    })
    assert.deepEqual([tiers[0].holdingToken, tiers[0].enforcedBy.holding], [null, 'none'])
  })

  const paid = {
    id: 1000000001,
    nodeId: '1',
    owner: walletOf(1),
    tierId: 'basic',
    priceWei: '10000000000000000',
    creditedWei: '1200',
    withdrawnWei: '450',
    balanceWei: '750',
    paymentTxHash: hashOf('pay 1'),
    mintTxHash: hashOf('mint 1'),
    mintedAt: '2025-06-15T15:06:50.000Z',
    lastCreditedAt: '2025-06-15T15:08:00.000Z',
    nextCreditAt: '2025-06-15T15:09:00.000Z',
    expelledAt: null,
    createdAt: '2025-06-15T15:06:50.000Z',
  }
  const unpaid = {
    ...paid,
    id: 1000000002,
    nodeId: '2',
    tierId: null,
    priceWei: null,
    creditedWei: '500',
    withdrawnWei: '0',
    balanceWei: '500',
    paymentTxHash: null,
    mintTxHash: hashOf('mint 2'),
    mintedAt: '2025-06-15T15:07:10.000Z',
    createdAt: '2025-06-15T15:07:10.000Z',
  }

  it('lists the nodes of a wallet, one without a payment with nulls', async () => {
    assert.deepEqual((await service.get(`/api/nodes/${walletOf(1)}`)).json, [paid, unpaid])
  })

  it('shows a node by its chain id with the chain, credits and withdrawals, newest first', async () => {
    const { json } = await service.get('/api/node/1')
    const { matchedBy, chain, credits, withdrawals, ...record } = json
    assert.deepEqual(record, paid)
    assert.equal(matchedBy, 'nodeId')
    assert.deepEqual(chain, {
      owner: walletOf(1),
      balanceWei: '750',
      creditedWei: '1200',
      withdrawnWei: '450',
      blockNumber: 100,
      matchesLedger: true,
    })
    assert.deepEqual(credits, [
      { id: 2, distributionId: 2, amountWei: '500', createdAt: '2025-06-15T15:08:00.000Z', usdPerEther: 2500.5 },
      { id: 1, distributionId: 1, amountWei: '700', createdAt: '2025-06-15T15:07:00.000Z', usdPerEther: 2500.5 },
    ])
    assert.deepEqual(
      withdrawals.map((w: { status: string; amountWei: string }) => [w.status, w.amountWei]),
      [
        ['failed', '10000'],
        ['sent', '450'],
      ],
    )
    const { id, ...sent } = withdrawals[1]
    assert.equal(typeof id, 'number')
    assert.deepEqual(sent, {
      amountWei: '450',
      cumulativeSignedWei: '0',
      toAddress: walletOf(9),
      deadline: 0,
      txHash: hashOf('withdraw 1 85'),
      status: 'sent',
      ...{ createdAt: '2025-06-15T15:08:05.000Z', confirmedAt: '2025-06-15T15:08:05.000Z', usdPerEther: 2500.5 },
    })
  })

  it('shows the same node by its row id, and marks that', async () => {
    const byNodeId = (await service.get('/api/node/1')).json
    const byId = (await service.get('/api/node/1000000001')).json
    assert.deepEqual(byId, { ...byNodeId, matchedBy: 'id' })
  })

  it('applies the limit to each list separately', async () => {
    const { credits, withdrawals } = (await service.get('/api/node/1?limit=1')).json
    assert.deepEqual([credits.length, withdrawals.length], [1, 1])
    assert.deepEqual([credits[0].distributionId, withdrawals[0].status], [2, 'failed'])
  })

  it('answers null for a silent chain, and matchesLedger false for a differing one', async () => {
    assert.equal((await service.get('/api/node/2')).json.chain, null)
    const differing = await startService({
      readings: {
        ...readings,
        node: async (_id, blockNumber) => ({ ...(await nodeOne(blockNumber)), owner: walletOf(7) }),
      },
      sql: service.sql,
      readSql: service.sql,
    })
    const { chain, owner } = (await differing.get('/api/node/1')).json
    assert.equal(owner, walletOf(1))
    assert.deepEqual([chain.owner, chain.matchesLedger], [walletOf(7), false])
    await differing.close()
  })

  it('lists rounds newest first; each total is the sum of its turns', async () => {
    const rounds = (await service.get('/api/distributions')).json
    assert.deepEqual(
      rounds.map((round: { id: number }) => round.id),
      [2, 1],
    )
    for (const { totalWei, nodeCount, turns } of rounds) {
      const sum = turns.reduce(
        (s: bigint, t: { amountWei: string; nodeCount: number }) => s + BigInt(t.amountWei) * BigInt(t.nodeCount),
        0n,
      )
      assert.equal(sum.toString(), totalWei)
      assert.equal(
        turns.reduce((s: number, t: { nodeCount: number }) => s + t.nodeCount, 0),
        nodeCount,
      )
    }
    assert.deepEqual(rounds[1], {
      id: 1,
      mode: 'treasury',
      totalWei: '700',
      nodeCount: 1,
      createdAt: '2025-06-15T15:07:00.000Z',
      txHash: hashOf('round 1'),
      blockNumber: 20,
      turns: [
        {
          cohort: 1,
          tierId: 'basic',
          due: '2025-06-15T15:07:00.000Z',
          dueSec: 1750000020,
          seedBlock: 20,
          seed: hashOf('seed'),
          minWei: '700',
          maxWei: '700',
          ...{ payoutBps: 10000, assurance: 'proven' },
          count: 1,
          amountWei: '700',
          nodeCount: 1,
        },
      ],
    })
    assert.equal((await service.get('/api/distributions?limit=1')).json.length, 1)
  })

  it('lists a round’s single turns by pages, and a single turn equals the round’s', async () => {
    const [newest, first] = (await service.get('/api/distributions')).json
    const { count, ...alone } = first.turns[0]
    assert.deepEqual((await service.get('/api/distributions/1/turns')).json, { total: count, turns: [alone] })
    const pages = await Promise.all(
      [0, 1, 2].map(async (offset) => (await service.get(`/api/distributions/2/turns?limit=1&offset=${offset}`)).json),
    )
    assert.deepEqual(
      pages.map(({ total, turns }) => [total, turns.map(({ cohort }: { cohort: number }) => cohort)]),
      [
        [2, [1]],
        [2, [2]],
        [2, []],
      ],
    )
    assert.equal(newest.turns.length, 2)
    for (const unknown of ['3', '9223372036854775807', '9223372036854775808', (2n ** 256n - 1n).toString()])
      assert.equal((await service.get(`/api/distributions/${unknown}/turns`)).status, 404, unknown)
  })

  it('quotes the first tier on sale, a named one, and refuses what is not on sale', async () => {
    const quote = { paymentAddress: PAYMENT_ADDRESS, chainId: 31337, contractWallets: 'hold' }
    assert.deepEqual((await service.get('/api/deploy-quote')).json, {
      ...quote,
      priceWei: '10000000000000000',
      tierId: 'basic',
    })
    assert.deepEqual((await service.get('/api/deploy-quote?tier=plus')).json, {
      ...quote,
      priceWei: '25000000000000000',
      tierId: 'plus',
    })
    for (const tier of ['legacy', 'nope', '', 'BASIC', 'basic&tier=plus', "'--"])
      assert.equal((await service.get(`/api/deploy-quote?tier=${encodeURI(tier)}`)).status, 400, tier)
  })

  it('computes the cover from readings of one block', async () => {
    assert.deepEqual((await service.get('/api/cover')).json, {
      contractBalanceWei: '3000',
      outstandingWei: '2150',
      surplusWei: '850',
      coverBps: 13953,
      isSolvent: true,
      blockNumber: 100,
      checkedAt: new Date(READ_AT).toISOString(),
    })
  })

  it('counts due and scheduled nodes at the followed head, and the tick', async () => {
    await service.sql`INSERT INTO passes (name, started_at) VALUES ('credit', now() - interval '301 seconds')`
    const late = (await service.get('/api/cron/health')).json
    assert.deepEqual([late.dueNodes, late.scheduledNodes, late.stale], [0, 3, true])
    await service.sql`UPDATE cursors SET block_time = ${1750000000 + 200}`
    await service.sql`UPDATE passes SET started_at = now() - interval '12 seconds'`
    const { dueNodes, stale, secondsSinceLastTick, distributorBalanceWei, contractBalanceWei, isSolvent } = (
      await service.get('/api/cron/health')
    ).json
    assert.deepEqual(
      [dueNodes, stale, distributorBalanceWei, contractBalanceWei, isSolvent],
      [2, false, '5', '3000', true],
    )
    assert.ok(secondsSinceLastTick >= 12 && secondsSinceLastTick < 20)
    await service.sql`UPDATE cursors SET block_time = ${1750000000 + 100}`
  })

  it('shows why the passes are halted, and since when', async () => {
    const halt = { reason: 'another chain', since: '2026-01-02T03:04:05.000Z', sealed: true, looks: 5 }
    await service.sql`INSERT INTO troubles (name, value) VALUES ('halted', ${JSON.stringify(halt)}::text::jsonb)`
    const { reason, since } = halt
    assert.deepEqual((await service.get('/api/cron/health')).json.halted, { reason, since })
    await service.sql`DELETE FROM troubles WHERE name = 'halted'`
    assert.equal((await service.get('/api/cron/health')).json.halted, null)
  })
  it('is paused by the operator’s switch', async () => {
    await service.sql`UPDATE ledger_state SET paused = true`
    assert.equal((await service.get('/api/cron/health')).json.paused, true)
    await service.sql`UPDATE ledger_state SET paused = false`
    assert.equal((await service.get('/api/cron/health')).json.paused, false)
  })

  it('describes the deployment, with its RPC only if that is public', async () => {
    assert.deepEqual((await service.get('/.well-known/node-ledger.json')).json, {
      ...{ chainId: 31337, rpcUrl: null, factoryAddress: walletOf(0xfac), maxPerWallet: 7, embedded: false },
      ...{ paymentAddress: PAYMENT_ADDRESS, apiBase: 'https://ledger.example/api' },
      ...{ chainName: null, explorerUrl: null },
      brand: { name: null, logoUrl: null, color: null, contact: null, termsUrl: null },
    })
  })
})

const nodeOne = async (blockNumber: number) => ({
  owner: walletOf(1),
  balanceWei: wei(750n),
  creditedWei: wei(1200n),
  withdrawnWei: wei(450n),
  blockNumber,
})

it('marks a round that swaps funded', async () => {
  const service = await startService()
  await insertTiers(service.sql)
  await insertCohort(service.sql, { cohort: 1, tierNo: 1, nextDue: 1_750_000_020 })
  await insertNode(service.sql, { nodeId: 1, owner: walletOf(1), cohort: 1 })
  await insertRound(service.sql, { round: 1, block: 20, turns: [{ cohort: 1, amountWei: 1n }], mode: 'swaps' })
  await insertRound(service.sql, { round: 2, block: 21, turns: [{ cohort: 1, amountWei: 1n }] })
  const rounds = (await service.get('/api/distributions')).json
  assert.deepEqual(
    rounds.map((round: { mode: string | null }) => round.mode),
    ['treasury', 'swaps'],
  )
  await service.close()
})

it('quotes nothing without a payments address, nor a configured tier that is off sale', async () => {
  for (const overrides of [{ paymentAddress: null }, { settings: { quoteTier: 'legacy' } }]) {
    const service = await startService(overrides)
    await insertTiers(service.sql)
    const { status, json } = await service.get('/api/deploy-quote')
    assert.equal(status, 503)
    assert.doesNotMatch(json.error, /Nothing is on sale/, 'other tiers are')
    await service.close()
  }
  const empty = await startService({ settings: { quoteTier: null } })
  const refusal = async () => (await empty.get('/api/deploy-quote')).json.error
  assert.match(await refusal(), /No credit terms/)
  await insertTiers(empty.sql)
  await empty.sql`DELETE FROM credit_terms`
  assert.match(await refusal(), /No credit terms/, 'whatever is on sale')
  await empty.sql`DELETE FROM tiers`
  await insertAnyTerms(empty.sql)
  assert.match(await refusal(), /Nothing is on sale/)
  await empty.close()
  const service = await startService({ settings: { quoteTier: 'plus' } })
  await insertTiers(service.sql)
  assert.equal((await service.get('/api/deploy-quote')).json.tierId, 'plus')
  await service.close()
})

it('quotes a tier that opens after it was refused, whether it hears of the change or not', async () => {
  const deaf = { live: () => true, subscribe: () => undefined, close: async () => undefined }
  const service = await startService({ changes: deaf })
  await insertTiers(service.sql)
  await service.sql`UPDATE tiers SET on_sale = tier_id <> 'plus'`
  const read = async () => (await service.get('/api/deploy-quote?tier=plus')).status
  assert.equal(await read(), 400)
  await service.sql`UPDATE tiers SET on_sale = true`
  assert.equal(await read(), 200)
  await service.close()
})

it('reads wei to the last digit, however large', async () => {
  const service = await startService()
  await insertTiers(service.sql)
  await insertCohort(service.sql, { cohort: 1, tierNo: 1, nextDue: 1_750_000_020 })
  await insertNode(service.sql, { nodeId: 1, owner: walletOf(1), cohort: 1 })
  const amountWei = 2n ** 255n + 1n
  await insertRound(service.sql, { round: 1, block: 20, turns: [{ cohort: 1, amountWei }] })
  const { credits, creditedWei } = (await service.get('/api/node/1')).json
  assert.deepEqual([credits[0].amountWei, creditedWei], [amountWei.toString(), amountWei.toString()])
  assert.equal((await service.get('/api/stats')).json.totalDistributedWei, amountWei.toString())
  await service.close()
})

it('answers 503 in time while every connection is taken, and 200 when one is free again', async () => {
  const service = await startService()
  const narrow = connect(service.databaseUrl, { max: 1, prepare: true, applicationName: 'narrow' })
  const starved = await startService({ sql: narrow, readSql: narrow })
  const taken = narrow`SELECT pg_sleep(5)`.execute()
  const started = performance.now()
  const late = await starved.get('/api/stats')
  assert.equal(late.status, 503)
  assert.match(late.json.error, /No answer came in time/, 'too many requests and a database that hangs look the same')
  assert.ok(performance.now() - started < 4_500)
  const again = performance.now()
  assert.equal((await starved.get('/api/tiers')).status, 503)
  assert.ok(performance.now() - again < 1_000, 'the next caller is answered at once')
  await taken
  await until('an answer', async () => (await starved.get('/api/stats')).status === 200)
  await starved.close()
  await narrow.end()
  await service.close()
})
