// The metrics that are read at each scrape: the ledger's figures from the database, the head and the signer accounts' funds from the chain. Each read
// has a time budget, and scrapes share it. If a read fails, its samples are left out.

import { HALT_REASONS } from '../db/blocks/halts.ts'
import type { Pool } from '../db/core/sql.ts'
import { type LedgerFigures, readLedgerFigures } from '../db/reads/metrics.ts'
import { coverOf } from '../domain/cover.ts'
import { shared } from '../lib/cache.ts'
import { inTimeOrNull } from '../lib/deadline.ts'
import type { AccountReader, ChainReader, Readings } from '../ports/chain.ts'
import { ether, type Sample } from './samples.ts'

/** How long scrapes share a read, and how long a read may take. Scrapes usually come every 15 seconds. Two Prometheus servers may share a read. */
const LEDGER = { keepMs: 2_000, budgetMs: 2_000 }
const HEAD = { keepMs: 2_000, budgetMs: 2_000 }
const FUNDS = { keepMs: 10_000, budgetMs: 2_000 }

export interface MetricsDeps {
  readonly pool: Pool
  readonly chain: ChainReader
  readonly readings: Readings
  /** The minter's account; null if no key is configured. */
  readonly minter: AccountReader | null
  readonly distributor: AccountReader | null
}

/** All figures, with their help texts. */
const HELP = {
  node_ledger_reading_up: 'Whether a source could be read for this scrape.',
  node_ledger_head_block: 'Newest block of the provider.',
  node_ledger_lag_blocks: 'Blocks between the head and what the ledger has followed.',
  node_ledger_lag_seconds: 'Block time between the head and what the ledger has followed.',
  node_ledger_sender_balance_ether: 'Ether of an account that sends.',
  node_ledger_sender_nonce: 'Transactions of an account that sends.',
  node_ledger_contract_balance_ether: 'Ether in the contract.',
  node_ledger_outstanding_ether: 'Ether the contract owes.',
  node_ledger_cover_bps: 'Balance of the contract divided by what it owes, in basis points; absent if it owes nothing.',
  node_ledger_solvent: 'Whether the contract itself says that it can pay what it owes.',
  node_ledger_followed_block: 'Block the ledger has followed to.',
  node_ledger_followed_block_timestamp_seconds: 'Time of the block the ledger has followed to.',
  node_ledger_nodes: 'Nodes minted.',
  node_ledger_owners: 'Wallets that hold nodes.',
  node_ledger_rounds: 'Rounds credited.',
  node_ledger_credited_ether: 'Ether credited in all rounds.',
  node_ledger_withdrawn_ether: 'Ether withdrawn by owners.',
  node_ledger_sales_ether: 'Ether of the payments that became nodes.',
  node_ledger_due_nodes: 'Nodes whose credit is due.',
  node_ledger_scheduled_nodes: 'Nodes that have a next credit time.',
  node_ledger_payments_held_oldest_age_seconds: 'Age of the oldest payment that is held; 0 if there is none.',
  node_ledger_refund_oldest_age_seconds:
    'Age of the oldest prepared refund that is neither recorded nor cancelled; 0 if there is none.',
  node_ledger_refund_alarms: 'Refunds that contradict the chain, found within a day; counted up to 10,000.',
  node_ledger_drift: 'Differences between ledger and contract that the last comparison found; absent before the first.',
  node_ledger_halted: 'Whether the passes are halted, by reason.',
  node_ledger_passes_stuck: 'Whether one block keeps stopping the passes although providers answer.',
  node_ledger_paused: "Whether the operator's switch pauses crediting.",
  node_ledger_pass_last_success_timestamp_seconds: 'When a pass last succeeded, on any instance.',
  node_ledger_db_probe_seconds: 'Time this page’s own statement took, waiting for a connection included.',
  node_ledger_webhook_pending: 'Deliveries of events that are yet to succeed; counted up to 10,000.',
  node_ledger_webhook_oldest_pending_age_seconds: 'Age of the oldest event yet to be delivered; 0 if there is none.',
  node_ledger_webhook_failed: 'Deliveries given up on and kept; counted up to 10,000.',
  node_ledger_webhook_endpoints_disabled: 'Webhook endpoints that get no more events until an operator enables them.',
  node_ledger_minter_budget: 'What the minter may still mint, or open.',
  node_ledger_minter_budget_low: 'Whether that budget is low.',
  node_ledger_minter_budget_spent: 'Whether that budget is used up while work waits.',
  node_ledger_tier_sold: 'Nodes that a tier on sale with a supply has sold.',
  node_ledger_tier_reserved: 'Places in it that undecided payments reserve.',
  node_ledger_tier_supply: 'Nodes that a tier may ever sell, by the ledger.',
  node_ledger_tier_cap: 'Nodes that a tier may ever have, by the contract.',
  node_ledger_nodes_unpaid: 'Nodes in a cohort with neither payment nor grant; counted up to 10,000.',
  node_ledger_foreign_transactions:
    'Uses of our keys that this ledger never stored (by a thief, or before a restore), found within a day; counted up to 10,000.',
  node_ledger_refs_taken: 'Payments whose ref another wallet’s node uses, found within a day; counted up to 10,000.',
  node_ledger_refused_answers:
    'Providers’ answers that we rejected within a day: headers that do not recompute, and guards; counted up to 10,000.',
  node_ledger_paid_nodes_expelled:
    'Paid nodes that the contract’s owner expelled, found within a day; counted up to 10,000.',
  node_ledger_payments: 'Payments that wait, by status; counted up to 10,000.',
  node_ledger_payments_held: 'Payments that are held, by reason; counted up to 10,000.',
  node_ledger_junk_transfers: 'Transfers to the payments wallets that buy nothing, by kind: dust, or no value.',
  node_ledger_block_traces: 'Blocks traced today for internal transfers, by outcome: a trace was requested, or failed.',
  node_ledger_outbox_pending: 'Transactions that are signed and in no followed block.',
  node_ledger_outbox_attempts: 'Attempts at the pending transaction: more than 1, its fee was raised.',
  node_ledger_outbox_pending_age_seconds: 'Age of the oldest pending transaction; 0 if there is none.',
  node_ledger_sender_needed_ether: 'Ether below which a sender’s funds are low.',
  node_ledger_sender_funds_low: 'Whether a sender’s funds are low.',
  node_ledger_signer_down: 'Whether a sender’s signer did not sign its last request.',
  node_ledger_role_lost: 'Whether another account has a sender’s role on the contract, by its last answer.',
  node_ledger_db_connections: 'Database connections of all instances, by state.',
} as const
type Name = keyof typeof HELP
type Value = number | bigint | null

