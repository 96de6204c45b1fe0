// Compares the providers' histories with the ledger's, once a run has followed. Where they differ, the last common block bounds what the run may judge,
// mint, credit or open. It must never decide which history is the chain, unless two providers name one. What lags or does not answer contradicts
// nothing.

import { type Cursor, oldestBlockNumber, readBlock, readHashes } from '../db/blocks/blocks.ts'
import { noteParted, noteUnited, type Parted, type Parting, readParted } from '../db/blocks/parted.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import { canAgree, VOICES } from '../domain/finality.ts'
import type { Block } from '../domain/observed.ts'
import { firstWhere } from '../lib/bisect.ts'
import type { BlockRef } from '../ports/chain.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault, orNull } from '../ports/faults.ts'
import { raiseAlarm } from './alarm.ts'
import { blocksAt, contradictionInWords } from './followed-finality.ts'
import { assertOwnChain, assertSameGenesis, HaltFault } from './halt.ts'

type HistoriesContext = LedgerDb & ChainRead & RuledBy<Pick<FollowRules, 'rewindsToShorterChain'>> & Logging

/** A block, and the provider that names it. */
interface Named {
  host: string
  block: Block
}

/**
 * Compares every provider's block at the cursor, or its head if that is lower, with the ledger's. Call it after following and before judging.
 * @returns the last common block, above which nothing counts; null if the histories agree, or enough providers name the ledger's.
 */
export async function compareHistories(ctx: HistoriesContext, cursor: Cursor): Promise<BlockRef | null> {
  const { pool, chain, rules } = ctx
  if (rules.rewindsToShorterChain) return null
  const earlier = await readParted(pool)
  if (canAgree(chain)) {
    const newest = await newestOf(ctx, cursor)
    const parting = await findParting(ctx, newest)
    if (parting) {
      await recordParting(ctx, cursor, parting)
      return parting.stops ? parting.agreed : null
    }
    // Once they have differed, a provider that is silent or far behind does not make them agree.
    if (earlier && newest.filter(({ block }) => block.number > earlier.agreed.number).length < VOICES)
      return earlier.stops ? await stillAgreed(ctx, earlier) : null
  }
  await inTransaction(pool, async (sql) => {
    await noteUnited(sql)
    if (earlier?.lasts) await notifyLedgerChanged(sql)
  })
  return null
}

/** Each provider's block at the cursor's height, or its head if that is lower. A provider that does not answer is left out. */
async function newestOf({ chain }: ChainRead, { number }: Cursor): Promise<Named[]> {
  const newest = await Promise.all(
    chain.providers.map(async ({ host, block, head }) => {
      const newestBlock = await orNull(block(number).then(async (there) => there ?? (await head())))
      return newestBlock && newestBlock.number <= number ? [{ host, block: newestBlock }] : []
    }),
  )
  return newest.flat()
}

/** Where a provider has another block than the ledger; null if none has. If two of them have the same one, those with the ledger's are asked last. */
async function findParting(ctx: LedgerDb & ChainRead, newest: readonly Named[]): Promise<Parting | null> {
  const { pool, chain } = ctx
  const hashes = await readHashes(
    pool,
    newest.map(({ block }) => block.number),
  )
  const unlike = newest.filter(({ block }) => (hashes.get(block.number) ?? block.hash) !== block.hash)
  const elsewhere = await hostsElsewhere(ctx, unlike)
  const differing = unlike.filter(({ host }) => !elsewhere.includes(host))
  const number = Math.min(...differing.map(({ block }) => block.number))
  const ours = hashes.get(number)
  if (ours === undefined) return null
  const answers = (await blocksAt(chain, number)).flatMap(({ host, block }) => (block ? [{ host, block }] : []))
  const [beside, others] = [[] as string[], [] as Named[]]
  for (const one of answers.filter(({ host }) => !elsewhere.includes(host)))
    one.block.hash === ours ? beside.push(one.host) : others.push(one)
  const byHash = [...Map.groupBy(others, ({ block }) => block.hash).values()].sort((a, b) => b.length - a.length)
  const most = byHash[0]
  if (!most?.[0]) return null
  const stops = beside.length < VOICES || beside.length <= most.length
  const isElsewhere = most.length >= VOICES && most.length > beside.length
  const wrong = stops ? (isElsewhere ? beside : []) : others.map(({ host }) => host)
  for (const provider of chain.providers) if (wrong.includes(provider.host)) provider.distrust()
  const common = await lastCommon(ctx, others, number)
  return { number, ours, theirs: most[0].block.hash, host: most[0].host, beside, agreed: common, stops }
}

