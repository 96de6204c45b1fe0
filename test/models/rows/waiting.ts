// Which payments held `soldOut` or `supplySpent` take a place that becomes free, how much of an allocation a wallet has used, and what counts before a
// wallet buys, as a second reading of docs/ADMIN.md (A place becomes free, Allowlists) and docs/API.md (can-buy). Loops over rows in memory.
//
// Choices in what the document leaves open:
// - A payer has got ether back if a watched wallet sent it any, in the payment's block or later, that is not recorded as a commission.
// - A tier is on sale by its latest version: entered as on sale, opened by its time and its ladder, and not closed. Its grace is for those who pay.
// - A decision that was withdrawn is one that the operator made: the payment does not wait by itself any more.
// - A prepared refund leaves an allocation used if a mint was signed before, because that mint may still be carried out.
const DAY_SEC = 86_400

export interface Waiting {
  tierNo: number
  /** The payer, by a number. */
  from: number
  valueWei: bigint
  block: number
  txIndex: number
  time: number
  /** The operator's decisions, in order. */
  decisions: { verdict: 'accepted' | 'dismissed' | 'held'; isWithdrawn: boolean }[]
}
export interface Outflow {
  to: number
  valueWei: bigint
  block: number
  isCommission: boolean
}
/** The tier's latest version. */
export interface Selling {
  onSale: boolean
  opensAt: number | null
  closesAt: number | null
  ladder: 'none' | 'shut' | 'open'
}

function isOnSale({ onSale, opensAt, closesAt, ladder }: Selling, now: number): boolean {
  if (!onSale || ladder === 'shut') return false
  return (opensAt === null || now >= opensAt) && (closesAt === null || now < closesAt)
}

export interface Sale {
  tierNos: number[]
  now: number
  selling: Selling
  outflows: Outflow[]
  /** Behind which place the step of each tier sells, if its ladder is open. */
  opened: { block: number; txIndex: number }
}

/** Whether it buys after all, because its step was open at its place. */
export function waitsForOpening(one: Waiting, sale: Sale): boolean {
  const { opensAt, ladder } = sale.selling
  if (ladder !== 'open') return false
  const isBehind =
    one.block > sale.opened.block || (one.block === sale.opened.block && one.txIndex > sale.opened.txIndex)
  if (!isBehind) return false
  if (opensAt !== null && one.time < opensAt) return false
  return waitsForPlace(one, { ...sale, tierNos: [one.tierNo] })
}

export function waitsForPlace(one: Waiting, { tierNos, now, selling, outflows }: Omit<Sale, 'opened'>): boolean {
  if (!tierNos.includes(one.tierNo)) return false
  if (one.decisions.length > 0) {
    const standing = one.decisions.filter(({ isWithdrawn }) => !isWithdrawn)
    return standing.at(-1)?.verdict === 'accepted'
  }
  if (now - one.time >= DAY_SEC) return false
  if (!isOnSale(selling, now)) return false
  for (const sent of outflows) {
    if (sent.to === one.from && sent.block >= one.block && sent.valueWei > 0n && !sent.isCommission) return false
  }
  return true
}

export interface Bought {
  tierNo: number
  from: number
  state: 'accepted' | 'minting' | 'minted' | 'held' | 'refunded' | 'dismissed' | 'ignored'
  isRefunding: boolean
  /** A mint for it was signed. */
  hasMint: boolean
}

/** How many nodes of a wallet's allocation its payments have used. */
export function usedOf(all: Bought[], tierNo: number, from: number): number {
  let used = 0
  for (const one of all) {
    if (one.tierNo !== tierNo || one.from !== from) continue
    if (one.state === 'accepted' || one.state === 'minting' || one.state === 'minted') used += 1
    if (one.state === 'held' && one.isRefunding && one.hasMint) used += 1
  }
  return used
}

/** A payment of a wallet that may buy. */
export interface Paid extends Omit<Bought, 'state'> {
  state: Bought['state'] | 'seen'
  isFull: boolean
  succeeded: boolean
  valueWei: bigint
  block: number
  txIndex: number
  innerIndex: number
  time: number
}
export interface Buyers {
  payments: Paid[]
  /** Of no known tier: null. */
  nodes: { owner: number; tierNo: number | null }[]
  lists: { root: number; wallet: number; allocation: number }[]
  denied: number[]
  signedIn: number[]
  allowed: number[]
}

const isMinting = ({ state, isRefunding, hasMint }: Paid) =>
  state === 'accepted' || state === 'minting' || (state === 'held' && isRefunding && hasMint)
const isWaiting = ({ state, isRefunding, isFull, succeeded }: Paid) =>
  succeeded && (state === 'seen' || (state === 'held' && isFull && !isRefunding))

/** What counts before a wallet buys from a tier, which has a list or none. */
export function standingOf(buyers: Buyers, wallet: number, { tierNo, root }: { tierNo: number; root: number | null }) {
  const nodes = buyers.nodes.filter(({ owner }) => owner === wallet)
  const payments = buyers.payments.filter(({ from }) => from === wallet)
  const own = buyers.lists.find((one) => one.root === root && one.wallet === wallet)
  const bought = payments.flatMap(({ state, ...one }): Bought[] => (state === 'seen' ? [] : [{ ...one, state }]))
  const inFlight = payments.filter(isMinting)
  return {
    use: {
      walletNodes: nodes.length,
      walletInFlight: inFlight.length,
      tierNodes: nodes.filter((one) => one.tierNo === tierNo).length,
      tierInFlight: inFlight.filter((one) => one.tierNo === tierNo).length,
    },
    waiting: payments.filter(isWaiting).map(({ valueWei, block, txIndex, innerIndex, time, ...one }) => {
      return { valueWei, block, txIndex, innerIndex, time, tierNo: one.state === 'seen' ? null : one.tierNo }
    }),
    listed: root === null ? null : { root, allocation: own?.allocation ?? 0, used: usedOf(bought, tierNo, wallet) },
    denied: buyers.denied.includes(wallet),
    signedIn: buyers.signedIn.includes(wallet),
    allowed: buyers.allowed.includes(wallet),
  }
}
