// Copies to a rebuilt ledger what is not on any chain: the operator's terms and decisions, and the ether prices of past hours. It must never copy
// anything else: if a rebuild copied what it should prove, it would prove nothing.
import { inTransaction, type Pool, type Sql } from '../db/core/sql.ts'
import { byVerdict, move } from '../db/payments/moves.ts'
import { PAGE_NODES } from '../db/sale/allowlists.ts'

/** The operator's own tables, each with the columns to copy, and past hourly prices. */
const COPIED = {
  tiers: `tier_id, version, tier_no, label, price_wei, max_per_wallet, holding_wei, holding_token, holding_symbol,
    holding_decimals, payout_bps, on_sale, grace_sec, holding_retry_sec, supply, opens_at, closes_at, opens_after, allowlist, live, from_block, from_time, entered_at, entered_by`,
  tier_openings: 'tier_id, opens_after, from_block',
  referral_codes: 'code, version, payee, commission_bps, opens_at, closes_at, from_block, entered_at, entered_by',
  credit_terms: 'from_time, payouts, min_wei, max_wei, interval_sec, slot_sec, entered_at, entered_by',
  grants: 'ref, reason, granted_by, granted_at',
  attributions:
    'residue_ref, ref, part_of, wallet, value_wei, tx_hash, tx_index, inner_index, from_address, attributed_at, attributed_by, proof',
  senders: 'address, label, reason, added_by, added_at',
  contract_wallet_modes: 'from_block, mode, entered_at, entered_by',
  allowed_wallets: 'address, label, reason, added_by, added_at',
  proven_wallets: 'address, deployed, proven_at',
  passkeys:
    'id, label, scopes, credential_id, public_key, counter, transports, invited_by, made_at, expires_at, used_at, revoked_at, revoked_by',
  admin_keys: 'id, label, digest, scopes, passkey_id, made_by, made_at, expires_at, used_at, revoked_at, revoked_by',
  passkey_invitations: `id, label, scopes, digest, made_by, by_key, by_passkey, made_at, expires_at, passkey_expires_at, passkey_id,
    revoked_at, revoked_by`,
  price_history: 'hour, usd, quoted_at',
} as const
/** The copied tables whose rows are numbered. If a table refers to another one, it comes after that one. */
const NUMBERED = ['passkeys', 'admin_keys', 'passkey_invitations']
const WALLETS =
  'id, wallet, from_block, from_time, stolen, grace_sec, watched_from, closed_block, entered_at, entered_by, closed_at, closed_by'
/** Residues that the operator has decided on. They remain residues even if a trace shows their transfers, so that the decisions apply. */
const DECIDED_RESIDUES = `SELECT p.ref, 0 AS tries, true AS kept FROM payments p WHERE p.tx_hash IS NULL
  AND EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass')`
/** What to update in rows that an earlier copy inserted: since then a tier may have been retired, or a wallet's books closed. */
const KNOWN: Partial<Record<string, string>> = {
  tiers: '(tier_id, version) DO UPDATE SET live = excluded.live',
  proven_wallets: '(address) DO UPDATE SET deployed = excluded.deployed, proven_at = excluded.proven_at',
  payment_wallets: `(id) DO UPDATE SET watched_from = excluded.watched_from, closed_block = excluded.closed_block,
    closed_at = excluded.closed_at, closed_by = excluded.closed_by`,
}
const REFUNDS =
  'payment_ref, commission_of, tx_hash, inner_index, from_address, to_address, value_wei, block_number, block_hash, final, recorded_at, recorded_by'
/** Actors in the audit log that are not people. A rebuild repeats their acts, or does not need them. */
const AUTOMATIC_ACTORS = `('pass', 'start', 'seed', 'rebuild')`
/** The settings that are the operator's switches; the other settings are facts about one database. */
const SWITCHES = ['paused', 'secondPerson']

/**
 * Copies from the other ledger: tiers, referral codes, credit terms, grants, attributions, which residues are decided, the deny list, who may buy
 * through a contract, admin keys, passkeys, prices and switches. It may be repeated.
 */
