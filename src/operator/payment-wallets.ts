// The payments wallets as the operator changes them: what is previewed is what is entered. A new one is read for from the next block on and holds
// a while later, so that no instance sells by it before all have it; the old one goes on being read until an act closes its books.
import { orNull } from '../chain/faults.ts'
import { type Cursor, oldestBlockNumber, readBlock, readCursor } from '../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import { readWalletBalance } from '../db/payments/wallet.ts'
import {
  closeWallet,
  deleteWallet,
  insertFirstWallet,
  insertWallet,
  lockWallets,
  readPaymentWallets,
  readWalletHistory,
  type WalletRow,
} from '../db/sale/payment-wallets.ts'
import {
  CHANGE_AHEAD_BLOCKS,
  CHANGE_AHEAD_SEC,
  hotKeysOf,
  isOldWallet,
  type PaymentWallet,
  refuseWallet,
  walletAt,
} from '../domain/payment-wallets.ts'
import { type FirstSaleTerms, GRACE_SEC_MAX, GRACE_SEC_MIN } from '../domain/tiers.ts'
import type { Address } from '../domain/units.ts'
import type { FactoryRead, FollowRules, LedgerDb, RuledBy } from '../passes/context.ts'
import {
  type Actor,
  isOperatorRefusal,
  type OperatorRefusal,
  recordAct,
  refuseAct,
  type SignerAddresses,
} from './act.ts'
import { defineAct, defineGuardedAct } from './define-act.ts'
import type { FieldReader } from './input.ts'
import { ANY_SUM } from './second-person/guard.ts'

type WalletContext = LedgerDb & FactoryRead & SignerAddresses & RuledBy<FollowRules & FirstSaleTerms>

/** A wallet, and how it stands at the followed block. `grace`: replaced, and a payment to it is a sale still. */
export interface WalletView extends WalletRow {
  state: 'toCome' | 'inForce' | 'grace' | 'old' | 'closed'
}

/** GET payment-wallets. As of the followed block. */
export async function listWallets({ pool }: LedgerDb): Promise<{ wallets: WalletView[] }> {
  const [rows, cursor] = [await readWalletHistory(pool), await readCursor(pool)]
  const at = cursor ?? { number: 0, time: 0 }
  const inForce = walletAt(rows, at)
  const place = rows.findIndex(({ wallet }) => wallet === inForce?.wallet)
  const stateOf = (row: WalletRow, index: number) => {
    if (row.closedBlock !== null) return 'closed'
    if (index === place) return 'inForce'
    if (index > place) return 'toCome'
    return isOldWallet(rows, row.wallet, at) ? 'old' : 'grace'
  }
  return { wallets: rows.map((row, index) => ({ ...row, state: stateOf(row, index) })) }
}

/** A change, previewed or done. Times are unix seconds. */
export interface WalletProposal {
  wallet: Address
  /** The wallet that buyers pay to at the followed block; null where there is none. */
  before: Address | null
  followedBlock: number | null
  /** It holds in blocks that are neither below the one nor older than the other. */
  fromBlock: number
  fromTime: number
  /** Seconds of block time for which a payment to the one before is still a sale. */
  graceSec: number
  /** Up to this block time a payment to the one before is a sale; null where there was none. */
  graceUntil: number | null
  stolen: boolean
}

async function preview(deps: WalletContext, _actor: Actor, asked: WalletChangeRequest) {
  const refusal = await refuseAddress(deps, asked.wallet)
  return refusal ?? propose(deps, deps.pool, await readCursor(deps.pool), asked)
}

/** POST payment-wallets/preview: what POST payment-wallets would do with the same fields. Changes nothing. */
export const previewWallet = defineAct({ read: readAsked, run: preview })

/**
 * POST payment-wallets `{address, stolen?, graceSec?, reason?}`: the wallet that buyers pay to from 64 blocks and five minutes ahead of the followed block
 * on. For `graceSec` more (as at the last change unless given) a payment to the one before is a sale. With `stolen` it holds from the next block on, and no later payment to the ones before is a sale.
 */
export const changeWallet = defineGuardedAct({
  name: 'changeWallet',
  scope: 'terms',
  read: readAsked,
  sum: () => ANY_SUM,
  preview,
  run: enterWallet,
})

async function enterWallet(
  deps: WalletContext,
  actor: Actor,
  asked: WalletChangeRequest,
): Promise<WalletProposal | OperatorRefusal> {
  const refusal = await refuseAddress(deps, asked.wallet)
  if (refusal) return refusal
  return inTransaction(deps.pool, async (sql) => {
    await lockWallets(sql)
    // No block beyond it is stored before the wallet stands.
    const cursor = await readCursor(sql, { lock: true })
    const proposal = await propose(deps, sql, cursor, asked)
    if (isOperatorRefusal(proposal)) return proposal
    const { wallet, fromBlock, fromTime, stolen, graceSec } = proposal
    const watchedFrom = cursor ? cursor.number + 1 : 0
    if (!(await insertFirstWallet(sql, wallet, watchedFrom, actor.name)))
      await insertWallet(sql, { wallet, fromBlock, fromTime, stolen, graceSec, watchedFrom }, actor.name)
    const after = { wallet, fromBlock, fromTime, stolen, graceSec, watchedFrom }
    await recordAct(sql, actor, {
      action: 'walletChanged',
      subject: wallet,
      before: proposal.before,
      after,
      reason: asked.reason,
    })
    await notifyLedgerChanged(sql)
    return proposal
  })
}

const readWallet = (fields: FieldReader) => ({
  wallet: fields.address('address'),
  reason: fields.textOrNull('reason'),
})

