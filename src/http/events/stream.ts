// One caller's server-sent events. An event carries a state, not a change. A caller who reads slowly therefore skips the states in between and gets
// the current state. Nothing queues up here except the one batch in transit.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

/** Tells a caller to reconnect after this time if the connection breaks. */
const RETRY = 'retry: 2000\n\n'
const HEARTBEAT = ':\n\n'
/** Tells a caller that we closed the stream, and that nothing broke. A browser ignores an event without data. */
const END = 'event: end\ndata: {}\n\n'

/** The current state of the watched objects, in the API's form. */
export interface Watched {
  readonly payments: readonly { readonly txHash: string }[]
  readonly nodes: readonly { readonly nodeId: string }[]
}

/** The state of the watched objects as events. The last event names all objects. */
export interface WatchedState {
  /** A digest of what all events contain. */
  readonly id: string
  /** The events by subject, in sending order. An event with nothing new is not sent again. */
  readonly events: ReadonlyMap<string, { readonly text: string; readonly tells: string }>
  readonly current: string
}

export function watchedState({ payments, nodes }: Watched): WatchedState {
  const events = new Map<string, { text: string; tells: string }>()
  for (const payment of payments) {
    const message = { text: eventOf('payment', payment), tells: JSON.stringify(payment, withoutProgress) }
    events.set(`payment ${payment.txHash}`, message)
  }
  for (const node of nodes) {
    const text = eventOf('node', node)
    events.set(`node ${node.nodeId}`, { text, tells: text })
  }
  const digest = createHash('sha256')
  for (const { tells } of events.values()) digest.update(tells)
  const id = digest.digest('base64url').slice(0, 27)
  const ids = { payments: payments.map(({ txHash }) => txHash), nodes: nodes.map(({ nodeId }) => nodeId) }
  return { id, events, current: `id: ${id}\n${eventOf('current', ids)}` }
}

/** Leaves out what may change while a payment stays accepted, so that a caller gets `accepted` once. */
function withoutProgress(this: object, name: string, value: unknown) {
  const isProgress = name === 'assurance' || name === 'updatedAt'
  return isProgress && 'status' in this && this.status === 'accepted' ? undefined : value
}

const eventOf = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

export class EventStream extends Readable {
  /** The state that we sent the caller, or that they had before. */
  #sent: WatchedState | null = null
  #present: WatchedState | null = null
  #lastId: string | null
  #isWanted = false
  #hasEnded = false

  /** `lastId` names the state that the caller has from an earlier stream. */
  constructor(lastId: string | null) {
    super({ highWaterMark: 1 })
    this.#lastId = lastId
    this.push(RETRY)
  }

  /** Sends the caller whatever differs from their state, as soon as they can take it. */
  offer(present: WatchedState): void {
    this.#present = present
    this.#send()
  }

  /** Shows the caller, and every proxy on the way, that the stream is alive. Sends nothing to a caller who has not taken the last bytes. */
  beat(): void {
    if (this.#isWanted) this.#isWanted = this.push(HEARTBEAT)
  }

  /** Ends the stream after what it has already sent, and reports that. */
  finish(): void {
    if (this.#hasEnded || this.destroyed) return
    this.#hasEnded = true
    this.push(END)
    this.push(null)
    this.#isWanted = false
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
    for (const [about, event] of present.events)
      if (before?.events.get(about)?.tells !== event.tells) text += event.text
    this.#isWanted = this.push(text + present.current)
  }
}
