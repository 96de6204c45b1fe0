// A provider in front of a development chain that makes it look busy: it fills every block with unrelated transactions,
// and its bloom filters always match. It counts calls, and bytes on the wire.
//   node bench/servers/counting.ts <origin of the chain> <transactions a block>
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** Bytes of calldata in each unrelated transaction. */
const CALLDATA_BYTES = 200
const FULL_BLOOM = `0x${'f'.repeat(512)}`

interface Call {
  method: string
  params?: unknown[]
}
interface Reply {
  id: number
  result?: unknown
}
interface Block {
  number: string | null
  hash: string | null
  logsBloom: string
  transactions: unknown[]
}

const [origin = '', perBlock = '0'] = process.argv.slice(2)
const calls: Record<string, number> = {}
const purposes: Record<string, number> = {}
let requests = 0
let bytes = 0
const packed = promisify(gzip)

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', async () => {
    if (request.method === 'GET') return void response.end(JSON.stringify({ calls, purposes, requests, bytes }))
    const body = Buffer.concat(parts)
    const asked = JSON.parse(body.toString()) as Call | Call[]
    requests++
    for (const call of [asked].flat()) {
      calls[call.method] = (calls[call.method] ?? 0) + 1
      const purpose = purposeOf(call)
      purposes[purpose] = (purposes[purpose] ?? 0) + 1
    }
    const answer = await fetch(origin, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const replies = (await answer.json()) as Reply | Reply[]
    for (const [index, reply] of [replies].flat().entries()) dress([asked].flat()[index], reply)
    const text = Buffer.from(JSON.stringify(replies))
    const gzipped = String(request.headers['accept-encoding'] ?? '').includes('gzip')
    const sent = gzipped ? await packed(text) : text
    bytes += body.length + sent.length
    response.setHeader('content-type', 'application/json')
    if (gzipped) response.setHeader('content-encoding', 'gzip')
    response.end(sent)
  })
})
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit())

/** The purpose of a call, as far as its parameters show it: which block, whose balance, which view of the factory (by its selector). */
function purposeOf({ method, params = [] }: Call): string {
  const [first, second] = params as [unknown, unknown]
  const { data, blockHash } = (first ?? {}) as { data?: string; blockHash?: string }
  const place = typeof first === 'string' && first.startsWith('0x') ? 'number' : first
  const parts: Record<string, unknown[]> = {
    eth_getBlockByNumber: [place, second === true ? 'in full' : 'header'],
    eth_getBlockByHash: [second === true ? 'in full' : 'header'],
    eth_getLogs: [blockHash ? 'of a block' : 'of a range'],
    eth_getBalance: [first],
    eth_getProof: [first],
    eth_call: [String(data).slice(0, 10)],
  }
  return [method, ...(parts[method] ?? [])].join(' ')
}

/** Makes a block of the chain look like a busy chain's. Leaves everything else unchanged. */
function dress(call: Call | undefined, { result }: Reply): void {
  if (!call?.method.startsWith('eth_getBlockBy') || typeof result !== 'object' || result === null) return
  const block = result as Block
  block.logsBloom = FULL_BLOOM
  const strangers = Array.from({ length: Number(perBlock) }, (_, index) =>
    stranger(block, block.transactions.length + index),
  )
  block.transactions.push(...(call.params?.[1] === true ? strangers : strangers.map(({ hash }) => hash)))
}

/** An unrelated transaction: always the same in the same block, and as hard to compress as a real one. */
function stranger({ number, hash }: Block, index: number) {
  const noise = (what: string, size: number) => {
    let hex = ''
    for (let i = 0; hex.length < size * 2; i++)
      hex += createHash('sha256').update(`${hash} ${index} ${what} ${i}`).digest('hex')
    return `0x${hex.slice(0, size * 2)}`
  }
  return {
    type: '0x2',
    chainId: '0x1',
    nonce: '0x1',
    gas: '0x30d40',
    maxFeePerGas: '0x77359400',
    value: '0x0',
    maxPriorityFeePerGas: '0x3b9aca00',
    gasPrice: '0x77359400',
    accessList: [],
    yParity: '0x0',
    v: '0x0',
    hash: noise('hash', 32),
    from: noise('from', 20),
    to: noise('to', 20),
    input: noise('input', CALLDATA_BYTES),
    r: noise('r', 32),
    s: noise('s', 32),
    blockHash: hash,
    blockNumber: number,
    transactionIndex: `0x${index.toString(16)}`,
  }
}
