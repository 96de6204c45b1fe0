// Faults of a whole HTTP reply. `answer` forwards the request and returns the true body. A fault that breaks the
// connection before that never calls it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from './dice.ts'
import type { ReplyFault } from './names.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  isBatch: boolean
  answer: () => Promise<unknown>
}

/** Well below a client's timeout, and well above what a chain on this machine takes. */
const DELAY_MAX_MS = 150
const PIECES = 12
const PIECE_PAUSE_MS = 8
/** One MiB more than our clients read. */
const GIANT_MIB = 33
const PAGE = '<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>'

type Reply = (exchange: Exchange, dice: Dice) => Promise<void>

function say(response: ServerResponse, status: number, body: string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type })
  response.end(body)
}

function mapAnswers(body: unknown, change: (answers: object[]) => unknown): string {
  return JSON.stringify(Array.isArray(body) ? change(body) : (change([body as object]) as object[])[0])
}

const REPLY: Record<ReplyFault, Reply> = {
  async delay({ response, answer }, dice) {
    await sleep(dice.between('delay', 10, DELAY_MAX_MS))
    say(response, 200, JSON.stringify(await answer()))
  },
  async hang() {},
  async reset({ request }) {
    request.socket.destroy()
  },
  async replyLost({ request, answer }) {
    await answer()
    request.socket.destroy()
  },
  async truncated({ request, response, answer }) {
    const body = JSON.stringify(await answer())
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.write(body.slice(0, Math.ceil(body.length / 2)), () => request.socket.destroy())
  },
  async slow({ response, answer }) {
    const body = JSON.stringify(await answer())
    const size = Math.ceil(body.length / PIECES)
    response.writeHead(200, { 'content-type': 'application/json' })
    for (let at = 0; at < body.length; at += size) {
      response.write(body.slice(at, at + size))
      await sleep(PIECE_PAUSE_MS)
    }
    response.end()
  },
  html: async ({ response }) => say(response, 200, PAGE, 'text/html'),
  unavailable: async ({ response }) => say(response, 503, PAGE, 'text/html'),
  tooMany: async ({ response }) => say(response, 429, '{"error":"too many requests"}'),
  async giant({ response }) {
    response.writeHead(200, { 'content-type': 'application/json' })
    const mebibyte = Buffer.alloc(1024 * 1024, ' ')
    for (let i = 0; i < GIANT_MIB && !response.destroyed; i++) {
      if (!response.write(mebibyte)) await Promise.race([sleep(1_000), new Promise((go) => response.once('drain', go))])
    }
    response.end('{}')
  },
  async wrongId({ response, answer }) {
    const body = await answer()
    say(
      response,
      200,
      mapAnswers(body, (answers) => answers.map((one) => ({ ...one, id: 987_654_321 }))),
    )
  },
  async shortBatch({ response, answer }) {
    say(
      response,
      200,
      mapAnswers(await answer(), (answers) => answers.slice(1)),
    )
  },
  async batchRefused({ response }) {
    say(response, 200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}')
  },
  async shuffled({ response, answer }) {
    say(
      response,
      200,
      mapAnswers(await answer(), (answers) => answers.toReversed()),
    )
  },
}

const BATCH_ONLY: readonly ReplyFault[] = ['shortBatch', 'batchRefused', 'shuffled']

/** True if a fault can affect this request at all. */
export function befallsReply(fault: ReplyFault, isBatch: boolean): boolean {
  return isBatch || !BATCH_ONLY.includes(fault)
}

/** Answers the request as the fault demands. */
export function reply(fault: ReplyFault, exchange: Exchange, dice: Dice): Promise<void> {
  return REPLY[fault](exchange, dice)
}
