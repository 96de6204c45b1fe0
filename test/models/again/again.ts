// Which payments are judged a second time, and with what end, as a second reading of docs/ADMIN.md (Tiers: freed places),
// docs/ARCHITECTURE.md (recheck) and docs/RUNBOOK.md (Back up and restore). Each payment is alone in its tier and its wallet.

/** One payment of the price of its tier, in block 50, and all that may change what becomes of it. */
export interface Room {
  state: string
  reason: string | null
  /** What people decided about it, oldest first; a withdrawn decision no longer stands. */
  decided: { verdict: string; isWithdrawn: boolean }[]
  /** How often the contract has skipped its mint, the last time so many seconds ago. */
  skipped: { times: number; agoSec: number }
  /** The tier's supply in the payment's block: a higher one applies from its own block on. */
  supplyThen: number | null
  /** The tier as it is now. */
  supply: number | null
  cap: number | null
  onSale: boolean
  opensAt: number | null
  closesAt: number | null
  /** Nodes of the tier, and nodes that the wallet holds of other tiers. */
  sold: number
  ofWallet: number
  /** What a payments wallet paid to its payer. */
  outflows: { block: number; valueWei: bigint; isCommission: boolean }[]
}
export interface Sale {
  now: number
  recheckUpTo: number | null
  walletCap: number
}
export const [BLOCK, TIME, DAY] = [50, 500, 86_400]

const standing = (room: Room) => room.decided.filter(({ isWithdrawn }) => !isWithdrawn)
const isReleased = (room: Room) => standing(room).at(-1)?.verdict === 'accepted'

/** Supply and contract's cap: the lower one counts. Without either there is always room. */
function hasPlace({ supply, cap, sold }: Room): boolean {
  for (const most of [supply, cap]) if (most !== null && sold >= most) return false
  return true
}

/** The contract has skipped it three times: then only once a day. */
const mayTryAgain = ({ skipped }: Room) => skipped.times < 3 || skipped.agoSec > DAY

/** Whether a payment that found no place takes one that comes free. What a person decided stands: a release waits, anything else is done. */
function takesFreePlace(room: Room, sale: Sale): boolean {
  if (!hasPlace(room) || !mayTryAgain(room)) return false
  if (room.decided.length > 0) return isReleased(room)
  if (sale.now - TIME >= DAY || !room.onSale) return false
  if (room.opensAt !== null && room.opensAt > sale.now) return false
  if (room.closesAt !== null && room.closesAt <= sale.now) return false
  return !room.outflows.some(({ block, valueWei, isCommission }) => block >= BLOCK && valueWei > 0n && !isCommission)
}

function isJudged(room: Room, sale: Sale): boolean {
  if (room.state === 'seen') return true
  if (room.state !== 'held') return false
  if (room.reason === 'walletLimit') return room.ofWallet < sale.walletCap && mayTryAgain(room)
  return (room.reason === 'soldOut' || room.reason === 'supplySpent') && takesFreePlace(room, sale)
}

export interface End {
  state: string
  reason: string | null
}

/** What becomes of it. The same again writes nothing. */
export function judgeAgain(room: Room, sale: Sale): End {
  const same = { state: room.state, reason: room.reason }
  const isBefore = sale.recheckUpTo !== null && BLOCK <= sale.recheckUpTo && standing(room).length === 0
  if (room.state === 'accepted' && isBefore) return { state: 'held', reason: 'recheck' }
  if (!isJudged(room, sale)) return same
  const isFull = room.ofWallet >= sale.walletCap
  const accepted = { state: 'accepted', reason: null }
  if (room.state === 'held' && isReleased(room)) return isFull || !hasPlace(room) ? same : accepted
  const held = (reason: string) => {
    const wasPlaceless = reason === 'soldOut' && room.reason === 'supplySpent'
    return room.reason === reason || wasPlaceless ? same : { state: 'held', reason }
  }
  if (isBefore) return held('recheck')
  const hadPlace = room.supplyThen === null || room.sold < room.supplyThen
  if (!hasPlace(room) || !hadPlace) return held('soldOut')
  return isFull ? held('walletLimit') : accepted
}
