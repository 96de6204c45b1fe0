// Claims and syncs queue for their turn to read the chain (src/http/tools.ts).
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, it } from 'node:test'
import type { Passes, Syncer } from '../../../src/ports/outcomes.ts'
import { SESSION_SECRET, type Service, START_MS, startService } from '../../support/http.ts'
import { hashOf, insertSmallLedger, walletOf } from '../../support/http-ledger.ts'
import { until } from '../../support/until.ts'

let service: Service
let gate = Promise.withResolvers<void>()
let [inside, most] = [0, 0]

before(async () => {
  const ask = async () => {
    most = Math.max(most, ++inside)
    await gate.promise
    inside--
    return { kind: 'notFound' } as const
  }
  const syncer: Syncer = { byTransaction: ask, byNodeId: ask }
  service = await startService({ passes: { claim: ask } as unknown as Passes, syncer })
  await insertSmallLedger(service.sql)
})
after(() => service.close())
beforeEach(() => {
  gate = Promise.withResolvers()
  ;[inside, most] = [0, 0]
  service.clock.now += 60_000
})

const session = `${walletOf(1)}.${Math.floor(START_MS / 1000) + 100_000}`
const cookie = `nl_session=${session}.${createHmac('sha256', SESSION_SECRET).update(session).digest('base64url')}`
const claim = (what: string, from: string) => service.post('/api/payments/claim', { txHash: hashOf(what) }, { from })
const sync = (what: string, from: string) =>
  service.post('/api/nodes/sync', { txHash: hashOf(what) }, { from, headers: { cookie } })
const statusesOf = async (answers: ReturnType<typeof claim>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

it('claims and syncs share a limit on chain reads, and callers beyond it must come back', async () => {
  const answers = Array.from({ length: 100 }, (_, i) => (i % 2 ? claim : sync)(`flood ${i}`, `127.0.2.${i}`))
  let answered = 0
  for (const answer of answers) answer.then(() => ++answered === 28 && gate.resolve())
  const statuses = await statusesOf(answers)
  assert.equal(most, 8)
  assert.equal(statuses.filter((status) => status === 503).length, 28)
})

it('a caller with slow requests delays no one else', async () => {
  const greedy = Array.from({ length: 8 }, (_, i) => (i % 2 ? claim : sync)(`greedy ${i}`, '127.0.3.1'))
  await until('two of them ask', () => inside === 2)
  const others = [claim('greedy 7', '127.0.3.2'), sync('other', '127.0.3.3')]
  await until('the others ask, too', () => inside === 4)
  gate.resolve()
  assert.deepEqual(await statusesOf(others), [409, 404])
  assert.ok((await statusesOf(greedy)).every((status) => status === 409 || status === 404))
})

it('ten simultaneous claims of one payment, and ten buyers of one address, all get an answer', async () => {
  const same = Array.from({ length: 10 }, () => claim('same', '127.0.4.1'))
  await until('one of them asks', () => inside === 1)
  const others = Array.from({ length: 10 }, (_, i) => claim(`buyer ${i}`, '127.0.4.2'))
  await until('two of the others ask', () => inside === 3)
  gate.resolve()
  assert.deepEqual([...new Set(await statusesOf([...same, ...others]))], [409])
})
