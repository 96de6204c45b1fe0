// One caller's server-sent events. An event carries a state, not a change: a caller who reads slowly misses what lies between, and is sent the
// present. So nothing queues up here but the one batch that is being taken.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

/** A caller whose connection broke comes back after so long. */
const RETRY = 'retry: 2000\n\n'
const HEARTBEAT = ':\n\n'

/** The watched objects of the API, as they are now. */
export interface Watched {
  readonly payments: readonly { readonly txHash: string }[]
  readonly nodes: readonly { readonly nodeId: string }[]
}

/** The same as events, the last of which names all there is. */
export interface WatchedState {
  /** A digest of all. */
  readonly id: string
  /** By what they are about, in the order of sending. */
  readonly events: ReadonlyMap<string, string>
  readonly current: string
}

export function watchedState({ payments, nodes }: Watched): WatchedState {
  const events = new Map<string, string>()
  for (const payment of payments) events.set(`payment ${payment.txHash}`, eventOf('payment', payment))
  for (const node of nodes) events.set(`node ${node.nodeId}`, eventOf('node', node))
  const digest = createHash('sha256')
  for (const event of events.values()) digest.update(event)
  const id = digest.digest('base64url').slice(0, 27)
  const named = { payments: payments.map(({ txHash }) => txHash), nodes: nodes.map(({ nodeId }) => nodeId) }
  return { id, events, current: `id: ${id}\n${eventOf('current', named)}` }
}

const eventOf = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

export class EventStream extends Readable {
  /** The objects that the caller has been sent, or had before. */
  #sent: WatchedState | null = null
  #present: WatchedState | null = null
  #lastId: string | null
  #isWanted = false

  /** `lastId`: the state that the caller has from an earlier stream. */
  constructor(lastId: string | null) {
    super({ highWaterMark: 1 })
    this.#lastId = lastId
    this.push(RETRY)
  }

  /** Has the caller sent what differs from what they have, as soon as they take it. */
  offer(present: WatchedState): void {
    this.#present = present
    this.#send()
  }

  /** Shows the caller, and all on the way, that the stream lives. One who has not taken the last bytes gets none. */
  beat(): void {
    if (this.#isWanted) this.#isWanted = this.push(HEARTBEAT)
  }

  /** Ends it after what has been sent. */
  finish(): void {
    if (!this.readableEnded && !this.destroyed) this.push(null)
  }

  override _read(): void {
    this.#isWanted = true
    this.#send()
  }

  #send(): void {
    const present = this.#present
    if (!this.#isWanted || present === null) return
    this.#present = null
    const before = this.#lastId === present.id ? present : this.#sent
    this.#lastId = null
    this.#sent = present
    if (before?.id === present.id) return
    let text = ''
    for (const [about, event] of present.events) if (before?.events.get(about) !== event) text += event
    this.#isWanted = this.push(text + present.current)
  }
}
