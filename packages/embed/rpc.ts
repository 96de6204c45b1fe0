// The few JSON-RPC calls needed to manage the embedded chain. The ledger reads the chain through src/chain.

// Not a normal import, because Node would then load the whole module, including its own undici.
const { Agent, request } = process.getBuiltinModule('node:http')

/** Connections stay open between calls. An idle connection keeps no process alive. */
const agent = new Agent({ keepAlive: true })
/** A local chain answers at once. Only a dump of its whole state takes longer, and that call sets its own limit. */
const CALL_TIMEOUT_MS = 10_000

/** The node returned an error. `code` and `data` are its own. */
class RpcCallError extends Error {
  override readonly name = 'RpcCallError'
  readonly code: number
  readonly data: unknown

  constructor(method: string, error: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(`${method}: ${error.message}`)
    this.code = error.code
    this.data = error.data
  }
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Calls one method. Throws RpcCallError if the node returns an error, and the connection's error if it is unreachable. */
export async function callRpc<T = unknown>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<T> {
  const [answer] = await post(url, [{ method, params }], timeoutMs)
  return resultOf<T>(method, answer)
}

/** Calls one method for each of `paramsList`, in one request. Returns the results in the same order. */
export async function callRpcBatch<T = unknown>(
  url: string,
  method: string,
  paramsList: readonly (readonly unknown[])[],
): Promise<T[]> {
  if (paramsList.length === 0) return []
  const answers = await post(
    url,
    paramsList.map((params) => ({ method, params })),
    CALL_TIMEOUT_MS,
  )
  return paramsList.map((_, id) =>
    resultOf<T>(
      method,
      answers.find((answer) => answer.id === id),
    ),
  )
}

async function post(
  url: string,
  calls: readonly { readonly method: string; readonly params: readonly unknown[] }[],
  timeoutMs: number,
): Promise<Answer[]> {
  const bodies = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const answer = JSON.parse(await send(url, JSON.stringify(bodies.length === 1 ? bodies[0] : bodies), timeoutMs)) as
    | Answer
    | Answer[]
  return Array.isArray(answer) ? answer : [answer]
}

/** Posts JSON and returns the response text. Does not use fetch, which takes several times the CPU, because tests make many calls. */
function send(url: string, body: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => resolve(Buffer.concat(chunks).toString()))
      response.once('error', reject)
    })
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    sent.once('close', () => clearTimeout(timer))
    sent.once('error', reject)
    sent.end(body)
  })
}

function resultOf<T>(method: string, answer: Answer | undefined): T {
  if (answer === undefined) throw new Error(`${method}: no answer`)
  if (answer.error) throw new RpcCallError(method, answer.error)
  return answer.result as T
}
