// Reads the facts about a wallet that is about to buy: the nodes and payments that count, and anything that would send its payment to review. Nothing
// here writes.

import type { Listed } from '../../domain/judgement.ts'
import type { WaitingPayment } from '../../domain/payers/can-buy.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { findDenied } from '../payments/deny-list.ts'
import { permissionColumns } from '../payments/payers.ts'
import { readWalletUse, type WalletUse } from '../payments/wallet-use.ts'
import { readAllocations, readUsed } from '../sale/allowlists.ts'

/** We read at most this many waiting payments. No wallet may have so many nodes. */
const WAITING_MAX = 1_000

type ListedTier = Pick<TierVersion, 'tierNo' | 'allowlist'>

/** A wallet as the ledger knows it. */
export interface BuyerStanding {
  use: WalletUse
  waiting: WaitingPayment[]
  denied: boolean
  signedIn: boolean
  allowed: boolean
  listed: Listed | null
}

/** Reads the standing of a wallet, using only indexes on the wallet. */
export async function readBuyerStanding(sql: Sql, wallet: Address, tier: ListedTier): Promise<BuyerStanding> {
  const [use, listing, waiting, denial, [permissions]] = await Promise.all([
    readWalletUse(sql, wallet, tier.tierNo),
    readListed(sql, wallet, tier),
    readWaiting(sql, wallet),
    findDenied(sql, wallet),
    sql<{ signedIn: boolean; allowed: boolean }[]>`SELECT ${permissionColumns(sql, wallet)}`,
  ])
  const { signedIn = false, allowed = false } = permissions ?? {}
  return { use, listed: listing, waiting, denied: denial !== null, signedIn, allowed }
}

async function readListed(sql: Sql, wallet: Address, { tierNo, allowlist: root }: ListedTier): Promise<Listed | null> {
  if (root === null) return null
  const allocations = await readAllocations(sql, [root], [wallet])
  const usedCount = (await readUsed(sql, [tierNo], [wallet])).get(`${tierNo} ${wallet}`) ?? 0
  return { root, allocation: allocations.get(`${root} ${wallet}`) ?? 0, used: usedCount }
}

/** The wallet's payments that are not judged yet, or that wait for room in the wallet. They are served before a new payment. */
async function readWaiting(sql: Sql, wallet: Address): Promise<WaitingPayment[]> {
  return await sql<WaitingPayment[]>`
    SELECT p.value_wei AS "valueWei", p.block_number AS "blockNumber", p.tx_index AS "txIndex", p.inner_index AS "innerIndex",
      floor(extract(epoch FROM p.block_time))::bigint AS "blockTime", t.tier_no AS "tierNo"
    FROM payments p LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
    WHERE p.from_address = ${wallet} AND p.succeeded AND p.state <> 'ignored'
      AND (p.state = 'seen' OR p.state = 'held' AND p.reason = 'walletLimit')
    LIMIT ${WAITING_MAX}`
}
