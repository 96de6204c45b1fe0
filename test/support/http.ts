// The HTTP surface on a real PostgreSQL for tests: a server with hand-written chain readings and passes, and a client
// for all requests. Checks each answer against the OpenAPI document and the rules for all answers.
import { createHmac } from 'node:crypto'
import { type OutgoingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getAddress, recoverMessageAddress } from 'viem'
import { listenForChanges } from '../../src/db/core/changes.ts'
import { connect, inTransaction, type Pool } from '../../src/db/core/sql.ts'
import { insertFirstWallet } from '../../src/db/sale/payment-wallets.ts'
import type { Address } from '../../src/domain/units.ts'
import type { HttpDeps, HttpSettings } from '../../src/http/deps.ts'
import { createServer, type HttpServer } from '../../src/http/server.ts'
import { silentLog } from '../../src/lib/log.ts'
import { NO_READINGS, withoutChain } from '../http/edge/no-chain.ts'
import { type Answer, assertAnswer } from './http-contract.ts'
import { walletOf } from './http-ledger.ts'
import { createDatabase } from './postgres.ts'

export const CRON_KEY = 'cron-key-of-the-tests-0123456789ab'
export const ADMIN_KEY = 'admin-key-of-the-tests-0123456789a'
export const SESSION_SECRET = 'session-secret-of-the-tests-01234567'
export const PUBLIC_URL = 'https://ledger.example'
export const PAYMENT_ADDRESS = walletOf(0xfee)
/** Half way through a minute. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 30)

export interface AskOptions {
  headers?: OutgoingHttpHeaders
  /** Sent as JSON. Text or bytes are sent unchanged. */
  body?: unknown
  /** Loopback address of the caller: 127.0.0.x. */
  from?: string
}

export interface Service {
  app: HttpServer
  sql: Pool
  databaseUrl: string
  port: number
  /** The server's clock, in milliseconds. Tests move it. */
  clock: { now: number }
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>
  get(path: string, options?: AskOptions): Promise<Answer>
  post(path: string, body?: unknown, options?: AskOptions): Promise<Answer>
  close(): Promise<void>
}

export type Overrides = Partial<Omit<HttpDeps, 'settings'>> & {
  settings?: Partial<HttpSettings>
  listen?: boolean
  paymentAddress?: Address | null
}

/** Starts a service. With `listen: true` it hears ledger changes, so it memoises reads as a real one does. */
export async function startService(overrides: Overrides = {}): Promise<Service> {
  const { settings, listen = false, paymentAddress = PAYMENT_ADDRESS, ...rest } = overrides
  const database = await createDatabase()
  const sql = connect(database.url, { max: 4, prepare: true, applicationName: 'test http' })
  if (paymentAddress) await inTransaction(sql, (tx) => insertFirstWallet(tx, paymentAddress, 0, 'test'))
  const changes = listen ? listenForChanges(database.url, silentLog) : null
  const clock = { now: START_MS }
  const app = createServer({
    ...plainDeps(sql),
    changes,
    clock: () => clock.now,
    monotonicClock: rest.clock ?? (() => clock.now),
    ...rest,
    readings: { ...NO_READINGS, ...rest.readings },
    settings: { ...plainSettings, ...settings },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const ask: Service['ask'] = async (method, path, options = {}) => {
    const answer = await send(port, method, path, options)
    assertAnswer(method, path, answer)
    return answer
  }
  return {
    app,
    sql,
    databaseUrl: database.url,
    port,
    clock,
    ask,
    get: (path, options) => ask('GET', path, options),
    post: (path, body, options) => ask('POST', path, { body, ...options }),
    close: async () => {
      await app.close()
      await changes?.close()
      await sql.end({ timeout: 1 })
      await database.drop()
    },
  }
}

const plainSettings: HttpSettings = {
  chainId: 31337,
  factoryAddress: walletOf(0xfac),
  publicRpcUrl: null,
  embedded: false,
  quoteTier: null,
  cronKey: CRON_KEY,
  adminKeys: [{ label: 'ops', key: ADMIN_KEY }],
  sessionSecret: SESSION_SECRET,
  previousSessionSecret: null,
  publicUrl: PUBLIC_URL,
  trustedProxies: [],
  frameAncestors: [],
  production: false,
  staleAfterSec: 300,
  tickSec: 60,
  distMode: 'treasury',
  described: { PORT: '3000', ADMIN_KEY: 'ops:***' },
}

function plainDeps(sql: Pool): Omit<HttpDeps, 'settings' | 'changes' | 'clock' | 'monotonicClock'> {
  return {
    sql,
    readSql: sql,
    ...withoutChain(sql),
    priceFeed: null,
    checksum: (address) => getAddress(address),
    recoverSigner: async (message, signature) =>
      (await recoverMessageAddress({ message, signature })).toLowerCase() as Address,
    verifyContractWallet: null,
    proveContractWallet: null,
    log: silentLog,
  }
}

function send(port: number, method: string, path: string, options: AskOptions): Promise<Answer> {
  const { headers = {}, body, from } = options
  const plain = typeof body === 'string' || Buffer.isBuffer(body)
  const bytes = body === undefined ? undefined : plain ? body : JSON.stringify(body)
  const sent = { ...(body !== undefined && !plain ? { 'content-type': 'application/json' } : {}), ...headers }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method, path, headers: sent, agent: false, ...(from ? { localAddress: from } : {}) },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text,
            json: text === '' ? undefined : JSON.parse(text),
          })
        })
        incoming.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

/** The cookie of a signed-in wallet. */
export function sessionOf(wallet: string): string {
  const payload = `${wallet}.${Math.floor(START_MS / 1000) + 100_000}`
  return `nl_session=${payload}.${createHmac('sha256', SESSION_SECRET).update(payload).digest('base64url')}`
}
