// The metrics that are read at each scrape: the ledger's figures from the database, the head and the signer accounts' funds from the chain.
// Each read has a budget and is shared by scrapes; one that fails leaves its samples out.
import type { AccountReader, ChainReader, Readings } from '../chain/port.ts'
import type { Pool } from '../db/core/sql.ts'
import { type LedgerFigures, readLedgerFigures } from '../db/reads/metrics.ts'
import { coverOf } from '../domain/cover.ts'
import { shared } from '../lib/cache.ts'
import { inTimeOrNull } from '../lib/deadline.ts'
import { ether, type Sample } from './samples.ts'

/** Scrapes usually come every 15 seconds; two Prometheus servers share a read. */
const LEDGER = { keepMs: 2_000, budgetMs: 2_000 }
const HEAD = { keepMs: 2_000, budgetMs: 2_000 }
const FUNDS = { keepMs: 10_000, budgetMs: 2_000 }
const HALT_REASONS = ['otherChain', 'tooDeep', 'pastFinalized', 'mintedTwice', 'unproven']

export interface MetricsDeps {
  readonly pool: Pool
  readonly chain: ChainReader
  readonly readings: Readings
  /** Null where no key is configured. */
  readonly minter: AccountReader | null
  readonly distributor: AccountReader | null
}

