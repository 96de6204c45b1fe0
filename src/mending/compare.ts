// Compares what the ledger recorded of a block with the block: with its own list of transactions, and with the factory's events. No list shows who sent
// a transaction, and we recover only the senders of those that seem to matter; and we may have followed the block before its list was proven. So a
// provider may have hidden a payment or a transaction of ours. In that case the ledger rewinds to before the block and reads it again. It must never
// insert anything from a block: it only raises the proof of rows, or rewinds.
import { type Cursor, oldestBlockNumber, readBlock } from '../db/blocks/blocks.ts'
import { takeClaimedBlock } from '../db/blocks/claimed.ts'
import { isProven, requireWholeReads } from '../db/blocks/evidence.ts'
import { type Happening, happeningsOf, readHappenings } from '../db/blocks/happenings.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { hasAudit } from '../db/core/state.ts'
import { noteMintProofs, readKnownNodes } from '../db/nodes/nodes.ts'
import { readBelievedBlock } from '../db/payments/assurance.ts'
import { noteProof } from '../db/payments/rows.ts'
import { readWatching } from '../db/sale/payment-wallets.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { listNoncesAhead, readNonceAhead, writeNonceAhead } from '../db/sends/nonce-ahead.ts'
import { readKnownNonces } from '../db/sends/outbox.ts'
import { canAgree, VOICES } from '../domain/finality.ts'
import type { Block, ObservedRange } from '../domain/observed.ts'
import type { Address, Hash } from '../domain/units.ts'
import { raiseAlarm } from '../follower/alarm.ts'
import { tellFailedProofs, tellFault } from '../follower/proofs.ts'
import { blockBefore, rewindTo } from '../follower/rewind.ts'
import { sortNew } from '../follower/store.ts'
import { firstWhere } from '../lib/bisect.ts'
import type { BlockRef } from '../ports/chain.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault, orNull } from '../ports/faults.ts'

type CompareContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/** The action's name in the audit log. */
const LEFT_OUT = 'leftOut'

/** The ledger has rewound, so whatever the run has read from it is no longer valid. */
export class LeftOutFault extends ChainFault {
  constructor(block: number) {
    super(`a part of block ${block} was omitted or altered: the ledger went back to before it`)
    this.name = 'LeftOutFault'
  }
}

/** What only the blocks have (`missing`), and what only the ledger has (`surplus`), lowest block first. */
export interface Comparison {
  missing: Happening[]
  surplus: Happening[]
}

/**
 * Compares blocks that we read again with what the ledger recorded of them: each block's hash, transfers, and events of the factory. An event of a node
 * whose mint the ledger lacks is left out, because the block of that mint differs too.
 */
export async function compareRange(sql: Sql, range: ObservedRange): Promise<Comparison> {
  const [first, last] = [range.blocks[0], range.blocks.at(-1)]
  if (!first || !last) return { missing: [], surplus: [] }
  const knownNodes = await readKnownNodes(
    sql,
    range.events.flatMap((event) => ('nodeId' in event ? [event.nodeId] : [])),
  )
  const minted = new Set(range.events.flatMap((event) => (event.kind === 'nodeMinted' ? [event.nodeId] : [])))
  const events = range.events.filter(
    (event) => !('nodeId' in event) || knownNodes.has(event.nodeId) || minted.has(event.nodeId),
  )
  const byKind = await sortNew(sql, range.transfers, await readTierVersions(sql))
  const theirs = happeningsOf({ ...range, events }, byKind)
  const ours = await readHappenings(sql, first.number, last.number)
  return { missing: lacking(theirs, ours), surplus: lacking(ours, theirs) }
}

/** The entries of `whole` that `part` lacks, lowest block first. */
function lacking(whole: readonly Happening[], part: readonly Happening[]): Happening[] {
  const keys = new Set(part.map(({ blockNumber, key }) => `${blockNumber} ${key}`))
  return whole
    .filter(({ blockNumber, key }) => !keys.has(`${blockNumber} ${key}`))
    .sort((a, b) => a.blockNumber - b.blockNumber)
}

/** What a comparison shows of a block. `moved`: the ledger has another block at its height by now. `receipts`, `transactions`: that part was false. */
type Finding = 'same' | 'moved' | 'receipts' | 'transactions'

/**
 * Compares one block with what the ledger recorded of it, and records which mints and payments the block backs.
 * @returns the transactions of the payments that it backs. None if no provider proves the list, or if the block is too old to rewind.
 * @throws a LeftOutFault if the ledger has rewound, and a ChainFault if providers do not prove the block or contradict it.
 */
