// The demo sale for a first start with nothing configured: three tiers that show the rules at work. It is never used with the operator's own database
// or chain.
import { inTransaction, type Pool } from '../db/core/sql.ts'
import { insertTierVersion, lockTierTable, readTierVersions, type TierInput } from '../db/sale/tiers.ts'
import type { FirstSaleTerms } from '../domain/tiers.ts'
import { type Address, wei } from '../domain/units.ts'

const ETHER = 10n ** 18n
const CENT_ETHER = ETHER / 100n
/** How many demo tokens a buyer of the founder tier must hold. */
const FOUNDER_HOLDING = 1_000n * ETHER

/** A tier without a supply, an allowlist or opening times: anyone may buy it at any time. */
const UNBOUNDED = { supply: null, allowlist: null, opensAt: null, closesAt: null, opensAfter: null }

/** Puts the demo tiers on sale from a block on. Does nothing if the ledger already has tiers. */
export async function seedTiers(
  pool: Pool,
  token: Address,
  from: { block: number; time: number },
  { priceGraceSec, holdingRetrySec }: FirstSaleTerms,
): Promise<void> {
  const common = {
    onSale: true,
    ...UNBOUNDED,
    graceSec: priceGraceSec,
    holdingRetrySec,
    fromBlock: from.block,
    fromTime: from.time,
    holdingWei: wei(0n),
    holdingToken: null,
    holdingSymbol: null,
    holdingDecimals: null,
  }
  const founderHolding = {
    holdingWei: wei(FOUNDER_HOLDING),
    holdingToken: token,
    holdingSymbol: 'DEMO',
    holdingDecimals: 18,
  }
  const tiers: TierInput[] = [
    {
      ...common,
      tierId: 'basic',
      tierNo: 1,
      label: 'Basic',
      priceWei: wei(CENT_ETHER),
      maxPerWallet: 10,
      payoutBps: 10_000,
    },
    {
      ...common,
      tierId: 'plus',
      tierNo: 2,
      label: 'Plus',
      priceWei: wei((CENT_ETHER * 5n) / 2n),
      maxPerWallet: 5,
      payoutBps: 15_000,
    },
    {
      ...common,
      ...founderHolding,
      tierId: 'founder',
      tierNo: 3,
      label: 'Founder',
      priceWei: wei(CENT_ETHER * 5n),
      maxPerWallet: 2,
      payoutBps: 20_000,
    },
  ]
  await inTransaction(pool, async (sql) => {
    await lockTierTable(sql)
    if ((await readTierVersions(sql)).length > 0) return
    for (const tier of tiers) await insertTierVersion(sql, tier, 'seed')
  })
}
