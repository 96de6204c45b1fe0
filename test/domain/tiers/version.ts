// A version of a tier for tests of the rules.
import type { TierVersion } from '../../../src/domain/tiers.ts'
import { wei } from '../../../src/domain/units.ts'

/** A version from block `fromBlock` on; a block every ten seconds. */
export function version(fields: Partial<TierVersion> & { price?: bigint } = {}): TierVersion {
  const { price = 100n, ...rest } = fields
  return {
    tierId: 'basic',
    version: 1,
    tierNo: 1,
    label: 'Basic',
    priceWei: wei(price),
    maxPerWallet: 1,
    holdingWei: wei(0n),
    holdingToken: null,
    payoutBps: 10_000,
    onSale: true,
    graceSec: 900,
    holdingRetrySec: 3600,
    supply: null,
    opensAt: null,
    closesAt: null,
    opensAfter: null,
    opened: null,
    allowlist: null,
    fromBlock: 10,
    fromTime: 100,
    ...rest,
  }
}
