// Acts that wait for a second person.
import { jsonRows, type Sql } from '../core/sql.ts'

/** A proposal in its current state. */
export interface ProposalRow {
  id: number
  act: string
  input: Record<string, unknown>
  proposedBy: string
  proposedAt: Date
  expiresAt: Date
  outcome: 'confirmed' | 'refused' | 'failed' | null
  isExpired: boolean
  settledBy: string | null
  settledAt: Date | null
  refusal: string | null
}

const columns = (sql: Sql) => sql`
  id, act, input, proposed_by AS "proposedBy", proposed_at AS "proposedAt", expires_at AS "expiresAt", outcome,
  outcome IS NULL AND expires_at <= now() AS "isExpired", settled_by AS "settledBy", settled_at AS "settledAt", refusal`

/** Proposals, the open ones first, then newest first. */
export async function readProposals(sql: Sql, limit: number): Promise<ProposalRow[]> {
  return await sql<ProposalRow[]>`
    SELECT ${columns(sql)} FROM proposals ORDER BY outcome IS NULL AND expires_at > now() DESC, id DESC LIMIT ${limit}`
}

/** Stores a proposal. If the same proposal is still open, returns the open one instead, and `isNew` is false. */
export async function insertProposal(
  sql: Sql,
  { act, input, by }: { act: string; input: object; by: string },
): Promise<ProposalRow & { isNew: boolean }> {
  const json = jsonRows([input])
  const [same] = await sql<ProposalRow[]>`
    SELECT ${columns(sql)} FROM proposals WHERE act = ${act} AND input = ${json}::text::jsonb -> 0 AND proposed_by = ${by}
      AND outcome IS NULL AND expires_at > now()`
  if (same) return { ...same, isNew: false }
  const [row] = await sql<ProposalRow[]>`
    INSERT INTO proposals (act, input, proposed_by) VALUES (${act}, ${json}::text::jsonb -> 0, ${by}) RETURNING ${columns(sql)}`
  if (!row) throw new Error('an inserted proposal came back without its row')
  return { ...row, isNew: true }
}

/** The proposal with this id, locked until the transaction ends. If two people decide it, the second waits. */
export async function lockProposal(sql: Sql, id: number): Promise<ProposalRow | null> {
  const [row] = await sql<ProposalRow[]>`SELECT ${columns(sql)} FROM proposals WHERE id = ${id} FOR UPDATE`
  return row ?? null
}

/** Stores the outcome of a proposal. */
export async function settleProposal(
  sql: Sql,
  id: number,
  { outcome, by, refusal }: { outcome: 'confirmed' | 'refused' | 'failed'; by: string; refusal: string | null },
): Promise<void> {
  await sql`
    UPDATE proposals SET outcome = ${outcome}, settled_by = ${by}, settled_at = now(), refusal = ${refusal} WHERE id = ${id}`
}

/**
 * True if the two labels may be one person: they are the same, or one person has made keys for both, directly or through others. The reason is that a
 * key's maker has seen it. Keys made on the command line do not count, because anyone there has the database as well.
 */
export async function mayBeSamePerson(sql: Sql, one: string, other: string): Promise<boolean> {
  const [row] = await sql<{ same: boolean }[]>`
    WITH RECURSIVE behind(person, label) AS (
      SELECT p, p FROM unnest(${[one, other]}::text[]) AS p
      UNION
      SELECT b.person, k.made_by FROM admin_keys k JOIN behind b ON k.label = b.label WHERE k.made_by NOT LIKE 'cli:%')
    SELECT ${one === other} OR EXISTS (
      SELECT FROM behind a JOIN behind b USING (label) WHERE a.person = ${one} AND b.person = ${other}) AS same`
  return row?.same ?? true
}
