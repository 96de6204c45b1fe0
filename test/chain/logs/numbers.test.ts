// A provider that numbers each transaction's logs from 0, as Sei's do, or does not number them. The ledger stores the place in the block, and what the
// reconciler repairs has the same place as before, beside what else is stored of the block.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { loseNode } from '../../support/faults/differences.ts'
import { checkInvariants } from '../../support/invariants.ts'
import { ETHER, INTERVAL_SEC, ownerAbi, startWorld, type World } from '../../support/world.ts'
import { startFalseProvider } from '../false-provider.ts'

type Numbered = { transactionHash: string; logIndex: string }

const NUMBERINGS: Record<string, (log: Numbered) => Promise<Numbered>> = {
  'from 0 in each transaction': async (log) => {
    const { logs } = await world.chain.rpc<{ logs: Numbered[] }>('eth_getTransactionReceipt', [log.transactionHash])
    return { ...log, logIndex: `0x${logs.findIndex(({ logIndex }) => logIndex === log.logIndex).toString(16)}` }
  },
  'all as 0': async (log) => ({ ...log, logIndex: '0x0' }),
}

let world: World
let number = async (log: Numbered) => log
beforeEach(async () => {
  const between = async (target: string) => {
    const provider = await startFalseProvider(target)
    provider.rule = async ({ method }, forward) => {
      if (method === 'eth_getBlockReceipts') return { error: { code: -32601, message: 'method not found' } }
      if (method !== 'eth_getLogs') return undefined
      const { result } = (await forward()) as { result: Numbered[] }
      return { result: await Promise.all(result.map(number)) }
    }
    return { urls: [provider.url], close: () => provider.close() }
  }
  world = await startWorld({}, { between })
})
afterEach(() => world.close())

for (const [name, numbering] of Object.entries(NUMBERINGS))
  test(`logs numbered ${name}: a node that the ledger lost comes back beside the others of its blocks`, async () => {
    number = numbering
    await world.settle()
    for (const account of [5, 6]) await world.pay(account, ETHER / 100n)
    await world.settle()
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.rest()
    // Both nodes move and are withdrawn from in one block.
    for (const [account, node] of [
      [5, 1n],
      [6, 2n],
    ] as const) {
      const send = (functionName: string, args: readonly unknown[]) => {
        const data = encodeFunctionData({ abi: ownerAbi, functionName, args } as never)
        return world.chain.send({ from: world.at(account), to: world.factory, data, gas: '0x200000' })
      }
      await send('withdraw', [node, world.at(account), 1_000n])
      await send('transferFrom', [world.at(account), world.at(account + 2), node])
    }
    await world.rest()
    const rows = () => world.pool`
      SELECT 'transfer' AS kind, node_id, block_number, log_index FROM node_transfers UNION ALL
      SELECT 'withdrawal', node_id, block_number, log_index FROM withdrawals ORDER BY 1, 2, 3, 4`
    const before = await rows()
    for (const nodeId of [1, 2]) {
      // The ledger goes back once for a block's hash.
      await world.pool`DELETE FROM audit WHERE action = 'leftOut'`
      await loseNode(world, nodeId)
      assert.equal((await world.payments()).reconciled, 1, `node ${nodeId}`)
      assert.deepEqual(await rows(), before)
    }
    await world.payments()
    await checkInvariants(world)
  })