/** Those of these providers that are on another chain. That is a matter of halts (follower/halt.ts), not another history of this chain. */
export async function hostsElsewhere(
  ctx: LedgerDb & ChainRead,
  voices: readonly Pick<Named, 'host'>[],
): Promise<string[]> {
  const providers = ctx.chain.providers.filter(({ host }) => voices.some((one) => one.host === host))
  const hosts = await Promise.all(
    providers.map(async (chain) => {
      try {
        await assertOwnChain({ ...ctx, chain })
        await assertSameGenesis({ ...ctx, chain })
      } catch (error) {
        if (error instanceof HaltFault) return chain.host
        if (!(error instanceof ChainFault)) throw error
      }
      return []
    }),
  )
  return hosts.flat()
}

/** The last of the ledger's blocks that all these providers have; below `number`, at which they have others. */
async function lastCommon({ pool, chain }: LedgerDb & ChainRead, others: readonly Named[], number: number) {
  const below = await belowHeaders(pool)
  let lastAgreed = number - 1
  for (const { block } of chain.providers.filter(({ host }) => others.some((other) => other.host === host))) {
    const isOther = async (height: number) => {
      const [ours, theirs] = [await readBlock(pool, height), await orNull(block(height))]
      return theirs && ours && ours.hash !== theirs.hash
    }
    const first = await firstWhere(below.number, lastAgreed + 1, isOther)
    // If it answers no longer, nothing shows how far it has the ledger's blocks.
    lastAgreed = first === null ? below.number : first - 1
  }
  const ownBlock = await readBlock(pool, lastAgreed)
  return ownBlock ? { number: lastAgreed, hash: ownBlock.hash } : below
}

/** The block before the oldest whose header we keep. */
async function belowHeaders(pool: LedgerDb['pool']): Promise<BlockRef> {
  const oldest = await readBlock(pool, (await oldestBlockNumber(pool)) ?? -1)
  if (!oldest) throw new Error('a cursor without stored headers')
  return { number: oldest.number - 1, hash: oldest.parentHash }
}

/** The last common block as an earlier run found it. If the ledger has left it since, nothing shows a common block. */
async function stillAgreed({ pool }: LedgerDb, { agreed: common }: Parted): Promise<BlockRef> {
  const ownBlock = await readBlock(pool, common.number)
  return ownBlock && ownBlock.hash !== common.hash ? await belowHeaders(pool) : common
}

/** Records where the histories differ. Reports it once it is no usual reorganisation. */
async function recordParting(ctx: LedgerDb & Logging, cursor: Cursor, parting: Parting): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    const report = await noteParted(sql, parting, cursor.number)
    if (!report) return ctx.log.warn({ ...parting }, 'the providers’ histories differ')
    const { says, todo } = partedInWords(report)
    const detail = { why: 'histories', ...report, todo }
    await raiseAlarm(ctx, sql, { level: 'error', action: 'guardRefused', subject: String(report.number), detail, says })
  })
}

/** Where histories differ, and which provider to drop. */
export function partedInWords({ beside, agreed: common, stops, ...contradiction }: Parting): {
  says: string
  todo: string
} {
  const words = contradictionInWords(contradiction)
  const says = `${words.says}, as ${beside.join(' and ') || 'no provider now'} has`
  if (!stops) return { says, todo: `Remove ${contradiction.host} from RPC_URL.` }
  return { ...words, says: `${says}: nothing above block ${common.number} is sold, minted or credited` }
}
