// A wallet on another device as one of wagmi's connectors. Loaded where the operator has a project with a relay; the library behind it only once
// it is pressed, or where this browser has a session. Reads go where those of the pages go: the wallet is asked for what its owner decides.
import type { Deployment } from '@node-ledger/client'
import { type Address, getAddress, http, UserRejectedRequestError } from 'viem'
import { type CreateConnectorFn, createConnector } from 'wagmi'
import type { Failed, Options, Session, Sessions } from '../walletconnect/types.ts'
import { words } from '../words/wallet.ts'
import { ElsewhereError } from './errors.ts'
import { ELSEWHERE } from './offer.ts'

/** Calls that change nothing, of which a wallet is not asked. */
const READS = /^(eth_(?!send|sign|requestAccounts|accounts)|net_|web3_)/

type Asked = { method: string; params?: unknown }
type Provider = { request(asked: Asked): Promise<unknown> }

/** The connector for a ledger, with an `Offer` of it. */
export const elsewhere = (deployment: Deployment, project: Options): CreateConnectorFn<Provider> =>
  createConnector<Provider, Record<string, unknown>, Stored>(({ emitter, storage, chains: [chain] }) => {
    const { chainId, rpcUrl } = deployment
    const read = http(rpcUrl ?? undefined)({ chain })
    const own = new OwnSession(project, storage ?? null, (now) => {
      if (now) emitter.emit('change', { accounts: addressesOf(now) })
      else emitter.emit('disconnect')
    })
    const offers = new Offers(() => emitter.emit('message', { type: 'display_uri' }))
    const accounts = async () => addressesOf(await own.find())
    const request = async ({ method, params }: Asked) => {
      if (method === 'eth_chainId') return `0x${chainId.toString(16)}`
      if (method === 'eth_accounts' || method === 'eth_requestAccounts') return accounts()
      if (READS.test(method)) return read.request({ method, params } as never)
      return own.request(method, params).catch(rethrow)
    }
    const provider = { request, on: () => undefined, removeListener: () => undefined }
    return {
      ...{ id: ELSEWHERE, type: ELSEWHERE, name: words.elsewhere.name },
      offered: () => offers.uri,
      withdrawOffer: () => offers.withdraw(),
      connect: async ({ isReconnecting } = {}) => {
        try {
          const session = (await own.find()) ?? (isReconnecting ? null : await offers.make(await own.sessions()))
          if (!session) throw new Error('there is no session')
          await own.keep(session)
          return { accounts: addressesOf(session) as never, chainId }
        } catch (error) {
          return rethrow(error)
        }
      },
      disconnect: () => own.end(),
      getAccounts: accounts,
      getChainId: async () => chainId,
      getProvider: async () => provider,
      isAuthorized: async () => (await accounts().catch(() => [])).length > 0,
      onAccountsChanged: () => undefined,
      onChainChanged: () => undefined,
      onDisconnect: () => undefined,
    }
  }) as CreateConnectorFn<Provider>

type Stored = { 'walletConnect.topic': string }
const TOPIC = 'walletConnect.topic'

interface Storage {
  getItem(key: typeof TOPIC): Promise<string | null> | string | null
  setItem(key: typeof TOPIC, value: string): Promise<void> | void
  removeItem(key: typeof TOPIC): Promise<void> | void
}

/** The one session that the pages use, which this browser keeps by its topic. */
class OwnSession {
  readonly #project: Options
  readonly #storage: Storage | null
  readonly #changed: (now: Session | null) => void
  #opened: Promise<Sessions> | null = null
  #session: Session | null = null

  constructor(project: Options, storage: Storage | null, changed: (now: Session | null) => void) {
    this.#project = project
    this.#storage = storage
    this.#changed = changed
  }

  /** The library, started. What could not be loaded is tried again the next time. */
  sessions(): Promise<Sessions> {
    this.#opened ??= this.#open()
    this.#opened.catch(() => {
      this.#opened = null
    })
    return this.#opened
  }

  /** Also just after a page was loaded, before wagmi has looked for it. Loads nothing in a browser that has none. */
  async find(): Promise<Session | null> {
    if (this.#session) return this.#session
    const topic = await this.#storage?.getItem(TOPIC)
    return topic ? (await this.sessions()).find(topic) : null
  }

  async keep(session: Session): Promise<void> {
    this.#session = session
    await this.#storage?.setItem(TOPIC, session.topic)
  }

  async request(method: string, params: unknown): Promise<unknown> {
    const session = await this.find()
    if (!session?.methods.includes(method))
      throw Object.assign(new Error(`the wallet does not take ${method}`), { code: 4200 })
    return (await this.sessions()).request(session.topic, method, params)
  }

  async end(): Promise<void> {
    const session = await this.find()
    await this.#forget()
    if (session) await (await this.sessions()).end(session.topic)
  }

  async #forget(): Promise<void> {
    this.#session = null
    await this.#storage?.removeItem(TOPIC)
  }

  async #open(): Promise<Sessions> {
    // A file of its own, of which the bundler of the pages makes no part of them.
    const { open } = await import(/* @vite-ignore */ '/walletconnect.js').catch(() => {
      throw new ElsewhereError(words.elsewhere.errors.unreachable)
    })
    const sessions = await open(this.#project)
    sessions.onChange(async (topic, now) => {
      if (topic !== this.#session?.topic) return
      if (now) this.#session = now
      else await this.#forget()
      this.#changed(now)
    })
    return sessions
  }
}

/** Offers of a session, of which pages show the last. */
class Offers {
  /** The text that a wallet reads to agree, while there is one. */
  uri: string | null = null
  /** Nobody looks at it any more: a wallet that agrees after that is told that it is over. */
  withdraw: () => void = () => undefined
  readonly #shown: () => void

  constructor(shown: () => void) {
    this.#shown = shown
  }

  async make(sessions: Sessions): Promise<Session> {
    const { uri, approved } = await sessions.offer()
    const isOver = () => {
      if (this.uri !== uri) return
      this.uri = null
      this.withdraw = () => undefined
    }
    this.uri = uri
    const withdrawn = new Promise<never>((_, reject) => {
      this.withdraw = () => {
        isOver()
        reject(new UserRejectedRequestError(new Error('the offer was withdrawn')))
        approved.then(({ topic }) => sessions.end(topic)).catch(() => undefined)
      }
    })
    this.#shown()
    return Promise.race([approved.finally(isOver), withdrawn])
  }
}

const addressesOf = (session: Session | null): readonly Address[] =>
  session?.accounts.map((text) => getAddress(text)) ?? []

/** The codes by which wallets refuse a session, and a request. */
const REFUSALS = [4001, 5000, 5001, 5002]

/** Throws what happened as pages tell it. */
function rethrow(error: unknown): never {
  const { reason, code, message } = error as Partial<Failed> & { code?: number }
  if (reason) throw new ElsewhereError(words.elsewhere.errors[reason])
  if (code !== undefined && REFUSALS.includes(code)) throw new UserRejectedRequestError(new Error(message ?? ''))
  throw error
}