export async function copyTerms(from: Sql, into: Pool): Promise<void> {
  await inTransaction(into, async (sql) => {
    // Since an earlier copy, some grants, senders, keys or other entries may have been revoked.
    await sql`DELETE FROM grants`
    await sql`DELETE FROM tier_openings`
    await sql`DELETE FROM credit_terms`
    await sql`DELETE FROM senders`
    await sql`DELETE FROM contract_wallet_modes`
    await sql`DELETE FROM allowed_wallets`
    for (const table of NUMBERED.toReversed()) await sql.unsafe(`DELETE FROM ${table}`)
    await sql`DELETE FROM settings WHERE name = ANY(${SWITCHES})`
    // Only one version of each tier may be live. So the old one must not be live when we insert the next.
    await sql`UPDATE tiers SET live = false WHERE live`
    for (const [table, columns] of Object.entries(COPIED)) await copyTable(from, sql, { table, columns })
    // Numbering continues after the copied keys.
    for (const table of NUMBERED)
      await sql.unsafe(
        `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table} HAVING max(id) > 0`,
      )
    await sql`UPDATE residue_traces SET kept = false WHERE kept`
    await sql`
      INSERT INTO residue_traces (ref, tries, kept)
      SELECT ref, tries, kept FROM jsonb_populate_recordset(NULL::residue_traces, ${await asJson(from, DECIDED_RESIDUES)}::text::jsonb)
      ON CONFLICT (ref) DO UPDATE SET kept = true`
    const names = SWITCHES.map((name) => `'${name}'`).join(', ')
    const switches = await asJson(from, `SELECT * FROM settings WHERE name IN (${names})`)
    await sql`INSERT INTO settings SELECT * FROM jsonb_populate_recordset(NULL::settings, ${switches}::text::jsonb)`
  })
}

/** How many rows and how many pages of a list we copy at once. */
const LIST_ROWS = 8_000
const LIST_PAGES = 250

/** Copies the allowlists that are missing, each in one transaction. A list never changes, so a list that is there is complete. */
export async function copyAllowlists(from: Sql, into: Pool): Promise<void> {
  const known = new Set((await into<{ id: number }[]>`SELECT id FROM allowlists`).map(({ id }) => id))
  const lists = await from<{ id: number; entries: number }[]>`SELECT id, entries FROM allowlists ORDER BY id`
  for (const { id, entries } of lists.filter((list) => !known.has(list.id)))
    await inTransaction(into, async (sql) => {
      const copy = (table: string, columns: string, where: string) => copyTable(from, sql, { table, columns, where })
      await copy('allowlists', 'id, root, label, entries, allocated, entered_at, entered_by', `id = ${id}`)
      // The leaves are the last nodes of the tree.
      for (let leaf = entries - 1; leaf < 2 * entries - 1; leaf += LIST_ROWS)
        await copy(
          'allowlist_entries',
          'list, address, allocation, leaf',
          `list = ${id} AND leaf >= ${leaf} AND leaf < ${leaf + LIST_ROWS}`,
        )
      for (let page = 0; page <= (2 * entries) / PAGE_NODES; page += LIST_PAGES)
        await copy(
          'allowlist_nodes',
          'list, page, nodes',
          `list = ${id} AND page >= ${page} AND page < ${page + LIST_PAGES}`,
        )
      await sql`SELECT setval(pg_get_serial_sequence('allowlists', 'id'), max(id)) FROM allowlists`
    })
}

interface Copied {
  table: string
  columns: string
  where?: string
}

async function copyTable(from: Sql, into: Sql, { table, columns, where = 'true' }: Copied): Promise<void> {
  const rows = await asJson(from, `SELECT ${columns} FROM ${table} WHERE ${where}`)
  const query = `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)
    ON CONFLICT ${KNOWN[table] ?? 'DO NOTHING'}`
  await into.unsafe(query, [rows])
}

/**
 * Copies the payments wallets of the other ledger. Wallets are entered and closed under the cursor's lock. So if you read that ledger's cursor first,
 * the copied rows are complete up to its block.
 */
export async function copyWallets(from: Sql, into: Pool): Promise<void> {
  await inTransaction(into, async (sql) => {
    // If a wallet was withdrawn, the other ledger has deleted it. We delete it too; it received nothing.
    const known = await asJson(from, 'SELECT id, wallet FROM payment_wallets')
    await sql`
      DELETE FROM payment_wallets w WHERE NOT EXISTS (
        SELECT FROM jsonb_to_recordset(${known}::text::jsonb) AS r(id int, wallet text) WHERE r.id = w.id AND r.wallet = w.wallet)`
    await copyTable(from, sql, { table: 'payment_wallets', columns: WALLETS })
    await sql`DELETE FROM wallet_books WHERE wallet NOT IN (SELECT wallet FROM payment_wallets)`
    // Numbering continues after the copied wallets.
    await sql`SELECT setval(pg_get_serial_sequence('payment_wallets', 'id'), max(id)) FROM payment_wallets`
  })
}

