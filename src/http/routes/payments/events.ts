// GET /api/events: payments and nodes of a wallet, or of a transaction, as server-sent events: first the current states, then every change. Reads
// from the primary, because a replica may lack the very change that triggered the read.
import { readNodesOf, readNodesPaidIn } from '../../../db/reads/public-api.ts'
import { inOne, readPaymentsIn, readPaymentsOf } from '../../../db/reads/public-payments.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import { parseAddress, parseHash, type Query } from '../../edge/guards.ts'
import type { Watched } from '../../events/stream.ts'
import { isRefusal, type Refusal, refuse } from '../../refusals.ts'
import type { Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'

/** How many of a wallet's newest payments we watch. */
const PAYMENTS_MAX = 50

export const events = ({ deps, queryPrimary, watches }: Tools): Route => ({
  path: '/api/events',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'no-store',
  cors: true,
  // The first read has the database's own time limit; the stream itself has none.
  deadlineMs: null,
  handle: async ({ query, client, raw }) => {
    const which = parseWhich(query, deps.checksum)
    if (isRefusal(which)) return which
    const read = () =>
      'payment' in which ? transactionOf(queryPrimary, which.payment) : walletOf(queryPrimary, which.address)
    const lastId = raw.headers['last-event-id']?.toString() ?? null
    const events = await watches.open(client, { key: Object.entries(which).join(' '), read }, lastId)
    return isRefusal(events) ? events : { events }
  },
})

type Which = { payment: Hash } | { address: Address }

function parseWhich(query: Query, checksum: (address: Address) => string): Which | Refusal {
  if ((query.payment === undefined) === (query.address === undefined)) return refuse('badWatch')
  if (query.payment === undefined) {
    const address = parseAddress(query.address, checksum)
    return isRefusal(address) ? address : { address }
  }
  const payment = parseHash(query.payment)
  return isRefusal(payment) ? refuse('badPaymentHash') : { payment }
}

async function transactionOf(query: Tools['queryPrimary'], txHash: Hash): Promise<Watched> {
  const [payments, nodes] = await Promise.all([
    query((sql) => readPaymentsIn(sql, txHash)),
    query((sql) => readNodesPaidIn(sql, txHash)),
  ])
  const isSale = payments?.some(({ status }) => status !== 'ignored')
  return { payments: payments && isSale ? [inOne(payments)] : [], nodes }
}

/** The wallet's state: one object per transaction, as in GET /api/payment/:hash, but with this wallet's payments only. */
async function walletOf(query: Tools['queryPrimary'], address: Address): Promise<Watched> {
  const [newestFirst, nodes] = await Promise.all([
    query((sql) => readPaymentsOf(sql, address, PAYMENTS_MAX)),
    query((sql) => readNodesOf(sql, address)),
  ])
  const byTransaction = [...Map.groupBy(newestFirst, ({ txHash }) => txHash).values()]
  return { payments: byTransaction.map((newest) => inOne(newest.toReversed())), nodes }
}
