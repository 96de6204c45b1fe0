// What the metrics page reads from the ledger. It uses only small tables, stored totals and partial indexes, so a scrape costs the same whatever the
// size of the ledger. Nothing here writes. Times are unix seconds by the database's clock.
import { actsOf } from '../../domain/webhooks/kinds.ts'
import { STUCK } from '../blocks/stuck.ts'
import { actionIn } from '../core/audit.ts'
import type { Sql } from '../core/sql.ts'
import { PAUSED } from '../core/state.ts'
import { countUnpaid, DUE_AND_SCHEDULED } from '../nodes/cohorts.ts'
import { countPlaces, tiersNow } from '../payments/supply.ts'
import { LOST_ROLES, NOT_SIGNING } from '../sends/signers.ts'

/** We count at most this many rows one by one, because a flood of dust must not slow scrapes down. */
const COUNT_MAX = 10_000

export interface LedgerFigures {
  now: number
  followedBlock: number | null
  followedTime: number | null
  nodes: number
  owners: number
  rounds: number
  distributedWei: bigint
  withdrawnWei: bigint
  salesWei: bigint
  /** Payments that wait for the service, and held payments by reason; null if there are none. We count at most 10,000 of each. */
  open: Record<string, number> | null
  held: Record<string, number> | null
  oldestHeldTime: number | null
  /** Transfers that buy nothing, to all payments wallets: dust, and those of zero value. */
  junk: { dust: number; zero: number }
  /** Today's traces of blocks. */
  traces: { asked: number; failed: number }
  dueNodes: number
  scheduledNodes: number
  /** Signed transactions that are in no followed block, by the signer account's address. */
  outbox: { sender: string; pending: number; attempts: number; since: number }[]
  /** The number of differences in the reconciler's last comparison; null before the first. */
  drift: number | null
  halted: string | null
  /** Whether one block repeatedly stops the passes. */
  stuck: boolean
  paused: boolean
  /** The last finding of the funds watch, by role. */
  funds: Record<string, { low: boolean; neededWei: string }> | null
  /** The last finding of the budget watch; null before its first run. */
  budget: {
    nodes: number
    cohorts: number
    nodesPerWeek: number
    cohortsPerTier: number
    low: string[]
    spent: string | null
  } | null
  /** Tiers on sale that have a supply, or a cap on the contract; null if there are none. */
  tiers:
    | { id: string; state: string; sold: number; reserved: number; supply: number | null; cap: number | null }[]
    | null
  /** Nodes in a cohort that have neither a payment nor a grant. */
  unpaidNodes: number
  /** Foreign uses of our keys that we followed within the last day. */
  foreignTransactions: number
  /** Payments whose ref another wallet's node uses, found within the last day. */
  refsTaken: number
  /** Providers' answers that we rejected within the last day: headers that failed their proof, and guards. */
  refusedAnswers: number
  paidExpulsions: number
  /** Refunds that contradict the chain, found within the last day. */
  refundAlarms: number
  /** When the oldest refund in progress was prepared; null if there is none. */
  oldestRefundTime: number | null
  /** Roles that the contract has given to another account. */
  lostRoles: string[]
  /** Roles whose signer did not sign at the last request. */
  notSigning: string[]
  passes: { name: string; succeededAt: number | null }[]
  /** Connections of all instances by state, from PostgreSQL. */
  connections: Record<string, number> | null
  webhooksPending: number
  webhooksOldestTime: number | null
  webhooksFailed: number
  webhooksDisabled: number
}

/** Rows of the audit log from the last day. */
const ofLastDay = (sql: Sql, actions: readonly string[]) =>
  sql`(SELECT count(*) FROM (SELECT FROM audit WHERE ${actionIn(sql, actions)} AND at > now() - interval '1 day' LIMIT ${COUNT_MAX}) a)`

