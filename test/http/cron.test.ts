// The scheduled routes and the operator's: which key opens which route, and when; nothing else does.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ChainFault } from '../../src/ports/faults.ts'
import type { Passes } from '../../src/ports/outcomes.ts'
import { ADMIN_KEY, CRON_KEY, type Service, startService } from '../support/http.ts'
import { hashOf } from '../support/http-ledger.ts'
import { startWorld } from '../support/world.ts'

let ran: string[] = []
const passes: Passes = {
  payments: async () => {
    ran.push('payments')
    return {
      ran: true,
      fromBlock: 1,
      toBlock: 9,
      headBlock: 9,
      detected: 2,
      minted: 1,
      held: 1,
      pending: 0,
      reconciled: 0,
      signer: 'signed',
      budgetSpent: null,
      durationMs: 12,
    }
  },
  credit: async () => {
    ran.push('credit')
    return {
      ran: true,
      reason: null,
      distributionId: 3,
      nodeCount: 2,
      totalWei: 5n as never,
      dueNodes: 2,
      txHash: hashOf('round'),
      signer: null,
      durationMs: 7,
    }
  },
  claim: async () => ({ kind: 'notFound' }),
}

describe('cron routes', () => {
  let service: Service
  before(async () => {
    service = await startService({ passes })
  })
  after(() => service.close())
  const key = { 'x-cron-key': CRON_KEY }
  const bearer = { authorization: `Bearer ${CRON_KEY}` }

  it('run their pass on GET and POST, with or without a body, and show its outcome', async () => {
    ran = []
    for (const method of ['GET', 'POST']) {
      const payments = await service.ask(method, '/api/cron/payments', { headers: key })
      assert.equal(payments.status, 200)
      assert.equal(payments.headers['cache-control'], 'no-store')
      assert.deepEqual(payments.json, await passes.payments())
      const credit = await service.ask(method, '/api/cron/credit', { headers: key })
      assert.equal(credit.status, 200)
      assert.deepEqual(credit.json, { ...(await passes.credit()), totalWei: '5' })
    }
    assert.equal((await service.post('/api/cron/credit', 'not json at all', { headers: key })).status, 200)
    assert.deepEqual(ran.filter((name) => name === 'payments').length, 4)
  })

  it('payments takes a bearer token too, credit does not', async () => {
    for (const headers of [bearer, { authorization: `bearer ${CRON_KEY}` }])
      assert.equal((await service.get('/api/cron/payments', { headers })).status, 200)
    assert.equal((await service.get('/api/cron/credit', { headers: bearer })).status, 401)
  })

  it('refuse every other key in the same words, and run nothing', async () => {
    ran = []
    const wrong = [
      '',
      'x',
      CRON_KEY.slice(0, -1),
      `${CRON_KEY}x`,
      CRON_KEY.toUpperCase(),
      'x'.repeat(10_000),
      `${CRON_KEY} ${CRON_KEY}`,
      ADMIN_KEY,
      [CRON_KEY, CRON_KEY],
    ]
    const bodies = new Set<string>()
    for (const path of ['/api/cron/payments', '/api/cron/credit']) {
      for (const value of wrong) {
        const answer = await service.get(path, { headers: { 'x-cron-key': value } })
        assert.equal(answer.status, 401, String(value).slice(0, 80))
        bodies.add(answer.text)
      }
      assert.equal((await service.get(`${path}?x-cron-key=${CRON_KEY}&key=${CRON_KEY}`)).status, 401)
      assert.equal((await service.post(path, { 'x-cron-key': CRON_KEY })).status, 401)
      assert.equal((await service.get(path)).status, 401)
      const twice = [`Bearer ${CRON_KEY}`, `Bearer ${CRON_KEY}`]
      for (const authorization of [twice, 'Bearer', 'Bearer ', `Basic ${CRON_KEY}`, `Bearer  ${CRON_KEY}`, CRON_KEY])
        assert.equal(
          (await service.get(path, { headers: { authorization: authorization as string } })).status,
          401,
          String(authorization),
        )
    }
    // A right key in one header does not excuse a wrong one in the other.
    assert.equal((await service.get('/api/cron/payments', { headers: { ...bearer, 'x-cron-key': 'x' } })).status, 401)
    assert.equal(bodies.size, 1)
    assert.deepEqual(ran, [])
  })

  it('never run on HEAD or OPTIONS', async () => {
    ran = []
    for (const path of ['/api/cron/payments', '/api/cron/credit']) {
      const head = await service.ask('HEAD', path, { headers: key })
      assert.deepEqual([head.status, head.headers.allow], [405, 'GET, POST, OPTIONS'])
      assert.equal((await service.ask('OPTIONS', path, { headers: key })).status, 204)
      assert.equal((await service.ask('PUT', path, { headers: key })).status, 405)
    }
    assert.deepEqual(ran, [])
  })

  it('check the key before the method: without it every method is 401', async () => {
    ran = []
    for (const path of ['/api/cron/payments', '/api/cron/credit']) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']) {
        const { status, headers } = await service.ask(method, path)
        assert.deepEqual([status, headers.allow], [401, undefined], `${method} ${path}`)
      }
    }
    assert.deepEqual(ran, [])
  })

  it('answer a run that overlaps another with ran: false, and null for what was not counted', async () => {
    const world = await startWorld()
    const passing = world.ctx.lock
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holder = passing('payments', () =>
      passing('credit', async () => {
        begun.resolve()
        await held.promise
      }),
    )
    await begun.promise
    const busy = await startService({ passes: { ...passes, payments: world.payments, credit: world.credit } })
    const counts = [
      'detected',
      'minted',
      'held',
      'pending',
      'reconciled',
      'durationMs',
      'signer',
      'budgetSpent',
    ] as const
    const blocks = { fromBlock: null, toBlock: null, headBlock: null }
    const payments = await busy.get('/api/cron/payments', { headers: key })
    assert.equal(payments.status, 200)
    assert.deepEqual(payments.json, {
      ran: false,
      ...blocks,
      ...Object.fromEntries(counts.map((name) => [name, null])),
    })
    const credit = await busy.get('/api/cron/credit', { headers: key })
    assert.equal(credit.status, 200)
    assert.deepEqual(credit.json, {
      ran: false,
      reason: null,
      distributionId: null,
      nodeCount: null,
      totalWei: null,
      dueNodes: null,
      txHash: null,
      signer: null,
      durationMs: null,
    })
    held.resolve()
    await holder
    await busy.close()
    await world.close()
  })

  it('without a configured key: payments is not there, credit stays shut', async () => {
    const keyless = await startService({ passes, settings: { cronKey: null } })
    ran = []
    for (const headers of [{}, key, bearer, { 'x-cron-key': '' }, { authorization: 'Bearer ' }]) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'])
        assert.equal((await keyless.ask(method, '/api/cron/payments', { headers })).status, 404, method)
      assert.equal((await keyless.get('/api/cron/credit', { headers })).status, 401)
    }
    assert.deepEqual(ran, [])
    await keyless.close()
  })

  it('answer 503 without a reachable chain, and 500 without details for a bug', async () => {
    for (const [given, status] of [
      [
        {
          ...passes,
          payments: () => Promise.reject(new ChainFault('https://rpc.example/v2/SECRETKEY says no')),
        },
        503,
      ],
      [{ ...passes, payments: () => Promise.reject(new TypeError('undefined is not a function at SECRET_ENV')) }, 500],
    ] as const) {
      const broken = await startService({ passes: given })
      const answer = await broken.get('/api/cron/payments', { headers: key })
      assert.equal(answer.status, status)
      assert.doesNotMatch(answer.text, /SECRET|rpc|undefined/)
      await broken.close()
    }
  })
})