/** Figures by name, all with these labels. */
const figures = (values: Partial<Record<Name, Value>>, labels?: Sample['labels']): Sample[] =>
  Object.entries(values).map(([name, value]) => ({
    name,
    value,
    help: HELP[name as Name],
    ...(labels && { labels }),
  }))

/** One figure, with a sample per label value. */
const by = (name: Name, label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).flatMap(([word, value]) => figures({ [name]: value }, { [label]: word }))

/** Builds the function that reads all samples. It never throws, and returns within about two seconds. */
export function createMetricsReader(deps: MetricsDeps): () => Promise<Sample[]> {
  const ledger = sharedReading(async () => {
    const started = performance.now()
    const read = await readLedgerFigures(deps.pool)
    return { read, seconds: (performance.now() - started) / 1000 }
  }, LEDGER)
  const head = sharedReading(() => deps.chain.head(), HEAD)
  const signers = (['minter', 'distributor'] as const).flatMap((role) => {
    const sender = deps[role]
    if (!sender) return []
    const read = async () => ({ balanceWei: await sender.balance(), nonce: await sender.nonce() })
    return [{ role, address: sender.address as string, read: sharedReading(read, FUNDS) }]
  })
  const cover = sharedReading(() => deps.readings.cover(), FUNDS)

  return async () => {
    const [kept, newest, contract, ...funds] = await Promise.all([
      ledger(),
      head(),
      cover(),
      ...signers.map((sender) => sender.read()),
    ])
    return [
      ...by('node_ledger_reading_up', 'source', { database: Number(kept !== null), chain: Number(newest !== null) }),
      ...(kept ? ledgerSamples(kept.read, kept.seconds, signers) : []),
      ...figures({ node_ledger_head_block: newest?.number ?? null }),
      ...(kept && newest ? lagSamples(kept.read, newest) : []),
      ...signers.flatMap(({ role: sender }, index) => {
        const { balanceWei = null, nonce = null } = funds[index] ?? {}
        const balance = balanceWei === null ? null : ether(balanceWei)
        return figures({ node_ledger_sender_balance_ether: balance, node_ledger_sender_nonce: nonce }, { sender })
      }),
      ...coverSamples(contract),
    ]
  }
}

/** Shares one read among scrapes for `keepMs`. Null if the read fails or takes longer than `budgetMs`. */
function sharedReading<T>(read: () => Promise<T>, { keepMs, budgetMs }: typeof LEDGER): () => Promise<T | null> {
  const kept = shared(read, { ageMaxMs: keepMs, clock: () => performance.now() })
  return () => inTimeOrNull(budgetMs, kept)
}

function lagSamples({ followedBlock, followedTime }: LedgerFigures, head: { number: number; time: number }): Sample[] {
  const behind = (now: number, followed: number | null) => (followed === null ? null : Math.max(0, now - followed))
  return figures({
    node_ledger_lag_blocks: behind(head.number, followedBlock),
    node_ledger_lag_seconds: behind(head.time, followedTime),
  })
}

function coverSamples(read: Awaited<ReturnType<Readings['cover']>>): Sample[] {
  return figures({
    node_ledger_contract_balance_ether: read && ether(read.contractBalanceWei),
    node_ledger_outstanding_ether: read && ether(read.outstandingWei),
    node_ledger_cover_bps: read && coverOf(read.contractBalanceWei, read.outstandingWei).coverBps,
    node_ledger_solvent: read && Number(read.isSolvent),
  })
}