/** Reads all figures in one statement, after the places of tiers. */
export async function readLedgerFigures(sql: Sql): Promise<LedgerFigures> {
  const places = await countPlaces(sql)
  const [row] = await sql<LedgerFigures[]>`
    SELECT extract(epoch FROM clock_timestamp())::float8 AS now,
      f.block_number AS "followedBlock", f.block_time AS "followedTime",
      t.nodes, t.owners, t.rounds, t.distributed_wei AS "distributedWei", t.withdrawn_wei AS "withdrawnWei",
      t.sales_wei AS "salesWei",
      (SELECT jsonb_object_agg(state, n) FROM (SELECT state, count(*) n FROM (SELECT state FROM payments
        WHERE state IN ('seen', 'accepted', 'minting') LIMIT ${COUNT_MAX}) p GROUP BY state) s) AS open,
      (SELECT jsonb_object_agg(reason, n) FROM (SELECT reason, count(*) n FROM (SELECT reason FROM payments
        WHERE state = 'held' LIMIT ${COUNT_MAX}) p GROUP BY reason) s) AS held,
      (SELECT extract(epoch FROM block_time)::float8 FROM payments WHERE state = 'held' ORDER BY block_number LIMIT 1)
        AS "oldestHeldTime",
      (SELECT jsonb_build_object('dust', coalesce(sum(dust_transfers), 0), 'zero', coalesce(sum(zero_transfers), 0)) FROM wallet_books) AS junk,
      (SELECT jsonb_build_object('asked', coalesce(sum(traced), 0), 'failed', coalesce(sum(failed), 0))
        FROM trace_days WHERE day = current_date) AS traces,
      c.due AS "dueNodes", c.scheduled AS "scheduledNodes",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('sender', sender, 'pending', n, 'attempts', attempts, 'since', since)), '[]')
        FROM (SELECT o.sender, count(DISTINCT o.id) n, max(a.attempt) attempts, extract(epoch FROM min(o.created_at))::float8 since
          FROM outbox o JOIN outbox_attempts a ON a.outbox_id = o.id WHERE o.state = 'pending' GROUP BY o.sender) s) AS outbox,
      (SELECT jsonb_array_length(value) FROM settings WHERE name = 'drift') AS drift,
      (SELECT value ->> 'reason' FROM settings WHERE name = 'halted') AS halted,
      ${sql.unsafe(STUCK)} IS NOT NULL AS stuck,
      ${sql.unsafe(PAUSED)} AS paused,
      (SELECT jsonb_object_agg(substr(name, 7), value) FROM settings WHERE name LIKE 'funds %') AS funds,
      (SELECT value FROM settings WHERE name = 'budget') AS budget,
      (SELECT jsonb_agg(jsonb_build_object('id', tier_id, 'state', state, 'sold', sold, 'reserved', reserved, 'supply', supply, 'cap', cap)) FROM (${tiersNow(sql, places)}) s
        WHERE on_sale AND most IS NOT NULL) AS tiers,
      ${sql.unsafe(countUnpaid(COUNT_MAX))} AS "unpaidNodes",
      ${ofLastDay(sql, actsOf('key.used', 'ledger.restored'))} AS "foreignTransactions",
      ${ofLastDay(sql, ['refTaken', 'mintedElsewhere'])} AS "refsTaken",
      ${ofLastDay(sql, actsOf('proof.failed', 'guard.refused'))} AS "refusedAnswers",
      ${ofLastDay(sql, actsOf('node.expelled'))} AS "paidExpulsions",
      ${ofLastDay(sql, actsOf('refund.alarm'))} AS "refundAlarms",
      (SELECT extract(epoch FROM min(v.decided_at))::float8 FROM (SELECT id FROM payments WHERE state = 'held' AND reason = 'refunding'
        LIMIT ${COUNT_MAX}) p JOIN standing_verdicts v ON v.payment_id = p.id AND v.reason = 'refunding') AS "oldestRefundTime",
      ${sql.unsafe(LOST_ROLES)} AS "lostRoles",
      ${sql.unsafe(NOT_SIGNING)} AS "notSigning",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('name', name, 'succeededAt', extract(epoch FROM succeeded_at)::float8)), '[]') FROM passes) AS passes,
      (SELECT jsonb_object_agg(state, n) FROM (SELECT coalesce(state, 'unknown') state, count(*) n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'node-ledger%' GROUP BY 1) s) AS connections,
      (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE state = 'pending' LIMIT ${COUNT_MAX}) d) AS "webhooksPending",
      (SELECT min(extract(epoch FROM e.created_at))::float8 FROM webhook_events e WHERE e.seq =
        (SELECT min(seq) FROM webhook_deliveries WHERE state = 'pending')) AS "webhooksOldestTime",
      (SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE state = 'failed' LIMIT ${COUNT_MAX}) d) AS "webhooksFailed",
      (SELECT count(*) FROM webhook_endpoints WHERE active AND disabled_at IS NOT NULL) AS "webhooksDisabled"
    FROM totals t
    LEFT JOIN cursors f ON f.name = 'follow'
    CROSS JOIN (${sql.unsafe(DUE_AND_SCHEDULED)}) c`
  if (!row) throw new Error('the kept totals have no row')
  return row
}
