// One method for each endpoint of the public API, named as the OpenAPI document names its operations.
import { nullOn } from './errors.ts'
import { readEvents } from './events.ts'
import { revive } from './revive.ts'
import { createTransport, type Sent, type Transport, type TransportOptions } from './transport.ts'
import type {
  Allowlisted,
  AllowlistPage,
  CanBuy,
  Cover,
  Deployment,
  Distribution,
  Health,
  Hex,
  LedgerEvent,
  Node,
  NodeDetail,
  OwnReferral,
  Payment,
  Quote,
  Referral,
  Sale,
  SingleTurns,
  Stats,
  SyncedNodes,
  Tier,
  Transaction,
  Wallet,
  Watched,
} from './types.ts'

export type ClientOptions = TransportOptions

export interface CallOptions {
  /** Cancels the request and any wait between attempts. */
  signal?: AbortSignal
  /** Overrides the client's own number of attempts. */
  attempts?: number
}

export interface ListOptions extends CallOptions {
  /** How many entries a page has at most, 1 to 200. The service's default is 50. */
  limit?: number
}

export interface QuoteOptions extends CallOptions {
  /** Bypasses every cache. Set it before a payment that relies on the answer. */
  fresh?: boolean
}

export interface EventsOptions extends Omit<CallOptions, 'attempts'> {
  /** The id of an earlier stream's last `current`. The service then leaves out what the client already has. */
  lastEventId?: string
  /** Called once the stream has begun. */
  onOpen?: () => void
}

export interface TurnsOptions extends ListOptions {
  /** Entries to skip from the beginning, 0 to 1999. */
  offset?: number
}

/** A chain node id or a ledger row id, in any notation that holds it exactly. */
export type NodeId = string | number | bigint

export interface LedgerClient {
  /** Totals of the whole ledger. */
  getStats(options?: CallOptions): Promise<Stats>
  /** Every tier as it is now, including tiers off sale. */
  getTiers(options?: CallOptions): Promise<Tier[]>
  /** The terms that decide on payments in a block. Throws 404 until the service has followed to it. */
  getSale(blockNumber: number | bigint, options?: CallOptions): Promise<Sale>
  /** A page of a published allowlist: the wallets behind `after`, none at its end. Throws 404 if the list is not published. */
  getAllowlist(root: string, after?: string, options?: CallOptions): Promise<AllowlistPage>
  /** How many nodes an allowlist lets a wallet buy, with the proof; 0 and `null` if the wallet is not on it. Throws 404 if there is no such list. */
  getAllowlisted(root: string, address: string, options?: CallOptions): Promise<Allowlisted>
  /** Whom a referral code pays, which share of the price, and whether it is valid at the moment. Throws 404 if it was never registered. */
  getReferral(code: string, options?: CallOptions): Promise<Referral>
  /** How far the contract's balance covers what it owes. Readings are `null` while the chain is unreachable. */
  getCover(options?: CallOptions): Promise<Cover>
  /** The nodes a wallet owns, oldest first. */
  getNodesOfAddress(address: string, options?: CallOptions): Promise<Node[]>
  /** One node with its credits and withdrawals, newest first. Throws 404 if it does not exist. */
  getNode(id: NodeId, options?: ListOptions): Promise<NodeDetail>
  /** Rounds, newest first. */
  getDistributions(options?: ListOptions): Promise<Distribution[]>
  /** The single turns of a round, by cohort and time, 2,000 at most. Throws 404 if the round does not exist. */
  getTurns(round: number, options?: TurnsOptions): Promise<SingleTurns>
  /** Price and payment address of a tier (the default tier if none is named). Throws 503 if nothing is for sale. */
  getDeployQuote(tierId?: string, options?: QuoteOptions): Promise<Quote>
  /**
   * Whether a payment of this wallet for a tier (the default tier if none is named) would become a node automatically: one check for each rule. If
   * the service could not make a check, it is `null`, neither yes nor no.
   */
  canBuy(address: string, tierId?: string, options?: QuoteOptions): Promise<CanBuy>
  /** US dollars per ether, for display; `null` if unknown. */
  getPrice(options?: CallOptions): Promise<number | null>
  /** The OpenAPI document. */
  getOpenapi(options?: CallOptions): Promise<Record<string, unknown>>
  /**
   * Makes the service look for a transfer on chain now. Returns the payment's state. If the provider does not have the transfer yet (409), retries.
   */
  claimPayment(txHash: string, options?: CallOptions): Promise<Payment>
  /** The state of a payment in the ledger; does not look at the chain. Throws 404 while the ledger does not have it. */
  getPayment(txHash: string, options?: CallOptions): Promise<Payment>
  /** A wallet's payments, newest first. Use it if a payment's hash was lost. */
  getPaymentsOfAddress(address: string, options?: ListOptions): Promise<Payment[]>
  /** The ledger's record of a transaction. Throws 404 if it has none. */
  getTransaction(txHash: string, options?: CallOptions): Promise<Transaction>
  /**
   * The events of one stream, until it ends: first the current states, then `current`, then each change. Throws if the stream cannot be opened, or if
   * it breaks. {@link watchPayment} and {@link watchAddress} carry on when that happens.
   */
  getEvents(which: Watched, options?: EventsOptions): AsyncGenerator<LedgerEvent>
  /** Begins a sign-in. The wallet must sign `message` exactly as it is. */
  getNonce(address?: string, options?: CallOptions): Promise<{ nonce: string; message: string }>
  /** Signs in with the signed message. Not retried: a nonce is good for only one attempt, even if the answer was lost. */
  verifySignature(signed: { address: string; signature: string }, options?: CallOptions): Promise<{ address: Hex }>
  /** Signs out. */
  logout(options?: CallOptions): Promise<void>
  /** The signed-in wallet; `null` if there is no session. */
  getMe(options?: CallOptions): Promise<Wallet | null>
  /** The codes that pay the signed-in wallet, with sales and commissions; `null` if there is no session. */
  getMyReferrals(options?: CallOptions): Promise<OwnReferral[] | null>
  /**
   * Records a node of the signed-in wallet that the ledger does not have yet. With `txHash`, 404 means that the mint is not confirmed yet. The client
   * retries it, and a later call may succeed. With `nodeId`, 404 means that the node does not exist.
   */
  syncNode(which: { txHash: string } | { nodeId: NodeId }, options?: CallOptions): Promise<SyncedNodes>
  /** Health of the credit pass. A reading is `null` if it failed. */
  getHealth(options?: CallOptions): Promise<Health>
  /** Chain, contract and payments wallet of the service. */
  getWellKnown(options?: CallOptions): Promise<Deployment>
}

