// What the public preview of a purchase says, by api/openapi.yaml (CanBuy and its checks) and the fourth edition of the rules of the sale (a supply of
// which the rest is being paid for is null). It is asked before a payment and answers for the present; the judge decides by the payment's own block.

// Choices in what the documents leave open:
// - During the grace after a closing the preview says no, because `closed` is the tier's state; the judge still accepts. So a no is no promise to hold.

export interface Preview {
  /** Whether a quote of the tier would be given; null while providers contradict each other about the chain. */
  isQuoted: boolean | null
  /** The times of the tier's sale; `ladder` is null without a tier before it. */
  time: number
  opensAt: number | null
  closesAt: number | null
  ladder: 'open' | 'shut' | null
  supply: number | null
  sold: number
  reserved: number
  /** Null: no list. */
  allocation: number | null
  paidOfTier: number
  maxPerWallet: number
  nodesOfTier: number
  underWayOfTier: number
  walletCap: number | null
  nodes: number
  underWay: number
  holdingWei: bigint
  heldWei: bigint | null
  neededWei: bigint | null
  balanceWei: bigint | null
  isDenied: boolean
  payerMayBuy: boolean | null
}

export type Answer = boolean | null

function openingCheck(one: Preview): [string, Answer][] {
  if (one.opensAt === null && one.closesAt === null && one.ladder === null) return []
  const opened = (one.opensAt === null || one.time >= one.opensAt) && one.ladder !== 'shut'
  const closed = one.closesAt !== null && one.time >= one.closesAt
  return [['opening', opened && !closed]]
}

/** Each check by its name, in the order of the document. Those of the opening, the supply and the list are there if the tier has them. */
export function checks(one: Preview): [string, Answer][] {
  const found: [string, Answer][] = [['onSale', one.isQuoted], ...openingCheck(one)]
  if (one.supply !== null) {
    if (one.sold >= one.supply) found.push(['supply', false])
    else found.push(['supply', one.sold + one.reserved >= one.supply ? null : true])
  }
  if (one.allocation !== null) found.push(['allowlist', one.paidOfTier < one.allocation])
  found.push(['allowance', one.nodesOfTier + one.underWayOfTier < one.maxPerWallet])
  found.push(['cap', one.walletCap === null ? null : one.nodes + one.underWay < one.walletCap])
  if (one.holdingWei === 0n) found.push(['holding', true])
  else found.push(['holding', one.heldWei === null ? null : one.heldWei >= one.holdingWei])
  const rich = one.neededWei === null || one.balanceWei === null ? null : one.balanceWei >= one.neededWei
  found.push(['ether', rich])
  found.push(['review', one.isDenied ? false : one.payerMayBuy])
  return found
}

/** False if a check is, else null if one is, else true. */
export function canBuy(all: [string, Answer][]): Answer {
  if (all.some(([, answer]) => answer === false)) return false
  if (all.some(([, answer]) => answer === null)) return null
  return true
}
