// A JSON-RPC provider in front of the real chain that fails as providers do. A test sets a fault for the next requests
// of a kind, or draws faults from a seed at a rate. The proxy counts what really happened. It must never make up a
// chain: it passes on the chain's own answer unless a fault changes it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { toFunctionSelector } from 'viem/utils'
import { alter, befalls } from './faults/calls.ts'
import { DIALECTS, type Dialect, meaningOf, say } from './faults/dialects.ts'
import { createDice, type Dice } from './faults/dice.ts'
import { type Answer, type Call, type CallFault, type Fault, isCallFault, type ReplyFault } from './faults/names.ts'
import { befallsReply, type Exchange, reply } from './faults/replies.ts'
import { createSendRules, GAS_CAP } from './faults/send-rules.ts'

export type { Dialect, Fault }
export const SEND = 'eth_sendRawTransaction'

export interface Aim {
  /** Only calls of this method. Default: any that the fault can affect. */
  method?: string
  /** Only calls for which this is true. */
  where?: (call: Call) => boolean
  /** How often; once by default. */
  times?: number
  /** How many such calls pass first. */
  skip?: number
}

export interface Storm {
  seed: number
  /** Share of requests that a fault affects, 0 to 1. */
  rate: number
  faults: readonly Fault[]
}

export interface FaultProxy {
  url: string
  /** How often each fault has really happened. */
  readonly fired: ReadonlyMap<Fault, number>
  /** All calls so far, in order. The calls of a batch count one by one. */
  readonly seen: Call[]
  /** The client whose words it uses to refuse sends; `any` draws one each time. */
  dialect: Dialect | 'any'
  /** True if contracts see blocks by their hashes. If false, as on chains with their own block numbers, the service cannot use a fork guard. */
  knowsBlocks: boolean
  /** The URL of the node that answers a call instead of the target, as behind a balancer; null if the target does. */
  servedBy: (call: Call) => string | null
  /** A false answer to a call; null if the answer is true. */
  answerInstead: (call: Call) => Promise<Answer | null> | null
  /** Called with every call before it is forwarded. */
  onCall: (call: Call) => Promise<void> | void
  /** Called with every call after the chain has answered and before the service gets the answer. */
  onAnswered: (call: Call) => Promise<void> | void
  /** Makes a fault affect the next matching requests. */
  inject(fault: Fault, aim?: Aim): void
  /** Draws faults from a seed from now on. */
  storm(storm: Storm): void
  /** Ends all faults. */
  calm(): void
  /** Sends that broke our own rule: store first. Empty in a healthy service. */
  broken(): Promise<string[]>
  close(): Promise<void>
}

interface Envelope extends Call {
  id: unknown
}
interface Injection {
  fault: Fault
  aim: Aim
  left: number
  skip: number
}

const JSON_BODY = { 'content-type': 'application/json' }
const HASH_OF = toFunctionSelector('hashOf(uint256)')
/** True if a call reads a block's hash through the contract, as the service does at start to find out whether it can use its fork guard. */
const asksForHash = ({ method, params }: Call) =>
  method === 'eth_call' && String((params[0] as { data?: string } | undefined)?.data).startsWith(HASH_OF)

const HONEST = { servedBy: () => null, answerInstead: () => null }

