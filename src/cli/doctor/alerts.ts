// Checks that find a fault which an alert reports too, with the alert's name. The section of that name in docs/RUNBOOK.md says what to do.

const FUNDS = 'NodeLedgerFundsLow'
const SIGNER = 'NodeLedgerSignerDown'
const FOREIGN = 'NodeLedgerForeignTransaction'

export const ALERTS: Readonly<Record<string, string>> = {
  database: 'NodeLedgerDatabaseUnreadable',
  'database.writes': 'NodeLedgerPassFaults',
  'chain.provider': 'NodeLedgerChainUnreadable',
  'chain.evidence': 'NodeLedgerRefusedAnswers',
  'funds.minter': FUNDS,
  'funds.distributor': FUNDS,
  'transactions.funds': FUNDS,
  'signer.minter': SIGNER,
  'signer.distributor': SIGNER,
  'passes.signers': SIGNER,
  'nonce.minter': FOREIGN,
  'nonce.distributor': FOREIGN,
  'keys.foreign': FOREIGN,
  'passes.payments': 'NodeLedgerPaymentsPassStale',
  'passes.credit': 'NodeLedgerCreditPassStale',
  'passes.halt': 'NodeLedgerHalted',
  'passes.stuck': 'NodeLedgerPassesStuck',
  'passes.waiting': 'NodeLedgerPaymentsWaiting',
  'passes.roles': 'NodeLedgerRoleLost',
  'ledger.follows': 'NodeLedgerLagging',
  'ledger.drift': 'NodeLedgerDrift',
  'payments.held': 'NodeLedgerPaymentsHeld',
  'payments.refs': 'NodeLedgerRefsTaken',
  'payments.unproven': 'NodeLedgerPaymentsWaiting',
  'nodes.unpaid': 'NodeLedgerNodesUnpaid',
  'transactions.pending': 'NodeLedgerTransactionStuck',
  'owner.budget': 'NodeLedgerBudgetLow',
  'owner.supply': 'NodeLedgerTierNearlySold',
  'owner.cap': 'NodeLedgerTierCapLower',
  webhooks: 'NodeLedgerWebhooksLate',
}
