// The open event streams, by what they watch. Owns their limits, heartbeats and end. When the ledger changes, it reads each watched object once for
// all its streams, a few objects at a time.
import type { LedgerNotifications } from '../../db/core/changes.ts'
import type { Log } from '../../lib/log.ts'
import type { Client } from '../edge/client-address.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { EventStream, type Watched, type WatchedState, watchedState } from './stream.ts'

/** How many streams an instance allows. Each takes about 10 KB. A change costs one read per watched state. */
const STREAMS_MAX = 1_000
/** Changes this close together count as one. */
const GATHER_MS = 100
/** The pause after a failed read. */
const RETRY_MS = 1_000
/** How many reads run at a time; other requests need the pool too. */
const READS_MAX = 3
/** How long we wait for a caller to take the last bytes of an ending stream. */
const END_MS = 1_000
/** We ask a caller over the limit to wait this long. */
const RETRY_AFTER_SEC = 30

export interface StreamLimits {
  total: number
  /** Streams per client address. Many users may share one (NAT). */
  perClient: number
  heartbeatMs: number
  /** How long a stream may last. Then its caller opens a new one. */
  ageMsMax: number
}

/** Limits for a service with this many connections. Half of them are reserved for other requests. */
export const streamLimits = (connectionsMax: number): StreamLimits => ({
  total: Math.min(STREAMS_MAX, Math.floor(connectionsMax / 2)),
  perClient: 32,
  heartbeatMs: 15_000,
  ageMsMax: 3_600_000,
})

export interface WatchesDeps {
  limits: StreamLimits
  /** Reports changes. Null if the service is not notified of changes; then it reads everything at each heartbeat. */
  changes: LedgerNotifications | null
  monotonicClock: () => number
  log: Log
  observe?: ((open: number) => void) | undefined
}

/** A watched object, and the streams that watch it. */
interface Topic {
  key: string
  read: () => Promise<Watched>
  streams: Map<EventStream, { since: number }>
  /** True if the ledger has changed since the object was read. */
  isStale: boolean
  flight: Promise<WatchedState> | null
}

export class Watches {
  readonly #deps: WatchesDeps
  readonly #topics = new Map<string, Topic>()
  readonly #perClient = new Map<string, number>()
  #open = 0
  #isClosed = false
  #isReading = false
  #next: NodeJS.Timeout | undefined
  #heart: NodeJS.Timeout | undefined

  constructor(deps: WatchesDeps) {
    this.#deps = deps
    deps.changes?.subscribe(() => this.#changed())
  }

  /**
   * Opens a stream of what `read` returns; streams with the same `key` share the read. The stream begins with the current states, unless `lastId`
   * names exactly these. Throws what the first read throws.
   */
  async open(
    client: Client,
    { key, read }: Pick<Topic, 'key' | 'read'>,
    lastId: string | null,
  ): Promise<EventStream | Refusal> {
    const leave = this.#enter(client)
    if (typeof leave !== 'function') return leave
    const topic = this.#topics.get(key) ?? { key, read, streams: new Map(), isStale: false, flight: null }
    this.#topics.set(key, topic)
    const stream = new EventStream(lastId)
    topic.streams.set(stream, { since: this.#deps.monotonicClock() })
    stream.once('close', () => {
      leave()
      topic.streams.delete(stream)
      if (topic.streams.size === 0 && this.#topics.get(key) === topic) this.#topics.delete(key)
    })
    try {
      // The read offers its state to this stream too, unless the read started before the stream was added.
      stream.offer(await this.#refresh(topic))
      return stream
    } catch (fault) {
      stream.destroy()
      throw fault
    }
  }

  /** Ends all streams and opens no more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#next)
    for (const { streams } of this.#topics.values()) for (const stream of streams.keys()) end(stream)
  }

  /** Counts a stream. @returns a function that releases it. */
  #enter(client: string): Refusal | (() => void) {
    const { limits, observe } = this.#deps
    const ofClient = this.#perClient.get(client) ?? 0
    if (ofClient >= limits.perClient) return refuse('tooManyStreams', [], RETRY_AFTER_SEC)
    if (this.#isClosed || this.#open >= limits.total) return refuse('busy', [], RETRY_AFTER_SEC)
    this.#perClient.set(client, ofClient + 1)
    observe?.(++this.#open)
    this.#heart ??= setInterval(() => this.#beat(), limits.heartbeatMs).unref()
    return () => {
      const openCount = (this.#perClient.get(client) ?? 1) - 1
      if (openCount > 0) this.#perClient.set(client, openCount)
      else this.#perClient.delete(client)
      observe?.(--this.#open)
      if (this.#open > 0) return
      clearInterval(this.#heart)
      this.#heart = undefined
    }
  }

  #beat(): void {
    const now = this.#deps.monotonicClock()
    for (const { streams } of this.#topics.values())
      for (const [stream, { since }] of streams) {
        if (now - since < this.#deps.limits.ageMsMax) stream.beat()
        else end(stream)
      }
    if (!this.#deps.changes?.live()) this.#changed()
  }

  #changed(): void {
    for (const topic of this.#topics.values()) topic.isStale = true
    this.#readSoon(GATHER_MS)
  }

  #readSoon(ms: number): void {
    if (this.#isClosed || this.#topics.size === 0) return
    this.#next ??= setTimeout(() => {
      this.#next = undefined
      if (!this.#isReading) void this.#readStale()
    }, ms).unref()
  }

  async #readStale(): Promise<void> {
    this.#isReading = true
    const stale = [...this.#topics.values()].filter(({ isStale }) => isStale)
    let hasFailed = false
    const readOn = async () => {
      for (let topic = stale.pop(); topic; topic = stale.pop())
        await this.#refresh(topic).catch((error: unknown) => {
          hasFailed = true
          this.#deps.log.debug({ err: error }, 'could not read the states of event streams; retrying')
        })
    }
    await Promise.all(Array.from({ length: READS_MAX }, readOn))
    this.#isReading = false
    const isStale = [...this.#topics.values()].some((topic) => topic.isStale)
    if (isStale) this.#readSoon(hasFailed ? RETRY_MS : GATHER_MS)
  }

  /** Reads a state and offers it to all streams that watch it. Callers who arrive in the meantime share the read. */
  #refresh(topic: Topic): Promise<WatchedState> {
    topic.flight ??= this.#read(topic).finally(() => {
      topic.flight = null
    })
    return topic.flight
  }

  async #read(topic: Topic): Promise<WatchedState> {
    topic.isStale = false
    try {
      const state = watchedState(await topic.read())
      for (const stream of topic.streams.keys()) stream.offer(state)
      return state
    } catch (fault) {
      topic.isStale = true
      // The read may have been a new stream's. The other streams of the topic still wait for what it would have brought.
      this.#readSoon(RETRY_MS)
      throw fault
    }
  }
}

function end(stream: EventStream): void {
  stream.finish()
  setTimeout(() => stream.destroy(), END_MS).unref()
}
