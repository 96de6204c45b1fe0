// A TCP relay before PostgreSQL that can lose the answer to a COMMIT: the server has committed, but the client never hears it.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CutProxy {
  /** The server's connection string, through the relay. */
  url: string
  /** Number of future COMMITs that lose their answer; `skip` of them pass first. */
  loseCommits(times: number, skip?: number): void
  readonly lost: number
  close(): Promise<void>
}

/** Starts one before the server of this connection string. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target)
  let toLose = 0
  let toSkip = 0
  let lost = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let cutting = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (toLose > 0 && /\bcommit\b/i.test(bytes.toString('latin1')) && toSkip-- <= 0) {
        toLose--
        cutting = true
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!cutting) return void client.write(bytes)
      // The server has answered, so the transaction is committed. The rest of its output belongs to the same answer.
      if (!client.destroyed) lost++
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'
  return {
    url: url.href,
    loseCommits(times, skip = 0) {
      toLose = times
      toSkip = skip
    },
    get lost() {
      return lost
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
