// GET /api/transaction/:hash: what a transaction did, as the ledger has it: paid, minted, credited, sent back, paid out. Asks nothing of the chain.
import { readTransaction } from '../../../db/reads/public-transactions.ts'
import { parseHash } from '../../edge/guards.ts'
import { isRefusal, orRefuse, refuse } from '../../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'

export const transaction = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/transaction/:hash',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=5',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: ({ params }) => {
    const txHash = parseHash(params.hash)
    if (isRefusal(txHash)) return refuse('badTransactionHash')
    const response = cached(`transaction ${txHash}`, 5, () => queryReplica((sql) => readTransaction(sql, txHash)))
    return orRefuse(response, 'unknownTransaction')
  },
})
