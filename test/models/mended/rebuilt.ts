// What a rebuild must find again, as a second reading of docs/ARCHITECTURE.md (Mending), docs/RUNBOOK.md (a second ledger) and docs/DATA-MODEL.md: whatever comes from the chain or
// was copied. It leaves out row ids, proofs, the passes' own reasons and times, and what only one database has. Below the last surveyed block it also leaves out what moved nothing.

/** Of each table: the columns of its key, and the columns that two equal ledgers may have differently. */
export const TABLES: Record<string, { key: string[]; free: string[] }> = {
  cursors: { key: ['name'], free: [] },
  blocks: { key: ['number'], free: [] },
  tiers: { key: ['tier_id', 'version'], free: [] },
  allowlists: { key: ['id'], free: [] },
  referral_codes: { key: ['code', 'version'], free: [] },
  allowlist_entries: { key: ['list', 'address'], free: [] },
  allowlist_nodes: { key: ['list', 'page'], free: [] },
  credit_terms: { key: ['from_time'], free: ['id', 'entered_at', 'entered_by'] },
  grants: { key: ['ref'], free: [] },
  senders: { key: ['address'], free: [] },
  passkeys: { key: ['id'], free: ['counter', 'transports', 'used_at', 'revoked_by'] },
  admin_keys: { key: ['id'], free: ['used_at', 'revoked_by'] },
  passkey_invitations: { key: ['id'], free: ['by_key', 'by_passkey', 'made_at', 'passkey_expires_at', 'revoked_by'] },
  attributions: { key: ['ref'], free: [] },
  contract_wallet_modes: { key: ['from_block'], free: [] },
  allowed_wallets: { key: ['address'], free: [] },
  cohorts: { key: ['cohort'], free: ['opened_interval_sec', 'first_due', 'opened_at', 'owner_set_block'] },
  cohort_states: { key: ['cohort', 'block_number'], free: [] },
  nodes: { key: ['node_id'], free: ['payment_id', 'proof'] },
  expulsions: { key: ['node_id'], free: [] },
  node_transfers: { key: ['block_number', 'log_index'], free: [] },
  owners: { key: ['owner'], free: [] },
  rounds: { key: ['round'], free: [] },
  turns: { key: ['round', 'cohort'], free: ['proof'] },
  single_turns: { key: ['round', 'cohort', 'due'], free: ['proof'] },
  skips: { key: ['round', 'cohort'], free: [] },
  owner_acts: { key: ['block_number', 'log_index'], free: [] },
  withdrawals: { key: ['tx_hash', 'log_index', 'node_id'], free: ['id'] },
  payments: { key: ['ref'], free: ['proof', 'unsigned_type', 'reason', 'tier_version', 'outbox_id', 'updated_at'] },
  payment_verdicts: { key: ['decided_at'], free: ['id', 'withdrawn_by'] },
  dust: { key: ['tx_hash', 'wallet_id', 'inner_index'], free: [] },
  zero_transfers: { key: ['block_number', 'wallet_id'], free: [] },
  refunds: { key: ['tx_hash', 'to_address', 'inner_index'], free: [] },
  wallet_outflows: { key: ['ref'], free: ['from_block'] },
  payment_wallets: { key: ['wallet'], free: ['id', 'grace_sec', 'entered_at', 'entered_by', 'closed_at', 'closed_by'] },
  wallet_books: { key: ['wallet'], free: ['base_wei', 'base_block', 'audited_block', 'audited_proof'] },
  totals: { key: ['single'], free: [] },
}

export interface Payment {
  id: number
  state: string
  reason: string | null
  tier: string
  succeeded: boolean
  block: number
  /** The verdicts on it. */
  verdicts: { by: string; isWithdrawn: boolean; verdict: string }[]
}
export interface Withdrawal {
  id: number
  status: string
  block: number
}
export interface Zeros {
  block: number
  count: number
}
export interface Ledger {
  payments: Payment[]
  withdrawals: Withdrawal[]
  zeros: Zeros[]
  /** Transfers of nothing to the one wallet. */
  zeroTransfers: number
  surveyedTo: number | null
}
export interface Found {
  differences: { table: string; missing: number; extra: number; differing: number }[]
  rows: number
  decidedAnew: number
  surveyedTo: number | null
}

const WAITING = ['seen', 'accepted', 'minting', 'held']

export function compare(before: Ledger, after: Ledger): Found {
  const surveyed = [before, after].flatMap(({ surveyedTo }) =>
    surveyedTo === null || surveyedTo < 0 ? [] : [surveyedTo],
  )
  const surveyedTo = surveyed.length === 0 ? null : Math.max(...surveyed)
  const counts = (one: { succeeded: boolean; block: number }) =>
    surveyedTo === null || one.succeeded || one.block > surveyedTo
  const standing = ({ payments }: Ledger) => payments.filter((one) => one.state !== 'orphaned' && counts(one))
  // A withdrawal that failed has no log.
  const tables: [string, (of: Ledger) => Map<string, string>][] = [
    [
      'withdrawals',
      ({ withdrawals }) =>
        rowsOf(
          withdrawals.filter(({ status, block }) => counts({ succeeded: status !== 'failed', block })),
          ({ id, status }) => `${id} ${status}`,
        ),
    ],
    ['payments', (of) => rowsOf(standing(of).map(factsOf), ({ id }) => String(id))],
    ['payment_verdicts', (of) => rowsOf(standing(of).flatMap(verdictsOf), ({ key }) => key)],
    [
      'zero_transfers',
      ({ zeros }) =>
        rowsOf(
          zeros.filter(({ block }) => surveyedTo === null || block > surveyedTo),
          ({ block }) => String(block),
        ),
    ],
    ['wallet_books', (of) => new Map([['1', surveyedTo === null ? String(of.zeroTransfers) : '']])],
  ]
  const found: Found = { differences: [], rows: 0, decidedAnew: 0, surveyedTo }
  for (const [table, of] of tables) {
    const { rows, ...difference } = differ(of(before), of(after))
    found.rows += rows
    if (difference.missing + difference.extra + difference.differing > 0)
      found.differences.push({ table, ...difference })
  }
  const waiting = ({ payments }: Ledger) =>
    rowsOf(
      payments.filter(({ state }) => WAITING.includes(state)).map(({ id, state, reason }) => ({ id, state, reason })),
      ({ id }) => String(id),
    )
  found.decidedAnew = differ(waiting(before), waiting(after)).differing
  return found
}

const rowsOf = <T>(rows: T[], key: (row: T) => string) => new Map(rows.map((row) => [key(row), JSON.stringify(row)]))

/** A payment without what the passes decide again. */
function factsOf({ id, state, reason, tier, succeeded, block }: Payment) {
  return {
    ...{ id, succeeded, block, state: WAITING.includes(state) ? 'waits' : state },
    ...{ reason: state === 'ignored' ? reason : null, tier: state === 'minted' ? tier : null },
  }
}

const verdictsOf = ({ id, verdicts }: Payment) =>
  verdicts.flatMap(({ by, isWithdrawn, verdict }, n) =>
    by === 'pass' || isWithdrawn ? [] : [{ key: `${id} ${n}`, by, verdict }],
  )

function differ(before: Map<string, string>, after: Map<string, string>) {
  const common = [...before.keys()].filter((key) => after.has(key))
  return {
    ...{ missing: before.size - common.length, extra: after.size - common.length, rows: common.length },
    differing: common.filter((key) => before.get(key) !== after.get(key)).length,
  }
}
