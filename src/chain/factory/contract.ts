// The factory's state for the passes: counters, nodes, cohorts, refs and balances, each read at one block. It must never answer from a cache, and
// never turn an answer that it cannot read into a number.
import { type Address, address, wei } from '../../domain/units.ts'
import { chunks, mapBounded } from '../../lib/parallel.ts'
import type { BlockRef } from '../../ports/chain.ts'
import type { ChainNode, ContractReader } from '../../ports/contract.ts'
import { ChainFault, orNull } from '../../ports/faults.ts'
import { readStorageRoot } from '../evidence/logs/storage-root.ts'
import { haveTraces } from '../evidence/trace/block.ts'
import { askEach, type ReadOptions, type Rpc, type RpcReads } from '../rpc/rpc.ts'
import { byHash, bytes, count, quantity, safeNumber, toQuantity } from '../rpc/wire.ts'
import { readView, readViews, requestView, type ViewArgs, type ViewName, type ViewResult, viewCall } from './calls.ts'
import { figure, figureNumber } from './figures.ts'

/** Nodes in one call. Each takes about 10,000 gas, and providers cap a call at 50 million gas or less. */
const NODES_PER_CALL = 500
const COHORTS_PER_REQUEST = 100
const IN_FLIGHT = 4
const GWEI = 10n ** 9n
/** One attempt at each provider, because others may answer. */
const ASIDE = { attempts: 1, timeoutMs: 2_000 }

const largest = (values: readonly bigint[]): bigint => values.reduce((most, value) => (value > most ? value : most))

/** Creates the reader of one factory. */
export function createContractReader(rpc: Rpc, factory: Address): ContractReader {
  async function view<Name extends ViewName>(
    at: number | 'latest',
    name: Name,
    args: ViewArgs<Name>,
  ): Promise<ViewResult<Name>> {
    return requestView(rpc, { factory, at, name, args })
  }

  const viewByAll: ByAll = (at, name) => viewFromAll(rpc, factory, { at, name })

  const balance: ContractReader['balance'] = async (of, atBlock) => {
    const at = atBlock === undefined ? 'latest' : toQuantity(atBlock)
    return wei(quantity(await rpc.request('eth_getBalance', [of, at]), 'balance'))
  }

  return {
    factory,

    async counters(atBlock) {
      const views = ['lastId', 'round', 'outstanding', 'isSolvent', 'paused'] as const
      const [[lastNodeId, round, outstanding, isSolvent, paused], contractBalanceWei] = await Promise.all([
        readViews(rpc, factory, atBlock, views),
        balance(factory, atBlock),
      ])
      return {
        blockNumber: atBlock,
        lastNodeId: figure(lastNodeId, 'nodeId'),
        round: figureNumber(round, 'round'),
        outstandingWei: wei(outstanding),
        contractBalanceWei,
        isSolvent,
        paused,
      }
    },

    async nodes(firstId, count, at) {
      if (firstId < 1n) throw new RangeError('nodes are numbered from 1')
      const starts = chunks(Array.from({ length: count }), NODES_PER_CALL).map(
        (piece, index) => ({ first: firstId + BigInt(index * NODES_PER_CALL), length: piece.length }) as const,
      )
      const pieces = await mapBounded(starts, IN_FLIGHT, ({ first, length }) =>
        readNodes(rpc, { factory, at, first, length }),
      )
      return pieces.flat()
    },

    async cohorts(cohorts, at) {
      const pieces = await mapBounded(chunks(cohorts, COHORTS_PER_REQUEST), IN_FLIGHT, async (piece) => {
        const calls = piece.map((id) => viewCall(factory, byHash(at.hash), 'cohort', [BigInt(id)]))
        const answers = await rpc.requestAll(calls)
        return answers.map((answer, index) => {
          const [perNode, size, nextDue, interval, tier] = readView('cohort', answer)
          return {
            cohort: piece[index] as number,
            tierNo: figureNumber(tier, 'tier'),
            perNodeWei: wei(figure(perNode, 'perNode')),
            size: figureNumber(size, 'nodes'),
            nextDue: figureNumber(nextDue, 'due'),
            intervalSec: figureNumber(interval, 'interval'),
          }
        })
      })
      return pieces.flat()
    },

    async nodeOfRef(ref, atBlock) {
      const id = await view(atBlock, 'nodeOfRef', [ref])
      return id === 0n ? null : figure(id, 'nodeId')
    },

    async maxPerWallet() {
      return safeNumber(largest(await viewByAll('latest', 'maxPerWallet')), 'cap per wallet')
    },

    async budget(atBlock) {
      const [budgets, lastCohort] = await Promise.all([viewByAll(atBlock, 'budget'), view(atBlock, 'lastCohort', [])])
      return {
        nodes: safeNumber(largest(budgets.map(([nodes]) => nodes)), 'nodes left'),
        cohorts: safeNumber(largest(budgets.map(([, cohorts]) => cohorts)), 'cohorts left'),
        lastCohort: figureNumber(lastCohort, 'cohort'),
      }
    },

    async bounds(atBlock) {
      const all = await viewByAll(atBlock, 'bounds')
      const [floorGwei, ceilingGwei] = [-largest(all.map(([floor]) => -floor)), largest(all.map(([, most]) => most))]
      return { floorWei: wei(floorGwei * GWEI), ceilingWei: wei(ceilingGwei * GWEI) }
    },
    paused: async (atBlock) => (await viewByAll(atBlock, 'paused')).every((isPaused) => isPaused),
    walletFacts: (wallet) => readWalletFacts(rpc, factory, wallet),
    async tierSupply(tierNo, at) {
      const [minted, most] = await view(at, 'tierSupply', [BigInt(tierNo)])
      return { minted: figureNumber(minted, 'nodes'), most: figureNumber(most, 'nodes') }
    },

    async distributor(atBlock) {
      const distributor = address(await view(atBlock, 'distributor', []))
      return BigInt(distributor) === 0n ? null : distributor
    },

    async leastIntervalSec() {
      return figureNumber(await view('latest', 'leastInterval', []), 'interval')
    },

    balance,

    async isDeployed(atBlock) {
      const code = await rpc.request('eth_getCode', [factory, toQuantity(atBlock)])
      return bytes(code, 'code').length > 2
    },

    storageRoot: (block) => orNull(readStorageRoot(rpc, factory, block)),

    async swapsAllowance() {
      return wei(largest(await viewByAll('latest', 'swapsAllowance')))
    },
  }
}

