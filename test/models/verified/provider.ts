// Serves a chain as plain data by JSON-RPC, as a node does.
import { Interface, toQuantity } from 'ethers'
import { type Hex, headOf, type PlainChain, type PlainTransaction, sameText, stateAt } from './chain.ts'

// As contracts/src/INodeFactory.sol declares them.
const FACTORY = new Interface([
  'function nodeInfo(uint256 id) view returns (address nodeOwner, uint256 balance, uint256 credited, uint256 withdrawn, uint256 cohortId)',
  'function cohort(uint256 id) view returns (uint256 perNode, uint256 size, uint256 nextDue, uint256 interval, uint256 tier)',
  'function outstanding() view returns (uint256)',
  'function isSolvent() view returns (bool)',
  'event Credited(uint256 indexed round, uint256 indexed cohort, uint256 due, uint256 turns, uint256 amountPerNode, uint256 nodeCount)',
  'event IntervalSet(uint256 indexed cohort, uint256 interval, uint256 former)',
  'event SurplusSpent(uint256 indexed round, uint256 amount, uint256 allowance)',
  'error TokenDoesNotExist()',
])

class RpcError extends Error {
  readonly code: number
  readonly data: string | undefined
  constructor(code: number, message: string, data?: string) {
    super(message)
    this.code = code
    this.data = data
  }
}

interface LogFilter {
  address: string
  topics: (string | null)[]
  fromBlock: string
  toBlock: string
}

/** Answers a request. */
export function providerOf(chain: PlainChain): (request: { method: string; params?: unknown }) => Promise<unknown> {
  const numberOf = (tag: string | undefined) => (tag === undefined || tag === 'latest' ? headOf(chain) : Number(tag))
  const state = (address: string, tag: string | undefined) => {
    const number = numberOf(tag)
    if (number < chain.stateFrom || number > headOf(chain)) throw new RpcError(-32_000, 'missing trie node')
    return stateAt(chain, address, number)
  }
  const call = ({ to, data }: { to: string; data: string }, tag: string | undefined) => {
    const contract = state(to, tag)
    if (!contract) return '0x'
    const { name, args } = FACTORY.parseTransaction({ data }) ?? { name: '', args: [] }
    const result = (values: readonly unknown[]) => FACTORY.encodeFunctionResult(name, values)
    if (name === 'outstanding') return result([contract.outstandingWei])
    if (name === 'isSolvent') return result([contract.isSolvent])
    if (name === 'cohort') return result([0, 1, 0, contract.intervals[Number(args[0])] ?? 0, 1])
    const node = contract.nodes[String(args[0])]
    if (!node) throw new RpcError(3, 'execution reverted', FACTORY.encodeErrorResult('TokenDoesNotExist'))
    return result([node.owner, node.balanceWei, node.creditedWei, node.withdrawnWei, node.cohort])
  }
  const logs = ({ address, topics, fromBlock, toBlock }: LogFilter) => {
    if (!chain.servesLogs) throw new RpcError(-32_000, 'too many blocks')
    const isAsked = (log: { address: string; topics: string[] }) =>
      sameText(log.address, address) && topics.every((topic, index) => topic === null || log.topics[index] === topic)
    return chain.transactions
      .filter(({ blockNumber }) => blockNumber >= numberOf(fromBlock) && blockNumber <= numberOf(toBlock))
      .flatMap((transaction) => logsOf(chain, transaction).filter(isAsked))
  }
  return async ({ method, params = [] }) => {
    const [first, second] = params as [never, string | undefined]
    if (method === 'eth_chainId') return toQuantity(chain.chainId)
    if (method === 'eth_getBlockByNumber') return blockAnswer(chain, numberOf(first))
    if (method === 'eth_getTransactionReceipt') return receiptAnswer(chain, first)
    if (method === 'eth_getBalance') return toQuantity(state(first, second)?.balanceWei ?? 0)
    if (method === 'eth_call') return call(first, second)
    if (method === 'eth_getLogs') return logs(first)
    throw new RpcError(-32_601, `no method ${method}`)
  }
}

function blockAnswer({ blocks, blocksFrom }: PlainChain, number: number) {
  const block = blocks[number]
  if (!block || number < blocksFrom) return null
  const { timeSec, hash, mixHash } = block
  return { number: toQuantity(number), timestamp: toQuantity(timeSec), hash, mixHash, transactions: [] }
}

function receiptAnswer(chain: PlainChain, hash: Hex) {
  const transaction = chain.transactions.find((each) => sameText(each.hash, hash))
  if (!transaction) return null
  return {
    ...{ status: '0x1', type: '0x2', transactionHash: transaction.hash, transactionIndex: '0x0', gasUsed: '0x1' },
    ...{ cumulativeGasUsed: '0x1', effectiveGasPrice: '0x1', blockNumber: toQuantity(transaction.blockNumber) },
    logs: logsOf(chain, transaction),
  }
}

function logsOf(chain: PlainChain, { hash, blockNumber, logs }: PlainTransaction) {
  const ofBlock = chain.transactions.filter((each) => each.blockNumber === blockNumber)
  const before = ofBlock.slice(
    0,
    ofBlock.findIndex((each) => each.hash === hash),
  )
  const from = before.reduce((sum, each) => sum + each.logs.length, 0)
  return logs.map(({ address, event, values }, index) => ({
    ...{ address, blockHash: chain.blocks[blockNumber]?.hash, blockNumber: toQuantity(blockNumber), removed: false },
    ...{ transactionHash: hash, transactionIndex: toQuantity(before.length), logIndex: toQuantity(from + index) },
    ...FACTORY.encodeEventLog(event, [...values]),
  }))
}
