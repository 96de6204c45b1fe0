// Checks the payments wallets: compares each balance at the followed block with the ledger. If they differ, ether moved by inner calls, which no
// transaction's value shows. We locate the blocks in which it moved, trace them, and record each inner transfer. What no trace explains becomes a
// residue, held for the operator. A failure here must never stop payments from being judged.
import { residueRef } from '../chain/digest.ts'
import { type Cursor, readBlock, readCursor } from '../db/blocks/blocks.ts'
import { isProven } from '../db/blocks/evidence.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import { readKnownResidues } from '../db/payments/attributions.ts'
import { hasBelieved } from '../db/payments/rows.ts'
import { noteFailedTrace, proveResidueNow } from '../db/payments/traces.ts'
import * as wallet from '../db/payments/wallet.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { weakest } from '../domain/finality.ts'
import type { Proof } from '../domain/observed.ts'
import type { Address, Hash } from '../domain/units.ts'
import { ledgerChainId } from '../follower/halt.ts'
import { tellFailedProofs, tellFault } from '../follower/proofs.ts'
import { compareBlock, LeftOutFault, restsOnAgreement } from '../mending/compare.ts'
import type { BlockRef } from '../ports/chain.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy, RunLimits } from '../ports/contexts.ts'
import { ChainFault } from '../ports/faults.ts'
import {
  type Explained,
  mayHideSale,
  type NamedDifference,
  storeTraced,
  traceDifferences,
  weighTrace,
} from './explain.ts'
import { blockAt, type Difference, locateDifferences } from './locate.ts'
import { correctFees } from './own-fees.ts'
import { proveResidues, withdrawOffset } from './prove-residues.ts'
import { retraceResidues } from './retrace.ts'

type BalanceCheckContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/**
 * Time limits within a run: for tracing old residues again, for proving old residues, and for tracing one wallet's new differences. The other time is
 * for judging and minting.
 */
const RETRACING_MS = 2_000
const PROVING_MS = 2_000
const TRACING_MS = 10_000

/**
 * Checks the wallets' balances at the cursor. If a wallet's books are closed, checks it at its last block. Takes one read per wallet if nothing
 * differs, and none if we already checked this block.
 * @throws a LeftOutFault if a provider left out transfers; by then the ledger has rewound.
 * @returns how many payments were filed as `unattributed`.
 */
export async function checkWalletBalances(ctx: BalanceCheckContext, cursor: Cursor, run: RunLimits): Promise<number> {
  let filedCount = 0
  await retraceResidues(ctx, cursor, within(run, RETRACING_MS)).catch((error) =>
    ctx.log.warn({ err: error }, 'held residues could not be traced again; a later run tries'),
  )
  await proveResidues(ctx, cursor, within(run, PROVING_MS)).catch((error) =>
    ctx.log.warn({ err: error }, 'held residues could not be compared with proofs; a later run tries'),
  )
  for (const { wallet: address } of await wallet.readOpenWalletBalances(ctx.pool)) {
    if (run.outOfTime()) break
    try {
      filedCount += await checkWallet(ctx, cursor, address, run)
    } catch (error) {
      if (error instanceof LeftOutFault) throw error
      await tellFault(ctx, error)
      ctx.log.warn({ err: error, wallet: address }, 'the payments wallet could not be checked; the next run checks it')
    }
  }
  return filedCount
}

/** The limits of the same run, with an earlier deadline. */
function within(run: RunLimits, ms: number): RunLimits {
  const until = performance.now() + ms
  return { checkLock: run.checkLock, outOfTime: () => performance.now() > until || run.outOfTime() }
}

