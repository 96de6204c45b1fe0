// A provider in front of a development chain that counts calls, and bytes on the wire.
//   node bench/servers/counting.ts <origin of the chain>
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

interface Call {
  method: string
  params?: unknown[]
}

const [origin = ''] = process.argv.slice(2)
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
    const text = Buffer.from(await answer.arrayBuffer())
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
