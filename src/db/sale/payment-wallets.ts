// The payments wallets, one row each, in order of entry. Rows are added, closed once, or withdrawn before they take effect. Every instance watches
// and sells by these rows; settings cannot override them.
import { dustBound } from '../../domain/junk.ts'
import type { Watching } from '../../domain/observed.ts'
import type { PaymentWallet } from '../../domain/payment-wallets.ts'
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** A wallet, with who entered and closed it. Times of entry and closing are ISO 8601. */
export interface WalletRow extends PaymentWallet {
  enteredAt: string
  enteredBy: string
  closedAt: string | null
  closedBy: string | null
}

const columnsOf = (
  sql: Sql,
) => sql`wallet, from_block AS "fromBlock", from_time AS "fromTime", stolen, grace_sec AS "graceSec", watched_from AS "watchedFrom",
  closed_block AS "closedBlock"`

/** All wallets, oldest first. There are few. */
export async function readPaymentWallets(sql: Sql): Promise<PaymentWallet[]> {
  return await sql<PaymentWallet[]>`SELECT ${columnsOf(sql)} FROM payment_wallets ORDER BY id`
}

/** All wallets, with who entered and closed each, and when. */
export async function readWalletHistory(sql: Sql): Promise<WalletRow[]> {
  return await sql<WalletRow[]>`
    SELECT ${columnsOf(sql)}, iso(entered_at) AS "enteredAt", entered_by AS "enteredBy", iso(closed_at) AS "closedAt", closed_by AS "closedBy"
    FROM payment_wallets ORDER BY id`
}

/** The wallet that buyers see at the followed block; null if there is none. Before the first block, the wallet entered first. */
export async function readWalletInForce(sql: Sql): Promise<Address | null> {
  const [row] = await sql<{ wallet: Address }[]>`
    SELECT w.wallet FROM payment_wallets w LEFT JOIN cursors c ON c.name = 'follow'
    WHERE w.from_block <= coalesce(c.block_number, 0) AND w.from_time <= coalesce(c.block_time, 0) ORDER BY w.id DESC LIMIT 1`
  return row?.wallet ?? null
}

/** What we look for in blocks: the wallets, the accounts with pending transactions (of other instances' keys too), and the prices of tiers. */
export async function readWatching(sql: Sql): Promise<Watching> {
  const [row] = await sql<
    { wallets: Watching['wallets'] | null; signers: Address[] | null; lowest: string | null; wholeTo: number | null }[]
  >`
    SELECT (SELECT json_agg(json_build_object('wallet', wallet, 'watchedFrom', watched_from, 'closedBlock', closed_block) ORDER BY id)
        FROM payment_wallets) AS wallets,
      (SELECT json_agg(DISTINCT sender) FROM outbox WHERE state = 'pending') AS "signers",
      (SELECT min(price_wei)::text FROM tiers) AS lowest, (SELECT read_whole_to FROM ledger_state) AS "wholeTo"`
  const { wallets, signers, lowest = null, wholeTo } = row ?? {}
  const leastWei = dustBound(lowest === null ? null : BigInt(lowest))
  return { wallets: wallets ?? [], signers: signers ?? [], leastWei, wholeTo: wholeTo ?? -1 }
}

/** Blocks the entry and closing of wallets until the transaction ends. Reads continue. */
export async function lockWallets(sql: Sql): Promise<void> {
  await sql`LOCK TABLE payment_wallets IN SHARE ROW EXCLUSIVE MODE`
}

/** Waits for any entry of a wallet in progress, and blocks further ones until the transaction ends. */
export async function lockWalletsForReading(sql: Sql): Promise<void> {
  await sql`LOCK TABLE payment_wallets IN SHARE MODE`
}

/** Adds a wallet. The database rejects a wallet that was entered before. */
export async function insertWallet(
  sql: Sql,
  { wallet, fromBlock, fromTime, stolen, graceSec, watchedFrom }: Omit<PaymentWallet, 'closedBlock'>,
  enteredBy: string,
): Promise<void> {
  await sql`
    INSERT INTO payment_wallets (wallet, from_block, from_time, stolen, grace_sec, watched_from, entered_by)
    VALUES (${wallet}, ${fromBlock}, ${fromTime}, ${stolen}, ${graceSec}, ${watchedFrom}, ${enteredBy})`
}

/** Enters the first wallet, in force from the beginning, unless there is a wallet. Run in a transaction that locks the wallets before the cursor. */
export async function insertFirstWallet(
  sql: Sql,
  wallet: Address,
  watchedFrom: number,
  enteredBy: string,
): Promise<boolean> {
  await lockWallets(sql)
  if ((await readPaymentWallets(sql)).length > 0) return false
  await insertWallet(sql, { wallet, fromBlock: 0, fromTime: 0, stolen: false, graceSec: 0, watchedFrom }, enteredBy)
  return true
}

/** Closes the books of a wallet. We do not read later blocks for it. */
export async function closeWallet(sql: Sql, wallet: Address, block: number, closedBy: string): Promise<void> {
  await sql`
    UPDATE payment_wallets SET closed_block = ${block}, closed_at = now(), closed_by = ${closedBy} WHERE wallet = ${wallet}`
}

/** Removes a wallet without any inflow or outflow. @returns true if it was removed. */
export async function deleteWallet(sql: Sql, { wallet, watchedFrom }: PaymentWallet): Promise<boolean> {
  const result = await sql`
    DELETE FROM payment_wallets WHERE wallet = ${wallet}
      AND NOT EXISTS (SELECT FROM payments WHERE block_number >= ${watchedFrom} AND wallet = ${wallet})
      AND NOT EXISTS (SELECT FROM dust d WHERE d.block_number >= ${watchedFrom} AND d.wallet_id = payment_wallets.id)
      AND NOT EXISTS (SELECT FROM zero_transfers z WHERE z.block_number >= ${watchedFrom} AND z.wallet_id = payment_wallets.id)
      AND NOT EXISTS (SELECT FROM wallet_outflows WHERE block_number >= ${watchedFrom} AND wallet = ${wallet})`
  if (result.count > 0) await sql`DELETE FROM wallet_books WHERE wallet = ${wallet}`
  return result.count > 0
}

/**
 * Wallets entered above a height are read from just above that height on. Run after a reorganisation removed the blocks above it, because a payment
 * may return in an earlier block than before.
 */
export async function rewindWallets(sql: Sql, height: number): Promise<void> {
  await sql`UPDATE payment_wallets SET watched_from = ${height + 1} WHERE watched_from > ${height + 1}`
}
