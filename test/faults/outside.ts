// The service as a process of its own on a world's database and chain, through the world's fault proxy. It runs a pass only
// when it is asked to, so that a test decides what happens when; both outlive it, as they do in production.
import { DEVELOPMENT_ACCOUNTS } from '../../src/domain/development.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ETHER, INTERVAL_SEC, SLOT_SEC } from '../support/world.ts'
import type { Stage } from './stage.ts'

/** Starts many of them: what the first one compiled, the others need not. */
const compiled = temporaryDirectory()
const CRON_KEY = 'a-key-for-tests-0123456789'
/** A pass asked for that has not answered by then is left alone: its process may be stopped. */
const PASS_MS = 30_000

export interface Outside {
  service: Service
  /** Runs a pass; null where there was no answer, as from a process that died of it. */
  pass(name: 'payments' | 'credit'): Promise<{ status: number; body: { ran?: boolean; error?: string } } | null>
}

const keyOf = (account: number) => DEVELOPMENT_ACCOUNTS[account]?.privateKey ?? ''

/** Starts one. `env` goes over what the world says; `onOutput` gets all output so far. */
export async function startOutside(
  { world, proxy }: Stage,
  env: Record<string, string> = {},
  onOutput?: (output: string) => void,
): Promise<Outside> {
  const settings = {
    DATABASE_URL: world.directUrl,
    RPC_URL: proxy.url,
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
