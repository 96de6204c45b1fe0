// Node pages requested at once, and so read together: each equals the page read alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../support/http.ts'
import { insertSmallLedger } from '../../support/http-ledger.ts'

let service: Service
before(async () => {
  service = await startService()
  await insertSmallLedger(service.sql)
})
after(() => service.close())

test('simultaneous pages get the answer that each gets alone', async () => {
  const ids = ['1', '2', '1000000001', '1000000002', '999', String(2n ** 63n)]
  const paths = ids.flatMap((id) => ['', '?limit=1', '?limit=2'].map((query) => `/api/node/${id}${query}`))
  const alone: [number, string][] = []
  for (const path of paths) {
    const { status, text } = await service.get(path)
    alone.push([status, text])
  }
  assert.equal(new Set(alone.map(([, text]) => text)).size > ids.length, true)
  const together = await Promise.all(paths.map((path) => service.get(path)))
  assert.deepEqual(
    together.map(({ status, text }) => [status, text]),
    alone,
  )
})
