// Follows the chain from the cursor to the head, range by range. Chain facts enter the ledger only here. It must never skip a block, never rewind
// because a provider merely lags, and never guess.

import { type Cursor, oldestBlockNumber, readBlock, readCursor } from '../db/blocks/blocks.ts'
import { readWatching } from '../db/sale/payment-wallets.ts'
import { voicesNeeded } from '../domain/finality.ts'
import type { Block } from '../domain/observed.ts'
import { failpoint } from '../lib/failpoint.ts'
import type {
  ChainRead,
  FactoryRead,
  FollowRules,
  LedgerDb,
  Logging,
  RuledBy,
  RunLimits,
  ServiceAccounts,
} from '../ports/contexts.ts'
import { ChainFault, orNull, PartedFault } from '../ports/faults.ts'
import { type Route, readAhead, SURVEY } from './ahead.ts'
import { blocksAt } from './followed-finality.ts'
import {
  askOthers,
  assertNotHalted,
  assertNotPastFinalized,
  assertNotTooDeep,
  assertOwnChain,
  assertSameHistory,
  clearHaltIfHealthy,
  HaltFault,
} from './halt.ts'
import { MintedTwiceFault, rewindBeforeMint } from './minted-twice.ts'
import { requireProofs, unprovenHalt } from './proofs.ts'
import { rewindTo } from './rewind.ts'
import { storeRange } from './store.ts'
import { isAnswered, tellingStuck } from './stuck.ts'
import { createPace, type Pace } from './survey/pace.ts'

/** How often one run continues to a newer head after another instance has overtaken it. After that, the next run continues. */
const OVERTAKEN_MAX = 3
/** With fewer new blocks than this, we read them without locating the cursor first. The first of them shows whether it follows the cursor. */
const NEAR_MAX = 64

type FollowContext = LedgerDb & ChainRead & FactoryRead & ServiceAccounts & RuledBy<FollowRules> & Logging

export interface FollowResult {
  /** The first and the last block that this run stored; null if it stored none. */
  fromBlock: number | null
  toBlock: number | null
  head: Block
  /** The ledger's block at present; null only before the first block is stored. */
  cursor: Cursor | null
  detected: number
  minted: number
}

/** Limits of a run. By default it ends at the provider's head. */
export interface FollowOptions {
  /** The last block to follow. */
  upTo?: number
  /** The block that this run and later ones should reach. We keep the headers of the last blocks before it. By default it is `upTo`. */
  goal?: number
  /** The most blocks to read one by one. */
  readMax?: number
  /** The pace, if several runs share it. */
  pace?: Pace
}

/**
 * Follows to the provider's head, or to `upTo`, as far as the run's time allows.
 * @throws a ChainFault. It is retryable if a provider could not answer or contradicted itself; it is a HaltFault if no provider has the chain that
 * the ledger followed.
 */
export async function follow(ctx: FollowContext, run: RunLimits, options: FollowOptions = {}): Promise<FollowResult> {
  try {
    return await followOn(ctx, run, options)
  } catch (error) {
    const fault = await unprovenHalt(ctx, error)
    if (!(fault instanceof HaltFault)) throw fault
    return await askOthers(ctx, fault, (chain) => followOn({ ...ctx, chain }, run, options))
  }
}

