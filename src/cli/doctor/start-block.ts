// Looks whether the ledger begins early enough: what a factory did before START_BLOCK is missing for good, and the passes stop on it.
import { orNull } from '../../chain/faults.ts'
import type { Rpc } from '../../chain/rpc.ts'
import { bytes, count, toQuantity } from '../../chain/wire.ts'
import type { ChainPart } from '../../parts.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const CHECK = 'chain.start'
const REMEDY = 'A ledger keeps the block it began with, so point DATABASE_URL at an empty database, too.'

/** By the factory's code in the block before; where no provider has that state, by its events. */
export async function lookAtStartBlock(chain: ChainPart, rpc: Rpc): Promise<Finding> {
  const { startBlock, factory } = chain
  if (startBlock === 0) return ok(CHECK, 'followed from block 0 on')
  const head = count(await rpc.request('eth_blockNumber', []), 'block number')
  const before = Math.min(startBlock - 1, head)
  const deployed = async (block: number) => {
    const reply = await orNull(rpc.call('eth_getCode', [factory, toQuantity(block)]))
    return reply?.ok ? bytes(reply.result, 'code') !== '0x' : null
  }
  const there = await deployed(before)
  if (there === true) return tooLate(startBlock, await firstBlock(deployed, before))
  if (there === false) return ok(CHECK, `the factory was not there before START_BLOCK=${startBlock}`)
  const filter = { address: factory, fromBlock: '0x0', toBlock: toQuantity(before) }
  const logs = await orNull(rpc.call('eth_getLogs', [filter]))
  if (!logs?.ok || !Array.isArray(logs.result)) {
    const todo = `See that START_BLOCK is the one that "node-ledger deploy" printed. ${REMEDY}`
    return warn(CHECK, 'no provider can tell whether the factory is older than START_BLOCK', todo)
  }
  const [first] = logs.result as { blockNumber?: unknown }[]
  if (first === undefined) return ok(CHECK, `the factory did nothing before START_BLOCK=${startBlock}`)
  return tooLate(startBlock, count(first.blockNumber, 'block number'))
}

function tooLate(startBlock: number, first: number | null): Finding {
  const says = `the factory is older than START_BLOCK=${startBlock}: what it did before is not in the ledger, and the passes stop on it`
  const block = first === null ? 'the block of its deployment, which an explorer shows' : String(first)
  return fail(CHECK, says, `Set START_BLOCK to ${block}. ${REMEDY}`, { startBlock, first })
}

/** The block of the deployment, by bisection; null where a state between is not to be had. */
async function firstBlock(deployed: (block: number) => Promise<boolean | null>, there: number): Promise<number | null> {
  let [low, high] = [-1, there]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const found = await deployed(middle)
    if (found === null) return null
    if (found) high = middle
    else low = middle
  }
  return high
}
