// The alerts, from which `npm run generate` writes ops/prometheus/alerts.yaml. A check names the alert of the same fault (src/checks). What follows
// from another cause is left out (`unless`), so that one cause is one alert.
import { readFileSync, writeFileSync } from 'node:fs'
import { inspectConfig } from '../../src/config/load.ts'
import { LAG_SEC, STUCK_SEC } from '../../src/domain/health.ts'

const RULES = new URL('../../ops/prometheus/alerts.yaml', import.meta.url)
/** The service's address in the rules, which the operator replaces. */
const ORIGIN = 'https://nodes.example.org'
const STALE_SEC = inspectConfig({}, { readFile: () => '' }).config.staleAfterSec

interface Alert {
  severity: 'page' | 'ticket'
  /** The fault, in PromQL. */
  when: string
  summary: string
  description?: string
  /** Other faults that cause this one, or explain it. */
  unless?: readonly string[]
  /** How long the fault must last. */
  lasts?: string
  /** The events of docs/WEBHOOKS.md with the same cause. */
  toldBy?: string
  /** The place in the console. */
  at?: string
}

type More = Omit<Alert, 'severity' | 'when' | 'summary'>
/** Wakes people up. */
const page = (when: string, summary: string, more: More = {}): Alert => ({ severity: 'page', when, summary, ...more })
const ticket = (when: string, summary: string, more: More = {}): Alert => ({
  severity: 'ticket',
  when,
  summary,
  ...more,
})

const STUCK = 'max(node_ledger_passes_stuck) == 1'
const HALTED = 'max(node_ledger_halted) == 1'
const UNPAID = 'max(node_ledger_nodes_unpaid) > 0'
const down = (source: 'chain' | 'database') => `max(node_ledger_reading_up{source="${source}"}) == 0`
const stale = (pass: 'payments' | 'credit') =>
  `time() - max(node_ledger_pass_last_success_timestamp_seconds{pass="${pass}"}) > ${STALE_SEC}`
const cannotSend = (sender: 'minter' | 'distributor') => [
  `max(avg_over_time(node_ledger_signer_down{sender="${sender}"}[5m])) > 0.4`,
  `max(node_ledger_role_lost{sender="${sender}"}) == 1`,
  `max(node_ledger_sender_funds_low{sender="${sender}"}) == 1`,
  `max(node_ledger_outbox_pending_age_seconds{sender="${sender}"}) > ${STUCK_SEC}`,
]

