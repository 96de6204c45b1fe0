// Probes one provider: its chain, its head, its final block, how far back it has states, and whether it serves logs. It asks only this provider, and
// asks once. Throws a ChainFault if the provider does not answer.
import type { Address } from '../../domain/units.ts'
import { silentLog } from '../../lib/log.ts'
import { tracesBlocks } from '../evidence/trace/block.ts'
import { isOfKind } from './kinds.ts'
import { createRpc, type Rpc } from './rpc.ts'
import { count, header, toQuantity } from './wire.ts'

/** Short, because a person is waiting for the answer. */
const TIMEOUT_MS = 5_000
/** Numbers of blocks after which nodes usually prune states; 128 is geth's default. */
const DEPTHS = [1_000_000, 100_000, 10_000, 1_000, 128, 64, 16]

export interface Head {
  number: number
  /** Unix seconds. */
  time: number
}

export interface ProviderProbe {
  chainId: number
  head: Head
  /** The highest block that the provider calls final; null if it does not support the tag. */
  finalized: number | null
  /** How many blocks back the provider has states; null if it has all states since `startBlock`. */
  statesBack: number | null
  answeredMs: number
  /** True if the provider serves the logs of a block. We need them to follow the chain. */
  logs: boolean
  /** True if the provider traces blocks. If it does not, we cannot attribute the value that contracts send. */
  traces: boolean
}

/** Probes one provider. `factory` and `startBlock` serve to find out how far back its states go. */
export async function probeProvider(url: string, factory: Address, startBlock: number): Promise<ProviderProbe> {
  const rpc = createRpc({ urls: [url], log: silentLog, timeoutMs: TIMEOUT_MS })
  try {
    const began = performance.now()
    const chainId = count(await rpc.request('eth_chainId', []), 'chain id')
    const answeredMs = Math.round(performance.now() - began)
    const { number, hash, time } = header(await rpc.request('eth_getBlockByNumber', ['latest', false]))
    const reply = await rpc.call('eth_getBlockByNumber', ['finalized', false])
    const finalized = reply.ok && reply.result !== null ? header(reply.result).number : null
    const statesBack = await statesBackOf(rpc, factory, startBlock, number)
    const logs = await answers(rpc, 'eth_getLogs', [{ address: factory, blockHash: hash }])
    const traces = await tracesBlocks(rpc)
    return { chainId, head: { number, time }, finalized, statesBack, answeredMs, logs, traces }
  } finally {
    await rpc.close()
  }
}

/** True if the provider answers the call with something of the kind that it should return. */
async function answers(rpc: Rpc, method: string, params: readonly unknown[]): Promise<boolean> {
  const reply = await rpc.call(method, params)
  return reply.ok && isOfKind(method, reply.result)
}

async function statesBackOf(rpc: Rpc, factory: Address, startBlock: number, head: number): Promise<number | null> {
  const has = (block: number) => answers(rpc, 'eth_getBalance', [factory, toQuantity(block)])
  if (await has(Math.min(startBlock, head))) return null
  for (const depth of DEPTHS) if (head - depth > startBlock && (await has(head - depth))) return depth
  return 0
}
