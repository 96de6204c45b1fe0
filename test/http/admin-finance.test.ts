// The operator's readings for the books over HTTP, on real parts: streamed files, the statement, transactions page by
// page, the next round, ledger against chain, and the settings with their secrets masked.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Hash } from '../../src/domain/units.ts'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'
import { ETHER, INTERVAL_SEC } from '../support/world.ts'

let desk: Desk
let paid: Hash[]

before(async () => {
  desk = await startDesk({ reconcileEverySec: 1_000_000 })
  const { world } = desk
  await recordIdentity(world.pool, {
    chainId: world.chain.chainId,
    genesisHash: '0x',
    factory: world.factory,
    startBlock: 1,
  })
  await world.settle()
  paid = [await world.pay(5, ETHER / 100n), await world.pay(6, ETHER / 40n)]
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(5), 1n])
  await world.rest()
})
after(() => desk.close())

const file = (path: string, headers: Record<string, string> = { 'x-admin-key': KEYS[0]?.key ?? '' }, method = 'GET') =>
  fetch(`http://127.0.0.1:${desk.service.port}/api/admin/${path}`, { headers, method })

describe('a file', () => {
  it('is CSV with totals that equal the statistics, for holders of a key alone', async () => {
    const { json: stats } = await desk.service.get('/api/stats')
    const totals = {
      payments: `soldWei=${stats.totalSalesWei}`,
      nodes: `creditedWei=${stats.totalDistributedWei}`,
      credits: `amountWei=${stats.totalDistributedWei}`,
      withdrawals: `amountWei=${stats.totalWithdrawnWei}`,
    }
    for (const [kind, total] of Object.entries(totals)) {
      const answer = await file(`exports/${kind}.csv`)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
      assert.match(
        answer.headers.get('content-disposition') ?? '',
        new RegExp(`^attachment; filename="node-ledger-${kind}-\\d+\\.csv"$`),
      )
      assert.match(answer.headers.get('cache-control') ?? '', /no-store/)
      const last = (await answer.text()).trimEnd().split('\r\n').at(-1) ?? ''
      assert.ok(last.startsWith('#total,rows=') && last.includes(total), `${kind}: ${last}`)
    }
    assert.equal((await file('exports/nodes.csv', {})).status, 401)
    assert.equal((await file('exports/nodes.csv', undefined, 'HEAD')).status, 405)
    assert.equal((await file('exports/secrets.csv')).status, 404)
    assert.equal((await file('exports/nodes.csv?from=soon')).status, 400)
  })

  it("of an owner has that wallet's credits and withdrawals", async () => {
    const text = await (await file(`exports/owner.csv?address=${desk.world.at(5)}`)).text()
    assert.equal(text.match(/^credit,/gm)?.length, 1)
    assert.equal(text.match(/^withdrawal,/gm)?.length, 1)
    assert.equal((await file('exports/owner.csv')).status, 400)
  })

  it('of a statement balances like the statement', async () => {
    const { json } = await desk.get('statement')
    assert.equal(json.balanced, true)
    assert.equal(json.totalSalesWei, (ETHER / 100n + ETHER / 40n).toString())
    const text = await (await file('statement.csv')).text()
    assert.match(text, /#total,lines=\d+,balanced=true,,\r\n$/)
    assert.ok(text.includes(`sales,total,,,${json.totalSalesWei}`))
    assert.equal((await desk.get('statement?month=soon')).status, 400)
  })
})

describe('transactions', () => {
  it('are listed with their purpose, cost and number of signatures', async () => {
    const { json } = await desk.get('transactions')
    const mint = json.transactions.find(({ kind }: { kind: string }) => kind === 'mint')
    assert.deepEqual(
      mint.payments.map(({ txHash, nodeId }: { txHash: Hash; nodeId: string }) => [txHash, nodeId]),
      [
        [paid[0], '1'],
        [paid[1], '2'],
      ],
    )
    assert.equal(mint.status, 'mined')
    assert.equal(mint.attempts.length, 1)
    assert.equal(mint.attempts[0].txHash, mint.txHash)
    const receipt = await desk.world.chain.rpc<{ gasUsed: string; effectiveGasPrice: string }>(
      'eth_getTransactionReceipt',
      [mint.txHash],
    )
    assert.equal(mint.feeWei, (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString())
    const round = json.transactions.find(({ kind }: { kind: string }) => kind === 'credit')
    const { json: rounds } = await desk.get('rounds')
    assert.equal(round.distributionId, rounds.rounds.find(({ txHash }: { txHash: Hash }) => txHash === round.txHash).id)
    assert.equal(round.valueWei, rounds.rounds.find(({ txHash }: { txHash: Hash }) => txHash === round.txHash).totalWei)
  })

  it('come in pages that miss none and repeat none, by sender and by state', async () => {
    const { json: all } = await desk.get('transactions?limit=200')
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await desk.get(`transactions?limit=1${cursor && `&cursor=${cursor}`}`)
      seen.push(...json.transactions.map(({ id }: { id: number }) => id))
      cursor = json.nextCursor
    }
    assert.deepEqual(
      seen,
      all.transactions.map(({ id }: { id: number }) => id),
    )
    const { json: minters } = await desk.get(`transactions?sender=${desk.world.at(1)}&status=mined`)
    assert.ok(minters.transactions.length > 0 && minters.transactions.length < seen.length)
    for (const { sender, status } of minters.transactions)
      assert.deepEqual([sender, status], [desk.world.at(1), 'mined'])
    for (const query of ['sender=me', 'status=lost', 'cursor=0', 'limit=0'])
      assert.equal((await desk.get(`transactions?${query}`)).status, 400, query)
  })

  it('cost a page the same however many there are', async () => {
    const { pool } = desk.world
    await pool
      .begin(async (sql) => {
        await sql`INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until) SELECT 'mint', ${`0x${'7'.repeat(40)}`}, n, '{}', 1, 900 FROM generate_series(1, 50000) n`
        await sql`ANALYZE outbox`
        for (const where of [sql`true`, sql`sender = ${desk.world.at(1)}`, sql`state = 'mined'`]) {
          const plan = await sql`EXPLAIN SELECT * FROM outbox WHERE ${where} AND id < 100000 ORDER BY id DESC LIMIT 51`
          assert.doesNotMatch(JSON.stringify(plan), /Seq Scan/)
        }
        throw new Error('rolled back')
      })
      .catch((error: Error) => assert.equal(error.message, 'rolled back'))
  })
})

it('has the trends of the last day, and refuses a range that it does not know', async () => {
  assert.equal((await desk.get('trends')).json.bins.length, 25)
  assert.equal((await desk.get('trends?range=1y')).status, 400)
})

describe('the round to come', () => {
  it('equals the round that the pass then sends', async () => {
    const { world } = desk
    const { json: idle } = await desk.get('credit/preview')
    assert.deepEqual(idle.stops, ['nothingDue'])
    assert.equal(idle.nextDay.cohorts.length > 0, true)
    assert.ok(BigInt(idle.nextDay.maxWei) > BigInt(idle.nextDay.minWei) && BigInt(idle.nextDay.minWei) > 0n)
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    await world.payments()
    const { json: preview } = await desk.get('credit/preview')
    assert.deepEqual(preview.stops, [])
    assert.equal(preview.funds.sufficient, true)
    assert.equal(preview.round.nodeCount, 2)
    const sent = await world.credit()
    assert.equal(sent.totalWei?.toString(), preview.round.totalWei)
    assert.equal(sent.nodeCount, 2)
    assert.deepEqual((await desk.get('credit/preview')).json.stops, ['pending'])
    await world.rest()
    const { json } = await desk.get('rounds?limit=1')
    assert.ok(json.rounds[0].gasUsed <= Number(preview.funds.gasEstimate), 'the estimate was too low')
  })

  it('lists everything that stops it', async () => {
    const { world } = desk
    await desk.post('pause', { reason: 'a look' })
    const balance = await world.chain.rpc<string>('eth_getBalance', [world.at(2), 'latest'])
    await world.chain.setBalance(world.at(2), 1n)
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    await world.payments()
    await world.chain.mine()
    const { json } = await desk.get('credit/preview')
    assert.deepEqual(json.stops, ['behind', 'paused', 'underfunded'])
    assert.equal(json.funds.sufficient, false)
    await world.chain.setBalance(world.at(2), BigInt(balance))
    await desk.post('resume')
    await world.rest()
  })
})

describe('ledger and chain', () => {
  it('are compared in full on demand, and a difference is on record until it ends', async () => {
    const { pool } = desk.world
    const { json: equal } = await desk.post('reconciliation/run')
    assert.deepEqual([equal.equal, equal.nodes, equal.drifts], [true, 2, []])
    await pool`UPDATE nodes SET withdrawn_wei = withdrawn_wei + 1 WHERE node_id = 2`
    const { json: drifted } = await desk.post('reconciliation/run')
    assert.equal(drifted.equal, false)
    assert.deepEqual(
      drifted.drifts
        .map(({ kind, field, name }: { kind: string; field?: string; name?: string }) => field ?? name ?? kind)
        .sort(),
      ['outstandingWei', 'withdrawnWei'],
    )
    const { json: report } = await desk.get('reconciliation')
    assert.equal(report.drift.count, 2)
    assert.equal(report.drift.by, 'ada')
    assert.equal(report.wallets[0].auditedBlock, report.followed.blockNumber)
    assert.equal(report.halted, null)
    assert.deepEqual([report.budget.low, report.budget.spent, report.budget.nodes > 0], [[], null, true])
    await pool`UPDATE nodes SET withdrawn_wei = withdrawn_wei - 1 WHERE node_id = 2`
    await desk.post('reconciliation/run')
    assert.equal((await desk.get('reconciliation')).json.drift.count, 0)
    const { json: log } = await desk.get('audit?action=reconciled')
    assert.deepEqual(
      log.entries.map(({ actor }: { actor: string }) => actor),
      ['ada', 'ada', 'ada'],
    )
  })

  it('are not compared if the chain has reorganised the ledger’s block', async () => {
    const { world } = desk
    await world.rest()
    await world.act(5, 'withdraw', [1n, world.at(9), 1n])
    await world.payments()
    await world.chain.reorg(1)
    const refused = await desk.post('reconciliation/run')
    assert.equal(refused.status, 409, refused.text)
    assert.equal((await desk.get('reconciliation')).json.drift.count, 0)
    await world.rest()
    assert.equal((await desk.post('reconciliation/run')).json.equal, true)
  })
})

it('shows the settings with their secrets masked', async () => {
  const { json } = await desk.get('config')
  assert.deepEqual(json.settings, { PORT: '3000', ADMIN_KEY: 'ops:***' })
})
