// A provider without a socket: the service's own JSON-RPC client talks to it in the simulation. It answers from a
// chain, fails as the fault proxy does (the same classes, drawn from a seed), and checks every send by the rules of
// real networks and by our own. Time is free here: a reply that hangs is late at once.
import { setImmediate as turn } from 'node:timers/promises'
import { Dispatcher } from 'undici'
import type { TestChain } from '../support/anvil.ts'
import { alter, befalls } from '../support/faults/calls.ts'
import { DIALECTS, meaningOf, say } from '../support/faults/dialects.ts'
import type { Dice } from '../support/faults/dice.ts'
import {
  type Answer,
  type Call,
  type CallFault,
  type Fault,
  isCallFault,
  type ReplyFault,
} from '../support/faults/names.ts'
import { befallsReply } from '../support/faults/replies.ts'
import type { SendRules } from '../support/faults/send-rules.ts'

/** More than the client's limit for a reply. */
export const REPLY_BYTES_MAX = 4 * 1024 * 1024
const PAGE = '<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>'
const PIECES = 5

export interface Weather {
  /** Share of requests that a fault hits, 0 to 1. */
  rate: number
  faults: readonly Fault[]
  dice: Dice
}

export interface ProviderOptions {
  chain: TestChain
  rules: SendRules
  /** Null: no faults. */
  weather: Weather | null
  /** Called with every request before anything happens to it; throws if no provider is there to answer. */
  onRequest(calls: readonly Call[]): Promise<void>
  /** Called for each fault that changed something. */
  onFault(fault: Fault): void
  /** A false answer, for as long as it is set; null: the truth. */
  answerInstead?(call: Call): Promise<Answer | null>
}

interface Envelope extends Call {
  id: unknown
}
type Handler = Dispatcher.DispatchHandler
interface Reply {
  status?: number
  text?: string
  pieces?: number
  /** Breaks the connection once the text so far was sent. */
  breaks?: Error
}

export class Provider extends Dispatcher {
  readonly #options: ProviderOptions

  constructor(options: ProviderOptions) {
    super()
    this.#options = options
  }

  override dispatch(request: Dispatcher.DispatchOptions, handler: Handler): boolean {
    const body = JSON.parse(String(request.body)) as Envelope | Envelope[]
    void this.#serve(body, handler)
    return true
  }

  override close = (async () => {}) as Dispatcher['close']
  override destroy = (async () => {}) as Dispatcher['destroy']