async function followOn(ctx: FollowContext, run: RunLimits, options: FollowOptions): Promise<FollowResult> {
  const halt = await assertNotHalted(ctx)
  const begin = async () => {
    await requireProofs(ctx)
    return await ctx.chain.head({ toFollow: true })
  }
  const head = await tellingStuck(ctx, begin, isAnswered)
  const cursor = await readCursor(ctx.pool)
  const result: FollowResult = { fromBlock: null, toBlock: null, head, cursor, detected: 0, minted: 0 }
  const isPlaced = halt !== null || !isJustAhead(ctx, head, cursor)
  if (isPlaced) await placeCursor(ctx, head, result)
  await tellingStuck(ctx, async () => {
    try {
      await storeUpTo(ctx, run, options, result)
    } catch (error) {
      if (error instanceof MintedTwiceFault) {
        await rewindBeforeMint(ctx, error, result.cursor)
        result.cursor = await readCursor(ctx.pool)
      } else if (error instanceof PartedFault && !isPlaced) await placeCursor(ctx, head, result)
      else throw error
      await storeUpTo(ctx, run, options, result)
    }
  })
  await clearHaltIfHealthy(ctx, halt, head, result.cursor)
  // Another instance has stored blocks beyond the head that we read. This run should also judge and mint the payments in those blocks.
  for (let i = 0; i < OVERTAKEN_MAX && isOvertaken(result); i++) {
    const later = await ctx.chain.head({ toFollow: true })
    // The provider of this head lags, so asking again would not help.
    if (later.number <= result.head.number) break
    result.head = later
    await placeCursor(ctx, later, result)
    await storeUpTo(ctx, run, options, result)
  }
  return result
}

/** True if few enough blocks are new to read them without locating the cursor first. The first of them shows whether it follows the cursor. */
function isJustAhead({ rules }: RuledBy<FollowRules>, head: Block, cursor: Cursor | null): boolean {
  const ahead = cursor ? head.number - cursor.number : 0
  return ahead > 0 && ahead < Math.min(NEAR_MAX, (rules.survey ?? SURVEY).blocksMin)
}

/** Checks that the provider is on the ledger's chain and has the ledger's latest block. If the chains have diverged, rewinds the ledger. */
async function placeCursor(ctx: FollowContext, head: Block, result: FollowResult): Promise<void> {
  await assertOwnChain(ctx)
  result.cursor = await canonicalCursor(ctx, head)
}

const isOvertaken = ({ cursor, head }: FollowResult) => cursor !== null && cursor.number > head.number

/** Stores range by range up to the head, and adds the results to `result`. */
async function storeUpTo(
  ctx: FollowContext,
  run: RunLimits,
  options: FollowOptions,
  result: FollowResult,
): Promise<void> {
  const { head } = result
  const route = await routeOf(ctx, options, result)
  const reading = readAhead({ ...ctx, chain: watchingLedger(ctx) }, run, route)
  try {
    for (let range = await reading.after(result.cursor); range; range = await reading.after(result.cursor)) {
      failpoint('follow.observed')
      reading.beginAfter(range)
      // We must store nothing from another chain, and a chain that has split off may have blocks that follow the ledger's. We check the chain id only
      // after reading, so that the provider that returned the blocks answers.
      await assertOwnChain(ctx)
      const progress = await storeRange(ctx, range, result.cursor, head.number)
      failpoint('follow.stored')
      if (!progress) {
        // Another instance has followed in the meantime, or a wallet was added. Continue from the block that the ledger is at by now.
        result.cursor = await readCursor(ctx.pool)
        continue
      }
      result.fromBlock ??= result.cursor ? result.cursor.number + 1 : ctx.rules.startBlock
      result.toBlock = progress.cursor.number
      result.cursor = progress.cursor
      result.detected += progress.detected
      result.minted += progress.minted
    }
  } finally {
    await reading.end()
  }
}

/**
 * How far this run reads, and up to which block it may survey. We keep no headers of surveyed blocks, so that block is far enough below both the
 * final block and the goal.
 */
async function routeOf(
  { chain, rules }: ChainRead & RuledBy<FollowRules>,
  { upTo = Number.MAX_SAFE_INTEGER, goal = upTo, readMax = Number.POSITIVE_INFINITY, pace }: FollowOptions,
  { head, cursor }: FollowResult,
): Promise<Route> {
  const { behind, blocksMin } = rules.survey ?? SURVEY
  const route = { target: Math.min(head.number, upTo), readMax, pace: pace ?? createPace(blocksMin) }
  const next = cursor ? cursor.number + 1 : rules.startBlock
  if (Math.min(head.number, goal) - behind - next + 1 < blocksMin) return { ...route, surveyTo: -1 }
  const final = await orNull(chain.finalized())
  return { ...route, surveyTo: final ? Math.min(final.number, head.number, goal) - behind : -1 }
}

