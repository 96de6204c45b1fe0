// The thread of the hostile clients' bench: holds connections in one hostile way, from addresses that are no proxy's,
// and reopens each one that the server drops.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

export type Manner = 'headers' | 'bodies' | 'readers' | 'idle'

export interface Attack {
  port: number
  manner: Manner
  connections: number
}

export interface Done {
  /** How many connections are open at the end. */
  open: number
  /** How many connections the server ended. */
  dropped: number
}

/** Few per address, so that none reaches its cap. */
const PER_ADDRESS = 20
const DRIP_MS = 500
/** Slow, but never silent for long. */
const READ_MS = 200
const READ_BYTES = 16 * 1024
const PIPELINED = 10

const { port, manner, connections } = workerData as Attack
const sockets = new Set<Socket>()
let dropped = 0
let stopping = false

const MANNERS: Record<Manner, (socket: Socket) => NodeJS.Timeout | null> = {
  headers(socket) {
    socket.write('GET /api/stats HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    return setInterval(() => socket.write('a'), DRIP_MS)
  },
  bodies(socket) {
    socket.write(
      'POST /api/payments/claim HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
    )
    return setInterval(() => socket.write(' '), DRIP_MS)
  },
  readers(socket) {
    // Without `accept-encoding`, this is the largest answer that the server has.
    socket.write('GET /withdraw.html HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(PIPELINED))
    return setInterval(() => socket.read(READ_BYTES), READ_MS)
  },
  idle: () => null,
}

async function hold(at: number): Promise<void> {
  if (stopping) return
  const localAddress = `127.0.${1 + Math.floor(at / PER_ADDRESS / 250)}.${1 + (Math.floor(at / PER_ADDRESS) % 250)}`
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  sockets.add(socket)
  const timer = socket.destroyed ? null : MANNERS[manner](socket)
  // Reads answers unless slow reading is the point.
  if (manner === 'readers') socket.on('readable', () => {})
  else socket.resume()
  socket.once('close', () => {
    if (timer) clearInterval(timer)
    sockets.delete(socket)
    if (stopping) return
    dropped++
    void hold(at)
  })
}

for (let at = 0; at < connections; at++) await hold(at)
parentPort?.postMessage('begun')
parentPort?.once('message', () => {
  stopping = true
  parentPort?.postMessage({ open: sockets.size, dropped } satisfies Done)
  for (const socket of sockets) socket.destroy()
})
