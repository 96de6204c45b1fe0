// Rounds and their turns, from the contract's events. Each turn has the terms and the seed from which anyone can recompute it.
import type { Proof } from '../../domain/observed.ts'
import type { NewRound, NewSkip, NewTurn } from '../../domain/replay.ts'
import type { Hash, Wei } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'

/** The inputs of a turn's amount; null if the ledger has no terms for it. */
export interface TurnTerms {
  tierId: string | null
  seedBlock: number | null
  seed: Hash | null
  /** What proves the seed. For several turns, the weakest of their proofs. */
  proof: Proof | null
  minWei: Wei | null
  maxWei: Wei | null
  payoutBps: number | null
}

/** One of the turns that a credit pays. */
export interface SingleTurn extends Omit<TurnTerms, 'tierId'> {
  due: number
  /** The amount for each node by these terms; null if a term is unknown. */
  amountWei: Wei | null
}

/** A stored credit. A credit for several turns has the terms of each in `singles`; a credit for a single turn has them here. */
export interface StoredTurn extends NewTurn, TurnTerms {
  singles: readonly SingleTurn[]
}

/** Stores rounds, their credits, and the turns that they skipped. */
export async function insertRounds(
  sql: Sql,
  { rounds, turns, skips }: { rounds: readonly NewRound[]; turns: readonly StoredTurn[]; skips: readonly NewSkip[] },
): Promise<void> {
  if (rounds.length === 0) return
  await sql`
    INSERT INTO rounds (round, mode, total_wei, node_count, tx_hash, created_at, block_number, block_hash)
    SELECT round, mode, "totalWei", "nodeCount", "txHash", to_timestamp("blockTime"), "blockNumber", "blockHash"
    FROM jsonb_to_recordset(${jsonRows(rounds)}::text::jsonb) AS r(round bigint, mode text, "totalWei" numeric,
      "nodeCount" bigint, "txHash" text, "blockTime" bigint, "blockNumber" bigint, "blockHash" text)`
  const rows = turns.map(({ singles: _, ...turn }) => turn)
  await sql`
    INSERT INTO turns (round, cohort, turn_no, due, turns, amount_wei, node_count, tier_id, seed_block, seed, proof, min_wei, max_wei, payout_bps)
    SELECT round, cohort, "turnNo", due, turns, "amountWei", "nodeCount", "tierId", "seedBlock", seed, proof, "minWei", "maxWei", "payoutBps"
    FROM jsonb_to_recordset(${jsonRows(rows)}::text::jsonb) AS r(round bigint, cohort int, "turnNo" int, due bigint, turns int,
      "amountWei" numeric, "nodeCount" int, "tierId" text, "seedBlock" bigint, seed text, proof text, "minWei" numeric, "maxWei" numeric,
      "payoutBps" int)`
  await insertSingleTurns(
    sql,
    turns.flatMap(({ round, cohort, singles }) => singles.map((single) => ({ round, cohort, ...single }))),
  )
  if (skips.length === 0) return
  await sql`
    INSERT INTO skips (round, cohort, due, turns)
    SELECT round, cohort, due, turns
    FROM jsonb_to_recordset(${jsonRows(skips)}::text::jsonb) AS r(round bigint, cohort int, due bigint, turns bigint)`
}

async function insertSingleTurns(
  sql: Sql,
  singles: readonly (SingleTurn & { round: number; cohort: number })[],
): Promise<void> {
  if (singles.length === 0) return
  await sql`
    INSERT INTO single_turns (round, cohort, due, amount_wei, seed_block, seed, proof, min_wei, max_wei, payout_bps)
    SELECT round, cohort, due, "amountWei", "seedBlock", seed, proof, "minWei", "maxWei", "payoutBps"
    FROM jsonb_to_recordset(${jsonRows(singles)}::text::jsonb) AS r(round bigint, cohort int, due bigint,
      "amountWei" numeric, "seedBlock" bigint, seed text, proof text, "minWei" numeric, "maxWei" numeric, "payoutBps" int)`
}

/** Number of the last round the ledger followed; 0 before the first. */
export async function lastRound(sql: Sql): Promise<number> {
  const [row] = await sql<{ round: number }[]>`SELECT coalesce(max(round), 0) AS round FROM rounds`
  return row?.round ?? 0
}

export async function rewindRounds(sql: Sql, height: number): Promise<number> {
  const deletion = await sql`DELETE FROM rounds WHERE block_number > ${height}`
  return deletion.count
}