/**
 * Copies the operator's verdicts to the payments with the same refs. Follow the payments' blocks first. A verdict takes effect unless the payment has
 * a node or failed. It may be repeated.
 */
export async function copyVerdicts(from: Sql, into: Pool): Promise<void> {
  const verdicts = await asJson(
    from,
    `SELECT v.id AS place, p.ref, p.tier_id, p.tier_version, v.verdict, v.reason, v.evidence, v.decided_by, v.decided_at
      FROM standing_verdicts v JOIN payments p ON p.id = v.payment_id WHERE v.decided_by <> 'pass'`,
  )
  await inTransaction(into, async (sql) => {
    const rows = sql`
      jsonb_to_recordset(${verdicts}::text::jsonb) AS r(place bigint, ref text, tier_id text, tier_version int, verdict text,
        reason text, evidence jsonb, decided_by text, decided_at timestamptz)`
    await sql`
      INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by, decided_at)
      SELECT p.id, r.verdict, r.reason, r.evidence, r.decided_by, r.decided_at FROM ${rows} JOIN payments p ON p.ref = r.ref
      WHERE NOT EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.decided_at = r.decided_at)
      ORDER BY r.place`
    await move(sql, 'copyVerdict', {
      chosen: sql`SELECT DISTINCT ON (ref) * FROM ${rows} ORDER BY ref, place DESC`,
      where: sql`p.ref = c.ref AND p.succeeded`,
      ...byVerdict(sql, {
        tierId: sql`c.tier_id`,
        verdict: sql`c.verdict`,
        reason: sql`CASE WHEN c.verdict <> 'accepted' THEN c.reason END`,
      }),
      set: sql`tier_id = c.tier_id, tier_version = c.tier_version`,
    })
  })
}

const ENDPOINTS = 'endpoint, url, secrets, events, active, added_by, added_at'

/**
 * Copies the webhook endpoints. Call it last: without endpoints no events are written, so nothing that the old ledger has sent goes out again. It may
 * be repeated.
 */
export async function copyEndpoints(from: Sql, into: Pool): Promise<void> {
  const rows = await asJson(from, `SELECT ${ENDPOINTS} FROM webhook_endpoints`)
  const query = `INSERT INTO webhook_endpoints (${ENDPOINTS}) SELECT ${ENDPOINTS}
    FROM jsonb_populate_recordset(NULL::webhook_endpoints, $1::text::jsonb) ON CONFLICT DO NOTHING`
  await into.unsafe(query, [rows])
}

/** Copies the recorded refunds, and people's acts from the audit log. It may be repeated. */
export async function copyRecords(from: Sql, into: Pool): Promise<void> {
  const refunds = await asJson(from, `SELECT ${REFUNDS} FROM refunds`)
  const acts = await asJson(
    from,
    `SELECT id AS place, at, actor, action, subject, detail, request_id FROM audit WHERE actor NOT IN ${AUTOMATIC_ACTORS}`,
  )
  await inTransaction(into, async (sql) => {
    const query = `INSERT INTO refunds (${REFUNDS}) SELECT ${REFUNDS}
      FROM jsonb_populate_recordset(NULL::refunds, $1::text::jsonb) ON CONFLICT DO NOTHING`
    await sql.unsafe(query, [refunds])
    await sql`
      INSERT INTO audit (at, actor, action, subject, detail, request_id)
      SELECT r.at, r.actor, r.action, r.subject, r.detail, r.request_id
      FROM jsonb_to_recordset(${acts}::text::jsonb) AS r(place bigint, at timestamptz, actor text, action text, subject text,
        detail jsonb, request_id text)
      WHERE NOT EXISTS (SELECT FROM audit a WHERE a.at = r.at AND a.actor = r.actor AND a.action = r.action
        AND a.subject IS NOT DISTINCT FROM r.subject)
      ORDER BY r.place`
  })
}

/** The rows as JSON text. Only PostgreSQL writes and reads that text, so no number passes through JavaScript. */
async function asJson(sql: Sql, query: string): Promise<string> {
  const [row] = await sql.unsafe<{ rows: string }[]>(
    `SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]')::text AS rows FROM (${query}) t`,
  )
  return row?.rows ?? '[]'
}