const ALERTS: Readonly<Record<string, Alert>> = {
  NodeLedgerDown: page(
    'up{job="node-ledger"} == 0',
    'An instance of Node Ledger does not answer on its metrics port.',
    { lasts: '2m' },
  ),
  NodeLedgerPaymentsPassStale: page(
    stale('payments'),
    'No payments pass has succeeded for five minutes. Buyers wait.',
    {
      unless: [STUCK, HALTED, down('chain')],
      lasts: '1m',
      description: 'Either nothing calls it (is the scheduler running?), or it stops on a fault (see the log).',
    },
  ),
  NodeLedgerCreditPassStale: page(stale('credit'), 'No credit pass has succeeded for five minutes.', {
    unless: [STUCK, HALTED, down('chain'), stale('payments')],
    lasts: '1m',
    at: '/rounds',
  }),
  NodeLedgerPassFaults: ticket(
    'sum by (pass) (increase(node_ledger_pass_runs_total{outcome="fault"}[15m])) > 5',
    'The {{ $labels.pass }} pass stopped on a fault {{ $value | humanize }} times in 15 minutes.',
    { unless: [STUCK, 'min_over_time(max(node_ledger_reading_up{source="chain"})[15m:1m]) == 0'] },
  ),
  // On average, so that of two instances the one whose signer signs does not hide the other.
  NodeLedgerSignerDown: page(
    'max by (sender) (avg_over_time(node_ledger_signer_down[5m])) > 0.4',
    `The {{ $labels.sender }}'s signer does not sign. Its transactions wait.`,
    { toldBy: 'signer.down', at: '/transactions' },
  ),
  NodeLedgerRoleLost: page(
    'max by (sender) (node_ledger_role_lost) == 1',
    'Our account is no longer the contract’s {{ $labels.sender }}. Its transactions wait.',
    { toldBy: 'role.lost', at: '/transactions' },
  ),
  NodeLedgerHalted: page(
    'max by (reason) (node_ledger_halted) == 1',
    'The passes are halted, because the chain is not the one that the ledger followed ({{ $labels.reason }}).',
    {
      lasts: '2m',
      toldBy: 'passes.halted',
      description: 'The service sends nothing and rewinds nothing until you have checked and cleared the halt.',
    },
  ),
  NodeLedgerPassesStuck: page(
    STUCK,
    'One block keeps stopping the passes, although the providers answer. The service follows no later block.',
    { toldBy: 'passes.stuck' },
  ),
  NodeLedgerLagging: page(
    `min(node_ledger_lag_seconds) > ${LAG_SEC}`,
    'The ledger is {{ $value | humanizeDuration }} of block time behind the chain.',
    { unless: [STUCK, HALTED, stale('payments')], lasts: '5m' },
  ),
  // At the provider's head by its own word, and yet long behind the clock.
  NodeLedgerChainStands: page(
    `time() - max(node_ledger_followed_block_timestamp_seconds) > 600 and on() min(node_ledger_lag_seconds) < ${LAG_SEC}`,
    'The newest block is {{ $value | humanizeDuration }} old. The providers are stuck, or the chain produces no blocks.',
    { unless: [STUCK, HALTED], lasts: '5m' },
  ),
  NodeLedgerChainUnreadable: page(down('chain'), 'No provider of RPC_URL has answered for five minutes.', {
    lasts: '5m',
  }),
  NodeLedgerDatabaseUnreadable: page(down('database'), 'The database does not answer.', { lasts: '2m' }),
  NodeLedgerRpcFaults: ticket(
    'sum by (provider) (rate(node_ledger_rpc_faults_total[10m])) > 0.5',
    'The provider {{ $labels.provider }} fails more than every other second.',
    { unless: [down('chain')], lasts: '10m' },
  ),
  NodeLedgerPaymentsHeld: ticket(
    'max(node_ledger_payments_held_oldest_age_seconds) > 86400',
    'A payment has been held for more than a day. A buyer waits for your decision. Prepare a refund before you send it.',
    { toldBy: 'payment.held', at: '/payments?status=held' },
  ),
  NodeLedgerPaymentsWaiting: page(
    'max(node_ledger_payments{status=~"seen|accepted|minting"}) > 0',
    'Payments have been waiting for their mint for half an hour.',
    {
      unless: [
        STUCK,
        HALTED,
        down('chain'),
        stale('payments'),
        'max(node_ledger_minter_budget_spent) == 1',
        ...cannotSend('minter'),
      ],
      lasts: '30m',
      toldBy: 'passes.waiting',
      at: '/payments?status=accepted',
    },
  ),
  NodeLedgerTransactionStuck: page(
    `max by (sender) (node_ledger_outbox_pending_age_seconds) > ${STUCK_SEC}`,
    'A transaction of the {{ $labels.sender }} has been pending for half an hour.',
    { toldBy: 'fee.capped', at: '/transactions' },
  ),
  NodeLedgerFundsLow: page(
    'max by (sender) (node_ledger_sender_funds_low) == 1',
    'The {{ $labels.sender }} is running out of ether. Send it some before its pass stops.',
    { lasts: '2m', toldBy: 'funds.low' },
  ),
  NodeLedgerBudgetLow: ticket(
    'max by (what) (node_ledger_minter_budget_low) == 1 unless on(what) max by (what) (node_ledger_minter_budget_spent) == 1',
    'The minter’s budget lasts less than a week at the last week’s rate ({{ $labels.what }}). Have the owner refill it.',
    { lasts: '2m', toldBy: 'budget.low' },
  ),
  NodeLedgerBudgetSpent: page(
    'max by (what) (node_ledger_minter_budget_spent) == 1',
    `The minter's budget of {{ $labels.what }} is spent, and buyers wait for it.`,
    { toldBy: 'budget.spent' },
  ),
  NodeLedgerTierNearlySold: ticket(
    'max by (tier) (node_ledger_tier_sold{state="open"} / node_ledger_tier_supply{state="open"}) >= 0.9',
    'Tier {{ $labels.tier }} is nearly sold out. Payments after its last place are held.',
    { lasts: '2m', toldBy: 'tier.scarce', at: '/tiers' },
  ),
  NodeLedgerTierCapLower: ticket(
    'max by (tier) (node_ledger_tier_cap) < max by (tier) (node_ledger_tier_supply)',
    'The contract mints no more than {{ $value }} nodes of tier {{ $labels.tier }}, which is less than its supply.',
    { lasts: '2m', at: '/tiers' },
  ),
  NodeLedgerTierChangeUnfit: ticket(
    'max(node_ledger_tier_changes_unfit) > 0',
    'A planned change of a tier did not take effect, because it no longer fits. The former terms stay in force.',
    { toldBy: 'tier.unfit', at: '/tiers' },
  ),
  NodeLedgerForeignTransaction: page(
    'max(node_ledger_foreign_transactions) > 0',
    'A key of the service was used elsewhere {{ $value }} times within a day. Unless the ledger was restored, it is stolen.',
    { toldBy: 'key.used,ledger.restored', at: '/transactions' },
  ),
  NodeLedgerWrongAdminKeys: ticket(
    'sum(increase(node_ledger_admin_keys_wrong_total[10m])) >= 20',
    'Repeated attempts with wrong admin keys.',
    { toldBy: 'keys.wrong', at: '/audit' },
  ),
  NodeLedgerNodesUnpaid: page(
    UNPAID,
    '{{ $value }} nodes have neither payment nor grant. Their cohorts are not credited.',
    { lasts: '2m', at: '/nodes' },
  ),
  NodeLedgerRefsTaken: page(
    'max(node_ledger_refs_taken) > 0',
    'The nodes of {{ $value }} payments belong to wallets that did not pay for them.',
    { at: '/payments?status=held&reason=mintedElsewhere' },
  ),
  NodeLedgerPaidNodeExpelled: page(
    'max(node_ledger_paid_nodes_expelled) > 0',
    `Within a day the contract’s owner expelled {{ $value }} nodes that buyers had paid for.`,
    { toldBy: 'node.expelled', at: '/audit' },
  ),
  NodeLedgerRefusedAnswers: page(
    'max(node_ledger_refused_answers) > 0',
    `A provider’s answers contradict the chain. The service rejected {{ $value }} of them within a day.`,
    { toldBy: 'proof.failed,guard.refused', at: '/audit' },
  ),
  NodeLedgerRefundWaits: ticket(
    'max(node_ledger_refund_oldest_age_seconds) > 86400',
    'A refund was prepared more than a day ago, and is neither recorded nor cancelled.',
    { at: '/payments?status=held&reason=refunding' },
  ),
  NodeLedgerRefundAlarms: page(
    'max(node_ledger_refund_alarms) > 0',
    '{{ $value }} refunds contradict the chain: sent too early, for a payment that has its node, for one that is gone, or gone themselves.',
    { toldBy: 'refund.alarm', at: '/audit' },
  ),
  NodeLedgerTracesFail: ticket(
    'max(node_ledger_block_traces{outcome="failed"}) > 0',
    '{{ $value }} blocks of today could not be traced: the service holds payments of contract wallets in them without their payer.',
    { lasts: '15m', at: '/payments?status=held&reason=unattributed' },
  ),
  NodeLedgerInsolvent: page('min(node_ledger_solvent) == 0', 'The contract reports that it cannot pay what it owes.', {
    lasts: '1m',
    at: '/books',
  }),
  NodeLedgerDrift: page(
    'max(node_ledger_drift) > 0',
    'Ledger and contract differ in {{ $value }} places. The chain is right.',
    { lasts: '10m', toldBy: 'drift.found' },
  ),
  NodeLedgerNodesOverdue: page(
    'min(node_ledger_due_nodes) > 0 and max(node_ledger_paused) == 0',
    '{{ $value }} nodes have been due for an hour and are not credited.',
    {
      unless: [STUCK, HALTED, down('chain'), stale('credit'), UNPAID, ...cannotSend('distributor')],
      lasts: '1h',
      at: '/rounds',
    },
  ),
  NodeLedgerErrors: page(
    'sum(rate(http_request_duration_seconds_count{job="node-ledger",code=~"5.."}[5m])) / sum(rate(http_request_duration_seconds_count{job="node-ledger"}[5m])) > 0.05',
    '{{ $value | humanizePercentage }} of all requests fail with a server error.',
    { unless: [down('database')], lasts: '5m' },
  ),
  NodeLedgerSlow: ticket(
    'histogram_quantile(0.99, sum by (le) (rate(http_request_duration_seconds_bucket{job="node-ledger",method="GET",route!~"/api/cron.*"}[5m]))) > 1',
    'One read in a hundred takes longer than a second.',
    { lasts: '10m' },
  ),
  NodeLedgerDatabaseSlow: ticket(
    'min(node_ledger_db_probe_seconds) > 1',
    'A cheap statement takes {{ $value | humanizeDuration }}, including the wait for a connection.',
    { lasts: '5m' },
  ),
  NodeLedgerWebhooksLate: ticket(
    'max(node_ledger_webhook_oldest_pending_age_seconds) > 3600 or max(node_ledger_webhook_endpoints_disabled) > 0',
    'Events have not been delivered for an hour, or an endpoint was disabled.',
    { lasts: '5m', at: '/webhooks' },
  ),
}