  async #serve(body: Envelope | Envelope[], handler: Handler): Promise<void> {
    let ended = false
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: [],
      rawTrailers: [],
      pause() {},
      resume() {},
      abort(reason: Error) {
        if (ended) return
        ended = true
        handler.onResponseError?.(controller as never, reason)
      },
    }
    handler.onRequestStart?.(controller as never, {})
    let reply: Reply
    try {
      reply = await this.#reply(body)
    } catch (error) {
      reply = { breaks: error as Error }
    }
    await turn()
    if (ended) return
    const { status = 200, text, pieces = 1, breaks } = reply
    if (text !== undefined) {
      handler.onResponseStart?.(controller as never, status, { 'content-type': 'application/json' }, '')
      const bytes = Buffer.from(text)
      const size = Math.max(1, Math.ceil(bytes.length / pieces))
      for (let at = 0; at < bytes.length && !ended; at += size)
        handler.onResponseData?.(controller as never, bytes.subarray(at, at + size))
    }
    if (ended) return
    ended = true
    if (breaks) handler.onResponseError?.(controller as never, breaks)
    else handler.onResponseEnd?.(controller as never, {})
  }

  async #reply(body: Envelope | Envelope[]): Promise<Reply> {
    const isBatch = Array.isArray(body)
    const calls = isBatch ? body : [body]
    await this.#options.onRequest(calls)
    const drawn = this.#draw(calls, isBatch)
    const answers = async () => {
      const all: object[] = []
      for (const [at, call] of calls.entries()) {
        const fault = drawn && drawn.at === at && isCallFault(drawn.fault) ? drawn.fault : null
        all.push({ jsonrpc: '2.0', id: call.id, ...(await this.#one(call, fault)) })
      }
      return all
    }
    const show = (all: object[]) => JSON.stringify(isBatch ? all : all[0])
    if (!drawn || isCallFault(drawn.fault)) return { text: show(await answers()) }
    this.#options.onFault(drawn.fault)
    return REPLIES[drawn.fault](answers, show)
  }

  #draw(calls: readonly Call[], isBatch: boolean): { fault: Fault; at: number } | null {
    const { weather } = this.#options
    if (!weather) return null
    const { dice, rate, faults } = weather
    const stream = calls[0]?.method ?? ''
    if (dice.roll(`${stream} rate`) >= rate) return null
    const at = dice.between(`${stream} at`, 0, calls.length - 1)
    const method = calls[at]?.method ?? ''
    const fitting = faults.filter((fault) =>
      isCallFault(fault) ? befalls(fault, method) : befallsReply(fault, isBatch),
    )
    return fitting.length > 0 ? { fault: dice.pick(`${stream} fault`, fitting), at } : null
  }

  async #one(call: Call, fault: CallFault | null): Promise<Answer> {
    const { weather, onFault, answerInstead } = this.#options
    const truth = async (asked: Call) =>
      (await answerInstead?.(asked)) ?? (asked.method === SEND ? this.#send(asked) : ask(this.#options.chain, asked))
    const altered = fault && weather ? await alter(fault, call, truth, weather.dice) : null
    if (!fault || !altered) return truth(call)
    onFault(fault)
    return altered
  }

  /** A send as a real network handles it, in some client's words. */
  async #send(call: Call): Promise<Answer> {
    const { rules, weather } = this.#options
    const refusal = await rules.check(call.params[0] as `0x${string}`)
    const dialect = weather ? weather.dice.pick('dialect', DIALECTS) : 'anvil'
    if (refusal) return { error: say(dialect, refusal) }
    const answer = await ask(this.#options.chain, call)
    if (!('error' in answer) || dialect === 'anvil') return answer
    const meaning = meaningOf(answer.error.message)
    return meaning ? { error: say(dialect, meaning) } : answer
  }
}

const SEND = 'eth_sendRawTransaction'

/** A chain's answer, either a result or an error. */
export async function ask(chain: TestChain, { method, params }: Call): Promise<Answer> {
  try {
    return { result: await chain.rpc(method, params) }
  } catch (error) {
    const { code, message, data } = error as { code?: unknown; message: string; data?: unknown }
    if (typeof code !== 'number') throw error
    const text = message.replace(`${method}: `, '')
    return { error: data === undefined ? { code, message: text } : { code, message: text, data } }
  }
}

const broken = (code: string) => Object.assign(new Error(code), { code })
const late = () => Object.assign(new Error('late'), { name: 'TimeoutError' })

type Answers = () => Promise<object[]>
const REPLIES: Record<ReplyFault, (answers: Answers, show: (all: object[]) => string) => Promise<Reply>> = {
  async delay(answers, show) {
    const text = show(await answers())
    for (let i = 0; i < 5; i++) await turn()
    return { text }
  },
  hang: async () => ({ breaks: late() }),
  reset: async () => ({ breaks: broken('ECONNRESET') }),
  async replyLost(answers) {
    await answers()
    return { breaks: broken('ECONNRESET') }
  },
  async truncated(answers, show) {
    const text = show(await answers())
    return { text: text.slice(0, Math.ceil(text.length / 2)), breaks: broken('UND_ERR_SOCKET') }
  },
  slow: async (answers, show) => ({ text: show(await answers()), pieces: PIECES }),
  html: async () => ({ text: PAGE }),
  unavailable: async () => ({ text: PAGE, status: 503 }),
  tooMany: async () => ({ text: '{"error":"too many requests"}', status: 429 }),
  giant: async () => ({ text: ' '.repeat(REPLY_BYTES_MAX + 1) }),
  wrongId: async (answers, show) => ({ text: show((await answers()).map((one) => ({ ...one, id: 987_654_321 }))) }),
  shortBatch: async (answers, show) => ({ text: show((await answers()).slice(1)) }),
  batchRefused: async () => ({
    text: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}',
  }),
  shuffled: async (answers, show) => ({ text: show((await answers()).toReversed()) }),
}
