// The table of figures that the metrics page reads from the ledger: each metric's name, its help text, and the expression that reads it. They use only
// small tables, stored totals and partial indexes, so a scrape costs the same whatever the size of the ledger. Nothing here writes.
import type { Address } from '../../domain/units.ts'
import { actsOf } from '../../domain/webhooks/kinds.ts'
import { HALTED } from '../blocks/halts.ts'
import { STUCK } from '../blocks/stuck.ts'
import type { Sql } from '../core/sql.ts'
import { IS_SEEN } from '../core/troubles.ts'
import { countUnpaid, DUE_AND_SCHEDULED } from '../nodes/cohorts.ts'
import { countPlaces, tiersNow } from '../payments/supply.ts'

/** One figure, in the words of Prometheus. */
export interface Sample {
  name: string
  help: string
  labels?: Readonly<Record<string, string>>
  /** Null if it could not be read, or does not exist yet. */
  value: number | bigint | null
}

/** We count at most this many rows one by one, because a flood of dust must not slow scrapes down. */
const COUNT_MAX = 10_000

/** A figure with labels: a row for each, with the columns of its labels and `value`. */
const each = (select: string) => `(SELECT jsonb_agg(to_jsonb(s)) FROM (${select}) s)`
const ether = (wei: string) => `(${wei} / 1e18)::float8`
const seconds = (time: string) => `extract(epoch FROM ${time})::float8`
/** Seconds since a time; 0 if there is none. */
const age = (time: string) => `greatest(0, coalesce(${seconds(`clock_timestamp() - ${time}`)}, 0))`
const count = (rows: string) => `(SELECT count(*) FROM (SELECT FROM ${rows} LIMIT ${COUNT_MAX}) c)`
const some = (rows: string) => `EXISTS (SELECT FROM ${rows})`
const literals = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ')
/** Rows of the audit log from the last day. Actions are literals, because PostgreSQL cannot choose a partial index by a parameter. */
const ofLastDay = (actions: readonly string[]) =>
  count(`audit WHERE action IN (${literals(actions)}) AND at > now() - interval '1 day'`)
const budget = (value: string) =>
  each(`SELECT what, ${value} AS value FROM unnest('{nodes,cohorts}'::text[]) what WHERE l.budget IS NOT NULL`)
const tier = (figure: string) =>
  each(`SELECT tier_id AS tier, state, ${figure} AS value FROM tiers_now
    WHERE on_sale AND most IS NOT NULL AND ${figure} IS NOT NULL`)
const sender = (figure: string) => each(`SELECT sender, ${figure} AS value FROM senders`)
const funds = (figure: string) =>
  each(`SELECT sender, ${figure} AS value FROM senders JOIN troubles s ON name = 'funds ' || sender`)

