// Moves payments from state to state: the only SQL that changes `payments.state`. domain/transitions.ts lists which moves are allowed. Each statement
// compares the state, so a payment in a different state is left alone. Callers hold the locks.
import type { Evidence } from '../../domain/judgement.ts'
import { MOVES, type Move, type MoveName, type PaymentState, type ReasonAfter } from '../../domain/transitions.ts'
import { type Columns, type Fragment, jsonRows, type Sql } from '../core/sql.ts'
import { notifyLedgerChanged } from '../core/state.ts'
import { CAPS } from './supply.ts'

type Moves = typeof MOVES

/** Which payments `p` to move, and the columns that change with the state. */
interface Selection {
  where: Fragment
  /** A query that `where`, `to` and `set` may use as `c`. */
  chosen?: Fragment
  set?: Fragment
  /** A further column of `moved`, for `moveAndRead`. */
  returning?: Fragment
}
/** The evidence for a verdict, and who decided it. `ofRow` adds the parts that differ between payments. */
interface VerdictDetail {
  evidence: Evidence
  ofRow?: Fragment
  by: string
}
interface AnyChange extends Selection, Partial<VerdictDetail> {
  to?: Fragment
  reason?: string | Fragment
}

/** The inputs of a move: the state and reason if the table leaves a choice, the evidence if the move stores a verdict. */
export type Change<M extends MoveName> = Selection &
  (Moves[M]['to'] extends readonly [unknown] ? unknown : { to: Fragment; reason: Fragment }) &
  (Moves[M] extends { reasons: readonly [unknown, unknown, ...unknown[]] } ? { reason: ReasonAfter<M> } : unknown) &
  (Moves[M] extends { verdict: string } ? VerdictDetail : unknown)

/** Moves the selected payments, in one statement. @returns how many were in a state that allows the move. */
export async function move<M extends MoveName>(sql: Sql, name: M, change: Change<M>): Promise<number> {
  return await count(sql, name, change as AnyChange)
}

/** Moves as `move` does. @returns `columns` of the moved rows: id, ref, reason, value_wei and what `returning` names. */
export async function moveAndRead<M extends MoveName, Row extends object>(
  sql: Sql,
  name: M,
  change: Change<M>,
  columns: Columns<Row>,
): Promise<Row[]> {
  const rows = await run<Row>(sql, name, change as AnyChange, columns)
  if (rows.length > 0) await notifyLedgerChanged(sql)
  return rows
}

async function count(sql: Sql, name: MoveName, change: AnyChange): Promise<number> {
  const [row] = await run<{ moved: number }>(sql, name, change, sql`count(*) AS moved`)
  const movedCount = row?.moved ?? 0
  // Clients that watch a payment must see each of its states, even if nothing else changes.
  if (movedCount > 0) await notifyLedgerChanged(sql)
  return movedCount
}

async function run<Row extends object>(sql: Sql, name: MoveName, change: AnyChange, answer: Fragment): Promise<Row[]> {
  const rule: Move = MOVES[name]
  const { where, chosen: chosenRows, set, returning, to } = change
  return await sql<Row[]>`
    WITH ${chosenRows ? sql`chosen AS (${chosenRows}),` : sql``} moved AS (
      UPDATE payments p SET state = ${to ?? list(sql, rule.to)}, reason = ${reasonAfter(sql, rule, change)},
        ${set ? sql`${set},` : sql``} updated_at = now()
      ${chosenRows ? sql`FROM chosen c` : sql``}
      WHERE (${where}) AND p.state IN (${list(sql, rule.from)}) ${to ? sql`AND ${to} IN (${list(sql, rule.to)})` : sql``}
        ${rule.heldFor ? sql`AND (p.state <> 'held' OR p.reason IN (${list(sql, rule.heldFor)}))` : sql``}
      RETURNING p.id, p.ref, p.reason, p.value_wei ${returning ? sql`, ${returning}` : sql``}
    ) ${rule.verdict ? sql`, judged AS (${verdicts(sql, rule.verdict, change, sql`moved`)})` : sql``}
    SELECT ${answer} FROM moved`
}

/** Held and ignored payments have a reason. Decided and orphaned payments keep the reason for which they were held; others have none. */
function reasonAfter(sql: Sql, rule: Move, { reason }: AnyChange): Fragment {
  if (typeof reason === 'string') return sql`${reason}`
  if (reason) return reason
  if (rule.reasons) return list(sql, rule.reasons)
  return rule.to.some((state) => state === 'refunded' || state === 'dismissed' || state === 'orphaned')
    ? sql`p.reason`
    : sql`NULL`
}

