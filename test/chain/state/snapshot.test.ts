// One call tells of the state after a block just what single questions tell of it; anything else that comes in its place is no snapshot.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createContractReader } from '../../../src/chain/read/contract.ts'
import { createChainReader } from '../../../src/chain/read/reader.ts'
import type { Hash } from '../../../src/domain/units.ts'
import { FOREVER } from '../../support/factory.ts'
import type { Rule } from '../false-provider.ts'
import { type Stage, startStage } from '../stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
  const openings = [{ tierNo: 2, firstDue: (await stage.head()).time + 1_000, intervalSec: 600 }]
  await stage.send(stage.minter, { kind: 'openCohorts', first: 1, openings, validUntil: FOREVER })
  const orders = [{ to: stage.at(5), cohort: 1, ref: `0x${'a'.repeat(64)}` as Hash }]
  await stage.send(stage.minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
})
after(() => stage.close())

test('a snapshot has the chain’s id, balances and the factory’s figures as single questions have them, also of an earlier block', async () => {
  const { at, chain, factory, rpc, watched } = stage
  const reader = createChainReader(rpc, watched)
  const contract = createContractReader(rpc, factory)
  const early = await stage.head()
  await stage.pay(6, 12_345n)
  await stage.act(0, 'pause', [])
  await chain.mine()
  for (const block of [early, await stage.head()]) {
    const accounts = [at(3), at(1)]
    const snapshot = await reader.snapshot(block, accounts)
    assert.equal(snapshot?.chainId, chain.chainId)
    assert.deepEqual([snapshot.at.hash, snapshot.at.number], [block.hash, block.number])
    for (const account of [...accounts, factory])
      assert.equal(snapshot.balances.get(account), await contract.balance(account, block.number))
    assert.deepEqual(snapshot.figures, {
      counters: await contract.counters(block.number),
      budget: await contract.budget(block.number),
      bounds: await contract.bounds(block.number),
    })
  }
  assert.equal((await reader.snapshot(await stage.head(), []))?.figures?.counters.paused, true)
  await stage.act(0, 'unpause', [])
})

test('before the factory is there, a snapshot has balances and no figures', async () => {
  const [{ hash }, { rpc, watched, at }] = [await stage.chain.block(0), stage]
  const snapshot = await createChainReader(rpc, watched).snapshot({ number: 0, hash: hash as Hash }, [at(3)])
  assert.equal(snapshot?.figures, null)
  assert.ok((snapshot?.balances.get(at(3)) ?? 0n) > 0n)
})

test('a block that the provider does not have, an error, and an answer of another length are no snapshot', async () => {
  const answers: Rule[] = [
    () => ({ error: { code: -32601, message: 'the method eth_call needs a contract' } }),
    () => ({ result: '0x' }),
    () => ({ result: null }),
    async (_, forward) => ({ result: `${((await forward()) as { result: string }).result}00` }),
    async (_, forward) => ({ result: `0x${'f'.repeat(((await forward()) as { result: string }).result.length - 2)}` }),
  ]
  for (const answer of answers) {
    const { rpc, provider } = await stage.behind()
    provider.rule = (call, forward) => (call.method === 'eth_call' ? answer(call, forward) : undefined)
    const reader = createChainReader(rpc, stage.watched)
    assert.equal(await reader.snapshot(await stage.head(), []), null)
    provider.rule = () => undefined
    assert.equal(await reader.snapshot(await stage.head(), []), null, 'it is not asked again at once')
  }
  const other = { number: (await stage.head()).number, hash: `0x${'ab'.repeat(32)}` as Hash }
  assert.equal(await createChainReader(stage.rpc, stage.watched).snapshot(other, []), null)
})
