// A WalletConnect relay for tests, on loopback: the part of the relay's JSON-RPC over WebSocket that clients use, with mailboxes for who is away. It
// hands on what it cannot read, as the real one does. Of the real one it leaves out accounts, limits, attestations and push.
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

interface Message {
  topic: string
  message: string
  publishedAt: number
  tag: number
}

type Asked = { id: number | string; method?: string; params: Record<string, unknown> }

/** What a client asked for: the method, its parameters, and the query of its connection. */
export interface RelayRequest {
  method: string
  params: Record<string, unknown>
  projectId: string | null
}

export interface TestRelay {
  url: string
  /** Everything that was asked of it so far. */
  asked: RelayRequest[]
  /** Ends all connections and takes none, until it is called with false. */
  refuse(isRefused: boolean): void
  stop(): void
}

export async function startRelay(): Promise<TestRelay> {
  let isRefused = false
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, verifyClient: () => !isRefused })
  await new Promise((done) => server.once('listening', done))
  const relay = new Mailboxes()
  server.on('connection', (socket, request) => {
    const { searchParams } = new URL(request.url ?? '/', 'ws://relay')
    socket.on('message', (text) => relay.take(socket, JSON.parse(String(text)), searchParams.get('projectId')))
    socket.on('close', () => relay.forget(socket))
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: relay.asked,
    refuse: (refused) => {
      isRefused = refused
      if (refused) for (const socket of server.clients) socket.terminate()
    },
    stop: () => {
      for (const socket of server.clients) socket.terminate()
      server.close()
    },
  }
}

class Mailboxes {
  readonly asked: RelayRequest[] = []
  readonly #subscribers = new Map<string, Set<WebSocket>>()
  readonly #kept = new Map<string, { from: WebSocket; message: Message }[]>()
  /** By the id of the delivery, which is answered once the message has arrived. */
  readonly #delivered = new Map<number | string, Message>()
  #lastId = Date.now()

  take(socket: WebSocket, { id, method, params }: Asked, projectId: string | null): void {
    if (!method) {
      this.#arrived(id)
      return
    }
    this.asked.push({ method, params, projectId })
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: this.#answer(socket, method, params) }))
    for (const topic of topicsOf(params)) if (/ubscribe$/.test(method)) this.#deliverKept(socket, topic)
  }

  forget(socket: WebSocket): void {
    for (const sockets of this.#subscribers.values()) sockets.delete(socket)
  }

  #answer(socket: WebSocket, method: string, params: Record<string, unknown>): unknown {
    const text = (name: string) => String(params[name])
    const tag = Number(params.tag ?? 0)
    switch (method) {
      case 'irn_subscribe':
        return this.#subscribe(socket, text('topic'))
      case 'irn_batchSubscribe':
        return topicsOf(params).map((topic) => this.#subscribe(socket, topic))
      case 'irn_unsubscribe':
        return this.#subscribers.get(text('topic'))?.delete(socket) ?? false
      case 'irn_publish':
        return this.#publish(socket, text('topic'), text('message'), tag)
      case 'irn_fetchMessages':
      case 'irn_batchFetchMessages':
        return { messages: topicsOf(params).flatMap((topic) => this.#messagesFor(socket, topic)), hasMore: false }
      // The two that open a session subscribe who sends them, and hand on both of their messages.
      case 'wc_proposeSession':
        this.#subscribe(socket, text('pairingTopic'))
        return this.#publish(socket, text('pairingTopic'), text('sessionProposal'), 1100)
      case 'wc_approveSession':
        this.#subscribe(socket, text('sessionTopic'))
        this.#publish(socket, text('pairingTopic'), text('sessionProposalResponse'), 1101)
        return this.#publish(socket, text('sessionTopic'), text('sessionSettlementRequest'), 1102)
      default:
        throw new Error(`the relay does not know ${method}`)
    }
  }

  #subscribe(socket: WebSocket, topic: string): string {
    const sockets = this.#subscribers.get(topic) ?? new Set()
    this.#subscribers.set(topic, sockets.add(socket))
    return topic
  }

  #publish(from: WebSocket, topic: string, message: string, tag: number): true {
    const sent = { topic, message, tag, publishedAt: Date.now() }
    this.#kept.set(topic, [...(this.#kept.get(topic) ?? []), { from, message: sent }])
    for (const socket of this.#subscribers.get(topic) ?? []) if (socket !== from) this.#deliver(socket, sent)
    return true
  }

  #messagesFor(socket: WebSocket, topic: string): Message[] {
    return (this.#kept.get(topic) ?? []).filter(({ from }) => from !== socket).map(({ message }) => message)
  }

  #arrived(id: number | string): void {
    const message = this.#delivered.get(id)
    const kept = message && this.#kept.get(message.topic)
    if (kept)
      this.#kept.set(
        message.topic,
        kept.filter((entry) => entry.message !== message),
      )
    this.#delivered.delete(id)
  }

  /** Once its answer is on its way: a client does not know a topic before. */
  #deliverKept(socket: WebSocket, topic: string): void {
    setImmediate(() => {
      for (const message of this.#messagesFor(socket, topic)) this.#deliver(socket, message)
    })
  }

  #deliver(socket: WebSocket, message: Message): void {
    const [id, params] = [++this.#lastId, { id: message.topic, data: message }]
    this.#delivered.set(id, message)
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'irn_subscription', params }))
  }
}

const topicsOf = ({ topic, topics }: Record<string, unknown>): string[] =>
  typeof topic === 'string' ? [topic] : ((topics as string[] | undefined) ?? [])