/** Words of the table, as SQL literals. With a parameter the planner cannot use an index on some states. */
function list(sql: Sql, words: readonly string[]): Fragment {
  return sql.unsafe(words.map((word) => `'${word}'`).join(', '))
}

function verdicts(
  sql: Sql,
  verdict: string,
  { evidence, ofRow, by }: Partial<VerdictDetail>,
  rows: Fragment,
): Fragment {
  return sql`
    INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by)
    SELECT id, ${verdict}, reason, ${JSON.stringify(evidence)}::text::jsonb ${ofRow ? sql`|| ${ofRow}` : sql``}, ${by ?? ''}
    FROM ${rows}`
}

/** A verdict on one payment, by the judge or the operator. If it names no tier, the payment keeps its tier. */
export type Decision = { evidence: Evidence; by: string } & (
  | { move: 'accept'; tier?: TierKey }
  | { move: 'release'; tier: TierKey }
  | { move: 'hold'; reason: ReasonAfter<'hold'>; tier: TierKey | null }
  | { move: 'ignore'; reason: ReasonAfter<'ignore'>; tier: null }
  | { move: 'prepareRefund' | 'refund' | 'refundMinted' | 'refundOrphaned' | 'dismiss' }
)
interface TierKey {
  tierId: string
  version: number
}

/** Writes a verdict on a payment, which must be locked. Throws if its state does not allow this verdict. */
export async function writeVerdict(sql: Sql, paymentId: number, decision: Decision): Promise<void> {
  const { move: name, evidence, by } = decision
  const tier = 'tier' in decision ? decision.tier : undefined
  const movedCount = await count(sql, name, {
    where: sql`p.id = ${paymentId}`,
    ...(tier !== undefined && {
      set: sql`tier_id = ${tier?.tierId ?? null}, tier_version = ${tier?.version ?? null}`,
    }),
    ...('reason' in decision && { reason: decision.reason }),
    evidence,
    by,
  })
  if (movedCount !== 1) throw new Error(`the state of payment ${paymentId} does not allow the move ${name}`)
}

/** The judge's verdict on a payment that was in state `was` in that block. If it names no tier, an accepted payment keeps its tier. */
export interface JudgedPayment {
  id: number
  blockHash: string
  was: PaymentState
  reason: string | null
  tierId: string | null
  tierVersion: number | null
  evidence: Evidence
}

/**
 * Writes the judge's verdicts on many payments in one statement, each with its own reason, tier and evidence. The payments must be locked. Throws if
 * one of them is in another state or block.
 */
export async function writeVerdicts(
  sql: Sql,
  name: 'accept' | 'hold' | 'ignore',
  judgedPayments: readonly JudgedPayment[],
): Promise<void> {
  if (judgedPayments.length === 0) return
  const movedCount = await count(sql, name, {
    chosen: sql`
      SELECT r.* FROM jsonb_to_recordset(${jsonRows(judgedPayments)}::text::jsonb) AS r(id bigint, "blockHash" text, was text, reason text, "tierId" text,
        "tierVersion" int, evidence jsonb)`,
    where: sql`p.id = c.id AND p.block_hash = c."blockHash" AND p.state = c.was`,
    set:
      name === 'accept'
        ? sql`tier_id = coalesce(c."tierId", p.tier_id), tier_version = coalesce(c."tierVersion", p.tier_version)`
        : sql`tier_id = c."tierId", tier_version = c."tierVersion"`,
    ...(name !== 'accept' && { reason: sql`c.reason` }),
    returning: sql`c.evidence AS of_row`,
    ofRow: sql`of_row`,
    evidence: {},
    by: 'pass',
  })
  if (movedCount !== judgedPayments.length)
    throw new Error(`the states of ${judgedPayments.length - movedCount} payments do not allow the move ${name}`)
}

/**
 * True if a tier has a supply or a cap. Then a released payment that returns after a reorganisation waits, held as `soldOut`, until the judge gives it a
 * place.
 */
