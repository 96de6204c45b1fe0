// Checks the payments wallets: the balance of each at the followed block against what the ledger knows of. What differs arrived or
// left by an internal call, which no transaction's value shows: its block is sought by bisection and it is filed, value
// that arrived as a payment without sender, held for the operator. It must never keep payments from being judged.
import { residueRef } from '../chain/digest.ts'
import { ChainFault } from '../chain/faults.ts'
import { type Cursor, readBlock, readCursor } from '../db/blocks/blocks.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import * as wallet from '../db/payments/wallet.ts'
import type { Block } from '../domain/observed.ts'
import type { Address } from '../domain/units.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy, RunLimits } from '../passes/context.ts'
import { ledgerChainId } from './halt.ts'

type BalanceCheckContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/** Residues filed in one run at most: each takes as many readings as its stretch of blocks has binary digits. */
const FILED_MAX = 8

type Place = Pick<Block, 'number' | 'hash'>

/**
 * Checks the wallets' balances at the cursor, one that is closed at its last block: one reading of each where nothing differs, none where
 * this block was checked already.
 * @returns how many payments were filed as `unattributed`.
 */
export async function checkWalletBalances(ctx: BalanceCheckContext, cursor: Cursor, run: RunLimits): Promise<number> {
  let filed = 0
  for (const { wallet: address } of await wallet.readOpenWalletBalances(ctx.pool)) {
    try {
      for (let round = 0; round < FILED_MAX && !run.outOfTime(); round++) {
        const found = await checkOnce(ctx, cursor, address)
        if (found === null) break
        if (found > 0n) filed++
      }
    } catch (error) {
      ctx.log.warn({ err: error, wallet: address }, 'the payments wallet could not be checked; the next run checks it')
    }
  }
  return filed
}

/** Files one residue, or begins the balance. @returns its value, negative where it left; null when there is no more to be done now. */
async function checkOnce(ctx: BalanceCheckContext, cursor: Cursor, address: Address): Promise<bigint | null> {
  const balance = await wallet.readWalletBalance(ctx.pool, address)
  // Another run has followed on meanwhile: that one checks.
  if (balance?.cursor.hash !== cursor.hash) return null
  const isClosed = balance.closedBlock !== null && balance.closedBlock < cursor.number
  const upTo = isClosed ? await blockAt(ctx, balance.closedBlock as number) : cursor
  if (balance.base === null || balance.auditedBlock === null)
    return (await beginWalletBalance(ctx, upTo, balance)) ? 0n : null
  if (balance.auditedBlock === upTo.number) return null
  const balanceWei = await ctx.chain.balanceAt(address, upTo)
  if (balanceWei === null) return null
  const expectedWei = balance.base.wei + balance.inWei - balance.outWei
  if (balanceWei === expectedWei) {
    await markChecked(ctx, cursor, address, upTo.number)
    return null
  }
  const found = await locate(ctx, {
    address,
    checked: balance.auditedBlock,
    upTo: upTo.number,
    expectedWei,
    balanceWei,
  })
  return (await file(ctx, address, balance, found)) ? found.residueWei : null
}

/** A balance begins before the first block that is read for the wallet; at `upTo`, the last one by now, where that state is gone. */
async function beginWalletBalance(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  upTo: Place,
  balance: wallet.WalletBalance,
): Promise<boolean> {
  const address = balance.wallet
  // A block that a provider does not show is no word on its state: what came until the cursor would be taken for what was there before.
  const before = await blockBeforeFirst(ctx, balance)
  const firstWei = await ctx.chain.balanceAt(address, before)
  if (firstWei !== null)
    return underCursor(ctx, balance, (sql) => wallet.writeBaseBalance(sql, address, before.number, firstWei))
  const balanceWei = await ctx.chain.balanceAt(address, upTo)
  if (balanceWei === null) return false
  return underCursor(ctx, balance, async (sql) => {
    await wallet.writeBaseBalance(sql, address, upTo.number, balanceWei - balance.inWei + balance.outWei)
    ctx.log.info(
      { block: upTo.number },
      'the balance of the payments wallet is checked from here: earlier state is not to be had',
    )
  })
}

async function blockBeforeFirst(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules>,
  { watchedFrom }: wallet.WalletBalance,
): Promise<Block> {
  const number = Math.max(0, Math.max(ctx.rules.startBlock, watchedFrom) - 1)
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (block) return block
  throw new ChainFault(
    `the provider does not show block ${number}, with which the payments wallet's balance begins: until one does, value that comes by an internal call is not found. If this goes on, name a provider with the whole history first in RPC_URL`,
    { retryable: true },
  )
}

async function markChecked(ctx: LedgerDb, cursor: Cursor, address: Address, upTo: number): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash === cursor.hash)
      await wallet.writeCheckedBlock(sql, address, upTo)
  })
}

