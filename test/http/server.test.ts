// The server itself: how it parses paths, its answers if our own code fails, and its shutdown.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { it } from 'node:test'
import { pino } from 'pino'
import type { Passes } from '../../src/ports/outcomes.ts'
import { CRON_KEY, startService } from '../support/http.ts'
import { insertSmallLedger, walletOf } from '../support/http-ledger.ts'

it('takes a path as it is written, with percent signs decoded once', async () => {
  const service = await startService()
  await insertSmallLedger(service.sql)
  const wallet = walletOf(1)
  const same = [`/api/nodes/${wallet}`, `/api/nodes/${wallet}?limit`, `/%61pi/nodes/%30${wallet.slice(1)}`]
  for (const path of same) assert.equal((await service.get(path)).status, 200, path)
  const other = [
    '/api/nodes',
    '/api/nodes/',
    '/api//stats',
    '/api/stats/',
    '/API/stats',
    '/api/nodes/x/y',
    '//api/stats',
  ]
  for (const path of other) assert.ok([400, 404].includes((await service.get(path)).status), path)
  const encodedTwice = await service.get('/%2561pi/stats')
  assert.equal(encodedTwice.status, 404)
  for (const path of ['/%', '/%zz', '/%ff', '/api/node/%c3%28', '/%c0%af'])
    assert.deepEqual([(await service.get(path)).json], [{ error: 'The request target cannot be read.' }], path)
  assert.equal((await service.get('/api/node/1?limit=%')).status, 400)
  await service.close()
})

it('answers 500 in the envelope and logs the reason if a fault comes from outside the routes', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  let faults = 0
  const fault = () => {
    if (faults === 0) return false
    faults--
    throw new TypeError('the very detail')
  }
  const service = await startService({ log, draining: fault })
  // Answered at once, and after waiting for something.
  for (const path of ['/healthz', '/api/stats']) {
    faults = 1
    const { status, text } = await service.get(path)
    assert.deepEqual([status, text], [500, '{"error":"Unexpected failure."}'], path)
    assert.match(lines.pop() ?? '', /the very detail/)
  }
  await service.close()
})

// Well before an idle connection would time out.
it('when closing ends idle connections immediately, and others after their answers', { timeout: 30_000 }, async () => {
  const began = Promise.withResolvers<void>()
  const ran = Promise.withResolvers<void>()
  const payments = () => {
    began.resolve()
    return ran.promise.then(() => Promise.reject(new Error('it is over')))
  }
  const service = await startService({ passes: { payments } as unknown as Passes })
  const agent = new Agent({ keepAlive: true })
  const ask = (path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = get({ port: service.port, path, agent, headers: { 'x-cron-key': CRON_KEY } }, resolve)
      request.on('error', reject)
    })
  const running = ask('/api/cron/payments')
  await began.promise
  const idle = await ask('/healthz')
  const { socket } = idle
  await once(idle.resume(), 'end')
  const ended = once(socket, 'close')
  let closed = false
  const closing = service.close().then(() => {
    closed = true
  })
  await ended
  assert.equal(closed, false)
  await assert.rejects(ask('/healthz'), { code: 'ECONNREFUSED' })
  assert.equal(closed, false)
  ran.resolve()
  const answer = await running
  answer.resume()
  assert.deepEqual([answer.statusCode, answer.headers.connection], [500, 'close'])
  await closing
  agent.destroy()
})
