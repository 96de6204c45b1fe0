// Log lines about requests: one line of JSON each, with the request's id, and never a secret.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pino } from 'pino'
import type { Passes } from '../../src/ports/outcomes.ts'
import { CRON_KEY, startService } from '../support/http.ts'
import { hashOf } from '../support/http-ledger.ts'
import { exchange } from '../support/http-raw.ts'

function recorder() {
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const logged = (requestId: string) =>
    lines.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId)
  return { log, lines, logged }
}

it('has a line for each request with its id, and the detail of a failure beside it', async () => {
  const { log, logged } = recorder()
  const payments = () => Promise.reject(new TypeError('the very detail'))
  const service = await startService({ log, passes: { payments } as unknown as Passes })
  await service.get('/api/stats', { headers: { 'x-request-id': 'first' } })
  const [line] = logged('first')
  assert.deepEqual([line.method, line.path, line.status], ['GET', '/api/stats', 200])
  const headers = { 'x-request-id': 'second', 'x-cron-key': CRON_KEY }
  const answer = await service.get('/api/cron/payments', { headers })
  assert.equal(answer.status, 500)
  assert.doesNotMatch(answer.text, /detail|TypeError/)
  assert.match(JSON.stringify(logged('second')), /TypeError.*the very detail/)
  await service.close()
})

it('cannot be written into by a request, and holds no key, cookie, query or signature', async () => {
  const { log, lines } = recorder()
  const service = await startService({ log })
  const secrets = ['SECRETCOOKIE', 'SECRETKEY', 'SECRETQUERY', 'SECRETBODY', 'SECRETBEARER']
  const before = lines.length
  for (const path of ['/\xe2\x80\xa8', '/\x1b[31m', '/\x85', '/"%0d%0a{"level":60}'])
    await exchange(service.port, [`GET ${path}?x=SECRETQUERY HTTP/1.1\r\nHost: x\r\nUser-Agent: \x9b2J\r\n\r\n`])
  assert.equal(JSON.parse(lines.at(-1) ?? '').path, '/"%0d%0a{"level":60}')
  await service.get('/api/stats?key=SECRETQUERY')
  await service.get('/api/cron/payments', { headers: { 'x-cron-key': 'SECRETKEY' } })
  await service.get('/api/cron/payments', { headers: { authorization: 'Bearer SECRETBEARER' } })
  await service.get('/api/me', { headers: { cookie: 'nl_session=SECRETCOOKIE' } })
  await service.post('/api/auth/verify', { address: 'SECRETBODY', signature: 'SECRETBODY' })
  await service.post('/api/payments/claim', { txHash: hashOf('x'), more: 'SECRETBODY' })
  assert.ok(lines.length > before + 4)
  for (const line of lines) {
    assert.match(line, /^[\n -~]+\n$/, 'printable ASCII on one line')
    assert.equal(line.indexOf('\n'), line.length - 1)
    assert.ok(JSON.parse(line).level < 60)
    for (const secret of secrets) assert.ok(!line.includes(secret), line)
  }
  await service.close()
})
