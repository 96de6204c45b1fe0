// Sockets to PostgreSQL that do not outlive a server that fell silent: a host that lost its power and a firewall that forgot the
// connection send no farewell, and the system would wait a quarter of an hour for one.
import { connect, type Socket } from 'node:net'

/** How often a socket is looked at while it may be silent. */
const LOOKS = 4

/** What the driver says about where to connect: one host or several, or the path of a local socket. */
interface Place {
  host: string[]
  port: number[]
  path?: string | false
}

/**
 * Makes the driver's sockets: each is closed once nothing came through it for so long, idle or not. The driver is told as by any server that goes,
 * and connects anew when it needs to.
 */
export function socketsThatHear(silenceMs: number): (place: Place) => Socket {
  let turn = 0
  return ({ host, port, path }) => {
    const index = turn++ % host.length
    const socket = path ? connect(path) : connect(port[index] as number, host[index])
    closeWhenSilent(socket, silenceMs)
    // What the driver notes on its own sockets: TLS holds the certificate against it.
    return Object.assign(socket, { host: host[index], port: port[index] })
  }
}

function closeWhenSilent(socket: Socket, silenceMs: number): void {
  let heard = -1
  let looks = 0
  // Not by events: the driver takes all listeners off a socket over which it speaks TLS.
  const timer = setInterval(() => {
    looks = socket.bytesRead === heard ? looks + 1 : 0
    heard = socket.bytesRead
    if (looks >= LOOKS) socket.destroy()
    if (socket.destroyed) clearInterval(timer)
  }, silenceMs / LOOKS)
  timer.unref()
}
