// The facts of a payment for tests of the rules.
import type { PaymentFacts } from '../../../src/domain/judgement.ts'
import type { TierVersion } from '../../../src/domain/tiers.ts'
import { address, type Hash, hash, wei } from '../../../src/domain/units.ts'

const account = (n: number) => address(`0x${n.toString(16).padStart(40, '0')}`)
export const BUYER = account(5)
export const WALLET = account(3)
export const TOKEN = account(9)
export const RETRY_SEC = 3600

export const tier: TierVersion = {
  tierId: 'founder',
  version: 3,
  tierNo: 3,
  label: 'Founder',
  priceWei: wei(50n),
  maxPerWallet: 2,
  holdingWei: wei(1000n),
  holdingToken: TOKEN,
  payoutBps: 20_000,
  onSale: true,
  graceSec: 900,
  holdingRetrySec: RETRY_SEC,
  supply: null,
  opensAt: null,
  closesAt: null,
  opensAfter: null,
  opened: null,
  allowlist: null,
  fromBlock: 1,
  fromTime: 1,
}
export const LIST = hash(`0x${'11'.repeat(32)}`)
/** A selection on sale without limits. `others` sell by their grace. */
export const sale = (of: TierVersion, ...others: TierVersion[]) => ({
  ...{ kind: 'onSale' as const, tier: of, others, byGrace: false, supply: null },
})
/** A payment that satisfies every rule, to break one rule at a time. */
export const good: PaymentFacts = {
  from: BUYER,
  blockTime: 1_000,
  valueWei: 50n,
  succeeded: true,
  wallets: [WALLET],
  isToOldWallet: false,
  serviceAccounts: [account(1), account(2)],
  senderDenied: false,
  beforeRestore: false,
  selection: sale(tier),
  walletNodes: 0,
  walletInFlight: 0,
  walletMax: 20,
  tierNodes: 0,
  tierInFlight: 0,
  supply: null,
  sold: 0,
  reserved: 0,
  mayOpen: false,
  listed: [],
  holding: { kind: 'read', amountWei: 1000n },
  payer: { kind: 'plain' },
  restsOnOne: false,
}
/** A contract that the mode does not allow to buy. */
export const contract: Extract<PaymentFacts['payer'], { kind: 'inner' }> = {
  ...{ kind: 'inner', mode: 'hold', signedIn: true, allowed: true },
  code: {
    kind: 'read',
    code: { kind: 'contract', codeHash: `0x${'1'.repeat(64)}` as Hash, implementation: null },
  },
}
export const listedOnly: PaymentFacts['selection'] = sale({ ...tier, allowlist: LIST })
export const listedFor = (allocation: number, used: number) => ({
  ...{ selection: listedOnly, listed: [{ root: LIST, allocation, used }] },
})
