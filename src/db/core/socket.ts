// Sockets to PostgreSQL that close if the server falls silent. A host that lost power, or a firewall that forgot the connection, closes nothing, and
// the system would wait a quarter of an hour.
import { connect, type Socket } from 'node:net'

/** How many times we check a socket within the longest silence allowed. */
const LOOKS = 4

/** The driver's target: one host or several, or the path of a local socket. */
interface Place {
  host: string[]
  port: number[]
  path?: string | false
}

/**
 * Makes the driver's sockets. Each closes once nothing has come through it for this long, idle or not. The driver sees an ordinary close, and
 * reconnects when it needs to.
 */
export function socketsThatHear(silenceMs: number): (place: Place) => Socket {
  let turn = 0
  return ({ host, port, path }) => {
    const index = turn++ % host.length
    const socket = path ? connect(path) : connect(port[index] as number, host[index])
    closeWhenSilent(socket, silenceMs)
    // Fields that the driver keeps on its sockets; TLS checks the certificate against them.
    return Object.assign(socket, { host: host[index], port: port[index] })
  }
}

function closeWhenSilent(socket: Socket, silenceMs: number): void {
  let bytesBefore = -1
  let looks = 0
  // A timer, not events, because the driver removes all listeners from a socket that speaks TLS.
  const timer = setInterval(() => {
    looks = socket.bytesRead === bytesBefore ? looks + 1 : 0
    bytesBefore = socket.bytesRead
    if (looks >= LOOKS) socket.destroy()
    if (socket.destroyed) clearInterval(timer)
  }, silenceMs / LOOKS)
  timer.unref()
}
