// The payments wallets as the operator sees and changes them, as a second reading of docs/ADMIN.md (Payments wallets): when a change takes effect, which wallet may be
// taken back or closed, and what the audit log says of it.
import { quotedWallet, type Wallet, walletSells } from '../wallets.ts'

export interface Payee extends Wallet {
  closedBlock: number | null
  /** Whether something was paid there since it is watched. */
  isPaid: boolean
  /** The last block up to which its books agree; null before they begin. */
  audited: number | null
}
export interface World {
  payees: Payee[]
  /** Null before the first block. */
  head: { number: number; time: number } | null
  /** The block from which on headers are stored, up to 64 back. */
  earlier: { number: number; time: number }
  settingSec: number
}
const START = { number: 0, time: 0 }
const [AHEAD_BLOCKS, AHEAD_SEC] = [64, 300]

export const states = ({ payees, head }: World) => {
  const at = head ?? START
  const quoted = payees.findIndex(({ wallet }) => wallet === quotedWallet(payees, at))
  return payees.map(({ wallet, closedBlock }, n) => {
    if (closedBlock !== null) return 'closed'
    if (n === quoted) return 'inForce'
    if (n > quoted) return 'planned'
    return walletSells(payees, wallet, at) ? 'grace' : 'old'
  })
}

export interface Asked {
  address: string
  stolen: boolean
  graceSec: number | null
}

export function change({ payees, head, earlier, settingSec }: World, { address, stolen, graceSec }: Asked) {
  if (payees.some(({ wallet }) => wallet === address)) return { refused: 'conflict' }
  const before = quotedWallet(payees, head ?? START)
  const planned = payees.slice(1).filter((one) => !one.stolen)
  const grace = stolen ? 0 : (graceSec ?? planned.at(-1)?.graceSec ?? settingSec)
  const watchedFrom = head === null ? 0 : head.number + 1
  const last = payees.at(-1)
  const answer = {
    dryRun: false,
    wallet: address,
    before,
    followedBlock: head?.number ?? null,
    graceSec: grace,
    stolen,
  }
  if (last === undefined) return { ...answer, fromBlock: 0, fromTime: 0, graceUntil: null, watchedFrom }
  if (head === null) return { refused: 'notYet' }
  const passed = head.number - earlier.number
  // As long as the last 64 blocks took, and five minutes at least.
  const takes = passed === 0 ? 0 : Math.ceil(((head.time - earlier.time) * AHEAD_BLOCKS) / passed)
  const fromBlock = stolen ? head.number + 1 : Math.max(head.number + AHEAD_BLOCKS, last.fromBlock)
  const fromTime = stolen ? head.time : Math.max(head.time + AHEAD_SEC, head.time + takes, last.fromTime)
  return { ...answer, fromBlock, fromTime, graceUntil: before === null ? null : fromTime + grace, watchedFrom }
}

export function cancel(world: World, wallet: string) {
  const { payees, head } = world
  if (!payees.some((one) => one.wallet === wallet)) return { refused: 'notFound' }
  const quoted = quotedWallet(payees, head ?? START)
  const last = payees.at(-1)
  const isSeen = last !== undefined && quotedWallet([last], head ?? START) !== null
  if (last?.wallet !== wallet || quoted === null || isSeen || last.isPaid) return { refused: 'conflict' }
  world.payees = payees.slice(0, -1)
  return { cancelled: wallet, inForce: quoted }
}

export function close({ payees, head }: World, wallet: string) {
  const known = payees.find((one) => one.wallet === wallet)
  if (known === undefined) return { refused: 'notFound' }
  if (known.closedBlock !== null || head === null || walletSells(payees, wallet, head)) return { refused: 'conflict' }
  if (known.audited !== null && known.audited < head.number) return { refused: 'notYet' }
  known.closedBlock = head.number
  return { wallet, closedBlock: head.number }
}
