// A true round, node and cover, a service that says them, and a chain that bears them out: for the tests of what verifies.
import assert from 'node:assert/strict'
import {
  createClient,
  custom,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  keccak256,
  toHex,
} from 'viem'
import type {
  Cover,
  Distribution,
  LedgerClient,
  NodeDetail,
  SingleTurn,
  SingleTurns,
  Turn,
} from '../../client/src/index.ts'
import { recompute } from '../../client/src/viem/amount.ts'
import { factoryAbi } from '../../client/src/viem/factory.ts'

export const CHAIN_ID = 31_337
export const FACTORY = '0x00000000000000000000000000000000000000fa'
export const TX = `0x${'11'.repeat(32)}` as const
/** Another transaction of the distributor, which credited no round of that number. */
export const OTHER_TX = `0x${'22'.repeat(32)}` as const
/** A block every ten seconds, from time 0 on. */
const BLOCK_SEC = 10
export const randomnessOf = (block: number) => keccak256(toHex(`randomness ${block}`))

const terms = {
  minWei: 1_000n,
  maxWei: 9_000n,
  payoutBps: 15_000,
  assurance: 'proven' as const,
  tierId: 'basic',
  nodeCount: 2,
}

export function single(cohort: number, dueSec: number): SingleTurn {
  const seedBlock = Math.ceil(dueSec / BLOCK_SEC)
  const turn = { cohort, dueSec, due: new Date(dueSec * 1000), seedBlock, seed: randomnessOf(seedBlock), ...terms }
  return { ...turn, amountWei: recompute({ ...turn, amountWei: 0n }) }
}

/** Cohort 1 gets one turn, cohort 2 three at once. */
export const SINGLES = [single(1, 5_000), ...[4_005, 4_105, 4_205].map((due) => single(2, due))]
export const [ALONE, ...SUMMED] = SINGLES as [SingleTurn, ...SingleTurn[]]
export const sumOf = (turns: readonly SingleTurn[]) => turns.reduce((sum, { amountWei }) => sum + (amountWei ?? 0n), 0n)
export const TURNS: Turn[] = [
  { ...ALONE, count: 1, amountWei: sumOf([ALONE]) },
  {
    ...{ cohort: 2, tierId: 'basic', nodeCount: 2, count: 3, dueSec: 4_005, due: new Date(4_005_000) },
    ...{
      seedBlock: null,
      seed: null,
      assurance: 'proven',
      minWei: null,
      maxWei: null,
      payoutBps: null,
      amountWei: sumOf(SUMMED),
    },
  },
]
export const ROUND: Distribution = {
  ...{ id: 7, mode: 'treasury', nodeCount: 4, createdAt: new Date(9_000_000), txHash: TX, blockNumber: 900 },
  ...{ totalWei: 2n * sumOf(SINGLES), turns: TURNS },
}

/** A service with this answer for the round. */
export function saying(singles: readonly SingleTurn[]): LedgerClient {
  return {
    getWellKnown: async () => ({ factoryAddress: FACTORY, chainId: CHAIN_ID }),
    getTurns: async (_: number, { offset = 0 } = {}): Promise<SingleTurns> => ({
      total: singles.length,
      turns: singles.slice(offset, offset + 2),
    }),
  } as unknown as LedgerClient
}

export const hashOf = (block: number) => keccak256(toHex(`block ${block}`))

/** A chain whose transaction credited the true round. */
export const chainWith = (
  mixHashOf: (block: number) => string | undefined,
  { head = 950, answer = async (_: { method: string; params: unknown }): Promise<unknown> => undefined } = {},
) =>
  createClient({
    transport: custom(
      {
        async request({ method, params }) {
          const own = await answer({ method, params })
          if (own !== undefined) return own
          if (method === 'eth_chainId') return toHex(CHAIN_ID)
          if (method === 'eth_getTransactionReceipt') return receipt((params as [string])[0] === TX)
          if (method === 'eth_getBalance') return toHex(3_000n)
          if (method === 'eth_call') return answerTo((params as [{ data: `0x${string}` }])[0].data)
          if ((params as [string])[0] === 'latest') return { number: toHex(head), timestamp: toHex(head * BLOCK_SEC) }
          const number = Number((params as [string])[0])
          assert.equal(method, 'eth_getBlockByNumber')
          const [hash, mixHash] = [hashOf(number), mixHashOf(number)]
          return { number: toHex(number), timestamp: toHex(number * BLOCK_SEC), hash, mixHash }
        },
      },
      { retryCount: 0 },
    ),
  })
export const chain = chainWith(randomnessOf)

const OWNER = `0x${'0a'.repeat(20)}` as const
function answerTo(data: `0x${string}`) {
  const { functionName, args } = decodeFunctionData({ abi: factoryAbi, data })
  const expelled = [OWNER, 1n, 1n, 0n, 0n]
  const info = args?.[0] === 5n ? [OWNER, 70n, 100n, 30n, 2n] : args?.[0] === 7n ? expelled : [OWNER, 1n, 1n, 0n, 2n]
  // The interval of cohort 2 is 100 seconds.
  const results = { nodeInfo: info, outstanding: 2_000n, isSolvent: true, cohort: [0n, 2n, 0n, 100n, 1n] }
  const result = results[functionName as keyof typeof results]
  return encodeFunctionResult({ abi: factoryAbi, functionName, result } as never)
}

function receipt(isRounds: boolean) {
  const logs = (isRounds ? TURNS : []).map((turn, index) => ({
    ...{ address: FACTORY, blockNumber: '0x384', transactionHash: TX, logIndex: toHex(index), transactionIndex: '0x0' },
    ...{ blockHash: TX, removed: false },
    topics: encodeEventTopics({
      abi: factoryAbi,
      eventName: 'Credited',
      args: { round: 7n, cohort: BigInt(turn.cohort) },
    }),
    data: encodeAbiParameters(Array(4).fill({ type: 'uint256' }), [
      BigInt(turn.dueSec),
      BigInt(turn.count),
      turn.amountWei,
      BigInt(turn.nodeCount),
    ]),
  }))
  return {
    status: '0x1',
    type: '0x2',
    blockNumber: '0x384',
    transactionIndex: '0x0',
    gasUsed: '0x1',
    cumulativeGasUsed: '0x1',
    effectiveGasPrice: '0x1',
    logs,
  }
}

export const NODE: NodeDetail = {
  ...{ id: 9, nodeId: '5', matchedBy: 'nodeId', owner: OWNER, tierId: 'basic', priceWei: 1n },
  ...{ creditedWei: 100n, withdrawnWei: 30n, balanceWei: 70n, paymentTxHash: TX, mintTxHash: TX, mintedAt: null },
  ...{ lastCreditedAt: null, nextCreditAt: null, expelledAt: null, createdAt: null, credits: [], withdrawals: [] },
  chain: {
    ...{ owner: OWNER, balanceWei: 70n, creditedWei: 100n, withdrawnWei: 30n },
    ...{ blockNumber: 900, matchesLedger: true },
  },
}
export const sayingOf = (said: { node?: object; cover?: object }) =>
  ({
    getWellKnown: async () => ({ factoryAddress: FACTORY, chainId: CHAIN_ID }),
    getNode: async () => said.node,
    getCover: async () => said.cover,
  }) as unknown as LedgerClient

export const COVER: Cover = {
  ...{ contractBalanceWei: 3_000n, outstandingWei: 2_000n, surplusWei: 1_000n, coverBps: 15_000, isSolvent: true },
  ...{ blockNumber: 900, checkedAt: null },
}