const FIGURES: Readonly<Record<`node_ledger_${string}`, readonly [help: string, sql: string]>> = {
  node_ledger_followed_block: ['Block the ledger has followed to.', 'f.block_number'],
  node_ledger_followed_block_timestamp_seconds: ['Time of the block the ledger has followed to.', 'f.block_time'],
  node_ledger_nodes: ['Nodes minted.', 't.nodes'],
  node_ledger_owners: ['Wallets that hold nodes.', 't.owners'],
  node_ledger_rounds: ['Rounds credited.', 't.rounds'],
  node_ledger_credited_ether: ['Ether credited in all rounds.', ether('t.distributed_wei')],
  node_ledger_withdrawn_ether: ['Ether withdrawn by owners.', ether('t.withdrawn_wei')],
  node_ledger_sales_ether: ['Ether of the payments that became nodes.', ether('t.sales_wei')],
  node_ledger_due_nodes: ['Nodes whose credit is due.', 'd.due'],
  node_ledger_scheduled_nodes: ['Nodes that have a next credit time.', 'd.scheduled'],
  node_ledger_payments_held_oldest_age_seconds: [
    'Age of the oldest payment that is held; 0 if there is none.',
    age(`(SELECT block_time FROM payments WHERE state = 'held' ORDER BY block_number LIMIT 1)`),
  ],
  node_ledger_refund_oldest_age_seconds: [
    'Age of the oldest prepared refund that is neither recorded nor cancelled; 0 if there is none.',
    age(`(SELECT min(v.decided_at) FROM (SELECT id FROM payments WHERE state = 'held' AND reason = 'refunding' LIMIT ${COUNT_MAX}) p
      JOIN standing_verdicts v ON v.payment_id = p.id AND v.reason = 'refunding')`),
  ],
  node_ledger_refund_alarms: [
    'Refunds that contradict the chain, found within a day; counted up to 10,000.',
    ofLastDay(actsOf('refund.alarm')),
  ],
  node_ledger_drift: [
    'Differences between ledger and contract that the last comparison found; absent before the first.',
    'jsonb_array_length(l.drift)',
  ],
  node_ledger_halted: [
    'Whether the passes are halted, by reason.',
    each(`SELECT reason, ${some(`troubles WHERE name = 'halted' AND value ->> 'reason' = reason`)} AS value
      FROM unnest(ARRAY[${literals(Object.keys(HALTED))}]) reason`),
  ],
  node_ledger_passes_stuck: [
    'Whether one block stops minting and crediting although providers answer.',
    `${STUCK} IS NOT NULL`,
  ],
  node_ledger_paused: ["Whether the operator's switch pauses crediting.", 'l.paused'],
  node_ledger_pass_last_success_timestamp_seconds: [
    'When a pass last succeeded, on any instance.',
    each(`SELECT name AS pass, ${seconds('succeeded_at')} AS value FROM passes`),
  ],
  node_ledger_webhook_pending: [
    'Deliveries of events that have not succeeded yet; counted up to 10,000.',
    count(`webhook_deliveries WHERE state = 'pending'`),
  ],
  node_ledger_webhook_oldest_pending_age_seconds: [
    'Age of the oldest event that is not delivered yet; 0 if there is none.',
    age(`(SELECT min(created_at) FROM webhook_events
      WHERE seq = (SELECT min(seq) FROM webhook_deliveries WHERE state = 'pending'))`),
  ],
  node_ledger_webhook_failed: [
    'Failed deliveries that are kept; counted up to 10,000.',
    count(`webhook_deliveries WHERE state = 'failed'`),
  ],
  node_ledger_webhook_endpoints_disabled: [
    'Webhook endpoints that get no more events until an operator enables them.',
    `(SELECT count(*) FROM webhook_endpoints WHERE active AND disabled_at IS NOT NULL)`,
  ],
  node_ledger_minter_budget: ['What the minter may still mint, or open.', budget('l.budget -> what')],
  node_ledger_minter_budget_low: ['Whether that budget is low.', budget(`(l.budget -> 'low') ? what`)],
  node_ledger_minter_budget_spent: [
    'Whether that budget is used up while work waits.',
    budget(`l.budget ->> 'spent' IS NOT DISTINCT FROM what`),
  ],
  node_ledger_tier_sold: ['Nodes that a tier on sale with a supply has sold.', tier('sold')],
  node_ledger_tier_reserved: ['Places in it that undecided payments reserve.', tier('reserved')],
  node_ledger_tier_supply: ['Nodes that a tier may sell in all, by the ledger.', tier('supply')],
  node_ledger_tier_cap: ['Nodes that a tier may have in all, by the contract.', tier('cap')],
  node_ledger_nodes_unpaid: [
    'Nodes in a cohort with neither payment nor grant; counted up to 10,000.',
    countUnpaid(COUNT_MAX),
  ],
  node_ledger_foreign_transactions: [
    'Uses of our keys that this ledger never stored (by a thief, or before a restore), found within a day; counted up to 10,000.',
    ofLastDay(actsOf('key.used', 'ledger.restored')),
  ],
  node_ledger_refs_taken: [
    'Payments whose ref another wallet’s node uses, found within a day; counted up to 10,000.',
    ofLastDay(['refTaken', 'mintedElsewhere']),
  ],
  node_ledger_refused_answers: [
    'Providers’ answers that we rejected within a day: headers that do not recompute, and guards; counted up to 10,000.',
    ofLastDay(actsOf('proof.failed', 'guard.refused')),
  ],
  node_ledger_paid_nodes_expelled: [
    'Paid nodes that the contract’s owner expelled, found within a day; counted up to 10,000.',
    ofLastDay(actsOf('node.expelled')),
  ],
  node_ledger_tier_changes_unfit: [
    'Planned changes of tiers that did not take effect, within a day; counted up to 10,000.',
    ofLastDay(actsOf('tier.unfit')),
  ],
  node_ledger_payments: [
    'Payments that wait, by status; counted up to 10,000.',
    each(`SELECT status, coalesce(n, 0) AS value FROM unnest('{seen,accepted,minting,held}'::text[]) status LEFT JOIN (
      SELECT status, count(*) AS n FROM (
        (SELECT state AS status FROM payments WHERE state IN ('seen', 'accepted', 'minting') LIMIT ${COUNT_MAX})
        UNION ALL (SELECT state FROM payments WHERE state = 'held' LIMIT ${COUNT_MAX})) p GROUP BY status) c USING (status)`),
  ],
  node_ledger_payments_held: [
    'Payments that are held, by reason; counted up to 10,000.',
    each(
      `SELECT reason, count(*) AS value FROM (SELECT reason FROM payments WHERE state = 'held' LIMIT ${COUNT_MAX}) p GROUP BY reason`,
    ),
  ],
  node_ledger_junk_transfers: [
    'Transfers to the payments wallets that buy nothing, by kind: dust, or no value.',
    each(`SELECT 'dust' AS kind, coalesce(sum(dust_transfers), 0) AS value FROM wallet_books
      UNION ALL SELECT 'zero', coalesce(sum(zero_transfers), 0) FROM wallet_books`),
  ],
  node_ledger_block_traces: [
    'Blocks traced today for internal transfers, by outcome: a trace was requested, or failed.',
    each(`SELECT 'asked' AS outcome, coalesce(sum(traced), 0) AS value FROM trace_days WHERE day = current_date
      UNION ALL SELECT 'failed', coalesce(sum(failed), 0) FROM trace_days WHERE day = current_date`),
  ],
  node_ledger_outbox_pending: ['Transactions that are signed and in no followed block.', sender('pending')],
  node_ledger_outbox_attempts: [
    'Attempts at the pending transaction: more than 1, its fee was raised.',
    sender('attempts'),
  ],
  node_ledger_outbox_pending_age_seconds: [
    'Age of the oldest pending transaction; 0 if there is none.',
    sender(age('since')),
  ],
  node_ledger_sender_needed_ether: [
    'Ether below which a sender’s funds are low.',
    funds(ether(`(s.value ->> 'neededWei')::numeric`)),
  ],
  node_ledger_sender_funds_low: ['Whether a sender’s funds are low.', funds(`s.value -> 'low'`)],
  node_ledger_signer_down: [
    'Whether a sender’s signer did not sign its last request.',
    sender(some(`troubles WHERE name = 'trouble signer ' || sender AND ${IS_SEEN}`)),
  ],
  node_ledger_role_lost: [
    'Whether another account has a sender’s role on the contract, by its last answer.',
    sender(some(`troubles WHERE name = 'trouble role ' || sender AND ${IS_SEEN}`)),
  ],
  node_ledger_db_connections: [
    'Database connections of all instances, by state.',
    each(`SELECT coalesce(state, 'unknown') AS state, count(*) AS value FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'node-ledger%' GROUP BY 1`),
  ],
}

