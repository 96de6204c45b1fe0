// What a rebuild does with each table: the one list of what is the operator's. Everything else comes from the chain, or belongs to one database. Copying
// anything of the chain's would prove nothing, so it must never be copied. docs/DATA-MODEL.md has the same origins.

/** `kept`: triggers keep it. `service`: the service makes it again. */
type Origin = 'chain' | 'operator' | 'service' | 'kept'

interface Table {
  readonly from: Origin
  /** When a rebuild copies it (copy.ts). Left out if it copies nothing of it. */
  readonly copied?: 'terms' | 'lists' | 'wallets' | 'verdicts' | 'records' | 'endpoints'
  /** SQL: the rows that are copied. By default, all. */
  readonly rows?: string
}

const chain: Table = { from: 'chain' }
const service: Table = { from: 'service' }
const kept: Table = { from: 'kept' }
const terms: Table = { from: 'operator', copied: 'terms' }
const lists: Table = { from: 'operator', copied: 'lists' }

/** Actors in the audit log that are not people. A rebuild repeats their acts, or does not need them. */
const AUTOMATIC_ACTORS = `('pass', 'start', 'seed', 'rebuild')`

/** All tables. A table that refers to another one comes after it. */
export const TABLES = {
  allowlists: lists,
  allowlist_entries: lists,
  allowlist_nodes: lists,
  tiers: terms,
  referral_codes: terms,
  credit_terms: terms,
  grants: terms,
  attributions: terms,
  senders: terms,
  // The blocks in which steps opened, because the sale's places decided them.
  tier_openings: { from: 'service', copied: 'terms' },
  contract_wallet_modes: terms,
  allowed_wallets: terms,
  proven_wallets: terms,
  passkeys: terms,
  admin_keys: terms,
  passkey_invitations: terms,
  price_history: terms,
  evidence_modes: { from: 'service', copied: 'terms', rows: `set_by <> 'pass'` },
  // Facts about one database, but for the operator's switches, which copy.ts copies.
  ledger_state: service,
  troubles: service,
  // Residues that the operator has decided on. They remain residues even if a trace shows their transfers, so that the decisions apply.
  residue_traces: { from: 'service', copied: 'terms' },
  payment_wallets: { from: 'operator', copied: 'wallets' },
  payment_verdicts: { from: 'operator', copied: 'verdicts', rows: `decided_by <> 'pass' AND withdrawn_at IS NULL` },
  refunds: { from: 'operator', copied: 'records' },
  audit: { from: 'operator', copied: 'records', rows: `actor NOT IN ${AUTOMATIC_ACTORS}` },
  webhook_endpoints: { from: 'operator', copied: 'endpoints' },
  // An open proposal may name a payment by its number, which is another in the new database. It is made again.
  proposals: { from: 'operator' },

  blocks: chain,
  block_fees: chain,
  cursors: chain,
  seed_blocks: chain,
  payments: chain,
  payer_codes: chain,
  dust: chain,
  zero_transfers: chain,
  wallet_outflows: chain,
  cohorts: chain,
  cohort_states: chain,
  nodes: chain,
  node_transfers: chain,
  expulsions: chain,
  rounds: chain,
  turns: chain,
  single_turns: chain,
  skips: chain,
  withdrawals: chain,
  owner_acts: chain,
  wallet_books: kept,
  owners: kept,
  totals: kept,
  ...{
    sender_bases: service,
    payment_retries: service,
    trace_days: service,
    outbox: service,
    outbox_attempts: service,
  },
  passes: service,
  idempotency_keys: service,
  used_nonces: service,
  price: service,
  migrations: service,
  webhook_events: service,
  webhook_deliveries: service,
  webhook_attempts: service,
} as const satisfies Readonly<Record<string, Table>>

type TableName = keyof typeof TABLES

/** The tables that are copied at one stage of a rebuild, in order. */
export const copiedAt = (stage: NonNullable<Table['copied']>): TableName[] =>
  (Object.keys(TABLES) as TableName[]).filter((name) => (TABLES[name] as Table).copied === stage)

/** SQL: which rows of a table are copied. */
export const rowsOf = (name: TableName): string => (TABLES[name] as Table).rows ?? 'true'
