// Copies to a rebuilt ledger what is not on any chain: the operator's terms and decisions, and the ether prices of past hours. It must never copy
// anything else: if a rebuild copied what it should prove, it would prove nothing.
import { inTransaction, type Pool, type Sql } from '../../db/core/sql.ts'
import { readState, writeState } from '../../db/core/state.ts'
import { byVerdict, move } from '../../db/payments/moves.ts'
import { PAGE_NODES } from '../../db/sale/allowlists.ts'
import { copiedAt, rowsOf } from './tables.ts'

/** What is copied row by row before the rebuild follows. Of residues, only whether they are decided. */
const TERMS = copiedAt('terms').filter((name) => name !== 'residue_traces')
/** The copied tables whose rows are numbered. */
const NUMBERED = ['credit_terms', 'passkeys', 'admin_keys', 'passkey_invitations'] as const
/**
 * Tables whose rows are updated by this key if an earlier copy inserted them, because rows of the chain refer to them or the rebuild adds its own. The
 * rows of all other tables are deleted and copied again: since an earlier copy, some may have been revoked or replaced.
 */
const UPDATED: Partial<Record<string, string>> = {
  tiers: 'tier_id, version',
  evidence_modes: 'from_block',
  payment_wallets: 'id',
}
const DECIDED_RESIDUES = `SELECT p.ref, 0 AS tries, true AS kept FROM payments p WHERE p.tx_hash IS NULL
  AND EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass')`
/**
 * Copies from the other ledger: tiers, referral codes, credit terms, grants, attributions, which residues are decided, the deny list, who may buy
 * through a contract, admin keys, passkeys, prices and switches. It may be repeated.
 */
export async function copyTerms(from: Sql, into: Pool): Promise<void> {
  await inTransaction(into, async (sql) => {
    for (const table of TERMS.toReversed()) if (!(table in UPDATED)) await sql.unsafe(`DELETE FROM ${table}`)
    // Only one version of each tier may be live. So the old one must not be live when we insert the next.
    await sql`UPDATE tiers SET live = false WHERE live`
    for (const table of TERMS) await copyTable(from, sql, table, rowsOf(table))
    // Numbering continues after the copied keys.
    for (const table of NUMBERED)
      await sql.unsafe(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table}`)
    for (const name of ['paused', 'second_person_wei'] as const)
      await writeState(sql, name, await readState(from, name))
    await sql`UPDATE residue_traces SET kept = false WHERE kept`
    await sql`
      INSERT INTO residue_traces (ref, tries, kept)
      SELECT ref, tries, kept FROM jsonb_populate_recordset(NULL::residue_traces, ${await asJson(from, DECIDED_RESIDUES)}::text::jsonb)
      ON CONFLICT (ref) DO UPDATE SET kept = true`
  })
}

/** How many rows and how many pages of a list we copy at a time. */
const LIST_ROWS = 8_000
const LIST_PAGES = 250
/** SQL: the conditions that cut `count` rows into pieces of about `size`, by the remainders of a number that each row has. */
function piecesOf(column: string, count: number, size: number): string[] {
  const pieces = Math.ceil(count / size)
  return Array.from({ length: pieces }, (_, piece) => `${column} % ${pieces} = ${piece}`)
}

/** Copies the allowlists that are missing, each in one transaction. A list that is there is complete, but may have been published since. */
export async function copyAllowlists(from: Sql, into: Pool): Promise<void> {
  const ownIds = new Set((await into<{ id: number }[]>`SELECT id FROM allowlists`).map(({ id }) => id))
  const lists = await from<{ id: number; entries: number; published: boolean }[]>`
    SELECT id, entries, published FROM allowlists ORDER BY id`
  const publishedIds = lists.flatMap((list) => (list.published ? list.id : []))
  await into`UPDATE allowlists SET published = true WHERE id = ANY(${publishedIds}::int[]) AND NOT published`
  for (const { id, entries } of lists.filter((list) => !ownIds.has(list.id)))
    await inTransaction(into, async (sql) => {
      const copy = (table: string, where: string) => copyTable(from, sql, table, where)
      await copy('allowlists', `id = ${id}`)
      for (const piece of piecesOf('leaf', entries, LIST_ROWS))
        await copy('allowlist_entries', `list = ${id} AND ${piece}`)
      for (const piece of piecesOf('page', (2 * entries) / PAGE_NODES, LIST_PAGES))
        await copy('allowlist_nodes', `list = ${id} AND ${piece}`)
      await sql`SELECT setval(pg_get_serial_sequence('allowlists', 'id'), max(id)) FROM allowlists`
    })
}

/** Copies rows with all their columns: both ledgers have the same schema. */
async function copyTable(from: Sql, into: Sql, table: string, where = 'true'): Promise<void> {
  const rows = await asJson(from, `SELECT * FROM ${table} WHERE ${where}`)
  const query = `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`
  const key = UPDATED[table]
  await into.unsafe(key === undefined ? query : `${query} ON CONFLICT (${key}) ${await updating(into, table)}`, [rows])
}

/** SQL: gives a row every column of the one that it is in the way of. A number that the database gave never differs, and cannot be set. */
async function updating(sql: Sql, table: string): Promise<string> {
  const columns = await sql.unsafe<{ name: string }[]>(`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = '${table}' AND is_identity = 'NO'`)
  const names = columns.map(({ name }) => name)
  return `DO UPDATE SET (${names.join(', ')}) = ROW(${names.map((name) => `excluded.${name}`).join(', ')})`
}

/**
 * Copies the payments wallets of the other ledger. Wallets are entered and closed under the cursor's lock. So if you read that ledger's cursor first,
 * the copied rows are complete up to its block.
 */
export async function copyWallets(from: Sql, into: Pool): Promise<void> {
  await inTransaction(into, async (sql) => {
    // If a wallet was withdrawn, the other ledger has deleted it. We delete it too; it received nothing.
    const walletsJson = await asJson(from, 'SELECT id, wallet FROM payment_wallets')
    await sql`
      DELETE FROM payment_wallets w WHERE NOT EXISTS (
        SELECT FROM jsonb_to_recordset(${walletsJson}::text::jsonb) AS r(id int, wallet text) WHERE r.id = w.id AND r.wallet = w.wallet)`
    await copyTable(from, sql, 'payment_wallets')
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
      FROM payment_verdicts v JOIN payments p ON p.id = v.payment_id WHERE ${rowsOf('payment_verdicts')}`,
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

/**
 * Copies the webhook endpoints. Call it once, at the end: without endpoints no events are written, so nothing that the old ledger has sent goes out
 * again.
 */
export async function copyEndpoints(from: Sql, into: Sql): Promise<void> {
  await copyTable(from, into, 'webhook_endpoints')
}

/** Copies the recorded refunds, and people's acts from the audit log. It may be repeated. */
export async function copyRecords(from: Sql, into: Pool): Promise<void> {
  const acts = await asJson(
    from,
    `SELECT id AS place, at, actor, action, subject, detail, request_id FROM audit WHERE ${rowsOf('audit')}`,
  )
  await inTransaction(into, async (sql) => {
    // Since an earlier copy, a reorganisation may have moved or removed some.
    await sql`DELETE FROM refunds`
    await copyTable(from, sql, 'refunds')
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
  return (row as { rows: string }).rows
}
