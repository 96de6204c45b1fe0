// A recorded chain, served from memory as JSON-RPC. It sends the recorded texts, so a provider costs next to nothing.
// It remembers its requests, so that the bench can repeat them.
//   node bench/servers/recorded.ts <file of blocks> <file of receipts> <file of logs> <chain id>
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Call {
  id: number
  method: string
  params: unknown[]
}

interface Log {
  address: string
  topics: string[]
  blockNumber: string
  blockHash: string
}

interface Receipt {
  transactionHash: string
  blockHash: string
}

/** As eth_getLogs accepts it: for one contract, by the first topics of its events. */
interface LogFilter {
  address: string
  topics?: [topics?: string | string[] | null]
  fromBlock?: string
  toBlock?: string
  blockHash?: string
}

const [blocksFile = '', receiptsFile = '', logsFile = '', chainId = '0'] = process.argv.slice(2)
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').filter(Boolean)
/** By block number: with full transactions, and with only their hashes. */
const full = linesOf(blocksFile)
const bare = full.map((text) => {
  const block = JSON.parse(text) as { transactions: { hash: string }[] }
  return JSON.stringify({ ...block, transactions: block.transactions.map(({ hash }) => hash) })
})
const receipts = linesOf(receiptsFile).map((text) => ({ text, of: JSON.parse(text) as Receipt }))
const receiptOf = new Map(receipts.map(({ text, of }) => [of.transactionHash, text]))
const receiptsOf = new Map(
  [...Map.groupBy(receipts, ({ of }) => of.blockHash)].map(([hash, all]) => [hash, `[${all.map(({ text }) => text)}]`]),
)
const logs = linesOf(logsFile).map((text) => ({ text, log: JSON.parse(text) as Log }))
const asked: string[] = []

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = Buffer.concat(parts).toString()
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') return void response.end(JSON.stringify(asked))
    if (request.headers['x-again'] === undefined) asked.push(body)
    const calls = JSON.parse(body) as Call | Call[]
    response.end(Array.isArray(calls) ? `[${calls.map(replyTo).join(',')}]` : replyTo(calls))
  })
})
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit())

function replyTo({ id, method, params }: Call): string {
  const result = resultOf(method, params)
  if (result !== undefined) return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"not recorded: ${method}"}}`
}

function resultOf(method: string, params: unknown[]): string | undefined {
  if (method === 'eth_chainId') return JSON.stringify(`0x${Number(chainId).toString(16)}`)
  if (method === 'eth_blockNumber') return JSON.stringify(`0x${(full.length - 1).toString(16)}`)
  if (method === 'eth_getBlockByNumber') return blockOf(String(params[0]), params[1] === true)
  if (method === 'eth_getTransactionReceipt') return receiptOf.get(String(params[0])) ?? 'null'
  if (method === 'eth_getBlockReceipts') return receiptsOf.get(String(params[0])) ?? '[]'
  return method === 'eth_getLogs' ? logsOf(params[0] as LogFilter) : undefined
}

function logsOf({ address, topics, fromBlock, toBlock, blockHash }: LogFilter): string {
  const wanted = topics?.[0] == null ? null : [topics[0]].flat()
  const found = logs.filter(({ log }) => {
    const number = Number(log.blockNumber)
    const inBlocks =
      blockHash === undefined ? number >= Number(fromBlock) && number <= Number(toBlock) : log.blockHash === blockHash
    return inBlocks && log.address === address.toLowerCase() && (wanted?.includes(log.topics[0] ?? '') ?? true)
  })
  return `[${found.map(({ text }) => text).join(',')}]`
}

function blockOf(tag: string, withTransactions: boolean): string {
  const number = tag === 'latest' ? full.length - 1 : tag === 'finalized' ? 0 : Number(tag)
  return (withTransactions ? full : bare)[number] ?? 'null'
}