/**
 * Reads all figures in one statement, after the places of tiers.
 * @param senders the signer accounts by role; figures of the others are left out.
 */
export async function readFigures(sql: Sql, senders: Readonly<Record<string, Address>> = {}): Promise<Sample[]> {
  const places = await countPlaces(sql)
  const columns = Object.entries(FIGURES).map(([name, [, expression]]) => `${expression} AS ${name}`)
  type Value = number | boolean | null
  type Row = Record<string, Value | ({ value: Value } & Record<string, string>)[]>
  const [row] = await sql<{ figures: Row }[]>`
    WITH tiers_now AS (${tiersNow(sql, places)}),
      senders AS (
        SELECT role AS sender, count(DISTINCT o.id) AS pending, coalesce(max(a.attempt), 0) AS attempts, min(o.created_at) AS since
        FROM jsonb_each_text(${JSON.stringify(senders)}::text::jsonb) s (role, address)
          LEFT JOIN outbox o ON o.sender = address AND o.state = 'pending'
          LEFT JOIN outbox_attempts a ON a.outbox_id = o.id GROUP BY role)
    SELECT to_jsonb(figures) AS figures FROM (SELECT ${sql.unsafe(columns.join(',\n'))}
      FROM totals t CROSS JOIN ledger_state l LEFT JOIN cursors f ON f.name = 'follow' CROSS JOIN (${sql.unsafe(DUE_AND_SCHEDULED)}) d) figures`
  if (!row) throw new Error('the kept totals have no row')
  const number = (value: Value) => (value === null ? null : Number(value))
  return Object.entries(FIGURES).flatMap(([name, [help]]): Sample[] => {
    const figure = row.figures[name] ?? null
    if (!Array.isArray(figure)) return [{ name, help, value: number(figure) }]
    return figure.map(({ value, ...labels }) => ({ name, help, labels, value: number(value) }))
  })
}
