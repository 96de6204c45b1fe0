// What a rebuild takes from the old ledger, as a second reading of docs/DATA-MODEL.md (origins), docs/ARCHITECTURE.md (Mending) and docs/RUNBOOK.md: what people decided, exactly as
// it is there now, whatever an earlier try had taken; and nothing of the chain's.

/** A row as text. */
export type Row = Record<string, string | null>
export type Ledger = Record<string, Row[]>

/** The terms, each with its key: what applies is what the old ledger has. */
export const TERMS: Record<string, string[]> = {
  ...{ tiers: ['tier_id', 'version'], referral_codes: ['code', 'version'], credit_terms: ['id'], grants: ['ref'] },
  ...{ attributions: ['ref'], senders: ['address'], tier_openings: ['tier_id', 'opens_after'] },
  ...{ contract_wallet_modes: ['from_block'], allowed_wallets: ['address'], proven_wallets: ['address'] },
  ...{ passkeys: ['id'], admin_keys: ['id'], passkey_invitations: ['id'], price_history: ['hour'] },
}
const PROGRAMS = ['pass', 'start', 'seed', 'rebuild']
const tableOf = (ledger: Ledger, name: string): Row[] => ledger[name] ?? []
const isStanding = (row: Row) => row.decided_by !== 'pass' && row.withdrawn_at === null

export function terms(old: Ledger, own: Ledger): Ledger {
  const copies = Object.keys(TERMS).map((name) => [name, tableOf(old, name)] as const)
  const modes = tableOf(old, 'evidence_modes').filter((row) => row.set_by !== 'pass')
  const ownModes = tableOf(own, 'evidence_modes').filter(
    (row) => row.set_by === 'pass' && modes.every(({ from_block }) => from_block !== row.from_block),
  )
  // A decided residue stays one, whatever a trace shows.
  const decided = tableOf(old, 'payments').filter(
    ({ id, tx_hash }) =>
      tx_hash === null && tableOf(old, 'payment_verdicts').some((row) => row.payment_id === id && isStanding(row)),
  )
  const refs = decided.map(({ ref }) => ref)
  const traces = tableOf(own, 'residue_traces')
  const [state, oldState] = [tableOf(own, 'ledger_state')[0], tableOf(old, 'ledger_state')[0]]
  return {
    ...own,
    ...Object.fromEntries(copies),
    evidence_modes: [...ownModes, ...modes],
    residue_traces: [
      ...traces.map((row) => ({ ...row, kept: String(refs.includes(row.ref ?? null)) })),
      ...refs
        .filter((ref) => traces.every((row) => row.ref !== ref))
        .map((ref) => ({ ref: ref ?? null, tries: '0', kept: 'true', shown: null, prove_at: null, is_wide: 'false' })),
    ],
    ledger_state: [
      { ...state, paused: oldState?.paused ?? null, second_person_wei: oldState?.second_person_wei ?? null },
    ],
  }
}

/** A list never changes, but that it may be published. */
export function lists(old: Ledger, own: Ledger): Ledger {
  const kept = tableOf(own, 'allowlists')
  const isNew = (id: string | null | undefined) => kept.every((row) => row.id !== id)
  const isPublished = (id: string | null | undefined) =>
    tableOf(old, 'allowlists').some((row) => row.id === id && row.published === 'true')
  return {
    ...own,
    allowlists: [
      ...kept.map((row) => (isPublished(row.id) ? { ...row, published: 'true' } : row)),
      ...tableOf(old, 'allowlists').filter(({ id }) => isNew(id)),
    ],
    allowlist_entries: [
      ...tableOf(own, 'allowlist_entries'),
      ...tableOf(old, 'allowlist_entries').filter(({ list }) => isNew(list)),
    ],
    allowlist_nodes: [
      ...tableOf(own, 'allowlist_nodes'),
      ...tableOf(old, 'allowlist_nodes').filter(({ list }) => isNew(list)),
    ],
  }
}

/** The books of a wallet go with it. */
export function wallets(old: Ledger, own: Ledger): Ledger {
  const all = tableOf(old, 'payment_wallets')
  const books = tableOf(own, 'wallet_books').filter(({ wallet }) => all.some((row) => row.wallet === wallet))
  const fresh = all.filter(({ wallet }) => books.every((row) => row.wallet !== wallet))
  return {
    ...own,
    payment_wallets: all,
    wallet_books: [...books, ...fresh.map(({ wallet }) => bookOf(wallet ?? null))],
  }
}

const bookOf = (wallet: string | null): Row => ({
  ...{ wallet, in_wei: '0', out_wei: '0', base_wei: null, base_block: null, audited_block: null, audited_proof: null },
  ...{ dust_transfers: '0', zero_transfers: '0' },
})

/** Of the audit log, what people did, in their order. Numbers are the database's own. */
export function records(old: Ledger, own: Ledger): Ledger {
  const kept = tableOf(own, 'audit')
  const isKept = (row: Row) =>
    kept.some((one) => ['at', 'actor', 'action', 'subject'].every((name) => one[name] === row[name]))
  const acts = tableOf(old, 'audit').filter((row) => !PROGRAMS.includes(row.actor ?? '') && !isKept(row))
  return { ...own, refunds: tableOf(old, 'refunds'), audit: [...kept, ...acts] }
}

/** A payment as it is known in every ledger. */
const refOf = (ledger: Ledger, paymentId: string | null | undefined) =>
  tableOf(ledger, 'payments').find(({ id }) => id === paymentId)

/** What people decided stands for the payments of the same refs. The last decision applies, unless the payment has its node or moved nothing. */
export function verdicts(old: Ledger, own: Ledger): Ledger {
  const all = tableOf(old, 'payment_verdicts').filter(isStanding)
  const kept = tableOf(own, 'payment_verdicts')
  const copies = all.flatMap((row) => {
    const ref = refOf(old, row.payment_id)?.ref
    const payment = tableOf(own, 'payments').find((one) => one.ref === ref)
    if (payment === undefined) return []
    const isKept = kept.some(({ payment_id, decided_at }) => payment_id === payment.id && decided_at === row.decided_at)
    return isKept ? [] : [{ ...row, payment_id: payment.id ?? null }]
  })
  const payments = tableOf(own, 'payments').map((payment) => {
    const last = all.filter((row) => refOf(old, row.payment_id)?.ref === payment.ref).at(-1)
    if (last === undefined || payment.succeeded !== 'true' || !['seen', 'held'].includes(payment.state ?? ''))
      return payment
    const { tier_id = null, tier_version = null } = refOf(old, last.payment_id) ?? {}
    const decided = { ...payment, tier_id, tier_version }
    if (last.verdict !== 'accepted') return { ...decided, state: last.verdict ?? null, reason: last.reason ?? null }
    // Its place is given anew.
    if (isLimited(own, tier_id)) return { ...decided, state: 'held', reason: 'soldOut' }
    return { ...decided, state: 'accepted', reason: null }
  })
  return { ...own, payments, payment_verdicts: [...kept, ...copies] }
}

function isLimited(ledger: Ledger, tierId: string | null): boolean {
  const tier = tableOf(ledger, 'tiers').find((row) => row.tier_id === tierId && row.live === 'true')
  return tier !== undefined && tier.supply !== null
}

export const endpoints = (old: Ledger, own: Ledger): Ledger => ({
  ...own,
  webhook_endpoints: tableOf(old, 'webhook_endpoints'),
})