interface Question {
  address: Address
  /** The last block up to which the balance agreed. */
  checked: number
  upTo: number
  expectedWei: bigint
  balanceWei: bigint
}

interface Found {
  residueWei: bigint
  block: Block
  /** The residue arose in the blocks `fromBlock` to `block`: one and the same, unless the states between are gone. */
  fromBlock: number
  balanceBeforeWei: bigint | null
  balanceAfterWei: bigint
  expectedWei: bigint
}

/**
 * A block in which the difference arose, by bisection: below it the balance agrees, in it it does not. Where a provider no longer has
 * the states in between, the oldest block whose state it has.
 */
async function locate(ctx: LedgerDb & ChainRead, asked: Question): Promise<Found> {
  const { address, upTo, checked } = asked
  const flowAfter = (block: number) => wallet.netFlow(ctx.pool, address, { block, upTo })
  const readingAt = async (block: { number: number; hash: Block['hash'] }) => {
    const balanceWei = await ctx.chain.balanceAt(address, block)
    const expectedWei = asked.expectedWei - (await flowAfter(block.number))
    return { balanceWei, expectedWei }
  }
  let low = checked
  let lowWei: bigint | null = asked.expectedWei - (await flowAfter(checked))
  let high = await blockAt(ctx, upTo)
  let after = { balanceWei: asked.balanceWei, expectedWei: asked.expectedWei }
  // Halves a range of blocks, so it ends after as many steps as the range's length has binary digits.
  while (high.number - low > 1) {
    const middle = await blockAt(ctx, Math.floor((low + high.number) / 2))
    const { balanceWei, expectedWei } = await readingAt(middle)
    if (balanceWei === null || balanceWei === expectedWei) {
      low = middle.number
      lowWei = balanceWei
    } else {
      high = middle
      after = { balanceWei, expectedWei }
    }
  }
  return {
    residueWei: after.balanceWei - after.expectedWei,
    block: high,
    fromBlock: lowWei === null ? checked + 1 : high.number,
    balanceBeforeWei: lowWei,
    balanceAfterWei: after.balanceWei,
    expectedWei: after.expectedWei,
  }
}

async function blockAt(ctx: LedgerDb & ChainRead, number: number): Promise<Block> {
  const block = (await readBlock(ctx.pool, number)) ?? (await ctx.chain.block(number))
  if (!block) throw new ChainFault(`the provider has no block ${number}`, { retryable: true })
  return block
}

/** Files what was found, unless the ledger has moved on since the balance was read. */
async function file(
  ctx: LedgerDb & ChainRead & Logging,
  address: Address,
  balance: wallet.WalletBalance,
  found: Found,
): Promise<boolean> {
  const { residueWei, block } = found
  const arrived = residueWei > 0n
  const evidence = {
    rule: 'unattributed',
    fromBlock: found.fromBlock,
    toBlock: block.number,
    balanceBeforeWei: found.balanceBeforeWei?.toString() ?? null,
    balanceAfterWei: found.balanceAfterWei.toString(),
    expectedWei: found.expectedWei.toString(),
  }
  const residue: wallet.Residue = {
    ref: residueRef(await ledgerChainId(ctx), address, block.hash, residueWei),
    wallet: address,
    valueWei: arrived ? residueWei : -residueWei,
    blockNumber: block.number,
    blockHash: block.hash,
    blockTime: block.time,
    evidence,
  }
  return underCursor(ctx, balance, async (sql) => {
    const filed = await (arrived ? wallet.insertResidue : wallet.insertResidueOutflow)(sql, residue)
    const detail = { ...evidence, wallet: address, valueWei: residue.valueWei.toString(), filed }
    const action = arrived ? 'unattributed' : 'unattributedOutflow'
    ctx.log.warn({ ref: residue.ref, ...detail }, 'the payments wallet holds other than the transfers seen add up to')
    if (!filed) return false
    await writeAudit(sql, { actor: 'pass', action, subject: residue.ref, detail })
    await notifyLedgerChanged(sql)
    return true
  })
}

/** Runs `body` under the cursor's lock, if the balance is still the one that was read. False when it is not. */
function underCursor(
  ctx: LedgerDb,
  balance: wallet.WalletBalance,
  body: (sql: Parameters<Parameters<typeof inTransaction>[1]>[0]) => Promise<unknown>,
): Promise<boolean> {
  return inTransaction(ctx.pool, async (sql) => {
    await readCursor(sql, { lock: true })
    const now = await wallet.readWalletBalance(sql, balance.wallet)
    const same =
      now?.cursor.hash === balance.cursor.hash && now.inWei === balance.inWei && now.outWei === balance.outWei
    return same && (await body(sql)) !== false
  })
}
