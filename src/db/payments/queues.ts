// The payments that wait for something of the service: a verdict, another look, a proof or a mint. Each function answers one question. All read in the
// order of the chain, and only payments in a block whose sender is known.
import { type HoldReason, PLACELESS } from '../../domain/judgement.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { payerChanged } from './payers.ts'
import { maySkipAgain, waitsToBeRetried } from './retries.ts'
import { type Payment, paymentColumns } from './rows.ts'
import { waitsForOpening, waitsForPlace } from './waiting.ts'

/** The highest block to read, and the most payments. */
export interface Extent {
  upToBlock: number
  limit: number
}

/**
 * Undecided payments that do not back off at a block time. Those that match the price of a tier come first, because otherwise a flood of transfers that
 * buy nothing could fill a run, and a buyer would have to wait.
 */
export async function readUndecidedPayments(sql: Sql, now: number, extent: Extent): Promise<Payment[]> {
  const pricedFirst = sql`(p.succeeded AND p.value_wei IN (SELECT price_wei FROM tiers)) DESC,`
  return await readQueue(sql, sql`p.state = 'seen' AND NOT ${waitsToBeRetried(sql, now)}`, extent, pricedFirst)
}

/** True if a payment is held for one of these reasons. */
export async function isAnyHeld(sql: Sql, reasons: readonly HoldReason[], upToBlock: number): Promise<boolean> {
  return (await readQueue(sql, heldFor(sql, reasons), { upToBlock, limit: 1 })).length > 0
}

/** Payments held because their wallets were full, whose wallets hold fewer than `walletMax` nodes now. Leaves out those that back off at `now`. */
export async function readPaymentsWithRoom(
  sql: Sql,
  { walletMax, now }: { walletMax: number; now: number },
  extent: Extent,
): Promise<Payment[]> {
  const nodes = sql`coalesce((SELECT o.nodes FROM owners o WHERE o.owner = p.from_address), 0)`
  const hasRoom = sql`${nodes} < ${walletMax} AND ${maySkipAgain(sql)} AND NOT ${waitsToBeRetried(sql, now)}`
  return await readQueue(sql, sql`${heldFor(sql, ['walletLimit'])} AND ${hasRoom}`, extent)
}

/** Payments held for want of a place that may have a free one in one of these tiers. */
export async function readPaymentsWithPlace(sql: Sql, tierNos: readonly number[], extent: Extent): Promise<Payment[]> {
  const where = sql`${heldFor(sql, PLACELESS)} AND ${waitsForPlace(sql, tierNos)} AND ${maySkipAgain(sql)}`
  return await readQueue(sql, where, extent)
}

/** Payments held as too early, whose step was open in their block after all. */
export async function readPaymentsOfOpenSteps(sql: Sql, extent: Extent): Promise<Payment[]> {
  return await readQueue(sql, sql`${heldFor(sql, ['notOpenYet'])} AND ${waitsForOpening(sql)}`, extent)
}

/** Payments held because a contract sent them, if what we know of the contract has changed by block `now`. */
export async function readPaymentsOfChangedPayers(
  sql: Sql,
  { now, trustsProvider }: { now: number; trustsProvider: boolean },
  extent: Extent,
): Promise<Payment[]> {
  return await readQueue(
    sql,
    sql`${heldFor(sql, ['contractWallet'])} AND ${payerChanged(sql, now, trustsProvider)}`,
    extent,
  )
}

/** Accepted payments that wait for their mint. */
export async function readAcceptedPayments(sql: Sql, extent: Extent): Promise<Payment[]> {
  return await readQueue(sql, sql`p.state = 'accepted'`, extent)
}

/** Accepted payments in other tiers than these. Unless `trustsOne`, leaves out those that rest on one provider's word. */
export async function readMintablePayments(
  sql: Sql,
  { trustsOne, exceptTiers }: { trustsOne: boolean; exceptTiers: readonly number[] },
  extent: Extent,
): Promise<Payment[]> {
  const isElsewhere = sql`(t.tier_no = ANY(${[...exceptTiers]}::int[])) IS NOT TRUE`
  const where = sql`p.state = 'accepted' AND ${isElsewhere} ${trustsOne ? sql`` : sql`AND NOT ${isBelieved(sql)}`}`
  return await readQueue(sql, where, extent)
}

/** Accepted payments that rest on one provider's word. */
export async function readBelievedPayments(sql: Sql, extent: Extent): Promise<Payment[]> {
  return await readQueue(sql, sql`p.state = 'accepted' AND ${isBelieved(sql)}`, extent)
}

const isBelieved = (sql: Sql): Fragment => sql`(p.proof IS NOT DISTINCT FROM 'believed')`

// Constants, because with parameters a prepared plan cannot use the index on held payments.
const heldFor = (sql: Sql, reasons: readonly HoldReason[]): Fragment =>
  sql.unsafe(`p.state = 'held' AND p.reason IN (${reasons.map((reason) => `'${reason}'`).join()})`)

/** `first`: what comes before the order of the chain. */
async function readQueue(sql: Sql, where: Fragment, { upToBlock, limit }: Extent, first = sql``): Promise<Payment[]> {
  return await sql<Payment[]>`
    SELECT ${paymentColumns(sql)} FROM payments p LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
    WHERE ${where} AND p.block_number <= ${upToBlock} AND p.from_address IS NOT NULL AND p.tx_hash IS NOT NULL
    ORDER BY ${first} p.block_number, p.tx_index, p.inner_index LIMIT ${limit}`
}
