// The HTTP API as the demo uses it: public routes, and the operator's routes for adding a tier to sell out. Respects the rate limits by waiting as
// long as the service asks, and must never bypass them.
import { sleep, Trouble } from './trouble.ts'

export interface WellKnown {
  chainId: number
  rpcUrl: string | null
  factoryAddress: `0x${string}` | null
  paymentAddress: `0x${string}` | null
  embedded: boolean
}

export interface Tier {
  id: string
  label: string
  priceWei: string
  maxPerWallet: number
  payoutBps: number
  onSale: boolean
  state: 'upcoming' | 'open' | 'soldOut' | 'closed'
  sold: number
  remaining: number | null
  openTo: 'everyone' | 'list' | 'holders'
}

export interface Node {
  id: number
  nodeId: string
  owner: string
  tierId: string | null
  creditedWei: string
  withdrawnWei: string
  balanceWei: string
  paymentTxHash: string | null
  mintTxHash: string | null
  nextCreditAt: string | null
}

export interface NodeDetail extends Node {
  chain: {
    owner: string
    balanceWei: string
    creditedWei: string
    withdrawnWei: string
    blockNumber: number
    matchesLedger: boolean
  } | null
  credits: { distributionId: number; amountWei: string; createdAt: string | null }[]
  withdrawals: { amountWei: string; toAddress: string | null; txHash: string | null; status: string | null }[]
}

export interface Distribution {
  id: number
  mode: string | null
  totalWei: string
  nodeCount: number
  txHash: string
  turns: Turn[]
}

export interface Turn {
  cohort: number
  tierId: string | null
  dueSec: number
  seedBlock: number | null
  seed: `0x${string}` | null
  minWei: string | null
  maxWei: string | null
  payoutBps: number | null
  amountWei: string
  nodeCount: number
}

export interface Claim {
  status: string
  reason: string | null
  nodeId: string | null
}

export interface Health {
  distEnabled: boolean
  paused: boolean
  tickSec: number
}

export interface Answer<T> {
  status: number
  body: T & { error?: string }
}

export interface Api {
  readonly url: string
  /** `headers`: only for the operator's part of the demo. */
  get<T>(path: string, headers?: Record<string, string>): Promise<T>
  claim(txHash: string): Promise<Answer<Claim>>
  /** Only for the operator's part of the demo. */
  post(path: string, body: object, headers: Record<string, string>): Promise<Answer<object>>
}

/** How often we try a request that gets 429, 5xx or no answer. With the pauses this takes over a minute. */
const TRIES_MAX = 12
/** How often we try if there was no answer yet, because the service is probably down. */
const FIRST_TRIES_MAX = 2
const PAUSE_MAX_MS = 8_000
const TIMEOUT_MS = 30_000

/** Calls `onWait` if a limit makes the demo wait. */
export function openApi(url: string, onWait: (text: string) => void): Api {
  let toldUntil = 0
  const tellOnce = (path: string, retryAfterSec: number) => {
    if (Date.now() < toldUntil) return
    toldUntil = Date.now() + retryAfterSec * 1000
    onWait(`a limit of requests a minute is reached at ${path}: ${retryAfterSec} s to go`)
  }
  let answered = false
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    for (let attempt = 1; ; attempt++) {
      const response = await attemptOnce(`${url}${path}`, init)
      answered ||= response !== null
      if (response !== null && response.status !== 429 && response.status < 500) return response
      giveUpAfter(answered ? TRIES_MAX : FIRST_TRIES_MAX, attempt, `${url}${path}`, response)
      const retryAfterSec = Number(response?.headers.get('retry-after') ?? 0)
      if (response?.status === 429) tellOnce(path, retryAfterSec)
      await sleep(retryAfterSec > 0 ? retryAfterSec * 1000 : Math.min(PAUSE_MAX_MS, 250 * 2 ** attempt))
    }
  }
  const post = async <T>(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer<T>> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    const response = await ask(path, { ...init, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Answer<T>['body'] }
  }
  return {
    url,
    post,
    async get<T>(path: string, headers: Record<string, string> = {}) {
      const response = await ask(path, { headers })
      const body = (await response.json()) as T & { error?: string }
      if (!response.ok) throw new Trouble(`GET ${path} answers ${response.status}: ${body.error}`)
      return body
    },
    claim: (txHash) => post<Claim>('/api/payments/claim', { txHash }),
  }
}

async function attemptOnce(url: string, init: RequestInit): Promise<Response | null> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  } catch {
    return null
  }
}

function giveUpAfter(triesMax: number, attempt: number, url: string, response: Response | null): void {
  if (attempt < triesMax) return
  if (response !== null) throw new Trouble(`${url} answers ${response.status}, however often it is asked.`)
  throw new Trouble(
    `Nothing answers at ${new URL(url).origin}. Start the service with "npm start" in another terminal, or name the one you mean with --url.`,
  )
}