/** Checks one wallet. Sets its opening balance first if it has none. @returns how many incoming residues were filed. */
async function checkWallet(
  ctx: BalanceCheckContext,
  cursor: Cursor,
  address: Address,
  run: RunLimits,
): Promise<number> {
  const balance = await readBegun(ctx, cursor, address)
  // Another run has moved the cursor, and will check the wallet itself.
  if (balance === null) return 0
  const upTo = await lastBlockOf(ctx, balance, cursor)
  if (balance.base === null || balance.auditedBlock === null || balance.auditedBlock === upTo.number) return 0
  const reading = await ctx.chain.balanceAt(address, upTo)
  if (reading === null) return 0
  const expectedWei = balance.base.wei + balance.inWei - balance.outWei
  const markBalance = () => markChecked(ctx, cursor, address, { ...reading, block: upTo.number })
  if (reading.wei === expectedWei) {
    await markBalance()
    return 0
  }
  const isEnough = reading.proof === 'proven' || (reading.proof === 'agreed' && !(await isProven(ctx.pool)))
  if (!isEnough && !ctx.rules.trustsProvider) {
    // A figure that nothing proves must file nothing. The wallet stays unchecked until a provider proves it.
    const says = `no provider proves the balance of ${address}: they report ${reading.wei} wei, and the ledger's transfers explain ${expectedWei}`
    const unproven = { part: 'state', blockNumber: upTo.number, host: null, says } as const
    await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, [unproven]))
    return 0
  }
  const question = {
    address,
    checkedBlock: balance.auditedBlock,
    checkedProof: balance.auditedProof ?? 'believed',
    upTo: upTo.number,
    expectedWei,
    balance: reading,
  }
  const differences = await nameDifferences(ctx, address, await locateDifferences(ctx, question, run))
  await compareBlocks(ctx, cursor, differences, run)
  const backedDifferences = await withoutBelieved(ctx, differences)
  const openDifferences = await correctFees(ctx, address, backedDifferences, (body) => underCursor(ctx, balance, body))
  const filedCount = await file(
    ctx,
    balance,
    await traceDifferences(ctx, openDifferences, { address, run: within(run, TRACING_MS) }),
  )
  const now = await wallet.readWalletBalance(ctx.pool, address)
  const isExplained = now?.cursor.hash === cursor.hash && balance.base.wei + now.inWei - now.outWei === reading.wei
  if (isExplained) await markBalance()
  return filedCount
}

/** If blocks prove themselves, compares each block whose difference may hide a sale with what the ledger recorded of it. */
async function compareBlocks(
  ctx: BalanceCheckContext,
  cursor: Cursor,
  differences: readonly NamedDifference[],
  run: RunLimits,
): Promise<void> {
  if (!(await isProven(ctx.pool))) return
  const versions = await readTierVersions(ctx.pool)
  for (const { block, fromBlock, residueWei, residueState } of differences) {
    if (run.outOfTime()) return
    if (residueState === 'decided' || fromBlock !== block.number) continue
    if (!mayHideSale(versions, { residueWei, block }) && !(await hasBelieved(ctx.pool, block.number))) continue
    await compareBlock(ctx, cursor, block)
  }
}

/**
 * On a ledger that proves no blocks, leaves out those of a block with an undecided payment that only one of several providers reports. It may explain
 * them once two agree. Once a payment is decided, the service does not ask a second provider about it.
 */
async function withoutBelieved(ctx: LedgerDb & ChainRead, differences: readonly NamedDifference[]) {
  if (!(await restsOnAgreement(ctx))) return differences
  const backedDifferences: NamedDifference[] = []
  for (const one of differences)
    if (!(await hasBelieved(ctx.pool, one.block.number, { isOpen: true }))) backedDifferences.push(one)
  return backedDifferences
}

/** Adds the ref that each difference would have as a residue, and whether the operator has already decided on that residue. */
async function nameDifferences(
  ctx: LedgerDb & ChainRead,
  address: Address,
  differences: readonly Difference[],
): Promise<NamedDifference[]> {
  const chainId = await ledgerChainId(ctx)
  const refs = differences.map(({ block, residueWei }) => residueRef(chainId, address, block.hash, residueWei))
  const residues = new Map((await readKnownResidues(ctx.pool, refs)).map((residue) => [residue.ref, residue]))
  return differences.map((difference, place) => {
    const ref = refs[place] as Hash
    const residue = residues.get(ref)
    return { ...difference, ref, residueState: residue ? (residue.decided ? 'decided' : 'attributed') : null }
  })
}

