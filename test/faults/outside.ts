// The service in its own process on a world's database and chain, through the world's fault proxy. It runs a pass only
// at a test's request, so the test decides the order of events. Database and chain outlive it, as in production.
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, INTERVAL_SEC, SLOT_SEC } from '../support/world.ts'
import type { Stage } from './stage.ts'

/** Many tests start one, so they share a compile cache. */
const compiled = temporaryDirectory()
const CRON_KEY = 'a-key-for-tests-0123456789'
/** If a requested pass has not answered by then, the test leaves it alone, because its process may be stopped. */
const PASS_MS = 30_000

export interface Outside {
  service: Service
  /** Runs a pass; null without an answer, for example if the process died of it. */
  pass(name: 'payments' | 'credit'): Promise<{ status: number; body: { ran?: boolean; error?: string } } | null>
}

const keyOf = (account: number) => DEVELOPMENT_ACCOUNTS[account]?.privateKey ?? ''

/** Starts one. `env` overrides the world's settings; `onOutput` gets all output so far. */
export async function startOutside(
  { world, proxies }: Stage,
  env: Record<string, string> = {},
  onOutput?: (output: string) => void,
): Promise<Outside> {
  const settings = {
    DATABASE_URL: world.directUrl,
    RPC_URL: proxies.map(({ url }) => url).join(','),
    TRUST_PROVIDER: String(proxies.length === 1),
    CHAIN_ID: String(world.chain.chainId),
    FACTORY_ADDRESS: world.factory,
    START_BLOCK: String(world.ctx.rules.startBlock),
    PAYMENT_ADDRESS: world.at(3),
    MINTER_PRIVATE_KEY: keyOf(1),
    DISTRIBUTOR_PRIVATE_KEY: keyOf(2),
    DIST_ENABLED: 'true',
    CREDIT_MIN_WEI: String(ETHER / 2000n),
    CREDIT_MAX_WEI: String((ETHER * 3n) / 2000n),
    CREDIT_INTERVAL_SEC: String(INTERVAL_SEC),
    CREDIT_SLOT_SEC: String(SLOT_SEC),
    SCHEDULER: 'off',
    CRON_KEY,
    LOG_LEVEL: 'warn',
    NODE_COMPILE_CACHE: compiled,
    ...env,
  }
  const service = await startService(temporaryDirectory(), settings, onOutput)
  return {
    service,
    async pass(name) {
      try {
        const response = await fetch(`${service.url}/api/cron/${name}`, {
          method: 'POST',
          headers: { 'x-cron-key': CRON_KEY },
          signal: AbortSignal.timeout(PASS_MS),
        })
        return { status: response.status, body: (await response.json()) as { ran?: boolean; error?: string } }
      } catch {
        return null
      }
    },
  }
}
