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

/** Whether the key or passkey that a proposal was made with is still valid. The command line always is. `fromSettings`: the digests of ADMIN_KEY's keys. */
const isLive = (sql: Sql, fromSettings: readonly string[]) => sql`(
  made_with IS NULL OR encode(made_with, 'hex') = ANY(${[...fromSettings]}::text[])
  OR EXISTS (SELECT FROM admin_keys WHERE digest = made_with AND revoked_at IS NULL AND expires_at > now())
  OR EXISTS (SELECT FROM passkeys WHERE sha256(credential_id) = made_with AND revoked_at IS NULL AND expires_at > now()))`

/** Proposals, the open ones first, then newest first, each with whether the key or passkey of an unanswered one has ended. */
export async function readProposals(
  sql: Sql,
  limit: number,
  fromSettings: readonly string[],
): Promise<(ProposalRow & { makerEnded: boolean })[]> {
  return await sql<(ProposalRow & { makerEnded: boolean })[]>`
    SELECT ${columns(sql)}, outcome IS NULL AND NOT ${isLive(sql, fromSettings)} AS "makerEnded"
    FROM proposals ORDER BY outcome IS NULL AND expires_at > now() DESC, id DESC LIMIT ${limit}`
}

/**
 * Stores a proposal that was made with the key of this digest, or on the command line if it is null. If the same proposal of the same key is still open,
 * returns the open one instead, and `isNew` is false.
 */
export async function insertProposal(
  sql: Sql,
  { act, input, by, keyDigest }: { act: string; input: object; by: string; keyDigest: string | null },
): Promise<ProposalRow & { isNew: boolean }> {
  const [json, madeWith] = [jsonRows([input]), sql`decode(${keyDigest}::text, 'hex')`]
  const [same] = await sql<ProposalRow[]>`
    SELECT ${columns(sql)} FROM proposals WHERE act = ${act} AND input = ${json}::text::jsonb -> 0 AND proposed_by = ${by}
      AND made_with IS NOT DISTINCT FROM ${madeWith} AND outcome IS NULL AND expires_at > now()`
  if (same) return { ...same, isNew: false }
  const [row] = await sql<ProposalRow[]>`
    INSERT INTO proposals (act, input, proposed_by, made_with) VALUES (${act}, ${json}::text::jsonb -> 0, ${by}, ${madeWith})
    RETURNING ${columns(sql)}`
  if (!row) throw new Error('an inserted proposal came back without its row')
  return { ...row, isNew: true }
}

/** The proposal with this id, locked until the transaction ends. If two people decide it, the second waits. */
export async function lockProposal(sql: Sql, id: number): Promise<ProposalRow | null> {
  const [row] = await sql<ProposalRow[]>`SELECT ${columns(sql)} FROM proposals WHERE id = ${id} FOR UPDATE`
  return row ?? null
}

/** True if the key or passkey that a proposal was made with is still valid. */
export async function isMakerLive(sql: Sql, id: number, fromSettings: readonly string[]): Promise<boolean> {
  const [row] = await sql<{ live: boolean }[]>`
    SELECT ${isLive(sql, fromSettings)} AS live FROM proposals WHERE id = ${id}`
  return row?.live ?? false
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