/**
 * The wallet's balance at the cursor; sets its opening balance if it has none. Null if the ledger has moved, or if the state for the opening balance
 * is not available.
 */
async function readBegun(
  ctx: BalanceCheckContext,
  cursor: Cursor,
  address: Address,
): Promise<wallet.WalletBalance | null> {
  const balance = await wallet.readWalletBalance(ctx.pool, address)
  if (balance?.cursor.hash !== cursor.hash) return null
  if (balance.base !== null && balance.auditedBlock !== null) return balance
  if (!(await beginWalletBalance(ctx, await lastBlockOf(ctx, balance, cursor), balance))) return null
  const currentBalance = await wallet.readWalletBalance(ctx.pool, address)
  return currentBalance?.cursor.hash === cursor.hash ? currentBalance : null
}

/** The block at which we check a wallet: the cursor's block, or the wallet's last block if its books are closed. */
async function lastBlockOf(
  ctx: BalanceCheckContext,
  { closedBlock }: wallet.WalletBalance,
  cursor: Cursor,
): Promise<BlockRef> {
  return closedBlock !== null && closedBlock < cursor.number ? await blockAt(ctx, closedBlock) : cursor
}

/**
 * Sets the opening balance: the balance before the first block that we read for the wallet. If that state is pruned, we compute it from the balance
 * at `upTo` and what the ledger has recorded up to then.
 */
async function beginWalletBalance(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  upTo: BlockRef,
  balance: wallet.WalletBalance,
): Promise<boolean> {
  const address = balance.wallet
  // Throws if no provider has this block: a missing block is not the same as pruned state. If we took it for pruned and started at the cursor, value
  // that arrived earlier would count as part of the opening balance.
  const before = await blockBeforeFirst(ctx, balance)
  const first = await ctx.chain.balanceAt(address, before)
  if (first !== null)
    return underCursor(ctx, balance, (sql) => wallet.writeBaseBalance(sql, address, before.number, first))
  const reading = await ctx.chain.balanceAt(address, upTo)
  if (reading === null) return false
  return underCursor(ctx, balance, async (sql) => {
    const { wei, proof } = reading
    await wallet.writeBaseBalance(sql, address, upTo.number, { wei: wei - balance.inWei + balance.outWei, proof })
    ctx.log.info(
      { block: upTo.number },
      'the balance of the payments wallet is checked from here, because earlier state is not available',
    )
  })
}

async function blockBeforeFirst(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules>,
  { watchedFrom }: wallet.WalletBalance,
): Promise<BlockRef> {
  const number = Math.max(0, Math.max(ctx.rules.startBlock, watchedFrom) - 1)
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (block) return block
  throw new ChainFault(
    `the provider does not show block ${number}, with which the payments wallet's balance begins: until one does, we do not find value that comes by an internal call. If this lasts, put a provider with the whole history first in RPC_URL`,
  )
}

async function markChecked(
  ctx: LedgerDb,
  cursor: Cursor,
  address: Address,
  { block, proof }: { block: number; proof: Proof },
): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash === cursor.hash)
      await wallet.writeCheckedBlock(sql, address, block, proof)
  })
}

/** Records the findings in one transaction, unless the ledger has moved since we read the balance. @returns how many incoming residues were filed. */
async function file(
  ctx: LedgerDb & ChainRead & Logging,
  balance: wallet.WalletBalance,
  explanations: readonly Explained[],
): Promise<number> {
  if (explanations.length === 0) return 0
  let filedCount = 0
  const chainId = await ledgerChainId(ctx)
  await underCursor(ctx, balance, async (sql) => {
    const large: Difference[] = []
    const small: Difference[] = []
    for (const one of explanations) {
      const { difference, isSmall } = one
      if (!isSmall && (await storeExplained(ctx, sql, one))) continue
      if (await withdrawOffset(ctx, sql, balance.wallet, difference)) continue
      ;(isSmall ? small : large).push(difference)
    }
    for (const difference of [...large, ...together(small)])
      if (await fileResidue(ctx, sql, residueOf(chainId, balance.wallet, difference))) filedCount++
    await notifyLedgerChanged(sql)
  })
  return filedCount
}