/** Builds the reader of all samples. It never throws, and answers within about two seconds. */
export function createMetricsReader(deps: MetricsDeps): () => Promise<Sample[]> {
  const ledger = sharedReading(async () => {
    const started = performance.now()
    const figures = await readLedgerFigures(deps.pool)
    return { figures, seconds: (performance.now() - started) / 1000 }
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
    const up = (source: string, answered: boolean) =>
      named(
        'node_ledger_reading_up',
        'Whether the readings of a source could be made for this scrape.',
        answered ? 1 : 0,
        { source },
      )
    return [
      up('database', kept !== null),
      up('chain', newest !== null),
      ...(kept ? ledgerSamples(kept.figures, kept.seconds, signers) : []),
      named('node_ledger_head_block', 'Newest block of the provider.', newest?.number ?? null),
      ...(kept && newest ? lagSamples(kept.figures, newest) : []),
      ...signers.flatMap(({ role }, index) => fundsSamples(role, funds[index] ?? null)),
      ...coverSamples(contract),
    ]
  }
}

/** A read that scrapes share for `keepMs`; null if it fails or takes longer than `budgetMs`. */
function sharedReading<T>(read: () => Promise<T>, { keepMs, budgetMs }: typeof LEDGER): () => Promise<T | null> {
  const kept = shared(read, { ageMaxMs: keepMs, clock: () => performance.now() })
  return () => inTimeOrNull(budgetMs, kept)
}

const named = (name: string, help: string, value: number | bigint | null, labels?: Sample['labels']): Sample => ({
  ...{ name, help, value },
  ...(labels && { labels }),
})

function lagSamples(ledger: LedgerFigures, head: { number: number; time: number }): Sample[] {
  const { followedBlock, followedTime } = ledger
  const behind = (value: number) => Math.max(0, value)
  return [
    named(
      'node_ledger_lag_blocks',
      'Blocks between the head and what the ledger has followed.',
      followedBlock === null ? null : behind(head.number - followedBlock),
    ),
    named(
      'node_ledger_lag_seconds',
      'Block time between the head and what the ledger has followed.',
      followedTime === null ? null : behind(head.time - followedTime),
    ),
  ]
}

function fundsSamples(role: string, read: { balanceWei: bigint; nonce: number } | null): Sample[] {
  const labels = { sender: role }
  return [
    named(
      'node_ledger_sender_balance_ether',
      'Ether of an account that sends.',
      read && ether(read.balanceWei),
      labels,
    ),
    named('node_ledger_sender_nonce', 'Transactions of an account that sends.', read?.nonce ?? null, labels),
  ]
}

function coverSamples(read: Awaited<ReturnType<Readings['cover']>>): Sample[] {
  const coverBps = read && coverOf(read.contractBalanceWei, read.outstandingWei).coverBps
  return [
    named('node_ledger_contract_balance_ether', 'Ether in the contract.', read && ether(read.contractBalanceWei)),
    named('node_ledger_outstanding_ether', 'Ether the contract owes.', read && ether(read.outstandingWei)),
    named(
      'node_ledger_cover_bps',
      'Balance of the contract by what it owes, in basis points; absent where it owes nothing.',
      coverBps,
    ),
    named(
      'node_ledger_solvent',
      "The contract's own word on whether it can pay what it owes.",
      read && Number(read.isSolvent),
    ),
  ]
}

function ledgerSamples(f: LedgerFigures, probeSeconds: number, signers: { role: string; address: string }[]): Sample[] {
  const age = (time: number | null) => (time === null ? null : Math.max(0, f.now - time))
  return [
    named('node_ledger_followed_block', 'Block the ledger has followed to.', f.followedBlock),
    named(
      'node_ledger_followed_block_timestamp_seconds',
      'Time of the block the ledger has followed to.',
      f.followedTime,
    ),
    named('node_ledger_nodes', 'Nodes minted.', f.nodes),
    named('node_ledger_owners', 'Wallets that hold nodes.', f.owners),
    named('node_ledger_rounds', 'Rounds credited.', f.rounds),
    named('node_ledger_credited_ether', 'Ether credited in all rounds.', ether(f.distributedWei)),
    named('node_ledger_withdrawn_ether', 'Ether withdrawn by owners.', ether(f.withdrawnWei)),
    named('node_ledger_sales_ether', 'Ether of the payments that became nodes.', ether(f.salesWei)),
    named('node_ledger_due_nodes', 'Nodes whose credit is due.', f.dueNodes),
    named('node_ledger_scheduled_nodes', 'Nodes that have a next credit time.', f.scheduledNodes),
    ...paymentSamples(f),
    named(
      'node_ledger_payments_held_oldest_age_seconds',
      'Age of the oldest payment that is held; 0 where none is.',
      age(f.oldestHeldTime) ?? 0,
    ),
    named(
      'node_ledger_refund_oldest_age_seconds',
      'Age of the oldest refund that was prepared and is neither recorded nor given up; 0 where none is.',
      age(f.oldestRefundTime) ?? 0,
    ),
    named(
      'node_ledger_refund_alarms',
      'Refunds that contradict the chain, found within a day; counted up to 10,000.',
      f.refundAlarms,
    ),
    named(
      'node_ledger_drift',
      'Differences between ledger and contract that the last comparison found; absent before the first.',
      f.drift,
    ),
    ...HALT_REASONS.map((reason) =>
      named('node_ledger_halted', 'Whether the passes are halted, by reason.', Number(f.halted === reason), { reason }),
    ),
    named('node_ledger_paused', "Whether the operator's switch pauses crediting.", Number(f.paused)),
    ...f.passes.flatMap(({ name, startedAt, succeededAt }) => [
      named('node_ledger_pass_last_run_timestamp_seconds', 'When a pass last began, on any instance.', startedAt, {
        pass: name,
      }),
      named(
        'node_ledger_pass_last_success_timestamp_seconds',
        'When a pass last ended well, on any instance.',
        succeededAt,
        { pass: name },
      ),
    ]),
    ...signers.flatMap((sender) => senderSamples(f, sender, age)),
    ...budgetSamples(f),
    ...theftSamples(f),
    ...connectionSamples(f),
    named(
      'node_ledger_db_probe_seconds',
      'Time this page’s own statement took, waiting for a connection included.',
      probeSeconds,
    ),
    named(
      'node_ledger_webhook_pending',
      'Deliveries of events that are yet to succeed; counted up to 10,000.',
      f.webhooksPending,
    ),
    named(
      'node_ledger_webhook_oldest_pending_age_seconds',
      'Age of the oldest event yet to be delivered; 0 where none is.',
      age(f.webhooksOldestTime) ?? 0,
    ),
    named('node_ledger_webhook_failed', 'Deliveries given up on and kept; counted up to 10,000.', f.webhooksFailed),
    named(
      'node_ledger_webhook_endpoints_disabled',
      'Endpoints that nothing is sent to any more until an operator enables them.',
      f.webhooksDisabled,
    ),
  ]
}

/** The allowances that the contract's owner set for the keys, and their sufficiency. */
function budgetSamples({ budget }: LedgerFigures): Sample[] {
  if (!budget) return []
  const needed = { nodes: budget.nodesPerWeek, cohorts: budget.cohortsPerTier }
  return [
    ...(['nodes', 'cohorts'] as const).flatMap((what) => {
      const labelled = (name: string, help: string, value: number) => named(name, help, value, { what })
      return [
        labelled('node_ledger_minter_budget', 'What the minter may still mint, or open.', budget[what]),
        labelled(
          'node_ledger_minter_budget_needed',
          'Below this it is low: nodes minted in a week, cohorts that one more tier takes.',
          needed[what],
        ),
        labelled('node_ledger_minter_budget_low', 'Whether it is low.', Number(budget.low.includes(what))),
        labelled(
          'node_ledger_minter_budget_spent',
          'Whether nothing is left of it and something waits.',
          Number(budget.spent === what),
        ),
      ]
    }),
    ...(['floor', 'ceiling'] as const).map((bound) =>
      named(
        'node_ledger_credit_bound_ether',
        'The least and the most that the distributor may credit a node for a turn.',
        ether(BigInt(bound === 'floor' ? budget.floorWei : budget.ceilingWei)),
        { bound },
      ),
    ),
  ]
}

/** The traces of a stolen key, and of a provider that is wrong. */
function theftSamples(f: LedgerFigures): Sample[] {
  return [
    named(
      'node_ledger_nodes_unpaid',
      'Nodes in a cohort with neither payment nor grant; counted up to 10,000.',
      f.unpaidNodes,
    ),
    named(
      'node_ledger_foreign_transactions',
      'Uses of our keys that this ledger never stored, found within a day, as by a thief or before a restore; counted up to 10,000.',
      f.foreignTransactions,
    ),
    named(
      'node_ledger_refs_taken',
      'Payments whose ref is the node of another wallet than the payer, found within a day; counted up to 10,000.',
      f.refsTaken,
    ),
    named(
      'node_ledger_refused_answers',
      'Answers of providers that contradict the chain, told within a day: headers that do not recompute, and guards; counted up to 10,000.',
      f.refusedAnswers,
    ),
    named(
      'node_ledger_paid_nodes_expelled',
      'Nodes that somebody had paid for and the contract’s owner expelled, found within a day; counted up to 10,000.',
      f.paidExpulsions,
    ),
  ]
}

function paymentSamples(f: LedgerFigures): Sample[] {
  const heldCount = Object.values(f.held ?? {}).reduce((sum, count) => sum + count, 0)
  const status = (name: string, count: number) =>
    named('node_ledger_payments', 'Payments that wait, by status; counted up to 10,000.', count, { status: name })
  return [
    ...['seen', 'accepted', 'minting'].map((name) => status(name, f.open?.[name] ?? 0)),
    status('held', heldCount),
    ...Object.entries(f.held ?? {}).map(([reason, count]) =>
      named('node_ledger_payments_held', 'Payments that are held, by reason; counted up to 10,000.', count, { reason }),
    ),
    ...Object.entries(f.junk).map(([kind, count]) =>
      named(
        'node_ledger_junk_transfers',
        'Transfers to the payments wallets that are no sale by themselves, by kind: dust, or of nothing.',
        count,
        { kind },
      ),
    ),
    ...Object.entries(f.traces).map(([outcome, count]) =>
      named(
        'node_ledger_block_traces',
        'Blocks of today whose value by internal calls was to be told apart, by outcome: a trace was asked for, failed, or the day’s budget was used up.',
        count,
        { outcome },
      ),
    ),
  ]
}

function senderSamples(
  f: LedgerFigures,
  { role, address }: { role: string; address: string },
  age: (time: number | null) => number | null,
): Sample[] {
  const pending = f.outbox.find((entry) => entry.sender === address)
  const funds = f.funds?.[role]
  const labels = { sender: role }
  return [
    named(
      'node_ledger_outbox_pending',
      'Transactions that are signed and in no followed block.',
      pending?.pending ?? 0,
      labels,
    ),
    named(
      'node_ledger_outbox_attempts',
      'Attempts at the pending transaction: more than 1, its fee was raised.',
      pending?.attempts ?? 0,
      labels,
    ),
    named(
      'node_ledger_outbox_pending_age_seconds',
      'Age of the oldest pending transaction; 0 where none is.',
      age(pending?.since ?? null) ?? 0,
      labels,
    ),
    named(
      'node_ledger_sender_needed_ether',
      'Ether below which a sender’s funds are low.',
      funds ? ether(BigInt(funds.neededWei)) : null,
      labels,
    ),
    named(
      'node_ledger_sender_funds_low',
      'Whether a sender’s funds are low.',
      funds ? Number(funds.low) : null,
      labels,
    ),
    named(
      'node_ledger_signer_down',
      'Whether a sender’s signer did not sign when it was last asked.',
      Number(f.notSigning?.includes(role) ?? false),
      labels,
    ),
  ]
}

function connectionSamples(f: LedgerFigures): Sample[] {
  return Object.entries(f.connections ?? {}).map(([state, count]) =>
    named('node_ledger_db_connections', 'Database connections of all instances, by state.', count, { state }),
  )
}