const hasSupply = (sql: Sql, tierId: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM tiers l LEFT JOIN (${sql.unsafe(CAPS)}) capped USING (tier_no)
    WHERE l.tier_id = ${tierId} AND l.live AND coalesce(l.supply, cap) IS NOT NULL)`

/** The state of a payment whose verdict applies again. If its tier has a supply, an accepted payment waits for a place. */
export function byVerdict(
  sql: Sql,
  { tierId, verdict, reason }: { tierId: Fragment; verdict: Fragment; reason: Fragment },
): { to: Fragment; reason: Fragment } {
  const waits = sql`${verdict} = 'accepted' AND ${hasSupply(sql, tierId)}`
  return {
    to: sql`CASE WHEN ${waits} THEN 'held' ELSE ${verdict} END`,
    reason: sql`CASE WHEN ${waits} THEN 'soldOut' ELSE ${reason} END`,
  }
}

/** How a payment enters the ledger, and how it comes back after its block was reorganised out. */
const COMES_BACK = {
  observe: 'reinstate',
  fileResidue: 'refileResidue',
  filePart: 'refilePart',
} as const satisfies Partial<Record<MoveName, MoveName>>

/**
 * Stores payments of followed blocks, in one statement. A payment that was reorganised out returns as the operator last decided it, because decisions
 * by hand survive their block. Without such a decision it is like a new one. A payment that is already in a block stays as it is.
 * @param rows a query with `columns`; `evidence` is for the verdict on new payments, if the move has a verdict.
 * @returns how many were added or returned.
 */
export async function enter(
  sql: Sql,
  name: keyof typeof COMES_BACK,
  { columns, rows, evidence = {} }: { columns: Fragment; rows: Fragment; evidence?: Evidence },
): Promise<number> {
  const rule: Move = MOVES[name]
  const back: Move = MOVES[COMES_BACK[name]]
  const fresh = { state: list(sql, rule.to), reason: rule.reasons ? list(sql, rule.reasons) : sql`NULL` }
  const [row] = await sql<{ entered: number }[]>`
    WITH entered AS (
      INSERT INTO payments AS p (${columns}, state, reason) SELECT r.*, ${fresh.state}, ${fresh.reason} FROM (${rows}) r
      ON CONFLICT (ref) DO UPDATE SET
        (state, reason, tier_id, tier_version) = (
          SELECT state, reason, tier_id, tier_version FROM (${lastDecision(sql, back)} UNION ALL ${noDecision(sql, fresh)}) either
          ORDER BY choice LIMIT 1),
        ${sql.unsafe(FACTS_OF_BLOCK.map((name) => `${name} = excluded.${name}`).join(', '))},
        outbox_id = CASE WHEN excluded.tx_hash IS NULL THEN p.outbox_id END, updated_at = now()
      WHERE p.state IN (${list(sql, back.from)})
      RETURNING p.id, p.reason, p.xmax = 0 AS fresh
    ) ${rule.verdict ? sql`, judged AS (${verdicts(sql, rule.verdict, { evidence, by: 'pass' }, sql`entered WHERE fresh`)})` : sql``}
    SELECT count(*) AS entered FROM entered`
  return row?.entered ?? 0
}

/** The columns that a payment takes from its block. A hash stands for one sender and one value. If they differ, a provider had misread them. */
const FACTS_OF_BLOCK = [
  'wallet',
  'from_address',
  'value_wei',
  'unsigned_type',
  'proof',
  'codes',
  'succeeded',
  'block_number',
  'block_hash',
  'tx_index',
  'block_time',
]

/** The state, reason and tier of a payment `p` that comes back as `excluded`, by the last decision by hand; no row if that does not apply any longer. */
function lastDecision(sql: Sql, back: Move): Fragment {
  // A release names its tier. The payment has lost it if it once came back as a failed transfer.
  const tierId = sql`coalesce(evidence ->> 'tierId', p.tier_id)`
  const again = byVerdict(sql, { tierId, verdict: sql`verdict`, reason: sql`reason` })
  return sql`
    SELECT 1 AS choice, state, reason, tier_id, tier_version FROM (
      SELECT verdict, ${again.to} AS state, ${again.reason} AS reason, ${tierId} AS tier_id,
        coalesce((evidence ->> 'tierVersion')::int, p.tier_version) AS tier_version
      FROM standing_verdicts WHERE payment_id = p.id AND decided_by <> 'pass' ORDER BY id DESC LIMIT 1) decided
    WHERE decided.verdict IN (${list(sql, back.to)})
      -- A transfer that failed this time moved nothing, so the judge decides it.
      AND excluded.succeeded
      -- The operator did not release the sender and value that the block shows now.
      AND (decided.verdict <> 'accepted' OR (p.from_address, p.value_wei) IS NOT DISTINCT FROM (excluded.from_address, excluded.value_wei))`
}

/** The state of a payment `p` without such a decision: that of a new one. Only a residue, which has no hash, keeps its tier. */
function noDecision(sql: Sql, { state, reason }: { state: Fragment; reason: Fragment }): Fragment {
  const ofResidue = (column: Fragment) => sql`CASE WHEN excluded.tx_hash IS NULL THEN ${column} END`
  return sql`SELECT 2, ${state}, ${reason}, ${ofResidue(sql`p.tier_id`)}, ${ofResidue(sql`p.tier_version`)}`
}
