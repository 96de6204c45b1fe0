// POST /api/payments/claim: the answer to each finding on chain; and a flood of claims causes few reads of the chain.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { wei } from '../../../src/domain/units.ts'
import { claim as claimRoute } from '../../../src/http/routes/payments/claim.ts'
import type { Tools } from '../../../src/http/tools.ts'
import { REQUEST_POLL_POLICY } from '../../../src/ports/contexts.ts'
import { ChainFault, RpcFault } from '../../../src/ports/faults.ts'
import type { ClaimOutcome, Passes } from '../../../src/ports/outcomes.ts'
import { ROOT } from '../../documents/pages.ts'
import { type Service, startService } from '../../support/http.ts'
import { blockTime, hashOf, insertPayment, insertSmallLedger, walletOf } from '../../support/http-ledger.ts'

describe('a claim', () => {
  let service: Service
  let found: () => Promise<ClaimOutcome>
  let asked: string[] = []
  before(async () => {
    const claim: Passes['claim'] = (txHash) => {
      asked.push(txHash)
      return found()
    }
    service = await startService({ passes: { claim } as Passes })
    await insertSmallLedger(service.sql)
  })
  after(() => service.close())
  const claim = (txHash: string) => {
    service.clock.now += 60_000
    return service.post('/api/payments/claim', { txHash })
  }

  it('of a minted payment answers its node', async () => {
    found = async () => ({ kind: 'known' })
    const { status, json, headers } = await claim(hashOf('pay 1'))
    assert.equal(status, 200)
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(json.updatedAt, /Z$/)
    const { payments, ...first } = json
    assert.deepEqual(payments, [first])
    assert.deepEqual(
      { ...first, updatedAt: null },
      {
        txHash: hashOf('pay 1'),
        status: 'minted',
        reason: null,
        verdict: null,
        waitsForPlace: false,
        from: walletOf(1),
        tierId: 'basic',
        valueWei: '10000000000000000',
        blockNumber: 9,
        paidAt: new Date(blockTime(9) * 1000).toISOString(),
        assurance: 'believed',
        nodeId: '1',
        mintTxHash: hashOf('mint 1'),
        refundTxHash: null,
        updatedAt: null,
      },
    )
  })

  it('is the same in upper case', async () => {
    const upper = `0x${hashOf('pay 1').slice(2).toUpperCase()}`
    asked = []
    assert.equal((await claim(upper)).json.status, 'minted')
    assert.deepEqual(asked, [hashOf('pay 1')])
  })

  it('answers every other state of a payment as it is', async () => {
    found = async () => ({ kind: 'known' })
    const valueWei = '10000000000000000'
    const states = [
      { state: 'seen' },
      { state: 'accepted', tierId: 'basic' },
      { state: 'held', reason: 'tierAllowance', tierId: 'basic' },
      { state: 'held', reason: 'holding' },
      { state: 'refunded', reason: 'wrongAmount' },
      { state: 'dismissed', reason: 'wrongAmount' },
      { state: 'orphaned' },
    ]
    for (const [i, payment] of states.entries()) {
      const txHash = hashOf(`state ${i}`)
      await insertPayment(service.sql, { txHash, from: walletOf(5), valueWei, ...payment })
      const { status, json } = await claim(txHash)
      assert.deepEqual([status, json.status, json.reason], [200, payment.state, payment.reason ?? null])
      assert.equal(json.blockNumber, payment.state === 'orphaned' ? null : 5)
    }
  })

  it('is refused for a wrong amount, which stays held, and for what is no sale', async () => {
    found = async () => ({ kind: 'known' })
    for (const [state, reason] of [
      ['held', 'wrongAmount'],
      ['ignored', 'self'],
      ['ignored', 'failed'],
    ] as const) {
      const txHash = hashOf(`refused ${state} ${reason}`)
      await insertPayment(service.sql, { txHash, from: walletOf(5), valueWei: '1', state, reason })
      assert.equal((await claim(txHash)).status, 400, reason)
    }
    found = async () => ({ kind: 'dust' })
    const dust = await claim(hashOf('dust'))
    assert.equal(dust.status, 400)
    assert.match(dust.json.error, /far below every price/)
    found = async () => ({ kind: 'notASale', why: 'secret reasons' })
    const answer = await claim(hashOf('elsewhere'))
    assert.equal(answer.status, 400)
    assert.doesNotMatch(answer.text, /secret/)
  })

  it('of an unknown transaction, or one in no block, is 409', async () => {
    for (const kind of ['notFound', 'pending'] as const) {
      found = async () => ({ kind })
      assert.equal((await claim(hashOf(kind))).status, 409)
    }
  })

  it('that the ledger has not reached is `seen`, with what the chain shows', async () => {
    found = async () => ({ kind: 'following', from: walletOf(8), valueWei: wei(7n), blockNumber: 44 })
    const { status, json } = await claim(hashOf('far'))
    assert.equal(status, 200)
    const { payments, ...first } = json
    assert.deepEqual(payments, [first])
    assert.deepEqual(first, {
      txHash: hashOf('far'),
      status: 'seen',
      reason: null,
      waitsForPlace: false,
      from: walletOf(8),
      tierId: null,
      valueWei: '7',
      blockNumber: 44,
      paidAt: null,
      assurance: null,
      nodeId: null,
      mintTxHash: null,
      refundTxHash: null,
      updatedAt: null,
    })
  })

  it('has more time than its own wait takes, and the documents give both', async () => {
    const { deadlineMs } = claimRoute({ deps: { monotonicClock: () => 0 } } as Tools)
    const ownMs = REQUEST_POLL_POLICY.readMs + REQUEST_POLL_POLICY.waitMs
    assert.ok((deadlineMs ?? 0) > ownMs)
    const pages = ['docs/API.md', 'src/http/routes/payments/claim.ts'].map((path) =>
      readFileSync(join(ROOT, path), 'utf8'),
    )
    for (const page of pages) assert.match(page, new RegExp(`\\b${ownMs / 1_000} s\\b`))
    assert.match(pages[0] ?? '', new RegExp(`within ${(deadlineMs ?? 0) / 1_000} s\\b`))
  })

  for (const [trouble, says] of [
    ['unreachable', /^The chain cannot be reached/],
    ['limit', /^The chain cannot be reached/],
    ['refused', /^The chain cannot be reached/],
    ['error', /^The chain’s providers answer, but/],
    ['garbled', /^The chain’s providers answer, but/],
    ['tooLarge', /^The chain’s providers answer, but/],
    [null, /^The chain’s providers answer, but/],
  ] as const)
    it(`is 503 if the chain is unreachable or unreliable, and shows which: ${trouble ?? 'a contradiction'}`, async () => {
      const fault = trouble ? new RpcFault(trouble, 'https://rpc/KEY') : new ChainFault('https://rpc/KEY')
      found = () => Promise.reject(fault)
      const { status, json } = await claim(hashOf('rpc'))
      assert.equal(status, 503)
      assert.match(json.error, says)
    })

  it('reads nothing from the chain for an invalid hash', async () => {
    asked = []
    assert.equal((await claim('0x12')).status, 400)
    assert.deepEqual(asked, [])
  })

  it('by many callers reads the chain once, and an unknown hash not again for a moment', async () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    found = () => gate.then(() => ({ kind: 'notFound' }))
    asked = []
    const txHash = hashOf('coalesced')
    service.clock.now += 60_000
    const answers = Array.from({ length: 15 }, (_, i) =>
      service.post('/api/payments/claim', { txHash }, { from: `127.0.0.${i + 20}` }),
    )
    setTimeout(release, 100)
    assert.deepEqual(new Set((await Promise.all(answers)).map((answer) => answer.status)), new Set([409]))
    assert.equal((await service.post('/api/payments/claim', { txHash })).status, 409)
    assert.equal(asked.length, 1)
    service.clock.now += 5_000
    await service.post('/api/payments/claim', { txHash })
    assert.equal(asked.length, 2)
  })

  it('of a flood of hashes lets a few at a time reach the chain, and others must come back', async () => {
    let [inside, most, answered] = [0, 0, 0]
    const gate = Promise.withResolvers<void>()
    found = async () => {
      most = Math.max(most, ++inside)
      await gate.promise
      inside--
      return { kind: 'notFound' }
    }
    service.clock.now += 60_000
    const answers = Array.from({ length: 200 }, (_, i) =>
      service.post('/api/payments/claim', { txHash: hashOf(`flood ${i}`) }, { from: `127.0.1.${i}` }),
    )
    // Claims that read the chain, or wait for it, get their answer when it answers.
    for (const answer of answers)
      answer.then(() => {
        if (++answered === 128) gate.resolve()
      })
    const statuses = (await Promise.all(answers)).map((answer) => answer.status)
    assert.ok(most <= 8, `${most} at a time`)
    assert.deepEqual([statuses.filter((s) => s === 409).length, statuses.filter((s) => s === 503).length], [72, 128])
  })
})

it('is 503 without a payments address, because the payment may be a sale and a retry may help', async () => {
  let found: ClaimOutcome = { kind: 'notASale', why: 'nothing goes to no address' }
  const passes = { claim: async () => found } as unknown as Passes
  const service = await startService({ passes, paymentAddress: null })
  await insertSmallLedger(service.sql)
  assert.equal((await service.post('/api/payments/claim', { txHash: hashOf('unsold') })).status, 503)
  found = { kind: 'known' }
  const recorded = await service.post('/api/payments/claim', { txHash: hashOf('pay 1') })
  assert.deepEqual([recorded.status, recorded.json.status], [200, 'minted'])
  await service.close()
})
