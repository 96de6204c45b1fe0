// The streams that are open, by what they watch. Owns their limits, their heartbeats and their end; reads what is watched once for all who
// watch it, when the ledger has changed, a few at a time.
import type { LedgerNotifications } from '../../db/core/changes.ts'
import type { Log } from '../../lib/log.ts'
import type { Client } from '../edge/client-address.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { EventStream, type Watched, type WatchedState, watchedState } from './stream.ts'

/** The most streams of an instance: some 10 KB each, and a read for each state that one alone watches. */
const STREAMS_MAX = 1_000
/** Changes that come this close to each other are one. */
const GATHER_MS = 100
/** The pause after a failed read. */
const RETRY_MS = 1_000
/** Reads at a time: the other requests need the pool, too. */
const READS_MAX = 3
/** Time after which the rest of a stream that ends is given up, where its caller does not take it. */
const END_MS = 1_000
/** The pause that a caller over the limit is asked for. */
const RETRY_AFTER_SEC = 30

export interface StreamLimits {
  /** Streams in all. */
  total: number
  /** Streams of one address: a house of many users behind one. */
  perClient: number
  heartbeatMs: number
  /** The longest that a stream goes on; its caller opens another. */
  ageMsMax: number
}

/** Limits of a service that keeps so many connections: half of them are for others than streams. */
export const streamLimits = (connectionsMax: number): StreamLimits => ({
  total: Math.min(STREAMS_MAX, Math.floor(connectionsMax / 2)),
  perClient: 32,
  heartbeatMs: 15_000,
  ageMsMax: 3_600_000,
})

export interface WatchesDeps {
  limits: StreamLimits
  /** Null: nothing is heard, and everything is read at each heartbeat. */
  changes: LedgerNotifications | null
  monotonicClock: () => number
  log: Log
  observe?: ((open: number) => void) | undefined
}

/** Something watched, and by which streams. */
interface Topic {
  key: string
  read: () => Promise<Watched>
  streams: Map<EventStream, { since: number }>
  /** True if the ledger has changed since it was read. */
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
   * Opens a stream of what `read` reads, known as `key`. It begins with the present states, unless `lastId` names just them. Throws what the
   * first read throws.
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
      // Offered by the read, too, unless that was under way already.
      stream.offer(await this.#refresh(topic))
      return stream
    } catch (fault) {
      stream.destroy()
      throw fault
    }
  }

  /** Ends all streams, and opens no more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#next)
    for (const { streams } of this.#topics.values()) for (const stream of streams.keys()) end(stream)
  }

  /** Counts a stream. @returns what forgets it again. */
  #enter(client: string): Refusal | (() => void) {
    const { limits, observe } = this.#deps
    const ofClient = this.#perClient.get(client) ?? 0
    if (ofClient >= limits.perClient) return refuse('tooManyStreams', [], RETRY_AFTER_SEC)
    if (this.#isClosed || this.#open >= limits.total) return refuse('busy', [], RETRY_AFTER_SEC)
    this.#perClient.set(client, ofClient + 1)
    observe?.(++this.#open)
    this.#heart ??= setInterval(() => this.#beat(), limits.heartbeatMs).unref()
    return () => {
      const left = (this.#perClient.get(client) ?? 1) - 1
      if (left > 0) this.#perClient.set(client, left)
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
          this.#deps.log.debug({ err: error }, 'the states of event streams could not be read; they are read again')
        })
    }
    await Promise.all(Array.from({ length: READS_MAX }, readOn))
    this.#isReading = false
    const isStale = [...this.#topics.values()].some((topic) => topic.isStale)
    if (isStale) this.#readSoon(hasFailed ? RETRY_MS : GATHER_MS)
  }

  /** Reads a state and offers it to all who watch it. Callers who come meanwhile share the read. */
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
      throw fault
    }
  }
}

function end(stream: EventStream): void {
  stream.finish()
  setTimeout(() => stream.destroy(), END_MS).unref()
}