function ledgerSamples(f: LedgerFigures, probeSeconds: number, signers: { role: string; address: string }[]): Sample[] {
  const age = (time: number | null | undefined) => (time == null ? 0 : Math.max(0, f.now - time))
  return [
    ...figures({
      node_ledger_followed_block: f.followedBlock,
      node_ledger_followed_block_timestamp_seconds: f.followedTime,
      node_ledger_nodes: f.nodes,
      node_ledger_owners: f.owners,
      node_ledger_rounds: f.rounds,
      node_ledger_credited_ether: ether(f.distributedWei),
      node_ledger_withdrawn_ether: ether(f.withdrawnWei),
      node_ledger_sales_ether: ether(f.salesWei),
      node_ledger_due_nodes: f.dueNodes,
      node_ledger_scheduled_nodes: f.scheduledNodes,
      node_ledger_payments_held_oldest_age_seconds: age(f.oldestHeldTime),
      node_ledger_refund_oldest_age_seconds: age(f.oldestRefundTime),
      node_ledger_refund_alarms: f.refundAlarms,
      node_ledger_drift: f.drift,
      node_ledger_passes_stuck: Number(f.stuck),
      node_ledger_paused: Number(f.paused),
      node_ledger_nodes_unpaid: f.unpaidNodes,
      node_ledger_foreign_transactions: f.foreignTransactions,
      node_ledger_refs_taken: f.refsTaken,
      node_ledger_refused_answers: f.refusedAnswers,
      node_ledger_paid_nodes_expelled: f.paidExpulsions,
      node_ledger_db_probe_seconds: probeSeconds,
      node_ledger_webhook_pending: f.webhooksPending,
      node_ledger_webhook_oldest_pending_age_seconds: age(f.webhooksOldestTime),
      node_ledger_webhook_failed: f.webhooksFailed,
      node_ledger_webhook_endpoints_disabled: f.webhooksDisabled,
    }),
    ...paymentSamples(f),
    ...HALT_REASONS.flatMap((reason) => figures({ node_ledger_halted: Number(f.halted === reason) }, { reason })),
    ...f.passes.flatMap(({ name: pass, succeededAt }) =>
      figures({ node_ledger_pass_last_success_timestamp_seconds: succeededAt }, { pass }),
    ),
    ...signers.flatMap((sender) => senderSamples(f, sender, age)),
    ...budgetSamples(f),
    ...(f.tiers ?? []).flatMap(({ id: tier, state, sold, reserved, supply, cap }) =>
      figures(
        {
          node_ledger_tier_sold: sold,
          node_ledger_tier_reserved: reserved,
          ...(supply !== null && { node_ledger_tier_supply: supply }),
          ...(cap !== null && { node_ledger_tier_cap: cap }),
        },
        { tier, state },
      ),
    ),
    ...by('node_ledger_db_connections', 'state', f.connections ?? {}),
  ]
}

/** The allowances that the contract's owner set for the keys, and whether they are large enough. */
function budgetSamples({ budget }: LedgerFigures): Sample[] {
  if (!budget) return []
  return (['nodes', 'cohorts'] as const).flatMap((what) =>
    figures(
      {
        node_ledger_minter_budget: budget[what],
        node_ledger_minter_budget_low: Number(budget.low.includes(what)),
        node_ledger_minter_budget_spent: Number(budget.spent === what),
      },
      { what },
    ),
  )
}

function paymentSamples({ open, held, junk, traces }: LedgerFigures): Sample[] {
  const heldCount = Object.values(held ?? {}).reduce((sum, count) => sum + count, 0)
  const { seen = 0, accepted = 0, minting = 0 } = open ?? {}
  return [
    ...by('node_ledger_payments', 'status', { seen, accepted, minting, held: heldCount }),
    ...by('node_ledger_payments_held', 'reason', held ?? {}),
    ...by('node_ledger_junk_transfers', 'kind', junk),
    ...by('node_ledger_block_traces', 'outcome', traces),
  ]
}

function senderSamples(
  f: LedgerFigures,
  { role, address }: { role: string; address: string },
  age: (time: number | null | undefined) => number,
): Sample[] {
  const pending = f.outbox.find(({ sender }) => sender === address)
  const funds = f.funds?.[role]
  return figures(
    {
      node_ledger_outbox_pending: pending?.pending ?? 0,
      node_ledger_outbox_attempts: pending?.attempts ?? 0,
      node_ledger_outbox_pending_age_seconds: age(pending?.since),
      node_ledger_sender_needed_ether: funds ? ether(BigInt(funds.neededWei)) : null,
      node_ledger_sender_funds_low: funds ? Number(funds.low) : null,
      node_ledger_role_lost: Number(f.lostRoles.includes(role)),
      node_ledger_signer_down: Number(f.notSigning.includes(role)),
    },
    { sender: role },
  )
}