describe('the admin door', () => {
  it('is absent without a key, closed to a wrong one, and leads a right one only to routes', async () => {
    const keys = [
      { label: 'ops', key: ADMIN_KEY },
      { label: 'night', key: 'another-key-of-the-tests-0123456789' },
    ]
    const service = await startService({ settings: { adminKeys: keys } })
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      for (const path of ['/api/admin', '/api/admin/', '/api/admin/nowhere', '/api/admin/a/b/c']) {
        for (const { key } of keys)
          assert.equal((await service.ask(method, path, { headers: { 'x-admin-key': key } })).status, 404, path)
        for (const key of ['', 'x', `${ADMIN_KEY}x`, CRON_KEY, [ADMIN_KEY, ADMIN_KEY]])
          assert.equal((await service.ask(method, path, { headers: { 'x-admin-key': key } })).status, 401, path)
        assert.equal((await service.ask(method, path)).status, 401)
        // Wrong keys count per minute.
        service.clock.now += 60_000
      }
    }
    await service.close()
    const keyless = await startService({ settings: { adminKeys: [] } })
    for (const headers of [{}, { 'x-admin-key': '' }, { 'x-admin-key': ADMIN_KEY }]) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'])
        assert.equal((await keyless.ask(method, '/api/admin/payments', { headers })).status, 404, method)
    }
    await keyless.close()
  })
})
