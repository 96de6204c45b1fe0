// Limits connections and the requests of each. Owns the caps (in all, and of one address), the choice of a connection to drop for a
// new one, the order of pipelined requests, and the stall timeout of a client that does not read. Knows nothing of the answers.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Client } from './client-address.ts'

/** Enough for any service of one process; each connection takes some 20 KB. */
const CONNECTIONS_MAX = 10_000
/** Open files kept for the database, the provider, webhooks, metrics, and what embedded parts and libraries open. */
const RESERVED_FILES = 256
/** A house of many users behind one address; proxies are named in TRUSTED_PROXIES. */
const PER_ADDRESS_MAX = 512

export interface ConnectionLimits {
  /** Connections in all. */
  total: number
  /** Connections of one address that is not a trusted proxy's. */
  perAddress: number
  /** Requests of a connection that wait for the answer before theirs; a client that sends more is cut off. */
  waiting: number
  /** An answer of which nothing is taken for so long is given up, with its connection. At most twice as long passes. */
  stallMs: number
}

/** Limits of a process that may open so many files: the reserve is never more than half of them. */
export function connectionLimits(openFiles: number): ConnectionLimits {
  const total = Math.min(CONNECTIONS_MAX, openFiles - Math.min(RESERVED_FILES, Math.ceil(openFiles / 2)))
  return { total, perAddress: Math.min(PER_ADDRESS_MAX, Math.ceil(total / 4)), waiting: 64, stallMs: 20_000 }
}

/** Reason for dropping a connection: `idle` for a new one, `refused` as there was no idle one, `flooding` by pipelined requests, `stalled`. */
export type DroppedBecause = 'idle' | 'refused' | 'flooding' | 'stalled'

export interface ConnectionDeps {
  limits: ConnectionLimits
  findClient: (peer: string, forwardedFor: string) => Client
  isTrusted: (peer: string) => boolean
  onDropped: (why: DroppedBecause) => void
}

/** The connections of one address, or, as a whole, of all. */
interface Group {
  open: number
  /** Those without a request under way, the one that has been so for longest first. */
  idle: Set<Connection>
}

interface Connection {
  socket: Socket
  /** All, and its address's unless that is a trusted proxy. */
  groups: readonly Group[]
  /** The answer that the next request waits for. */
  answering: ServerResponse | null
  /** The answer before, which Node may not be done with although the system has all of it. */
  last: ServerResponse | null
  /** In their order. Without a response: what is done last. */
  waiting: { response: ServerResponse | null; run: () => void }[]
  /** Set when it counts no more. */
  gone: boolean
}

export class Connections {
  readonly #deps: ConnectionDeps
  readonly #all: Group = { open: 0, idle: new Set() }
  readonly #groups = new Map<string, Group>()
  readonly #known = new WeakMap<Socket, Connection>()

  constructor(deps: ConnectionDeps) {
    this.#deps = deps
  }

  /** Takes a new connection in the place of the oldest idle one, of its address or of all; drops it where there is none. */
  accept(socket: Socket): void {
    const { limits } = this.#deps
    const peer = socket.remoteAddress ?? ''
    const key = this.#deps.isTrusted(peer) ? null : this.#deps.findClient(peer, '')
    const group = key === null ? null : (this.#groups.get(key) ?? { open: 0, idle: new Set() })
    if ((group && !this.#hasRoom(group, limits.perAddress)) || !this.#hasRoom(this.#all, limits.total)) {
      this.#deps.onDropped('refused')
      socket.destroy()
      return
    }
    if (group && key !== null) this.#groups.set(key, group)
    const groups = group === null ? [this.#all] : [this.#all, group]
    const connection: Connection = { socket, groups, answering: null, last: null, waiting: [], gone: false }
    this.#known.set(socket, connection)
    for (const one of groups) one.open++
    this.#rest(connection)
    socket.once('close', () => {
      this.#leave(connection)
      if (key !== null && group?.open === 0 && this.#groups.get(key) === group) this.#groups.delete(key)
    })
  }

  /** Runs a request once all that came before it on its connection have been answered, to the last byte handed to the system. */
  enter(response: ServerResponse, run: () => void): void {
    const connection = this.#known.get(response.req.socket)
    if (!connection || connection.gone) return
    const { last } = connection
    // Node gives a response its socket when it is done with the one before.
    if (!connection.answering && last && response.socket === null) this.#await(connection, last)
    if (!connection.answering) this.#answer(connection, response, run)
    else if (connection.waiting.length < this.#deps.limits.waiting) connection.waiting.push({ response, run })
    else this.#drop(connection, 'flooding')
  }

  /**
   * Hangs up on a connection after which nothing can be read as a request: once the whole requests before have been answered, at once
   * where none is left or where the one that is being answered is itself not whole.
   */
  leave(socket: Socket, hangUp: () => void): void {
    const connection = this.#known.get(socket)
    if (connection?.gone) return
    const last = connection?.waiting.at(-1)
    if (last?.response?.req.complete === false) connection?.waiting.pop()
    if (connection?.answering?.req.complete) connection.waiting.push({ response: null, run: hangUp })
    else hangUp()
  }

  #hasRoom(group: Group, max: number): boolean {
    if (group.open < max) return true
    const [oldest] = group.idle
    if (oldest === undefined) return false
    this.#drop(oldest, 'idle')
    return true
  }

  #answer(connection: Connection, response: ServerResponse, run: () => void): void {
    const { socket } = connection
    connection.answering = response
    connection.last = response
    run()
    // Most answers are small and come from memory. They are done here, since listeners and timers take a quarter of their time.
    if (response.writableEnded && socket.writableLength === 0 && connection.waiting.length === 0) {
      connection.answering = null
      if (!connection.gone) this.#rest(connection)
      return
    }
    this.#await(connection, response)
    // Node's timer begins again whenever bytes of a write were taken. Without any to be taken it is the answer that is awaited.
    response.setTimeout(this.#deps.limits.stallMs, () => {
      if (socket.writableLength > 0) this.#drop(connection, 'stalled')
    })
  }

  #await(connection: Connection, response: ServerResponse): void {
    connection.answering = response
    for (const { idle } of connection.groups) idle.delete(connection)
    response.once('close', () => this.#answered(connection))
  }

  #answered(connection: Connection): void {
    connection.answering = null
    if (connection.gone) return
    const next = connection.socket.writable ? connection.waiting.shift() : undefined
    if (next?.response) this.#answer(connection, next.response, next.run)
    else {
      this.#rest(connection)
      next?.run()
    }
  }

  /** Puts it last in line. */
  #rest(connection: Connection): void {
    for (const { idle } of connection.groups) {
      idle.delete(connection)
      idle.add(connection)
    }
  }

  #drop(connection: Connection, why: DroppedBecause): void {
    if (connection.gone) return
    this.#leave(connection)
    this.#deps.onDropped(why)
    if (why === 'idle') connection.socket.destroy()
    // So that the system, too, forgets what was to be sent.
    else connection.socket.resetAndDestroy()
  }

  /** At once, not when the socket has closed: its place is taken by then. */
  #leave(connection: Connection): void {
    if (connection.gone) return
    connection.gone = true
    connection.waiting = []
    for (const group of connection.groups) {
      group.open--
      group.idle.delete(connection)
    }
  }
}
