// A receiver of events: a real HTTP server that notes what came, and answers as a test wants it to.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  headers: IncomingHttpHeaders
  body: string
  /** The event as it was sent. */
  event: { type: string; timestamp: string; data: Record<string, unknown> }
}

export interface Receiver {
  url: string
  received: Received[]
  /** Answers a request; 204 unless a test says otherwise. */
  answer: (response: ServerResponse, received: Received) => void
  close(): Promise<void>
}

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes 012').toString('base64')}`
export const SECRET_BEFORE = `whsec_${Buffer.from('another one, also thirty-two byt').toString('base64')}`

/** Starts one on loopback; `port` 0 takes any free one. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const receiver: Receiver = {
    url: '',
    received: [],
    answer: (response) => void response.writeHead(204).end(),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const received = { headers: request.headers, body, event: JSON.parse(body || 'null') }
    receiver.received.push(received)
    receiver.answer(response, received)
  })
  server.on('clientError', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return receiver
}