/** An alias, because the function is used six times. */
const inPath = encodeURIComponent

/**
 * A client of the service at `baseUrl`. Methods throw a {@link LedgerError}, after any retries that could help. Outside browsers the client stores
 * the session cookie itself.
 */
export function createClient(options: ClientOptions): LedgerClient {
  const { request, open } = createTransport(options)
  // We do not validate answers here, because the service's own tests check them against the OpenAPI document.
  const get = async <T>(
    path: string,
    options?: QuoteOptions,
    query: Record<string, string | number | undefined> = {},
  ) => (await request({ method: 'GET', path, query, ...options })) as T
  const post = async <T>(
    path: string,
    body: object,
    options?: CallOptions,
    how?: Pick<Sent, 'repeatable' | 'notYet'>,
  ) => (await request({ method: 'POST', path, body, ...how, ...options })) as T

  return {
    getStats: (options) => get<Stats>('/api/stats', options),
    getTiers: async (options) => (await get<{ tiers: Tier[] }>('/api/tiers', options)).tiers,
    getSale: (block, options) => get<Sale>(`/api/sale/${block}`, options),
    getAllowlist: (root, after, options) => get<AllowlistPage>(`/api/allowlists/${inPath(root)}`, options, { after }),
    getAllowlisted: (root, address, options) =>
      get<Allowlisted>(`/api/allowlists/${inPath(root)}/${inPath(address)}`, options),
    getReferral: (code, options) => get<Referral>(`/api/referrals/${inPath(code)}`, options),
    getCover: (options) => get<Cover>('/api/cover', options),
    getNodesOfAddress: (address, options) => get<Node[]>(`/api/nodes/${inPath(address)}`, options),
    getNode: (id, options) => get<NodeDetail>(`/api/node/${inPath(String(id))}`, options, { limit: options?.limit }),
    getDistributions: (options) => get<Distribution[]>('/api/distributions', options, { limit: options?.limit }),
    getTurns: (round, options) =>
      get<SingleTurns>(`/api/distributions/${inPath(String(round))}/turns`, options, {
        limit: options?.limit,
        offset: options?.offset,
      }),
    getDeployQuote: (tier, options) => get<Quote>('/api/deploy-quote', options, { tier }),
    canBuy: (address, tier, options) => get<CanBuy>(`/api/can-buy/${inPath(address)}`, options, { tier }),
    getPrice: async (options) => (await get<{ usd: number | null }>('/api/price', options)).usd,
    getOpenapi: (options) => get<Record<string, unknown>>('/api/openapi.json', options),
    claimPayment: (txHash, options) => post<Payment>('/api/payments/claim', { txHash }, options),
    getPayment: (txHash, options) => get<Payment>(`/api/payment/${inPath(txHash)}`, options),
    getPaymentsOfAddress: (address, options) =>
      get<Payment[]>(`/api/payments/${inPath(address)}`, options, { limit: options?.limit }),
    getTransaction: (txHash, options) => get<Transaction>(`/api/transaction/${inPath(txHash)}`, options),
    getEvents: (which, options) => eventsOf(open, which, options),
    getNonce: (address, options) => get<{ nonce: string; message: string }>('/api/auth/nonce', options, { address }),
    verifySignature: ({ address, signature }, options) =>
      post<{ address: Hex }>('/api/auth/verify', { address, signature }, options, { repeatable: false }),
    logout: async (options) => void (await post('/api/auth/logout', {}, options)),
    getMyReferrals: async (options) =>
      (await get<{ referrals: OwnReferral[] } | null>('/api/me/referrals', options).catch(nullOn(401)))?.referrals ??
      null,
    getMe: (options) => get<Wallet>('/api/me', options).catch(nullOn(401)),
    syncNode: (which, options) =>
      post<SyncedNodes>('/api/nodes/sync', syncBody(which), options, { notYet: 'txHash' in which }),
    getHealth: (options) => get<Health>('/api/cron/health', options),
    getWellKnown: (options) => get<Deployment>('/.well-known/node-ledger.json', options),
  }
}

const EVENTS: readonly string[] = ['payment', 'node', 'current'] satisfies LedgerEvent['event'][]

async function* eventsOf(
  open: Transport['open'],
  which: Watched,
  { signal, lastEventId, onOpen }: EventsOptions = {},
): AsyncGenerator<LedgerEvent> {
  const body = await open({ path: '/api/events', query: { ...which }, lastEventId, ...(signal && { signal }) })
  // Skip other names, because the service may add events.
  for await (const event of readEvents(body, onOpen ?? (() => undefined)))
    if (EVENTS.includes(event.event)) yield { ...event, data: revive(event.data) } as LedgerEvent
}

function syncBody(which: { txHash: string } | { nodeId: NodeId }): object {
  return 'txHash' in which ? { txHash: which.txHash } : { nodeId: String(which.nodeId) }
}
