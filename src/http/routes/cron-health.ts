// GET /api/cron/health: the state of the credit pass, due nodes, and the contract's funds as the contract itself reports them. It answers while the
// database does, and names no signer account.
import { readHealth } from '../../db/reads/public-api.ts'
import { isStale } from '../../domain/health.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** How long we cache the answer. No other public read costs the database more, so only one runs at a time. */
const KEPT_SEC = 2
const ASKED_PER_MINUTE = 600

export const cronHealth = ({ deps, queryPrimary, cached }: Tools): Route => {
  const { readings, settings } = deps
  const { staleAfterSec, tickSec, distMode } = settings
  const look = async () => {
    const [ledger, cover, distributorBalanceWei, contractPaused] = await Promise.all([
      queryPrimary(readHealth),
      readings.cover(),
      readings.distributorBalanceWei(),
      readings.paused(),
    ])
    const { lastTickAt, secondsSinceLastTick, dueNodes, scheduledNodes, halted, stuck, notSigning } = ledger
    return {
      lastTickAt,
      secondsSinceLastTick,
      stale: isStale({ ...ledger, secondsAgo: secondsSinceLastTick }, staleAfterSec),
      staleAfterSec,
      tickSec,
      distEnabled: ledger.payouts,
      distMode,
      paused: ledger.paused || contractPaused === true,
      dueNodes,
      scheduledNodes,
      distributorBalanceWei,
      contractBalanceWei: cover?.contractBalanceWei ?? null,
      outstandingWei: cover?.outstandingWei ?? null,
      isSolvent: cover?.isSolvent ?? null,
      halted,
      stuck,
      notSigning,
    }
  }
  return {
    path: '/api/cron/health',
    methods: ['GET'],
    limitPerMinute: ASKED_PER_MINUTE,
    cache: 'no-store',
    cors: true,
    deadlineMs: READ_DEADLINE_MS,
    handle: () => cached('health', KEPT_SEC, look),
  }
}
