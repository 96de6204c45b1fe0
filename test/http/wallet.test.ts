// The signed-in wallet's own routes: its record, and the outcomes of recording a node of its own.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Readings } from '../../src/ports/contract.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import type { FoundNode, SyncOutcome } from '../../src/ports/outcomes.ts'
import { type Service, sessionOf, startService } from '../support/http.ts'
import { hashOf, insertCohort, insertNode, insertSmallLedger, insertTiers, walletOf } from '../support/http-ledger.ts'

describe('the signed-in wallet', () => {
  let service: Service
  let onChain: bigint[] | null = []
  let outcome: SyncOutcome | Error = { kind: 'notFound' }
  let looked: unknown[] = []
  before(async () => {
    const answer = async (what: unknown) => {
      looked.push(what)
      if (outcome instanceof Error) throw outcome
      return outcome
    }
    service = await startService({
      readings: { nodesOf: async () => onChain } as unknown as Readings,
      syncer: { byNodeId: answer, byTransaction: answer },
    })
    await insertSmallLedger(service.sql)
  })
  after(() => service.close())
  const me = (wallet: string) => service.get('/api/me', { headers: { cookie: sessionOf(wallet) } })
  const sync = (wallet: string, body: unknown) => {
    service.clock.now += 60_000
    looked = []
    return service.post('/api/nodes/sync', body, { headers: { cookie: sessionOf(wallet) } })
  }
  const found = (nodes: Partial<FoundNode>[]): SyncOutcome => ({
    kind: 'followed',
    nodes: nodes.map((node) => ({ nodeId: 1n, mintedTo: walletOf(1), ownerNow: walletOf(1), created: false, ...node })),
  })

  it('sees its nodes, their totals, and what the ledger lacks', async () => {
    onChain = [1n, 2n, 77n, 2n ** 200n]
    const { status, json } = await me(walletOf(1))
    assert.equal(status, 200)
    assert.equal(json.address, walletOf(1))
    assert.deepEqual(json.nodes, (await service.get(`/api/nodes/${walletOf(1)}`)).json)
    assert.deepEqual(json.totals, { nodeCount: 2, creditedWei: '1700', withdrawnWei: '450', balanceWei: '1250' })
    assert.deepEqual(json.unrecordedNodeIds, ['77', (2n ** 200n).toString()])
  })

  it('distinguishes "nothing missing" from "could not check"', async () => {
    onChain = []
    assert.deepEqual((await me(walletOf(1))).json.unrecordedNodeIds, [])
    onChain = null
    assert.deepEqual((await me(walletOf(1))).json.unrecordedNodeIds, null)
  })

  it('without nodes has zero totals', async () => {
    const { json } = await me(walletOf(5))
    assert.deepEqual(
      [json.nodes, json.totals],
      [[], { nodeCount: 0, creditedWei: '0', withdrawnWei: '0', balanceWei: '0' }],
    )
  })

  it('is a visitor without a session: 401', async () => {
    for (const path of ['/api/me', '/api/me/referrals']) assert.equal((await service.get(path)).status, 401)
    assert.equal((await service.post('/api/nodes/sync', { nodeId: '1' })).status, 401)
  })

  it('records a node of the wallet, once or again', async () => {
    for (const created of [true, false]) {
      outcome = found([{ created }])
      for (const body of [
        { nodeId: '1' },
        { nodeId: 1 },
        { txHash: hashOf('mint 1') },
        { txHash: hashOf('mint 1'), nodeId: '1' },
      ]) {
        const { status, json } = await sync(walletOf(1), body)
        assert.equal(status, 200)
        assert.deepEqual([json.created, json.node.nodeId, json.nodes.length], [created, '1', 1])
      }
    }
  })

  it('records all its nodes of a mint, and only its own', async () => {
    outcome = found([{ nodeId: 3n, mintedTo: walletOf(2), ownerNow: walletOf(2) }, {}, { nodeId: 2n, created: true }])
    const { status, json } = await sync(walletOf(1), { txHash: hashOf('mint') })
    assert.equal(status, 200)
    assert.deepEqual(
      [json.node.nodeId, json.created, json.nodes.map((n: { nodeId: string }) => n.nodeId)],
      ['1', true, ['1', '2']],
    )
  })

  it('is judged by the log and by the chain as it is now', async () => {
    const [mine, theirs] = [walletOf(1), walletOf(2)]
    for (const [mintedTo, ownerNow, status] of [
      [mine, mine, 200],
      [mine, theirs, 409],
      [theirs, mine, 200],
      [theirs, theirs, 403],
    ] as const) {
      outcome = found([{ mintedTo, ownerNow }])
      assert.equal((await sync(mine, { nodeId: '1' })).status, status, `${mintedTo} ${ownerNow}`)
    }
  })

  it('gets a refusal for a mint that the chain does not have', async () => {
    for (const [kind, byTransaction, byNodeId] of [
      ['notFound', 404, 404],
      ['failed', 400, 400],
      ['noMint', 400, 404],
      ['following', 503, 503],
    ] as const) {
      outcome = { kind }
      assert.equal((await sync(walletOf(1), { txHash: hashOf('x') })).status, byTransaction, kind)
      assert.equal((await sync(walletOf(1), { nodeId: '5' })).status, byNodeId, kind)
    }
    outcome = new ChainFault('no answer')
    assert.equal((await sync(walletOf(1), { nodeId: '5' })).status, 503)
  })

  it('must identify what to sync in valid form', async () => {
    outcome = found([{}])
    const wrong = [
      {},
      { nodeId: null },
      { nodeId: '01' },
      { nodeId: '0' },
      { nodeId: -1 },
      { nodeId: 1.5 },
      { nodeId: 2 ** 53 },
      { nodeId: '1'.repeat(79) },
      { nodeId: ['1'] },
      { nodeId: true },
    ]
    for (const body of [
      ...wrong,
      { txHash: 1 },
      { txHash: '0x12' },
      { txHash: null },
      { txHash: '0x12', nodeId: '1' },
      { nodeId: 'x', txHash: hashOf('x') },
    ]) {
      assert.equal((await sync(walletOf(1), body)).status, 400, JSON.stringify(body))
      assert.deepEqual(looked, [])
    }
    assert.equal(
      (await sync(walletOf(1), { txHash: hashOf('mint 1'), nodeId: '2' })).status,
      400,
      'that mint has no such node',
    )
  })

  it('reads a number that looks like a row id as a chain id', async () => {
    outcome = { kind: 'notFound' }
    assert.equal((await sync(walletOf(1), { nodeId: '1000000001' })).status, 404)
    assert.deepEqual(looked, [1000000001n])
  })

  it('is answered 503 while the ledger does not show the node yet', async () => {
    outcome = found([{ nodeId: 99n, created: true }])
    assert.equal((await sync(walletOf(1), { nodeId: '99' })).status, 503)
  })

  it('gets no answer for another wallet with any body', async () => {
    outcome = found([{}])
    assert.equal((await sync(walletOf(2), { nodeId: '1', address: walletOf(1), owner: walletOf(1) })).status, 403)
  })
})

it('reads a node of several digits whole, not as missing or as a node of one digit', async () => {
  const service = await startService({ readings: { nodesOf: async () => [2n, 12n, 345n] } as unknown as Readings })
  await insertTiers(service.sql)
  await insertCohort(service.sql, { cohort: 1, tierNo: 1, nextDue: 1_750_000_020 })
  for (const nodeId of [12, 345]) await insertNode(service.sql, { nodeId, owner: walletOf(7), cohort: 1 })
  const { json } = await service.get('/api/me', { headers: { cookie: sessionOf(walletOf(7)) } })
  assert.equal(json.totals.nodeCount, 2)
  assert.deepEqual(json.unrecordedNodeIds, ['2'])
  await service.close()
})