export async function compareBlock(ctx: CompareContext, cursor: Cursor, ref: BlockRef): Promise<readonly Hash[]> {
  const { pool } = ctx
  const { number, hash } = ref
  const read = await observeWhole(ctx, number)
  if (read?.blocks[0]?.hash !== hash) return []
  const { missing, surplus } = await compareRange(pool, read)
  // The ledger keeps no old headers.
  const isKept = (await readBlock(pool, number)) !== null
  const comparison = { missing: missing.filter(({ part }) => isKept || part !== 'header'), surplus }
  const proof = (await isProven(pool)) ? 'proven' : 'agreed'
  const txHashes = read.transfers.filter((transfer) => transfer.proof === proof).map(({ txHash }) => txHash)
  const finding = proof === 'proven' ? findByProof(comparison) : await findByAgreement(ctx, comparison, txHashes)
  if (finding === 'moved') return []
  if (finding !== 'receipts') await noteMintProofs(pool, hash, mintsIn(read))
  if (finding !== 'same') {
    await goBack(ctx, cursor, ref, finding)
    return []
  }
  await noteProof(pool, { blockHash: hash, txHashes }, proof)
  return txHashes
}

const mintsIn = ({ events }: ObservedRange) => events.filter((event) => event.kind === 'nodeMinted')

/** A proven block shows all that it holds, so each difference counts. */
function findByProof({ missing, surplus }: Comparison): Finding {
  const parts = [...missing, ...surplus].map(({ part }) => part)
  if (parts.includes('header')) return 'moved'
  if (parts.includes('receipts')) return 'receipts'
  return parts.length > 0 ? 'transactions' : 'same'
}

/**
 * Without proofs only what two providers agree on counts: events, these payments, and the time of a block with such a payment. What one provider leaves
 * out does not count, except that two may know no payment of which the ledger has heard.
 */
async function findByAgreement(
  ctx: ChainRead,
  { missing, surplus }: Comparison,
  agreedTxHashes: readonly Hash[],
): Promise<Finding> {
  const parts = [...missing, ...surplus].map(({ part }) => part)
  if (parts.includes('header') && agreedTxHashes.length === 0) return 'moved'
  if (parts.includes('receipts')) return 'receipts'
  const isAgreed = ({ part, paidBy }: Happening) =>
    part === 'header' || agreedTxHashes.some((txHash) => txHash === paidBy)
  return missing.some(isAgreed) || (await isMadeUp(ctx, surplus)) ? 'transactions' : 'same'
}

/** True if a block lacks a payment that the ledger has, and at least two providers know no such transaction. */
async function isMadeUp({ chain }: ChainRead, surplus: readonly Happening[]): Promise<boolean> {
  for (const { paidBy: txHash } of surplus) {
    if (txHash === null) continue
    const answers = await Promise.allSettled(chain.providers.map((provider) => provider.transaction(txHash)))
    const sightings = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value !== null)
    if (sightings.length >= VOICES && !sightings.includes(true)) return true
  }
  return false
}

/**
 * Looks for transactions of our accounts that providers hid in blocks we followed, by naming another sender. We look if an account's nonce shows that
 * some are missing. Takes one statement if none is missing.
 * @throws a LeftOutFault once the ledger has rewound.
 */
export async function findSentLeftOut(ctx: CompareContext, cursor: Cursor): Promise<void> {
  for (const { sender } of await listNoncesAhead(ctx.pool)) await findNonceLeftOut(ctx, cursor, sender)
}

/**
 * Looks for the followed block in which an account used a nonce that the ledger lacks, no matter who used it. An account's proof includes its nonce,
 * so we find the block by bisection, in about a dozen reads. If providers do not prove accounts, we find nothing; the nonce is then accepted unproven
 * later.
 */
async function findNonceLeftOut(ctx: CompareContext, cursor: Cursor, sender: Address): Promise<void> {
  const { pool, chain } = ctx
  const nonces = await readKnownNonces(pool, sender)
  const oldest = await oldestBlockNumber(pool)
  if (nonces === null || oldest === null || !(await isProven(pool))) return
  const hashes = new Map<number, Hash>()
  const isUsedAt = async (number: number): Promise<boolean | null> => {
    const [at] = (await orNull(chain.survey.accountsAt([{ number, accounts: [sender] }]))) ?? []
    if (!at) return null
    hashes.set(number, at.block.hash)
    return (at.accounts.get(sender)?.nonce ?? 0) > nonces.followed
  }
  if ((await isUsedAt(cursor.number)) !== true || (await isUsedAt(oldest)) !== false) return
  const first = await firstWhere(oldest, cursor.number, isUsedAt)
  const own = first === null ? null : await readBlock(pool, first)
  if (!own || own.hash !== hashes.get(own.number)) return
  const whole = await observeWhole(ctx, own.number)
  if (whole?.blocks[0]?.hash !== own.hash) return
  const isTheirs = whole.sent.some(
    (transaction) => transaction.sender === sender && transaction.nonce >= nonces.followed,
  )
  if (isTheirs) await goBack(ctx, cursor, own, 'transactions')
  else await noteAuthorized(ctx, sender, own)
}

