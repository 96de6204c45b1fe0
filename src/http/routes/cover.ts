// GET /api/cover: how far the contract's balance covers what it owes, as the contract itself reports. If we cannot reach the chain, all readings are
// null; that is not an error.
import { coverOf } from '../../domain/cover.ts'
import type { Readings } from '../../ports/contract.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

const UNCHECKED = {
  contractBalanceWei: null,
  outstandingWei: null,
  surplusWei: null,
  coverBps: null,
  isSolvent: null,
  blockNumber: null,
  checkedAt: null,
}

export const cover = ({ deps, cached }: Tools): Route => ({
  path: '/api/cover',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: () => cached('cover', 10, async () => shown(await deps.readings.cover())),
})

function shown(read: Awaited<ReturnType<Readings['cover']>>): object {
  if (read === null) return UNCHECKED
  const { contractBalanceWei, outstandingWei, isSolvent, blockNumber, checkedAt } = read
  const cover = coverOf(contractBalanceWei, outstandingWei)
  const whenRead = new Date(checkedAt).toISOString()
  return { contractBalanceWei, outstandingWei, ...cover, isSolvent, blockNumber, checkedAt: whenRead }
}
