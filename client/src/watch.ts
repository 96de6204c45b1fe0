// Watches a payment, or a wallet's payments and nodes: by events, or by polling if no stream can be opened.
import type { EventsOptions, LedgerClient } from './client.ts'
import { LedgerError, nullOn } from './errors.ts'
import { sleep } from './transport.ts'
import type { Hex, LedgerEvent, Node, Payment, Watched } from './types.ts'

/** How long we wait after a failed attempt to open a stream, in milliseconds. */
const STREAM_AGAIN_MS = 30_000
/** A stream that ended is reopened within this time, in milliseconds. */
const REOPEN_MS = 1_000

export interface WatchOptions {
  /** Time between two polls while there is no stream, in milliseconds. Default 4,000. */
  pollMs?: number
  /** Called when the stream connects, and when we fall back to polling. */
  onLive?: (isLive: boolean) => void
  /** Ends the watch. */
  signal?: AbortSignal
}

export interface WatchedWallet {
  /** The wallet's payments, newest first. */
  payments: Payment[]
  /** The wallet's nodes, oldest first. */
  nodes: Node[]
}

/**
 * Yields the state of a payment, and each new state; `null` while the ledger does not have it. Continues until the
 * caller leaves the loop or aborts. Reads the ledger only; {@link followPayment} also makes the service look at the
 * chain.
 */
export function watchPayment(
  ledger: LedgerClient,
  txHash: Hex | string,
  options: WatchOptions = {},
): AsyncGenerator<Payment | null> {
  const poll = (call: Call) => ledger.getPayment(txHash, call).catch(nullOn(404))
  return watch({ ledger, which: { payment: txHash }, poll, of: ({ payments }) => payments[0] ?? null }, options)
}

/** Yields what a wallet has paid and owns, and again after each change, until the caller leaves the loop or aborts. */
export function watchAddress(
  ledger: LedgerClient,
  address: Hex | string,
  options: WatchOptions = {},
): AsyncGenerator<WatchedWallet> {
  const poll = async (call: Call) => {
    const [payments, nodes] = await Promise.all([
      ledger.getPaymentsOfAddress(address, call),
      ledger.getNodesOfAddress(address, call),
    ])
    return { payments, nodes }
  }
  const of = ({ payments, nodes }: WatchedWallet) => ({ payments: payments.flatMap(singly), nodes })
  return watch({ ledger, which: { address }, poll, of }, options)
}

type Call = { signal?: AbortSignal; attempts: number }

interface Watching<T> {
  ledger: LedgerClient
  which: Watched
  poll: (call: Call) => Promise<T>
  of: (state: WatchedWallet) => T
}

/** Yields each new state. */
async function* watch<T>(watching: Watching<T>, options: WatchOptions): AsyncGenerator<T> {
  let lastText: string | null = null
  for await (const state of statesOf(watching, options)) {
    const text = textOf(state)
    if (text !== lastText) yield state
    lastText = text
  }
}

async function* statesOf<T>(watching: Watching<T>, options: WatchOptions): AsyncGenerator<T> {
  const { onLive, signal } = options
  const states = new States()
  while (!signal?.aborted) {
    let pauseMs = STREAM_AGAIN_MS
    const onOpen = () => {
      pauseMs = Math.random() * REOPEN_MS
      onLive?.(true)
    }
    try {
      yield* streamed(watching, states, { ...(signal && { signal }), ...states.resume, onOpen })
    } catch (error) {
      if (signal?.aborted) return
      if (!isPassing(error)) throw error
      pauseMs = Math.max(pauseMs, (error.retryAfter ?? 0) * 1000)
    }
    onLive?.(false)
    yield* polled(watching, Date.now() + pauseMs, options)
  }
}

async function* streamed<T>({ ledger, which, of }: Watching<T>, states: States, options: EventsOptions) {
  for await (const event of ledger.getEvents(which, options)) if (states.take(event)) yield of(states.present())
}

/** Polls at least once, until the given time. Respects a wait that the service asks for. */
async function* polled<T>({ poll }: Watching<T>, untilMs: number, { pollMs = 4_000, signal }: WatchOptions) {
  for (;;) {
    let pauseMs = pollMs
    const state = await poll({ ...(signal && { signal }), attempts: 1 }).catch((error: unknown) => {
      if (signal?.aborted) return
      if (!isPassing(error)) throw error
      pauseMs = Math.max(pollMs, (error.retryAfter ?? 0) * 1000)
    })
    if (signal?.aborted) return
    if (state !== undefined) yield state
    const leftMs = untilMs - Date.now()
    await sleep(Math.max(0, Math.min(pauseMs, leftMs)), signal).catch(() => undefined)
    if (leftMs <= pauseMs || signal?.aborted) return
  }
}

/** The states received by events so far. */
class States {
  #payments = new Map<string, Payment>()
  #nodes = new Map<string, Node>()
  #lastEventId: string | null = null

  /** The option with which to resume a stream from here. */
  get resume(): { lastEventId?: string } {
    return this.#lastEventId === null ? {} : { lastEventId: this.#lastEventId }
  }

  /** Takes an event. @returns true at the end of a batch. */
  take(event: LedgerEvent): boolean {
    if (event.event === 'payment') this.#payments.set(event.data.txHash, event.data)
    else if (event.event === 'node') this.#nodes.set(event.data.nodeId, event.data)
    else {
      this.#payments = pick(this.#payments, event.data.payments)
      this.#nodes = pick(this.#nodes, event.data.nodes)
      this.#lastEventId = event.id
    }
    return event.event === 'current'
  }

  present(): WatchedWallet {
    return { payments: [...this.#payments.values()], nodes: [...this.#nodes.values()] }
  }
}

/** The entries with these names, in the given order. */
function pick<T>(all: ReadonlyMap<string, T>, names: readonly string[]): Map<string, T> {
  return new Map(names.flatMap((name) => (all.has(name) ? [[name, all.get(name) as T] as const] : [])))
}

/** A transaction's payments in the form of a wallet's list: newest first. */
const singly = ({ payments, ...only }: Payment): Payment[] => (payments ? [...payments].reverse() : [only])

const textOf = (state: unknown) =>
  JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? value.toString() : value))

/** True for errors that a retry may clear. 404 counts, because a service without streams returns it. */
const isPassing = (error: unknown): error is LedgerError =>
  error instanceof LedgerError && (error.retryable || error.status === 404)
