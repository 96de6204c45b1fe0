// A bare node:http server that answers the given paths with the same bytes and headers as another server. It shows the
// cost of a request that needs no work.
//   node bench/servers/bare.ts <origin to copy from> <path> ...
import { createServer, get, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Headers that node:http adds itself. */
const OWN = ['date', 'connection', 'keep-alive']

const [origin = '', ...paths] = process.argv.slice(2)
const answers = new Map<string, { headers: IncomingHttpHeaders; body: Buffer }>()
/** Plain and compressed. */
const ENCODINGS = ['', 'br']
for (const [index, path] of paths.entries())
  for (const encoding of ENCODINGS) answers.set(path + encoding, await copyOf(path, index, encoding))

const server = createServer((request, response) => {
  const answer = answers.get((request.url ?? '') + (request.headers['accept-encoding'] ?? ''))
  if (!answer) return void response.writeHead(404).end()
  response.writeHead(200, answer.headers)
  response.end(answer.body)
})
server.keepAliveTimeout = 75_000
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit())

function copyOf(
  path: string,
  client: number,
  encoding: string,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const from = `10.0.${client >> 8}.${client & 255}`
    const headers = { 'x-forwarded-for': from, ...(encoding && { 'accept-encoding': encoding }) }
    get(origin + path, { headers }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => {
        if (answer.statusCode !== 200) return reject(new Error(`GET ${path}: ${answer.statusCode}`))
        const kept = Object.entries(answer.headers).filter(([name]) => !OWN.includes(name))
        resolve({ headers: Object.fromEntries(kept), body: Buffer.concat(parts) })
      })
    }).on('error', reject)
  })
}
