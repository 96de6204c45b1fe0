// The public reads that need a single statement, as a table: the parameters, the statement, and how long we cache the answer. The cache key is the
// path and all parameters, so two different requests never share an answer. Reads that do more have files of their own.
import type { Sql } from '../../db/core/sql.ts'
import { readDistributions, readNodesOf, readStats, readTiers, readTurns } from '../../db/reads/public-api.ts'
import { inOne, readPaymentsIn, readPaymentsOf } from '../../db/reads/public-payments.ts'
import { readTransaction } from '../../db/reads/public-transactions.ts'
import { readSale } from '../../db/reads/public-verdicts.ts'
import { readAllowlisted, readPublished } from '../../db/sale/allowlists.ts'
import { readPublicReferral } from '../../db/sale/referrals.ts'
import { codeOf } from '../../domain/payers/referrals.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { parseAddress, parseBlock, parseHash, parseId, parseLimit, parseOffset } from '../edge/guards.ts'
import { isRefusal, type Refusal, type RefusalName, refuse } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route, type Target } from '../route.ts'
import type { Tools } from '../tools.ts'

const PER_MINUTE = 60

interface Read<Asked extends readonly (string | number | bigint)[]> {
  readonly path: string
  readonly perMinute?: number
  /** For how many seconds we and shared caches keep the answer. */
  readonly keptSec: number
  /** For how many more seconds a cache may serve it while it revalidates. */
  readonly staleSec?: number
  readonly asked: (
    target: Target,
    checksum: Tools['deps']['checksum'],
  ) => { [Place in keyof Asked]: Asked[Place] | Refusal }
  readonly read: (sql: Sql, ...asked: Asked) => Promise<object | null>
  /** The refusal if the object does not exist; left out if it always exists. */
  readonly none?: RefusalName
}

const route =
  <Asked extends readonly (string | number | bigint)[]>(row: Read<Asked>) =>
  ({ deps, queryReplica, cached }: Tools): Route => {
    const { path, perMinute = PER_MINUTE, keptSec, staleSec, asked: parse, read, none = 'unexpected' } = row
    const stale = staleSec === undefined ? '' : `, stale-while-revalidate=${staleSec}`
    return {
      path,
      methods: ['GET'],
      limitPerMinute: perMinute,
      cache: `public, max-age=0, s-maxage=${keptSec}${stale}`,
      cors: true,
      deadlineMs: READ_DEADLINE_MS,
      handle: async (call) => {
        const args = parse(call, deps.checksum)
        const refusal = args.find(isRefusal)
        if (refusal) return refusal
        const answer = () => queryReplica((sql) => read(sql, ...(args as unknown as Asked)))
        return (await cached([path, ...args].join(' '), keptSec, answer)) ?? refuse(none)
      },
    }
  }

/** Parses a hash in the path. The refusal depends on what the path names. */
const hashOf = (text: unknown, refusal: RefusalName): Hash | Refusal => {
  const hash = parseHash(text)
  return isRefusal(hash) ? refuse(refusal) : hash
}

/** Protocol totals, from the ledger alone. Triggers maintain them. */
export const stats = route({
  path: '/api/stats',
  perMinute: 120,
  keptSec: 10,
  staleSec: 30,
  asked: () => [],
  read: readStats,
})

/** Every tier as it is now, including those off sale. */
export const tiers = route({ path: '/api/tiers', keptSec: 30, staleSec: 90, asked: () => [], read: readTiers })

/** The nodes that a wallet owns; `[]` if none. */
export const nodesOfAddress = route({
  path: '/api/nodes/:address',
  keptSec: 5,
  staleSec: 15,
  asked: ({ params }, checksum) => [parseAddress(params.address, checksum)],
  read: readNodesOf,
})

/** The tiers and payments wallets that decide on payments in a block. Everyone gets the same answer. */
export const sale = route({
  path: '/api/sale/:block',
  keptSec: 10,
  none: 'unfollowedBlock',
  asked: ({ params }) => [parseBlock(params.block)],
  read: readSale,
})

/** The allocation of a wallet on an allowlist, with its proof. A list never changes. */
export const allowlisted = route({
  path: '/api/allowlists/:root/:address',
  keptSec: 60,
  none: 'unknownAllowlist',
  asked: ({ params }, checksum) => [hashOf(params.root, 'badRoot'), parseAddress(params.address, checksum)],
  read: async (sql, root: Hash, address: Address) => {
    const entry = await readAllowlisted(sql, root, address)
    return entry && { root, address, ...entry }
  },
})

/** A list that the operator has published, page by page: the wallets behind `after`. */
export const allowlist = route({
  path: '/api/allowlists/:root',
  keptSec: 60,
  none: 'unpublishedAllowlist',
  asked: ({ params, query }, checksum) => [
    hashOf(params.root, 'badRoot'),
    parseAddress(query.after ?? `0x${'0'.repeat(40)}`, checksum),
  ],
  read: readPublished,
})

/** What a referral code pays, and whether it is valid at the moment. */
export const referral = route({
  path: '/api/referrals/:code',
  keptSec: 10,
  none: 'unknownReferral',
  asked: ({ params: { code = '' } }) => [codeOf(code) ?? refuse('badCode')],
  read: readPublicReferral,
})

/** The newest rounds, each with the turns that it paid and the terms from which to recompute them. */
export const distributions = route({
  path: '/api/distributions',
  keptSec: 10,
  staleSec: 30,
  asked: ({ query }) => [parseLimit(query)],
  read: readDistributions,
})

/** A round's turns one by one, page by page, each with the terms from which to recompute it. */
export const turns = route({
  path: '/api/distributions/:id/turns',
  keptSec: 10,
  staleSec: 30,
  none: 'unknownRound',
  asked: ({ params, query }) => [parseId(params.id), parseLimit(query), parseOffset(query)],
  read: (sql, round: bigint, limit: number, offset: number) => readTurns(sql, { round, limit, offset }),
})

/** The state of a payment. It does not ask the chain, so pages can poll it. To report an unknown payment, use POST /api/payments/claim. */
export const payment = route({
  path: '/api/payment/:hash',
  perMinute: 120,
  keptSec: 1,
  none: 'unknownPayment',
  asked: ({ params }) => [hashOf(params.hash, 'badPaymentHash')],
  read: async (sql, txHash: Hash) => {
    const payments = await readPaymentsIn(sql, txHash)
    return payments === null || payments.every(({ status }) => status === 'ignored') ? null : inOne(payments)
  },
})

/** A wallet's payments, newest first; `[]` if none. A buyer can find a payment here without its hash. */
export const paymentsOfAddress = route({
  path: '/api/payments/:address',
  keptSec: 1,
  asked: ({ params, query }, checksum) => [parseAddress(params.address, checksum), parseLimit(query)],
  read: readPaymentsOf,
})

/** What a transaction did: paid, minted, credited, refunded, paid out. It does not ask the chain. */
export const transaction = route({
  path: '/api/transaction/:hash',
  keptSec: 5,
  none: 'unknownTransaction',
  asked: ({ params }) => [hashOf(params.hash, 'badTransactionHash')],
  read: readTransaction,
})
