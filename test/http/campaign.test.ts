// The bad-input campaign: thousands of malformed requests, none of which may get a 5xx or an answer outside the
// envelope. Prints its seed; NL_SEED replays it, NL_REQUESTS makes it longer.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { it } from 'node:test'
import type { Passes } from '../../src/ports/outcomes.ts'
import { START_MS, startService } from '../support/http.ts'
import { type Malformed, malformedRequests, seededRandom } from '../support/http-campaign.ts'
import { assertEnvelope } from '../support/http-contract.ts'
import { insertSmallLedger } from '../support/http-ledger.ts'

const SEED = Number(process.env.NL_SEED ?? Math.floor(Math.random() * 2 ** 32))
const REQUESTS = Number(process.env.NL_REQUESTS ?? 3_000)
const CONNECTIONS = 24
/** The server cuts slow requests off within ten seconds, and nothing else may take this long. */
const ANSWER_MS_MAX = 15_000

it(`answers ${REQUESTS} malformed requests without a 5xx and in the envelope (NL_SEED=${SEED})`, {
  timeout: 3_600_000,
}, async () => {
  // Another minute for each request, because rate limits must not reject it first.
  let now = START_MS
  const clock = () => {
    now += 20_000
    return now
  }
  const service = await startService({
    clock,
    passes: { claim: async () => ({ kind: 'notFound' }) } as unknown as Passes,
  })
  await insertSmallLedger(service.sql)
  const requests = malformedRequests(seededRandom(SEED))
  const statuses = new Map<number, number>()
  let sent = 0
  const work = async () => {
    const line = new Line(service.port)
    while (sent < REQUESTS) {
      const index = sent++
      const request = requests.next().value as Malformed
      const where = `request ${index} of seed ${SEED}: ${JSON.stringify(request.bytes.toString('latin1').slice(0, 300))}`
      const answers = request.framed ? [await line.ask(request, where)] : await line.shout(request.bytes)
      for (const answer of answers) {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        assertInOrder(where, answer)
      }
    }
    line.close()
  }
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    console.log(`campaign of seed ${SEED}:`, Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))
    for (const status of [200, 400, 401, 404, 405])
      assert.ok(statuses.get(status), `no ${status} among the answers: the campaign misses its aim`)
    assert.equal((await service.get('/api/stats')).status, 200)
    assert.equal((await service.get('/api/node/1')).status, 200)
  } finally {
    await service.close()
  }
})

interface HeadAndBody {
  status: number
  head: string
  body: string
}

function assertInOrder(where: string, { status, head, body }: HeadAndBody): void {
  assert.ok(status < 500, `${status} for ${where}`)
  assert.match(head, /x-content-type-options: nosniff/i, where)
  if (status < 400) return
  assert.match(head, /content-type: application\/json\r/i, where)
  assert.match(head, /cache-control: (private, )?no-store\r/i, where)
  if (body === '') return
  try {
    assertEnvelope(where, JSON.parse(body))
  } catch (error) {
    assert.fail(`${where}: ${body.slice(0, 200)} ${error}`)
  }
}

/** A connection, kept for as long as it lasts. */
class Line {
  readonly #port: number
  #socket: Socket | null = null
  #received = Buffer.alloc(0)
  #wake = () => {}

  constructor(port: number) {
    this.#port = port
  }

  close(): void {
    this.#socket?.destroy()
  }

  /** Sends a request and waits for its answer. */
  async ask({ bytes, method }: Malformed, where: string): Promise<HeadAndBody> {
    const socket = this.#open()
    socket.write(bytes)
    const deadline = Date.now() + ANSWER_MS_MAX
    for (;;) {
      const answer = this.#take(method === 'HEAD')
      if (answer && answer.status >= 200) {
        if (/connection: close/i.test(answer.head)) this.#drop()
        return answer
      }
      if (socket.destroyed || Date.now() > deadline) assert.fail(`no answer to ${where}`)
      await this.#more()
    }
  }

  /** Sends bytes on a separate connection, ends it, and collects everything that comes back. */
  async shout(bytes: Buffer): Promise<HeadAndBody[]> {
    this.#drop()
    const socket = this.#open()
    socket.end(bytes)
    const deadline = Date.now() + ANSWER_MS_MAX
    while (!socket.destroyed && Date.now() < deadline) await this.#more()
    const answers: HeadAndBody[] = []
    for (let answer = this.#take(false); answer; answer = this.#take(false)) answers.push(answer)
    // Skips the body, because the answer to a HEAD has none.
    if (answers.length === 0) assert.equal(this.#received.toString('latin1'), '')
    this.#drop()
    return answers
  }

  #open(): Socket {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket
    this.#received = Buffer.alloc(0)
    const socket = connect({ port: this.#port, host: '127.0.0.1' })
    socket.on('data', (chunk: Buffer) => {
      if (socket === this.#socket) this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    socket.on('error', () => {})
    socket.on('close', () => this.#wake())
    this.#socket = socket
    return socket
  }

  #drop(): void {
    this.#socket?.destroy()
    this.#socket = null
    this.#received = Buffer.alloc(0)
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1_000)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #take(headOnly: boolean): HeadAndBody | null {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return null
    const head = this.#received.toString('latin1', 0, end + 2)
    const status = Number(
      /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? assert.fail(`no status line: ${head.slice(0, 100)}`),
    )
    const declared = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    const length = headOnly || status === 304 || status < 200 ? 0 : declared
    if (this.#received.length < end + 4 + length) return null
    const body = this.#received.toString('utf8', end + 4, end + 4 + length)
    this.#received = this.#received.subarray(end + 4 + length)
    return { status, head, body }
  }
}
