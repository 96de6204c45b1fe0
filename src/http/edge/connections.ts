// Limits connections and the requests on each. Owns the caps (total and per address), the choice of the connection to drop for a new one, the order
// of pipelined requests, and the stall timeout for clients that do not read. Knows nothing about the answers.
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Client } from './client-address.ts'

/** How many connections a process accepts. Enough for any service that runs as one process. Each connection takes about 20 KB. */
const CONNECTIONS_MAX = 10_000
/** Open files reserved for the database, the provider, webhooks, metrics, and what embedded parts and libraries open. */
const RESERVED_FILES = 256
/** Connections per client address. Many users may share one (NAT). Proxies are named in TRUSTED_PROXIES. */
const PER_ADDRESS_MAX = 512

export interface ConnectionLimits {
  total: number
  /** Connections from one address that is not a trusted proxy. */
  perAddress: number
  /** How many requests on a connection may wait for earlier answers. We cut off a client that sends more. */
  waiting: number
  /** We drop the connection if the client takes no byte of an answer for this long. It may take up to twice as long. */
  stallMs: number
}

/** Limits of a process that may have this many open files. At most half of these are reserved for other uses. */
export function connectionLimits(openFiles: number): ConnectionLimits {
  const total = Math.min(CONNECTIONS_MAX, openFiles - Math.min(RESERVED_FILES, Math.ceil(openFiles / 2)))
  return { total, perAddress: Math.min(PER_ADDRESS_MAX, Math.ceil(total / 4)), waiting: 64, stallMs: 20_000 }
}

/**
 * Why we drop a connection. `idle`: to make room for a new one. `refused`: it is new, and none was idle. `flooding`: it sent too many pipelined
 * requests. `stalled`: its client stopped reading.
 */
export type DroppedBecause = 'idle' | 'refused' | 'flooding' | 'stalled'

export interface ConnectionDeps {
  limits: ConnectionLimits
  findClient: (peer: string, forwardedFor: string) => Client
  isTrusted: (peer: string) => boolean
  onDropped: (why: DroppedBecause) => void
}

/** The connections of one address, or of all addresses. */
interface Group {
  open: number
  /** Connections without a request in flight, the longest idle first. */
  idle: Set<Connection>
}

interface Connection {
  socket: Socket
  /** The group of all connections, and the group of its address unless that is a trusted proxy. */
  groups: readonly Group[]
  /** The answer for which the next request waits. */
  answering: ServerResponse | null
  /** The previous answer. Node may not have finished with it although the system has all its bytes. */
  last: ServerResponse | null
  /** The waiting requests, in order. An entry without a response runs last. */
  waiting: { response: ServerResponse | null; run: () => void }[]
  /** True once the connection no longer counts. */
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

  /**
   * Accepts a new connection. If a limit is reached, it replaces the connection that has been idle longest, among those of its address or among all.
   * If none is idle, we drop the new connection.
   */
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

  /** Runs a request once all earlier requests on its connection are answered and the system has taken their last byte. */
  enter(response: ServerResponse, run: () => void): void {
    const connection = this.#known.get(response.req.socket)
    if (!connection || connection.gone) return
    const { last } = connection
    // Node gives a response its socket when it is done with the previous one.
    if (!connection.answering && last && response.socket === null) this.#await(connection, last)
    if (!connection.answering) this.#answer(connection, response, run)
    else if (connection.waiting.length < this.#deps.limits.waiting) connection.waiting.push({ response, run })
    else this.#drop(connection, 'flooding')
  }

  /**
   * Closes a connection whose further bytes cannot be a request. It first waits until all complete requests are answered. It closes immediately if there
   * are none, or if the request being answered is itself incomplete.
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
    // Most answers are small and come from memory. We finish them here, because listeners and timers would add a quarter to their time.
    if (response.writableEnded && socket.writableLength === 0 && connection.waiting.length === 0) {
      connection.answering = null
      if (!connection.gone) this.#rest(connection)
      return
    }
    this.#await(connection, response)
    // Node's timer restarts whenever the client takes bytes of a write. If no bytes are pending, we are waiting for the answer itself.
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

  /** Moves an idle connection to the end of the queue. */
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
    // Resets the connection, so that the system also discards bytes that were still to be sent.
    else connection.socket.resetAndDestroy()
  }

  /** Removes a connection from the counts. We do not wait until its socket has closed, because its place is needed right away. */
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

/** The limit to assume if the system does not report one: the smallest that is common. */
const UNKNOWN = 1_024

/** How many files (sockets among them) this process may have open; Infinity if there is no limit. Node has already raised it as far as it may. */
export function openFilesMax(): number {
  try {
    return parseOpenFiles(readFileSync('/proc/self/limits', 'utf8'))
  } catch {
    return UNKNOWN
  }
}

/** Finds the soft limit in the text of /proc/self/limits. */
export function parseOpenFiles(limits: string): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return UNKNOWN
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}
