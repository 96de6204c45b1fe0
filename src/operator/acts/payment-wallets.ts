// How the operator changes the payments wallets: what the preview shows is what we enter. We read blocks for a new wallet from the next block on. The
// wallet takes effect a while later, so that no instance sells with it before all instances know it. We keep reading blocks for the old wallet until
// an act closes its books.

import { type Cursor, oldestBlockNumber, readBlock, readCursor } from '../../db/blocks/blocks.ts'
import { inTransaction, type Pool, type Sql } from '../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../db/core/state.ts'
import { readWalletBalance } from '../../db/payments/wallet.ts'
import {
  closeWallet,
  deleteWallet,
  insertFirstWallet,
  insertWallet,
  lockWallets,
  readPaymentWallets,
  readWalletHistory,
  type WalletRow,
} from '../../db/sale/payment-wallets.ts'
import {
  CHANGE_AHEAD_BLOCKS,
  CHANGE_AHEAD_SEC,
  hotKeysOf,
  isOldWallet,
  type PaymentWallet,
  refuseWallet,
  walletAt,
} from '../../domain/payment-wallets.ts'
import { type FirstSaleTerms, GRACE_SEC_MAX, GRACE_SEC_MIN } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { timeInWords } from '../../lib/times.ts'
import type { FactoryRead, FollowRules, LedgerDb, RuledBy } from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'
import {
  type Actor,
  isOperatorRefusal,
  type OperatorRefusal,
  recordAct,
  refuseAct,
  type SignerAddresses,
} from '../act.ts'
import { defineGuardedAct, defineReading } from '../define-act.ts'
import { ANY_SUM } from '../guard.ts'
import * as field from '../input.ts'

type WalletContext = LedgerDb & FactoryRead & SignerAddresses & RuledBy<FollowRules & FirstSaleTerms>

/** A wallet, and its state at the followed block. `grace`: it has been replaced, but a payment to it is still a sale. */
export interface WalletView extends WalletRow {
  state: 'planned' | 'inForce' | 'grace' | 'old' | 'closed'
}

