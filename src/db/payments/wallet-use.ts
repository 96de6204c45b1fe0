// How much of its limits a wallet has used: nodes that it holds, and nodes that it has paid for. Hold the wallet's lock while you count places and
// take one.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** How many nodes a wallet holds and has paid for, in one tier and in all, to compare with the allowance and the cap. */
export interface WalletUse {
  walletNodes: number
  walletInFlight: number
  tierNodes: number
  tierInFlight: number
}

/** How many nodes of one tier a wallet holds or has paid for. */
export interface TierUse {
  /** Null for nodes whose cohort is unknown. */
  tierNo: number | null
  nodes: number
  inFlight: number
}

const add = (sum: number, more: number) => sum + more

/** How many nodes a wallet holds and has paid for, in one tier and in all. */
export function walletUse(uses: readonly TierUse[], tierNo: number | null): WalletUse {
  const ofTier = tierNo === null ? [] : uses.filter((use) => use.tierNo === tierNo)
  return {
    walletNodes: uses.map(({ nodes }) => nodes).reduce(add, 0),
    walletInFlight: uses.map(({ inFlight }) => inFlight).reduce(add, 0),
    tierNodes: ofTier.map(({ nodes }) => nodes).reduce(add, 0),
    tierInFlight: ofTier.map(({ inFlight }) => inFlight).reduce(add, 0),
  }
}

/**
 * Counts the nodes and the payments in flight of wallets, by tier. A node counts towards its cohort's tier, whatever its origin. A payment about to
 * be refunded is in flight if a mint was signed for it, because that mint may still be executed. There are two queries, because each has an index of
 * its own.
 */
export async function readTierUses(sql: Sql, wallets: readonly Address[]): Promise<Map<Address, TierUse[]>> {
  const [first, ...others] = wallets
  if (!first) return new Map()
  // With an array of unknown length the database would plan each time, which takes longer than the query itself.
  const condition = others.length === 0 ? sql`= ${first}` : sql`= ANY(${[...wallets]})`
  const rows = await sql<(TierUse & { wallet: Address })[]>`
    SELECT n.owner AS wallet, c.tier_no AS "tierNo", count(*) AS nodes, 0 AS "inFlight"
    FROM nodes n LEFT JOIN cohorts c USING (cohort) WHERE n.owner ${condition} GROUP BY 1, 2
    UNION ALL
    SELECT p.from_address, t.tier_no, 0, count(*) FROM (
      SELECT from_address, tier_id, tier_version FROM payments
        WHERE from_address ${condition} AND state IN ('accepted', 'minting')
      UNION ALL
      SELECT from_address, tier_id, tier_version FROM payments
        WHERE from_address ${condition} AND state = 'held' AND reason = 'refunding' AND outbox_id IS NOT NULL) p
    LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version GROUP BY 1, 2`
  return Map.groupBy(rows, ({ wallet }) => wallet)
}

/** Reads the use of one wallet. */
export async function readWalletUse(sql: Sql, wallet: Address, tierNo: number | null): Promise<WalletUse> {
  return walletUse((await readTierUses(sql, [wallet])).get(wallet) ?? [], tierNo)
}
