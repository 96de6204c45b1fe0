// GET /.well-known/node-ledger.json: what a wallet page or a client needs to find everything else.
import { mayPass } from '../../db/core/faults.ts'
import { readWalletInForce } from '../../db/sale/payment-wallets.ts'
import { Overdue } from '../../lib/deadline.ts'
import type { SiteSettings } from '../deps.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** Path of the operator's logo, if there is one. */
export const LOGO_PATH = '/brand/logo.svg'

const UNNAMED: SiteSettings = {
  chainName: null,
  explorerUrl: null,
  brand: { name: null, logo: null, color: null, contact: null, termsUrl: null },
}

/** For how many seconds we cache the document. The price's grace period is longer. */
const KEPT_SEC = 30

/** Returns null if the error means that the database does not answer; throws any other error. */
export function noneWhileAway(error: unknown): null {
  if (error instanceof Overdue || mayPass(error)) return null
  throw error
}

/** The document's content. Without the ledger, the settings (chain and contract) are still enough for owners to withdraw. */
export async function readDeployment({ deps, queryReplica }: Pick<Tools, 'deps' | 'queryReplica'>) {
  const { chainId, publicRpcUrl, factoryAddress, publicUrl, embedded, site } = deps.settings
  const { brand: namedBrand, ...profile } = { ...UNNAMED, ...site }
  const { logo, ...brand } = namedBrand
  const [paymentAddress, maxPerWallet] = await Promise.all([
    queryReplica(readWalletInForce).catch(noneWhileAway),
    deps.readings.maxPerWallet(),
  ])
  return {
    chainId,
    rpcUrl: publicRpcUrl,
    factoryAddress,
    maxPerWallet,
    paymentAddress,
    embedded,
    apiBase: new URL('/api', publicUrl).href,
    ...profile,
    brand: { ...brand, logoUrl: logo === null ? null : LOGO_PATH },
  }
}

export const wellKnown = (tools: Tools): Route => ({
  path: '/.well-known/node-ledger.json',
  methods: ['GET'],
  limitPerMinute: null,
  cache: 'public, max-age=60',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: () => tools.cached('well-known', KEPT_SEC, () => readDeployment(tools)),
})
