// GET /api/payment/:hash: the state of a payment, as the ledger has it. Asks nothing of the chain, so that it can be polled; a transaction
// that the ledger does not know is reported by POST /api/payments/claim.
import { readPaymentsIn } from '../../../db/reads/public-payments.ts'
import { parseHash } from '../../edge/guards.ts'
import { isRefusal, orRefuse, refuse } from '../../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'

export const payment = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/payment/:hash',
  methods: ['GET'],
  limitPerMinute: 120,
  cache: 'public, max-age=0, s-maxage=1',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: ({ params }) => {
    const txHash = parseHash(params.hash)
    if (isRefusal(txHash)) return refuse('badPaymentHash')
    const response = cached(`payment ${txHash}`, 1, async () => {
      const found = await queryReplica((sql) => readPaymentsIn(sql, txHash))
      return found === null || found.states.every(({ status }) => status === 'ignored') ? null : found.json
    })
    return orRefuse(response, 'unknownPayment')
  },
})
