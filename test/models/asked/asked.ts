// What a buyer hears who reports a payment, and an owner who reports a mint, as a second reading of docs/API (POST /api/payments/claim, POST /api/nodes/sync) and
// docs/ARCHITECTURE.md (Requests that start a pass).

export interface Tx {
  /** Where it went, and whether a payments wallet sent it. */
  to: 'wallet' | 'other'
  isFromWallet: boolean
  valueWei: bigint
  succeeded: boolean
  block: number | null
}
/** What the ledger has of a transaction: the states of its payments, dust, and how far the wallet's books are checked. */
export interface Ledger {
  cursor: number
  payments: string[]
  isDust: boolean
  checkedTo: number
  /** Blocks in which value came or went that nothing explains. */
  residue: readonly [from: number, to: number] | null
}
export interface Claimed {
  kind: 'known' | 'dust' | 'following' | 'notFound' | 'pending' | 'notASale'
  /** How many passes it started. */
  passes: number
}

const isIn = (state: string) => state !== 'orphaned'

/** Whether the transaction is settled in the ledger, so that a pass need not run for it. */
const isSettled = ({ payments, isDust }: Ledger): boolean => {
  const standing = payments.filter(isIn)
  return standing.length === 0 ? isDust : !standing.includes('seen')
}

function isRefused(tx: Tx, startBlock: number): boolean {
  if (tx.isFromWallet || !tx.succeeded) return true
  if (tx.valueWei === 0n && tx.to === 'wallet') return true
  return tx.block !== null && tx.block < startBlock
}

const at = (kind: Claimed['kind'], passes = 0): Claimed => ({ kind, passes })

/** `after`: the ledger once a pass has run. */
export function claim(before: Ledger, tx: Tx | null, after: Ledger, startBlock: number): Claimed {
  const { payments } = before
  // A payment in a block is known. If it may still move, the chain is looked at once.
  if (payments.some(isIn)) return at('known', payments.includes('seen') || payments.includes('accepted') ? 1 : 0)
  if (before.isDust) return at('dust')
  if (tx === null) return at(payments.length > 0 ? 'known' : 'notFound')
  if (isRefused(tx, startBlock)) return at('notASale')
  if (tx.block === null) return at('pending')
  return tx.to === 'wallet' ? claimPlain(before, tx.block, after) : claimInside(before, tx.block, after)
}

function claimPlain(before: Ledger, block: number, after: Ledger): Claimed {
  const passes = before.cursor >= block && isSettled(before) ? 0 : 1
  const now = passes === 0 ? before : after
  if (now.isDust) return at('dust', passes)
  return at(now.payments.length > 0 ? 'known' : 'following', passes)
}

/** It may have paid by inner calls, which the check of the wallet's balance finds. */
function claimInside(before: Ledger, block: number, after: Ledger): Claimed {
  const isDone = before.payments.length > 0 ? isSettled(before) : before.checkedTo >= block
  const passes = before.cursor >= block && isDone ? 0 : 1
  const now = passes === 0 ? before : after
  if (now.payments.length > 0) return at('known', passes)
  const isUnexplained = now.residue !== null && now.residue[0] <= block && block <= now.residue[1]
  return at(now.checkedTo >= block && !isUnexplained ? 'notASale' : 'pending', passes)
}

export interface Receipt {
  succeeded: boolean
  block: number
  nodes: number[]
}
/** A node: to whom it was minted, and whose it is by the contract; null if the contract has none. */
export interface Node {
  id: number
  mintedTo: string
  ownerNow: string | null
}
export interface Synced {
  kind: 'notFound' | 'failed' | 'noMint' | 'following' | 'followed'
  nodes?: (Node & { created: boolean })[]
}

/** `had` and `has`: the nodes of the transaction that the ledger had when it was asked, and has after the pass. */
export function sync(
  { receipt, nodes, caller }: { receipt: Receipt | null; nodes: Node[]; caller: string },
  { had, has, reaches }: { had: number[]; has: number[]; reaches: boolean },
  startBlock: number,
): Synced {
  const isCallers = nodes.some((one) => had.includes(one.id) && one.mintedTo === caller)
  if (!isCallers) {
    if (receipt === null) return { kind: 'notFound' }
    if (!receipt.succeeded) return { kind: 'failed' }
    if (receipt.nodes.length === 0 || receipt.block < startBlock) return { kind: 'noMint' }
  }
  return found(isCallers ? had : (receipt?.nodes ?? []), nodes, { had, has, reaches })
}

/** All the nodes asked for, if the ledger has followed to the head and has them all, and the contract too. */
export function found(
  ids: number[],
  nodes: Node[],
  { had, has, reaches }: { had: number[]; has: number[]; reaches: boolean },
): Synced {
  const all = nodes.filter(({ id }) => ids.includes(id))
  if (!reaches || all.some(({ id, ownerNow }) => !has.includes(id) || ownerNow === null)) return { kind: 'following' }
  return { kind: 'followed', nodes: all.map((one) => ({ ...one, created: !had.includes(one.id) })) }
}