/** The wallets, as of the followed block. */
export const listWallets = defineReading({
  path: 'payment-wallets',
  command: 'wallets list',
  summary: 'list the payments wallets: the one that buyers pay, those still watched, those closed',
  examples: ['wallets list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ wallets: await readWallets(pool) }),
  columns: ['wallet', 'state', 'fromBlock', 'fromTime', 'stolen', 'closedBlock', 'enteredBy', 'enteredAt'],
})

async function readWallets(pool: Pool): Promise<WalletView[]> {
  const [rows, cursor] = [await readWalletHistory(pool), await readCursor(pool)]
  const at = cursor ?? { number: 0, time: 0 }
  const inForce = walletAt(rows, at)
  const place = rows.findIndex(({ wallet }) => wallet === inForce?.wallet)
  const stateOf = (row: WalletRow, index: number) => {
    if (row.closedBlock !== null) return 'closed'
    if (index === place) return 'inForce'
    if (index > place) return 'planned'
    return isOldWallet(rows, row.wallet, at) ? 'old' : 'grace'
  }
  return rows.map((row, index) => ({ ...row, state: stateOf(row, index) }))
}

/** A change, previewed or done. Times are in unix seconds. */
export interface WalletProposal {
  dryRun: boolean
  wallet: Address
  /** The wallet that buyers pay to at the followed block; null if there is none. */
  before: Address | null
  followedBlock: number | null
  /** The wallet is in force in blocks at or above `fromBlock` whose time is at least `fromTime`. */
  fromBlock: number
  fromTime: number
  /** Seconds of block time for which a payment to the previous wallet is still a sale. */
  graceSec: number
  /** Until this block time a payment to the previous wallet is a sale; null if there was none. */
  graceUntil: number | null
  stolen: boolean
}

const CHANGE = {
  address: field.address('the wallet'),
  graceSec: field.orNull(
    field.whole(
      'seconds for which payments to the old wallet still buy; by default as at the last change',
      GRACE_SEC_MIN,
      GRACE_SEC_MAX,
    ),
  ),
  stolen: field.flag('the current wallet’s key was stolen'),
  dryRun: field.flag('only show what it would do'),
  reason: field.REASON,
}
type WalletChangeRequest = field.Read<typeof CHANGE>

export const changeWallet = defineGuardedAct({
  path: 'payment-wallets',
  scope: 'terms',
  command: 'wallets set',
  summary: 'change the wallet that buyers pay',
  details: `The change takes effect 64 blocks and five minutes after the followed block; quotes change then. For a grace period, payments
to the old wallet still buy; after that the service holds them (oldWallet). With --stolen the change takes effect from the next block,
without a grace period.`,
  examples: ['wallets set <new-address> --reason "new custodian" --yes', 'wallets set <new-address> --stolen --yes'],
  args: ['address'],
  fields: CHANGE,
  onChain: true,
  asks: 'Have buyers pay there?',
  proposedAs: 'changeWallet',
  sum: (_sql, { dryRun }) => (dryRun ? 0n : ANY_SUM),
  run: enterWallet,
  preview: changeInWords,
  // New blocks arrive while the person decides, so the change takes effect later than shown. We print the new time.
  says: (result) => `${result.dryRun ? '' : 'Entered. '}${changeInWords(result)}`,
})

/** A proposed or completed change, for people. */
export function changeInWords({ wallet, before, fromBlock, fromTime, graceUntil, stolen }: WalletProposal): string {
  if (before === null) return `Buyers pay to ${wallet} from now on.`
  const time = (at: number) => timeInWords(at, Date.now() / 1000)
  const grace =
    stolen || graceUntil === null
      ? `No later payment to ${before} is a sale.`
      : `A payment to ${before} is a sale until ${time(graceUntil)}, and held after.`
  return `Buyers pay to ${wallet} from block ${fromBlock} on, not before ${time(fromTime)}. ${grace} The service watches the old wallet until "wallets close".`
}

async function enterWallet(
  deps: WalletContext,
  actor: Actor,
  request: WalletChangeRequest,
): Promise<WalletProposal | OperatorRefusal> {
  const refusal = await refuseAddress(deps, request.address)
  if (refusal) return refusal
  if (request.dryRun) return propose(deps, deps.pool, await readCursor(deps.pool), request)
  return inTransaction(deps.pool, async (sql) => {
    await lockWallets(sql)
    // The cursor is locked, so that no later block is stored before the wallet is.
    const cursor = await readCursor(sql, { lock: true })
    const proposal = await propose(deps, sql, cursor, request)
    if (isOperatorRefusal(proposal)) return proposal
    const { wallet, before, fromBlock, fromTime, stolen, graceSec } = proposal
    const watchedFrom = cursor ? cursor.number + 1 : 0
    const after = { wallet, fromBlock, fromTime, stolen, graceSec, watchedFrom }
    if (!(await insertFirstWallet(sql, wallet, watchedFrom, actor.name))) await insertWallet(sql, after, actor.name)
    await recordAct(sql, actor, { action: 'walletChanged', subject: wallet, before, after, reason: request.reason })
    await notifyLedgerChanged(sql)
    return proposal
  })
}

const ONE = { address: field.address('the wallet'), reason: field.REASON }

/** The wallets, locked: no other is entered or closed, and no block is stored, until the transaction ends. Refuses a wallet that is none of them. */
async function lockKnown(sql: Sql, wallet: Address) {
  await lockWallets(sql)
  const cursor = await readCursor(sql, { lock: true })
  const wallets = await readPaymentWallets(sql)
  const ownRow = wallets.find((row) => row.wallet === wallet)
  return ownRow ? { wallets, known: ownRow, cursor } : refuseAct('notFound', 'Not a payments wallet of this ledger.')
}

/** A change can be cancelled only before any buyer has seen it. */
export const cancelWallet = defineGuardedAct({
  path: 'payment-wallets/cancel',
  scope: 'terms',
  command: 'wallets cancel',
  summary: 'cancel the latest change of the payments wallet, unless it has taken effect or the new wallet was paid',
  examples: ['wallets cancel <new-address> --reason "a slip" --yes'],
  args: ['address'],
  fields: ONE,
  asks: 'Cancel this change?',
  proposedAs: 'cancelWallet',
  sum: () => ANY_SUM,
  change: async ({ sql, record }, { address: wallet }) => {
    const state = await lockKnown(sql, wallet)
    if (isOperatorRefusal(state)) return state
    const { wallets, cursor } = state
    const at = cursor ?? { number: 0, time: 0 }
    const [last, inForce] = [wallets.at(-1), walletAt(wallets, at)]
    if (last?.wallet !== wallet)
      return refuseAct('conflict', 'Only the latest change can be cancelled: set another wallet instead.')
    if (!inForce || walletAt([last], at))
      return refuseAct('conflict', 'Buyers already see it: set another wallet instead.')
    if (!(await deleteWallet(sql, last)))
      return refuseAct('conflict', 'It has received a transfer, which stays in the books: set another wallet instead.')
    record({ action: 'walletCancelled', subject: wallet, before: last, after: { inForce: inForce.wallet } })
    return { cancelled: wallet, inForce: inForce.wallet }
  },
  preview: ({ cancelled, inForce }) => `Buyers do not change to ${cancelled}. They keep paying to ${inForce}.`,
  says: ({ inForce }) => `Cancelled. Buyers keep paying to ${inForce}.`,
})

export const closeBooks = defineGuardedAct({
  path: 'payment-wallets/close',
  scope: 'terms',
  command: 'wallets close',
  summary: 'close a replaced wallet: the service does not see later payments to it',
  examples: ['wallets close <old-address> --yes'],
  args: ['address'],
  fields: ONE,
  asks: 'Close its books?',
  proposedAs: 'closeBooks',
  sum: () => ANY_SUM,
  change: async ({ sql, actor, record }, { address: wallet }) => {
    const state = await lockKnown(sql, wallet)
    if (isOperatorRefusal(state)) return state
    const { wallets, known, cursor } = state
    if (known.closedBlock !== null) return refuseAct('conflict', `Its books were closed at block ${known.closedBlock}.`)
    if (!cursor || !isOldWallet(wallets, wallet, cursor))
      return refuseAct(
        'conflict',
        'A payment to it is still a sale. You can close its books once another wallet is in force and the grace period is over.',
      )
    const books = await readWalletBalance(sql, wallet)
    if (books?.auditedBlock != null && books.auditedBlock < cursor.number)
      return refuseAct(
        'notYet',
        `Its books are audited up to block ${books.auditedBlock}, and the ledger is at ${cursor.number}: let the payments pass run, and try again.`,
      )
    await closeWallet(sql, wallet, cursor.number, actor.name)
    const after = { wallet, closedBlock: cursor.number }
    record({ action: 'walletClosed', subject: wallet, after })
    return after
  },
  preview: ({ wallet, closedBlock }) =>
    `${wallet} is closed at block ${closedBlock}. The service does not see later payments to it, and you cannot undo this.`,
  says: ({ closedBlock }) => `Closed at block ${closedBlock}.`,
})

/** Refuses an address that no buyer should pay to. */
async function refuseAddress(
  { contract, signers }: FactoryRead & SignerAddresses,
  wallet: Address,
): Promise<OperatorRefusal | null> {
  const facts = await orNull(contract.walletFacts(wallet))
  if (!facts) return refuseAct('unavailable', 'No provider answers, so we cannot tell what that address is.')
  const objection = refuseWallet(wallet, {
    ...facts,
    factory: contract.factory,
    hotKeys: hotKeysOf(facts, signers),
  })
  return objection && refuseAct('invalid', `${objection.problem}. ${objection.remedy}`)
}

async function propose(
  { rules }: RuledBy<FirstSaleTerms>,
  sql: Sql,
  cursor: Cursor | null,
  { address: wallet, stolen, graceSec: ownGraceSec, dryRun }: WalletChangeRequest,
): Promise<WalletProposal | OperatorRefusal> {
  const wallets = await readPaymentWallets(sql)
  if (wallets.some((row) => row.wallet === wallet))
    return refuseAct('conflict', 'The ledger has or had that wallet already: choose one that buyers never paid to.')
  const before = walletAt(wallets, cursor ?? { number: 0, time: 0 })
  const from = wallets.length === 0 ? { fromBlock: 0, fromTime: 0 } : await holdsFrom(sql, cursor, wallets, stolen)
  const former = wallets.slice(1).findLast((row) => !row.stolen)
  const graceSec = stolen ? 0 : (ownGraceSec ?? former?.graceSec ?? rules.priceGraceSec)
  if (from === null)
    return refuseAct('notYet', 'The ledger has not followed any block yet: try again once the payments pass has run.')
  return {
    dryRun,
    wallet,
    before: before?.wallet ?? null,
    followedBlock: cursor?.number ?? null,
    ...from,
    graceUntil: before && from.fromTime + graceSec,
    graceSec,
    stolen,
  }
}

/** When a change takes effect; null before the first block. Estimates how long 64 blocks take from the blocks before. */
async function holdsFrom(
  sql: Sql,
  cursor: Cursor | null,
  wallets: readonly PaymentWallet[],
  isStolen: boolean,
): Promise<{ fromBlock: number; fromTime: number } | null> {
  if (!cursor) return null
  if (isStolen) return { fromBlock: cursor.number + 1, fromTime: cursor.time }
  const oldest = (await oldestBlockNumber(sql)) ?? cursor.number
  const earlier = await readBlock(sql, Math.max(oldest, cursor.number - CHANGE_AHEAD_BLOCKS))
  const takesSec =
    earlier && earlier.number < cursor.number
      ? Math.ceil(((cursor.time - earlier.time) * CHANGE_AHEAD_BLOCKS) / (cursor.number - earlier.number))
      : 0
  const last = wallets.at(-1)
  return {
    fromBlock: Math.max(cursor.number + CHANGE_AHEAD_BLOCKS, last?.fromBlock ?? 0),
    fromTime: Math.max(cursor.time + Math.max(CHANGE_AHEAD_SEC, takesSec), last?.fromTime ?? 0),
  }
}