/** Records that an authorization used a nonce (EIP-7702): the block has no transaction of the account. The next run adopts the nonce. */
async function noteAuthorized(ctx: CompareContext, sender: Address, { number, hash }: Block): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    const ahead = await readNonceAhead(sql, sender)
    if (!ahead || ahead.takeOver) return
    await writeNonceAhead(sql, sender, { ...ahead, takeOver: true })
    const says = 'an authorization was signed with this key: a transaction of another account in this block carries it'
    await raiseAlarm(ctx, sql, { action: 'foreignTransaction', subject: hash, detail: { sender, block: number }, says })
  })
}

/**
 * Checks one block in which, according to a caller, there is a payment or a node that we have not recorded. The block decides, so a claim costs at most
 * one read.
 * @throws a LeftOutFault once the ledger has rewound.
 */
export async function findClaimedLeftOut(ctx: CompareContext, cursor: Cursor): Promise<void> {
  const number = await takeClaimedBlock(ctx.pool)
  const own = number === null || number > cursor.number ? null : await readBlock(ctx.pool, number)
  if (own) await compareBlock(ctx, cursor, own)
}

/** True if this ledger proves no blocks, and two providers could agree on what they report. */
export const restsOnAgreement = async ({ pool, chain }: LedgerDb & ChainRead): Promise<boolean> =>
  canAgree(chain) && !(await isProven(pool))

/**
 * On a ledger that proves nothing, compares again a block of an undecided payment that rests on one provider's word, or of a residue. A provider may
 * have lied when we followed it, and two may agree by now. One block a run.
 * @throws a LeftOutFault once the ledger has rewound.
 */
export async function compareBelieved(ctx: CompareContext, cursor: Cursor): Promise<void> {
  if (!(await restsOnAgreement(ctx))) return
  const block = await readBelievedBlock(ctx.pool)
  if (block && block.number <= cursor.number) await compareBlock(ctx, cursor, block)
}

/** Rewinds the ledger to before a block. Does nothing if it cannot rewind that far, or has already rewound for this block. */
async function goBack(
  ctx: CompareContext,
  cursor: Cursor,
  { number, hash }: BlockRef,
  part: 'transactions' | 'receipts',
): Promise<void> {
  const { pool } = ctx
  await inTransaction(pool, (sql) => tellFailedProofs(ctx, sql, [failedProofOf(number, part)]))
  const before = await blockBefore(ctx, number)
  if (before === undefined || (await hasAudit(pool, LEFT_OUT, hash))) return
  await inTransaction(pool, (sql) => requireWholeReads(sql, number))
  if (await rewindTo(ctx, before, cursor, { actor: 'pass', action: LEFT_OUT, subject: hash }))
    throw new LeftOutFault(number)
}

/**
 * Reads one block whole: transfers of any value, every receipt, and each transaction's sender. Null if that fails and the ledger can no longer rewind to
 * before the block, so that a reading would change nothing.
 * @throws a ChainFault if providers do not answer, or contradict what the block commits to. We report a contradiction, and use nothing of the answer.
 */
export async function observeWhole(ctx: CompareContext, number: number): Promise<ObservedRange | null> {
  const watching = { ...(await readWatching(ctx.pool)), leastWei: 1n, wholeTo: Number.MAX_SAFE_INTEGER }
  try {
    const read = await ctx.chain.observe(number, number, null, watching)
    // A range takes along all answers that were rejected since the last one.
    const { failedProofs } = read
    if (failedProofs) await inTransaction(ctx.pool, (sql) => tellFailedProofs(ctx, sql, failedProofs))
    return read
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    await tellFault(ctx, error)
    // If the ledger cannot rewind to before the block, reading the block would change nothing.
    if ((await blockBefore(ctx, number)) === undefined) return null
    throw error
  }
}

const failedProofOf = (blockNumber: number, part: 'transactions' | 'receipts') => ({
  part,
  blockNumber,
  host: null,
  says: `${part === 'receipts' ? 'events' : part} of a block were omitted or altered`,
})
