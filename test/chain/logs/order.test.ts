// Logs of chains that number them in their own way: we order them by their transactions' order in the block.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createChainReader } from '../../../src/chain/evidence/reader.ts'
import type { Hash } from '../../../src/domain/units.ts'
import { FOREVER } from '../../support/factory.ts'
import { type Stage, startStage } from '../stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
  const openings = [{ tierNo: 2, firstDue: (await stage.head()).time + 1_000, intervalSec: 600 }]
  await stage.send(stage.minter, { kind: 'openCohorts', first: 1, openings, validUntil: FOREVER })
  const orders = [{ to: stage.at(6), cohort: 1, ref: `0x${'a'.repeat(64)}` as Hash }]
  await stage.send(stage.minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
})
after(() => stage.close())

test('logs that a chain counts by transaction, or not at all, are in the order of the block', async () => {
  const parent = await stage.head()
  await stage.act(6, 'transferFrom', [stage.at(6), stage.at(7), 1n])
  await stage.act(7, 'transferFrom', [stage.at(7), stage.at(6), 1n])
  await stage.chain.mine(2)
  for (const order of [(logs: object[]) => logs, (logs: object[]) => logs.toReversed()])
    for (const blocks of [1, 2]) {
      const { rpc, provider } = await stage.behind()
      provider.rule = async ({ method }, forward) => {
        if (method !== 'eth_getLogs') return undefined
        const { result } = (await forward()) as { result: object[] }
        return { result: order(result.map((log) => ({ ...log, logIndex: '0x0' }))) }
      }
      const reader = createChainReader(rpc, stage.watched)
      const range = await reader.observe(parent.number + 1, parent.number + blocks, parent.hash)
      assert.deepEqual(
        range.events.map((event) => [event.logIndex, event.kind === 'transfer' && event.to]),
        [
          [0, stage.at(7)],
          [1, stage.at(6)],
        ],
      )
    }
})
