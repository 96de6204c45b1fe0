// What the doctor finds out about a provider by questions whose right answer it knows.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { haveTraces } from '../../src/chain/evidence/trace/block.ts'
import { probeProvider } from '../../src/chain/rpc/probe.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { runChecks } from '../../src/checks/check.ts'
import { ASKED_CHECKS } from '../../src/checks/providers.ts'
import type { Address } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { startTestChain, type TestChain } from '../support/anvil.ts'

const FACTORY = `0x${'fa'.repeat(20)}` as Address
let chain: TestChain
let provider: FalseProvider
before(async () => {
  chain = await startTestChain()
  provider = await startFalseProvider(chain.rpcUrl)
  await chain.send({ from: chain.accounts[0]?.address ?? '', to: FACTORY, value: '0x1' })
  await chain.mine(4)
})
beforeEach(() => {
  provider.rule = () => undefined
  provider.http = () => undefined
})
after(async () => {
  await provider.close()
  await chain.stop()
})

async function look(check: string) {
  const rpc = createRpc({ urls: [provider.url], log: silentLog, timeoutMs: 5_000 })
  try {
    const findings = await runChecks(ASKED_CHECKS, { factory: FACTORY, rpc, headNumber: 4 })
    return findings.find((finding) => finding.check === check) ?? assert.fail(check)
  } finally {
    await rpc.close()
  }
}

test('a provider that gives a state of a block which is not there is not to be used', async () => {
  assert.equal((await look('chain.states')).verdict, 'ok')
  provider.rule = ({ method }) => (method === 'eth_getBalance' ? { result: '0x5' } : undefined)
  const finding = await look('chain.states')
  assert.equal(finding.verdict, 'fail')
  assert.match(finding.says, /ignores the requested block/)
})

test('gas counted so that a mint fits a transaction just so, and by one too much', async () => {
  assert.equal((await look('chain.gas')).verdict, 'ok')
  const most = 2 ** 24 / 8
  for (const [gas, verdict] of [
    [most - 1, 'ok'],
    [most, 'ok'],
    [most + 1, 'fail'],
  ] as const) {
    provider.rule = ({ method }) => (method === 'eth_estimateGas' ? { result: `0x${gas.toString(16)}` } : undefined)
    assert.equal((await look('chain.gas')).verdict, verdict, String(gas))
  }
})

test('traces are tried on a block that has transactions: any node traces an empty one', async () => {
  const filled = (await chain.block(1)).hash
  provider.rule = ({ method, params }) => {
    if (!/trace/i.test(method)) return undefined
    const isFilled = params[0] === filled || Number(params[0]) === 1
    return isFilled ? { error: { code: -32000, message: 'required historical state unavailable' } } : { result: [] }
  }
  assert.equal((await probeProvider(provider.url, FACTORY, 0)).traces, false)
})

test('traces count if the only provider gives them; of two, both must', async () => {
  const counts = async (...urls: string[]) => {
    const rpc = createRpc({ urls, log: silentLog, timeoutMs: 5_000 })
    return await haveTraces(rpc).finally(() => rpc.close())
  }
  assert.equal(await counts(provider.url), true)
  assert.equal(await counts(chain.rpcUrl, provider.url), true)
  provider.rule = ({ method }) =>
    /trace/i.test(method) ? { error: { code: -32601, message: 'not available' } } : undefined
  assert.equal(await counts(provider.url), false)
  assert.equal(await counts(chain.rpcUrl, provider.url), false)
})
