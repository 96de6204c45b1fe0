// GET /api/me/referrals: the codes that pay the signed-in wallet, with what they sold, earned and were paid. It says nothing about buyers.
import type { Sql } from '../../db/core/sql.ts'
import { readDueCommissions } from '../../db/reads/commissions.ts'
import { readReferralsOf } from '../../db/sale/referrals.ts'
import type { Address } from '../../domain/units.ts'
import { toJson } from '../../lib/json.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** A code without any sale. */
const NOTHING = { count: 0, valueWei: 0n, earnedWei: 0n, takenBackWei: 0n, paidWei: 0n, waitingWei: 0n, dueWei: 0n }

export const meReferrals = ({ queryReplica }: Tools): Route => ({
  path: '/api/me/referrals',
  methods: ['GET'],
  limitPerMinute: 30,
  cache: 'private, no-store',
  cors: false,
  session: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: async ({ wallet }) => ({ json: toJson({ referrals: await queryReplica((sql) => readOwn(sql, wallet)) }) }),
})

/** Due is what is earned up to the followed block. The operator pays it once it is final. */
async function readOwn(sql: Sql, wallet: Address) {
  const codes = await readReferralsOf(sql, wallet)
  if (codes.length === 0) return []
  const lines = await readDueCommissions(sql, { final: Number.MAX_SAFE_INTEGER, believes: true, payee: wallet })
  return codes.map((of) => {
    const line = lines.find(({ code }) => code === of.code) ?? NOTHING
    const { count, valueWei, earnedWei, takenBackWei, paidWei, waitingWei, dueWei } = line
    return { ...of, count, valueWei, earnedWei, takenBackWei, paidWei, waitingWei, dueWei }
  })
}