/**
 * POST payment-wallets/take-back `{address, reason?}`: takes back the latest change as long as it does not hold, so that no buyer has seen the
 * wallet, and nothing was paid to it.
 */
export const takeBackWallet = defineGuardedAct({
  name: 'takeBackWallet',
  scope: 'terms',
  read: readWallet,
  sum: () => ANY_SUM,
  run: ({ pool }: LedgerDb, actor, { wallet, reason }) =>
    inTransaction(pool, async (sql) => {
      await lockWallets(sql)
      const at = (await readCursor(sql, { lock: true })) ?? { number: 0, time: 0 }
      const wallets = await readPaymentWallets(sql)
      const [last, inForce] = [wallets.at(-1), walletAt(wallets, at)]
      if (!wallets.some((row) => row.wallet === wallet)) return refuseNoWallet()
      if (last?.wallet !== wallet)
        return refuseAct('conflict', 'Only the wallet that was entered last can be taken back: name another one.')
      if (!inForce || walletAt([last], at))
        return refuseAct('conflict', 'Buyers are told it already: name another one.')
      if (!(await deleteWallet(sql, last)))
        return refuseAct('conflict', 'Something has come to it, which stays in the books: name another one.')
      const after = { inForce: inForce.wallet }
      await recordAct(sql, actor, { action: 'walletTakenBack', subject: wallet, before: last, after, reason })
      await notifyLedgerChanged(sql)
      return { takenBack: wallet, inForce: inForce.wallet }
    }),
})

const refuseNoWallet = () => refuseAct('notFound', 'That is no payments wallet of this ledger.')

/**
 * POST payment-wallets/close `{address, reason?}`: closes the books of a wallet that was replaced. What comes to it from the next block on is
 * not seen any more.
 */
export const closeBooks = defineGuardedAct({
  name: 'closeBooks',
  scope: 'terms',
  read: readWallet,
  sum: () => ANY_SUM,
  run: ({ pool }: LedgerDb, actor, { wallet, reason }) =>
    inTransaction(pool, async (sql) => {
      await lockWallets(sql)
      const cursor = await readCursor(sql, { lock: true })
      const wallets = await readPaymentWallets(sql)
      const known = wallets.find((row) => row.wallet === wallet)
      if (!known) return refuseNoWallet()
      if (known.closedBlock !== null)
        return refuseAct('conflict', `Its books were closed with block ${known.closedBlock}.`)
      if (!cursor || !isOldWallet(wallets, wallet, cursor))
        return refuseAct(
          'conflict',
          'A payment to it is a sale still: its books can be closed once another wallet holds and the grace is over.',
        )
      const books = await readWalletBalance(sql, wallet)
      if (books?.auditedBlock != null && books.auditedBlock < cursor.number)
        return refuseAct(
          'notYet',
          `Its books are audited up to block ${books.auditedBlock}, and the ledger stands at ${cursor.number}: let the payments pass run, and ask again.`,
        )
      await closeWallet(sql, wallet, cursor.number, actor.name)
      const after = { wallet, closedBlock: cursor.number }
      await recordAct(sql, actor, { action: 'walletClosed', subject: wallet, after, reason })
      await notifyLedgerChanged(sql)
      return after
    }),
})

interface WalletChangeRequest {
  wallet: Address
  stolen: boolean
  graceSec: number | null
  reason: string | null
}

function readAsked(fields: FieldReader): WalletChangeRequest {
  return {
    wallet: fields.address('address'),
    stolen: fields.flagOrNull('stolen') ?? false,
    graceSec: fields.wholeOrNull('graceSec', GRACE_SEC_MIN, GRACE_SEC_MAX),
    reason: fields.textOrNull('reason'),
  }
}

/** Refuses an address that no buyer should pay to. */
async function refuseAddress(
  { contract, signers }: FactoryRead & SignerAddresses,
  wallet: Address,
): Promise<OperatorRefusal | null> {
  const facts = await orNull(contract.walletFacts(wallet))
  if (!facts) return refuseAct('unavailable', 'No provider answers: what that address is, is not known.')
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
  { wallet, stolen, graceSec: given }: WalletChangeRequest,
): Promise<WalletProposal | OperatorRefusal> {
  const wallets = await readPaymentWallets(sql)
  if (wallets.some((row) => row.wallet === wallet))
    return refuseAct('conflict', 'The ledger has or had that wallet already: name one that buyers never paid to.')
  const before = walletAt(wallets, cursor ?? { number: 0, time: 0 })
  const from = wallets.length === 0 ? { fromBlock: 0, fromTime: 0 } : await holdsFrom(sql, cursor, wallets, stolen)
  const planned = wallets.slice(1).findLast((row) => !row.stolen)
  const graceSec = stolen ? 0 : (given ?? planned?.graceSec ?? rules.priceGraceSec)
  if (from === null)
    return refuseAct('notYet', 'The ledger has not followed any block yet: ask again once the payments pass has run.')
  return {
    wallet,
    before: before?.wallet ?? null,
    followedBlock: cursor?.number ?? null,
    ...from,
    graceUntil: before && from.fromTime + graceSec,
    graceSec,
    stolen,
  }
}

/** From where a change holds; null before the first block. What 64 blocks take is taken from the blocks before. */
async function holdsFrom(
  sql: Sql,
  cursor: Cursor | null,
  wallets: readonly PaymentWallet[],
  stolen: boolean,
): Promise<{ fromBlock: number; fromTime: number } | null> {
  if (!cursor) return null
  if (stolen) return { fromBlock: cursor.number + 1, fromTime: cursor.time }
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
