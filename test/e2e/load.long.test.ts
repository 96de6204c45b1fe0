// Reads the service at a constant rate while its passes run, blocks with payments arrive and its provider fails one request in
// ten: every request is answered, and none with a failure of the service. The bench `load` measures the speed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBusiness } from '../../bench/lib/business.ts'
import { loadAt } from '../../bench/lib/constant-rate.ts'
import { endWell } from '../faults/stage.ts'

const PER_SECOND = 100
const SEC = 30
const BLOCK_MS = 1_000
const ROUNDS = 5
/** Only ends a run that hangs. */
const TIMEOUT_MS = 300_000

test('under load and provider faults, every request gets an answer, and none an error', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const business = await openBusiness(ROUNDS)
  try {
    const { stage, service, sorts } = business
    const before = await totalNodes(service.url)
    const calledOff = new AbortController()
    const goingOn = business.goOn(BLOCK_MS, calledOff.signal)
    const load = { origin: service.url, perSecond: PER_SECOND, sec: SEC, sorts }
    const { requests, statuses, failures, p99 } = await loadAt(load).finally(() => calledOff.abort())
    const { blocks, payments, faults } = await goingOn
    t.diagnostic(`p99 ${Math.round(p99)} ms; ${blocks} blocks, ${payments} payments, ${faults} RPC faults`)
    assert.deepEqual(failures, [])
    assert.deepEqual([...statuses], [[200, requests]])
    assert.ok(faults > 0, 'the provider never failed')
    await business.comeToRest()
    const after = await totalNodes(service.url)
    assert.equal(after, before + payments)
    await service.stop()
    await endWell(stage)
  } finally {
    await business.close()
  }
})

async function totalNodes(url: string): Promise<number> {
  const answer = (await (await fetch(`${url}/api/stats`)).json()) as { totalNodes: number }
  return answer.totalNodes
}