/** Starts a proxy in front of `target`. With a database, it checks that every send was stored there before. */
export async function startFaultProxy(options: {
  target: string
  databaseUrl?: string | null
  seed?: number
}): Promise<FaultProxy> {
  const upstream = new Agent({ connections: 16, headersTimeout: 0, bodyTimeout: 0 })
  const fired = new Map<Fault, number>()
  let injections: Injection[] = []
  let weather: { storm: Storm; dice: Dice } | null = null
  const dice = createDice(options.seed ?? 1)

  async function forward(call: Call): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params: call.params })
    const { origin, pathname: path } = new URL(proxy.servedBy(call) ?? options.target)
    const response = await upstream.request({ method: 'POST', origin, path, headers: JSON_BODY, body })
    const answer = (await response.body.json()) as Answer
    return 'error' in answer ? { error: answer.error } : { result: answer.result }
  }
  const rules = createSendRules({ forward, databaseUrl: options.databaseUrl ?? null })

  const count = (fault: Fault) => void fired.set(fault, (fired.get(fault) ?? 0) + 1)

  /** The fault set for one of these calls, if any. Uses it up. */
  function takeInjection(fits: (injection: Injection) => boolean): Injection | null {
    for (const injection of injections) {
      if (injection.left === 0 || !fits(injection)) continue
      if (injection.skip-- > 0) continue
      injection.left--
      return injection
    }
    return null
  }
  const aimsAt = ({ aim }: Injection, call: Call) =>
    (aim.method === undefined || aim.method === call.method) && (aim.where?.(call) ?? true)

  function replyFaultFor(calls: readonly Call[], isBatch: boolean): ReplyFault | null {
    const taken = takeInjection(
      (injection) =>
        !isCallFault(injection.fault) &&
        befallsReply(injection.fault, isBatch) &&
        calls.some((call) => aimsAt(injection, call)),
    )
    return (taken?.fault as ReplyFault | undefined) ?? null
  }

  /** What the storm draws for this request: a fault for all of it, or for one of its calls. */
  function drawn(calls: readonly Call[], isBatch: boolean): { fault: Fault; at: number } | null {
    if (!weather) return null
    const { storm, dice: wind } = weather
    const stream = calls[0]?.method ?? ''
    if (wind.roll(`${stream} rate`) >= storm.rate) return null
    const at = wind.between(`${stream} at`, 0, calls.length - 1)
    const method = calls[at]?.method ?? ''
    const fitting = storm.faults.filter((fault) =>
      isCallFault(fault) ? befalls(fault, method) : befallsReply(fault, isBatch),
    )
    return fitting.length > 0 ? { fault: wind.pick(`${stream} fault`, fitting), at } : null
  }

  /** Handles a send the way a real network does, in its client's words. */
  async function send(call: Call): Promise<Answer> {
    const refusal = await rules.check(call.params[0] as `0x${string}`)
    const dialect = proxy.dialect === 'any' ? dice.pick('dialect', DIALECTS) : proxy.dialect
    if (refusal) return { error: say(dialect, refusal) }
    const answer = await forward(call)
    if (!('error' in answer) || dialect === 'anvil') return answer
    const meaning = meaningOf(answer.error.message)
    return meaning ? { error: say(dialect, meaning) } : answer
  }

  async function truth(call: Call): Promise<Answer> {
    if (call.method === SEND) return send(call)
    const told = await proxy.answerInstead(call)
    if (told) return told
    if (!proxy.knowsBlocks && asksForHash(call)) return { result: `0x${'0'.repeat(64)}` }
    const answer = await forward(call)
    const tooMuch = call.method === 'eth_estimateGas' && 'result' in answer && BigInt(String(answer.result)) > GAS_CAP
    return tooMuch ? { error: { code: -32000, message: `gas required exceeds allowance (${GAS_CAP})` } } : answer
  }

  async function one(envelope: Envelope, storming: CallFault | null): Promise<object> {
    const call = { method: envelope.method, params: envelope.params ?? [] }
    proxy.seen.push(call)
    await proxy.onCall(call)
    const injection = takeInjection(
      (candidate) => isCallFault(candidate.fault) && befalls(candidate.fault, call.method) && aimsAt(candidate, call),
    )
    const fault = (injection?.fault as CallFault | undefined) ?? storming
    const altered = fault ? await alter(fault, call, truth, dice) : null
    if (fault && altered) count(fault)
    else if (injection) injection.left++
    const answer = altered ?? (await truth(call))
    await proxy.onAnswered(call)
    return { jsonrpc: '2.0', id: envelope.id, ...answer }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = JSON.parse(Buffer.concat(parts).toString()) as Envelope | Envelope[]
    const isBatch = Array.isArray(body)
    const calls = isBatch ? body : [body]
    const injected = replyFaultFor(calls, isBatch)
    const draw = injected ? null : drawn(calls, isBatch)
    const answer = async () => {
      const answers = await Promise.all(
        calls.map((call, at) => one(call, draw && draw.at === at && isCallFault(draw.fault) ? draw.fault : null)),
      )
      return isBatch ? answers : answers[0]
    }
    const exchange: Exchange = { request, response, isBatch, answer }
    const fault = injected ?? (draw && !isCallFault(draw.fault) ? draw.fault : null)
    if (fault) {
      count(fault)
      await reply(fault, exchange, dice)
      return
    }
    response.writeHead(200, JSON_BODY)
    response.end(JSON.stringify(await answer()))
  }

  const server = createServer((request, response) => {
    // The chain or the client is gone. Either way no answer can arrive.
    serve(request, response).catch(() => request.socket.destroy())
  })
  server.on('clientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const proxy: FaultProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fired,
    seen: [],
    dialect: 'anvil',
    knowsBlocks: true,
    ...HONEST,
    onCall: () => {},
    onAnswered: () => {},
    inject: (fault, aim = {}) => void injections.push({ fault, aim, left: aim.times ?? 1, skip: aim.skip ?? 0 }),
    storm: (storm) => {
      weather = { storm, dice: createDice(storm.seed) }
    },
    calm() {
      ;[injections, weather] = [[], null]
      Object.assign(proxy, HONEST)
    },
    broken: () => rules.broken(),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await upstream.destroy()
      await rules.close()
    },
  }
  return proxy
}