/** Stores the inner transfers if this trace, or an earlier one, explains the difference. @returns whether a trace explains it. */
async function storeExplained(
  ctx: ChainRead & Logging,
  sql: Sql,
  { difference, transfers, formerTransfers }: Explained,
): Promise<boolean> {
  const newTrace = transfers && (await weighTrace(sql, difference, transfers))
  if (newTrace && !newTrace.isProven) await noteFailedTrace(sql)
  const trace = newTrace?.isProven ? newTrace : formerTransfers && (await weighTrace(sql, difference, formerTransfers))
  if (!trace?.isProven) return false
  await storeTraced(ctx, sql, trace)
  return true
}

/** Merges the differences that are too small for a sale into one, over all their blocks. */
function together(small: readonly Difference[]): Difference[] {
  const [first, last] = [small[0], small.at(-1)]
  const residueWei = small.reduce((total, difference) => total + difference.residueWei, 0n)
  if (!first || !last || residueWei === 0n) return []
  const { fromBlock, balanceBeforeWei } = first
  return [{ ...last, residueWei, proof: weakest(small.map(({ proof }) => proof)), fromBlock, balanceBeforeWei }]
}

interface SignedResidue extends wallet.Residue {
  isIncoming: boolean
  proof: Proof
  /** True if the residue covers several blocks because the states in between were not available. */
  isWide: boolean
}

function residueOf(chainId: number, address: Address, difference: Difference): SignedResidue {
  const { residueWei, proof, block, fromBlock, balanceBeforeWei, balanceAfterWei } = difference
  const isIncoming = residueWei > 0n
  return {
    ref: residueRef(chainId, address, block.hash, residueWei),
    wallet: address,
    isIncoming,
    proof,
    isWide: balanceBeforeWei === null,
    fromBlock,
    valueWei: isIncoming ? residueWei : -residueWei,
    blockNumber: block.number,
    blockHash: block.hash,
    blockTime: block.time,
    evidence: {
      rule: 'unattributed',
      fromBlock,
      toBlock: block.number,
      balanceBeforeWei: balanceBeforeWei?.toString() ?? null,
      balanceAfterWei: balanceAfterWei.toString(),
      expectedWei: (balanceAfterWei - residueWei).toString(),
      proof,
    },
  }
}

/** @returns whether the residue is incoming and was not filed before. */
async function fileResidue(
  ctx: Logging,
  sql: Sql,
  { isIncoming, proof, isWide, ...residue }: SignedResidue,
): Promise<boolean> {
  const isNew = await (isIncoming ? wallet.insertResidue : wallet.insertResidueOutflow)(sql, residue)
  const detail = { ...residue.evidence, wallet: residue.wallet, valueWei: residue.valueWei.toString(), filed: isNew }
  const action = isIncoming ? 'unattributed' : 'unattributedOutflow'
  ctx.log.warn(
    { ref: residue.ref, ...detail },
    'the payments wallet’s balance differs from the sum of the transfers seen',
  )
  if (isNew) await writeAudit(sql, { actor: 'pass', action, subject: residue.ref, detail })
  if (isNew && (proof !== 'proven' || isWide)) await proveResidueNow(sql, residue.ref, isWide)
  return isNew && isIncoming
}

/** Runs `body` under the cursor's lock and returns true. If the balance has changed since we read it, returns false instead. */
function underCursor(
  ctx: LedgerDb,
  balance: wallet.WalletBalance,
  body: (sql: Sql) => Promise<unknown>,
): Promise<boolean> {
  return inTransaction(ctx.pool, async (sql) => {
    await readCursor(sql, { lock: true })
    const now = await wallet.readWalletBalance(sql, balance.wallet)
    const same =
      now?.cursor.hash === balance.cursor.hash && now.inWei === balance.inWei && now.outWei === balance.outWei
    return same && (await body(sql)) !== false
  })
}