const HEAD = `# Alerts for Node Ledger. Copy, and adjust the waits to your rounds and your sleep. \`severity: page\` wakes you up: money
# waits, or something is wrong that will not recover by itself. Put the address of your service in the place of
# ${ORIGIN}, or that of your own copy of the runbook: \`runbook_url\` is docs/RUNBOOK.md under the alert's name.
# \`unless\` leaves out what follows from another cause, so that one cause is one alert. \`told_by\` lists the events of
# docs/WEBHOOKS.md with the same cause. docs/OBSERVABILITY.md lists the metrics. Check after a change:
# promtool check rules alerts.yaml && promtool test rules alerts.test.yaml
# Written by "npm run generate" from scripts/ops/alerts.ts.
groups:
  - name: node-ledger
    rules:
`

function ruleOf([name, alert]: [string, Alert]): string {
  const { severity, when, lasts, unless = [], toldBy, at = '', summary, description } = alert
  const text = (words: string) => JSON.stringify(words)
  const lines = [
    `- alert: ${name}`,
    '  expr: >-',
    ...[when, ...unless.map((cause) => `unless on() (${cause})`)].map((line) => `    ${line}`),
    ...(lasts ? [`  for: ${lasts}`] : []),
    `  labels: { severity: ${severity}${toldBy ? `, told_by: ${text(toldBy)}` : ''} }`,
    '  annotations:',
    `    runbook_url: ${ORIGIN}/runbook.html#${name.toLowerCase()}`,
    `    console_url: ${ORIGIN}/console${at}`,
    `    summary: ${text(summary)}`,
    ...(description ? [`    description: ${text(description)}`] : []),
  ]
  return lines.map((line) => `      ${line}\n`).join('')
}

const rules = () => HEAD + Object.entries(ALERTS).map(ruleOf).join('\n')

export function writeAlerts(): void {
  writeFileSync(RULES, rules())
}

/** Checks that the rules are those of the table. If not, says what to do. */
export function checkAlerts(): boolean {
  const isCurrent = readFileSync(RULES, 'utf8') === rules()
  if (!isCurrent)
    console.error('ops/prometheus/alerts.yaml is not what scripts/ops/alerts.ts makes: run "npm run generate".')
  return isCurrent
}