/** The same chain reader, but it watches the addresses that the ledger has when each range is read. */
function watchingLedger({ chain, pool }: LedgerDb & ChainRead): ChainRead['chain'] {
  return {
    ...chain,
    observe: async (from, to, parent) => chain.observe(from, to, parent, await readWatching(pool)),
  }
}

/** The cursor. If the ledger has diverged from the canonical chain, rewinds it first. */
async function canonicalCursor(
  ctx: LedgerDb & ChainRead & FactoryRead & RuledBy<FollowRules> & Logging,
  head: Block,
): Promise<Cursor | null> {
  const cursor = await readCursor(ctx.pool)
  if (!cursor || head.hash === cursor.hash || head.parentHash === cursor.hash) return cursor
  const shorter = head.number < cursor.number
  if (shorter && !ctx.rules.rewindsToShorterChain) {
    await assertSameHistory(ctx, head)
    if (!(await isLeft(ctx, head.number))) return cursor
  }
  if (!shorter) {
    const canonical = await ctx.chain.block(cursor.number)
    if (!canonical) throw new ChainFault(`the provider has block ${head.number} but not ${cursor.number}`)
    if (canonical.hash === cursor.hash) return cursor
  }
  const fork = await findFork(ctx, Math.min(head.number, cursor.number))
  await assertNotPastFinalized(ctx, fork)
  if (!fork) await assertFactoryExists(ctx, head)
  await rewindTo(ctx, fork, cursor)
  return readCursor(ctx.pool)
}

/**
 * True if two providers, or the only one, have another block at that height than the ledger, and fewer have the ledger's. Then it is no lagging
 * provider: the ledger followed a longer fork, which the chain may take long to outgrow.
 */
async function isLeft({ pool, chain }: LedgerDb & ChainRead, number: number): Promise<boolean> {
  const own = await readBlock(pool, number)
  if (!own || chain.providers.length === 0) return false
  const hashes = (await blocksAt(chain, number)).flatMap(({ block }) => block?.hash ?? [])
  const others = hashes.filter((hash) => hash !== own.hash)
  const most = Math.max(0, ...[...Map.groupBy(others, (hash) => hash).values()].map(({ length }) => length))
  return most >= voicesNeeded(chain.providers.length) && most > hashes.length - others.length
}

/**
 * The highest stored block, at or below `top`, that is still canonical. We find it by bisection: headers below it agree with the chain, headers above
 * it do not. Null if there is none but the ledger may start over; throws if it may not.
 */
async function findFork(ctx: LedgerDb & ChainRead & RuledBy<FollowRules>, top: number): Promise<Block | null> {
  const oldest = await oldestBlockNumber(ctx.pool)
  if (oldest === null) throw new Error('a cursor without stored headers')
  let low = oldest
  let high = top
  let fork: Block | null = null
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const own = await readBlock(ctx.pool, middle)
    const canonical = await ctx.chain.block(middle)
    if (!canonical) throw new ChainFault(`the provider has no block ${middle}, which is below its head`)
    if (own && own.hash === canonical.hash) {
      fork = own
      low = middle + 1
    } else {
      high = middle - 1
    }
  }
  if (!fork) await assertNotTooDeep(ctx, oldest)
  return fork
}

/** Throws if the reorganisation of the first blocks also removed the factory, because ether that buyers send to an address without code is lost. */
async function assertFactoryExists(ctx: FactoryRead, head: Block): Promise<void> {
  if (await ctx.contract.isDeployed(head.number)) return
  throw new ChainFault(
    `a reorganisation removed the first followed block, and at block ${head.number} there is no factory: the service follows and sends nothing until a block deploys it again`,
  )
}