type ByAll = <Name extends ViewName>(at: number | 'latest', name: Name) => Promise<ViewResult<Name>[]>

/** What every provider answers. The contract refuses what is wrong, so we try a yes of any provider, and a no counts only if all agree on it. */
async function viewFromAll<Name extends ViewName>(
  rpc: Rpc,
  factory: Address,
  { at, name }: { at: number | 'latest'; name: Name },
): Promise<ViewResult<Name>[]> {
  const ask = (reads: RpcReads, options?: ReadOptions): Promise<ViewResult<Name>> =>
    requestView(reads, { factory, at, name, args: [] as never }, options)
  return await askEach(rpc, ask, ASIDE)
}

async function readNodes(
  rpc: Rpc,
  { factory, at, first, length }: { factory: Address; at: BlockRef; first: bigint; length: number },
): Promise<ChainNode[]> {
  const [answer] = await rpc.requestAll([viewCall(factory, byHash(at.hash), 'nodesInfo', [first, BigInt(length)])])
  return readView('nodesInfo', answer).map((node, index) => toNode(node, first + BigInt(index)))
}

/**
 * A node from its entry in the answer. Nodes are numbered without gaps, so the ids must be consecutive. If they are not, the answer comes from
 * another contract.
 */
function toNode(node: ViewResult<'nodesInfo'>[number], expectedId: bigint): ChainNode {
  if (node.id !== expectedId) throw new ChainFault(`asked for node ${expectedId}, got ${node.id}`)
  return {
    nodeId: node.id,
    owner: address(node.owner),
    balanceWei: wei(node.balance),
    creditedWei: wei(node.credited),
    withdrawnWei: wei(node.withdrawn),
    cohort: figureNumber(node.cohort, 'cohort'),
  }
}

/** What decides whether buyers may pay to an address, read in one batch. */
async function readWalletFacts(rpc: Rpc, factory: Address, wallet: Address): ReturnType<ContractReader['walletFacts']> {
  const [minter, distributor, code, chainId] = await rpc.requestAll([
    viewCall(factory, 'latest', 'minter', []),
    viewCall(factory, 'latest', 'distributor', []),
    { method: 'eth_getCode', params: [wallet, 'latest'] },
    { method: 'eth_chainId', params: [] },
  ])
  const hasCode = bytes(code, 'code').length > 2
  return {
    chainId: count(chainId, 'chain id'),
    minter: address(readView('minter', minter)),
    distributor: address(readView('distributor', distributor)),
    hasCode,
    isTraceable: hasCode && (await haveTraces(rpc)),
  }
}
