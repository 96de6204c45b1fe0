// Plans of statements on a large ledger: which of them read a table that grows without an index, or sort it.
import type { Pool } from '../../src/db/core/sql.ts'
import { HEAD } from './large-ledger.ts'
import type { SentStatement } from './statements.ts'

/** Tables that stay small, or that are pruned: everything else grows with the ledger. */
const SMALL =
  `admin_keys allowed_wallets allowlists block_fees blocks chain_proofs cohort_states cohorts contract_wallet_modes credit_terms cursors
  expulsions ledger_state migrations passes payment_retries passkey_invitations passkeys payment_wallets price proposals referral_codes residue_traces
  sender_bases senders tier_openings tiers totals trace_days troubles wallet_books webhook_endpoints`.split(/\s+/)
/** Partial indexes on what is open, or on what a healthy ledger has little of: reading one from end to end is reading few rows. */
const FEW = /_(open|held|held_value|residue|unpaid|pending|capped|thefts|refunds|due|failed|commission|wallet)$/
/** How many times as many rows as there are the planner believes. */
const SCALE = 1_000
/** More rows than that of a table are many. */
const MANY = 50_000

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  'Plan Rows': number
  Plans?: Node[]
}

/** Makes the planner believe in a large ledger, in this session: every table is a thousand times as long, and a scan is the last resort. */
export async function believeLarge(sql: Pool): Promise<void> {
  await sql`UPDATE pg_class SET reltuples = reltuples * ${SCALE}
    WHERE relnamespace = 'public'::regnamespace AND reltuples > 0 AND split_part(relname, '_pkey', 1) <> ALL(${SMALL})`
  for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await sql`SET ${sql.unsafe(`enable_${way}`)} = off`
  await sql`SET plan_cache_mode = force_generic_plan`
  await sql`SET jit = off`
}

/** The plan of a statement whose parameters are not known. Null for one that has none, such as COMMIT. */
export async function planOf(sql: Pool, { text, types }: SentStatement): Promise<Node | null> {
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text)) return null
  // The planner takes a range for a third of all rows, and a limit that it does not know for a tenth.
  const known = text
    .replaceAll(/((?:\w+\.)?(?:block_)?number >=?) \$\d+/g, `$1 ${HEAD - 3}`)
    .replaceAll(/LIMIT \$\d+/g, 'LIMIT 100')
  const unused = types.flatMap((_, i) => (new RegExp(`\\$${i + 1}(?!\\d)`).test(known) ? [] : i + 1))
  const names = await sql<{ name: string }[]>`
    SELECT CASE WHEN oid > 0 THEN format_type(oid, NULL) WHEN n = ANY(${unused}::int[]) THEN 'bigint' ELSE 'unknown' END AS name
    FROM unnest(${types}::int[]) WITH ORDINALITY AS t(oid, n) ORDER BY n`
  const parameters = types.length > 0 ? `(${names.map(({ name }) => name).join()})` : ''
  await sql.unsafe(`PREPARE planned ${parameters} AS ${known}`)
  try {
    const given = types.length > 0 ? `(${types.map(() => 'NULL').join()})` : ''
    const [row] = await sql.unsafe<{ 'QUERY PLAN': { Plan: Node }[] }[]>(
      `EXPLAIN (FORMAT JSON) EXECUTE planned ${given}`,
    )
    return row?.['QUERY PLAN'][0]?.Plan ?? null
  } finally {
    await sql.unsafe('DEALLOCATE planned')
  }
}

/** Nodes that read all of their rows before they return the first. */
const GATHERS = ['Sort', 'Hash', 'Aggregate', 'WindowAgg', 'Bitmap Heap Scan', 'Materialize']

/** What is wrong with a plan. `isCut`: a LIMIT above stops the node early. */
export function faultsOf(node: Node, isCut = false): string[] {
  const type = node['Node Type']
  const cutsBelow = type === 'Limit' || (isCut && !GATHERS.includes(type))
  const below = (node.Plans ?? []).flatMap((child) => faultsOf(child, cutsBelow))
  const isLongSort = type === 'Sort' && node['Plan Rows'] > MANY && !isRanged(node)
  return [...below, ...(isLongSort ? [`sorts ${node['Plan Rows']} rows`] : []), ...scanFault(node, isCut)]
}

function scanFault(node: Node, isCut: boolean): string[] {
  const { 'Relation Name': table = '', 'Index Name': index, 'Index Cond': condition } = node
  if (SMALL.includes(table)) return []
  if (node['Node Type'] === 'Seq Scan') return [`scans ${table}`]
  if (index === undefined || FEW.test(index)) return []
  // Without a condition, a filter may let the LIMIT wait for ever.
  if (isCut && (condition !== undefined || node.Filter === undefined)) return []
  if (condition === undefined) return [`reads all of ${index}`]
  // A range up to another column may be the whole table, however few rows a filter leaves of it.
  const isMuch = !isRange(condition) && (node['Plan Rows'] > MANY || !isEqual(condition))
  return isMuch ? [`reads ${node['Plan Rows']} rows by ${index}: ${condition}`] : []
}

/** True for a range such as the blocks above a height: the planner takes any for a third of the table. A range up to another column is none. */
const isRange = (condition: string) => /[<>]=? \(?(InitPlan|[$'\d])/.test(condition)

const isEqual = (condition: string) => /[^<>]= |IS NULL/.test(condition)

const isRanged = (node: Node): boolean => isRange(node['Index Cond'] ?? '') || (node.Plans ?? []).some(isRanged)
