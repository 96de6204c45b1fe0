// The acts of the contract's owner, from its events: keys, budgets, bounds, caps of tiers, windows of turns not owed, pause, ownership, sweeps; and
// ether that others sent to the contract, which the owner may return.
import type { NewOwnerAct } from '../../domain/replay.ts'
import type { NotOwedWindow } from '../../domain/rounds/payouts.ts'
import type { Address } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'

export async function insertOwnerActs(sql: Sql, acts: readonly NewOwnerAct[]): Promise<void> {
  if (acts.length === 0) return
  await sql`
    INSERT INTO owner_acts (block_number, log_index, name, detail, tx_hash, at, block_hash)
    SELECT "blockNumber", "logIndex", name, detail, "txHash", to_timestamp("blockTime"), "blockHash"
    FROM jsonb_to_recordset(${jsonRows(acts)}::text::jsonb) AS r("blockNumber" bigint, "logIndex" int, name text,
      detail jsonb, "txHash" text, "blockTime" bigint, "blockHash" text)`
}

export async function rewindOwnerActs(sql: Sql, height: number): Promise<void> {
  await sql`DELETE FROM owner_acts WHERE block_number > ${height}`
}

/** True if the owner has acted above a height. */
export async function hasOwnerActs(sql: Sql, height: number): Promise<boolean> {
  return (await sql`SELECT FROM owner_acts WHERE block_number > ${height} LIMIT 1`).count > 0
}

/** The windows of turns not owed, by number, as they are now. */
export async function readWindows(sql: Sql): Promise<NotOwedWindow[]> {
  return await sql<NotOwedWindow[]>`
    SELECT "window", "from", until FROM (
      SELECT DISTINCT ON ((detail ->> 'window')::bigint) (detail ->> 'window')::bigint AS "window",
        (detail ->> 'from')::bigint AS "from", (detail ->> 'until')::bigint AS until
      FROM owner_acts WHERE name = 'NotOwedSet'
      ORDER BY (detail ->> 'window')::bigint, block_number DESC, log_index DESC) w
    ORDER BY "window"`
}

/** Accounts that have held a role, as far as the ledger knows: the senders in its outbox, and those that the contract's owner set. */
export async function readSignersKnown(sql: Sql): Promise<Address[]> {
  const rows = await sql<{ account: Address }[]>`
    SELECT DISTINCT sender AS account FROM outbox
    UNION SELECT detail ->> 'minter' FROM owner_acts WHERE name = 'MinterSet'
    UNION SELECT detail ->> 'distributor' FROM owner_acts WHERE name = 'DistributorSet'`
  return rows.map(({ account }) => account)
}
