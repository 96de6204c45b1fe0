// GET /api/payments/:address: what a wallet has paid, newest first, `[]` for nothing: how a buyer finds a payment without its hash.
import { readPaymentsOf } from '../../../db/reads/public-payments.ts'
import { parseAddress, parseLimit } from '../../edge/guards.ts'
import { isRefusal } from '../../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'

export const paymentsOfAddress = ({ deps, queryReplica, cached }: Tools): Route => ({
  path: '/api/payments/:address',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=1',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: ({ params, query }) => {
    const address = parseAddress(params.address, deps.checksum)
    if (isRefusal(address)) return address
    const limit = parseLimit(query)
    if (isRefusal(limit)) return limit
    return cached(`payments ${address} ${limit}`, 1, () => queryReplica((sql) => readPaymentsOf(sql, address, limit)))
  },
})
