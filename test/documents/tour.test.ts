// The README's tour and the example of docs/REWARDS.md, word for word.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { turnDigest } from '../../src/chain/digest.ts'
import { turnAmountWei } from '../../src/domain/rounds/turn-amounts.ts'
import { hash } from '../../src/domain/units.ts'
import { startService, type WellKnown } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { blocksOf, ROOT, readPage } from './pages.ts'
import { PLAY_TIMEOUT_MS, play } from './play.ts'

test('the tour shows what is on sale, buys a node, and shows it', { timeout: PLAY_TIMEOUT_MS }, async () => {
  const service = await startService(temporaryDirectory(), { TICK_SEC: '1' })
  try {
    const { rpcUrl } = await service.get<WellKnown>('/.well-known/node-ledger.json')
    const values = { 'localhost:3000': new URL(service.url).host, 'localhost:8545': new URL(rpcUrl).host }
    const tour = blocksOf(readPage('README.md')).filter(({ text }) => text.includes('localhost'))
    const last = tour.at(-1)?.text ?? ''
    const before = await play(
      tour.slice(0, -1).map(({ text }) => text),
      values,
    )
    assert.equal(before.code, 0, before.said)
    assert.match(
      before.outputs[0] ?? '',
      /"paymentAddress":"0x90f79bf6eb2c4f870365e785982e1f101e93b906"[\s\S]*"id":"basic"/,
    )
    await until('the node', async () => (await service.get<{ totalNodes: number }>('/api/stats')).totalNodes === 1)
    const { code, outputs } = await play([last], values)
    assert.equal(code, 0)
    assert.match(outputs[0] ?? '', /"nodeId":"1"[\s\S]*"matchesLedger":true/)
  } finally {
    await service.stop()
  }
})

test('the example of REWARDS.md prints what it promises, and the service pays that', () => {
  const example = blocksOf(readPage('docs/REWARDS.md')).find(({ language }) => language === 'js')?.text ?? ''
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: ROOT,
    encoding: 'utf8',
  }).trim()
  assert.ok(example.includes(`// ${printed}\n`), printed)
  const [, seed = '', cohort, due, min = '', max = '', bps] =
    /seed: '(0x\w+)',\s+cohort: (\d+), dueSec: (\d+), minWei: (\d+)n, maxWei: (\d+)n, payoutBps: (\d+)/.exec(example) ??
    []
  const terms = { minWei: BigInt(min), maxWei: BigInt(max) }
  assert.equal(`${turnAmountWei(turnDigest(hash(seed), Number(cohort), Number(due)), terms, Number(bps))}n`, printed)
})
