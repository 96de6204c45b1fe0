// Reads blocks again, with the proofs that this chain offers, and compares them with the ledger. If they agree, nothing changes. If the ledger lacks
// entries or has extra ones, it rewinds to the block before, as in a reorganisation, and the next pass follows from there. Manual decisions are
// restored; following settles pending work. A rescan never goes below the stored headers.

import { type Cursor, oldestBlockNumber, readBlock, readCursor } from '../../db/blocks/blocks.ts'
import { readHalt } from '../../db/blocks/halts.ts'
import type { Happening } from '../../db/blocks/happenings.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { readWatching } from '../../db/sale/payment-wallets.ts'
import { counted } from '../../domain/units.ts'
import { tellFailedProofs } from '../../follower/proofs.ts'
import { blockBefore, rewindTo } from '../../follower/rewind.ts'
import { compareRange } from '../../mending/compare.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../../ports/contexts.ts'
import { type Actor, fieldNamed, isOperatorRefusal, type OperatorRefusal, recordAct, refuseAct } from '../act.ts'
import { defineAct } from '../define-act.ts'
import * as field from '../input.ts'

type RescanContext = LedgerDb & ChainRead & RuledBy<FollowRules> & Logging

/** How many blocks we read at a time. */
const RANGE_MAX = 200
/** A scan that takes longer than this stops and reports where to continue, because requests have a deadline of their own. */
const BUDGET_MS = 15_000
/** How often we try a rewind, because a pass may move the cursor in between. */
const TRIES_MAX = 10
/** How many differences we report. The first difference decides how far to rewind. */
const TOLD_MAX = 20

type ShownHappening = Pick<Happening, 'blockNumber' | 'key'>

export interface RescanResult {
  dryRun: boolean
  fromBlock: number
  /** The last block that was read again. */
  toBlock: number
  /** The newest block that the ledger has followed. If `toBlock` is lower, ask again from the block after `toBlock`. */
  followedTo: number
  /** In the first blocks that differ, the entries that only the chain has (`missing`), and those that only the ledger has. */
  missing: ShownHappening[]
  surplus: ShownHappening[]
  /** The block to which the ledger rewound; null if it did not have to. */
  wentBackTo: number | null
}

export const rescan = defineAct({
  path: 'rescan',
  scope: 'operate',
  command: 'rescan',
  group: 'look',
  summary: 'read blocks again and compare them with the ledger; if they differ, rewind and follow again',
  details:
    'Shows first what it would do. It reaches back as far as the stored headers; for older blocks use "rebuild".',
  examples: ['rescan --from-block <block> --yes'],
  leavesOut: ['dryRun'],
  asks: 'Rewind to before the first of these, and follow again?',
  fields: {
    fromBlock: field.whole('the first block', 0, Number.MAX_SAFE_INTEGER, 'block'),
    dryRun: field.flag('only report differences'),
    reason: field.REASON,
  },
  onChain: true,
  run: rescanFrom,
  says: ({ toBlock, wentBackTo, missing, surplus }) => {
    if (wentBackTo !== null) return `The ledger was rewound to block ${wentBackTo}; the next pass follows from there.`
    const differences = missing.length + surplus.length
    return differences === 0
      ? `Every block up to ${toBlock} agrees with the ledger.`
      : `${counted(differences, 'difference')} found first: the ledger would be rewound to before ${differences === 1 ? 'it' : 'them'}.`
  },
})

async function rescanFrom(
  deps: RescanContext,
  actor: Actor,
  { fromBlock, dryRun, reason }: { fromBlock: number; dryRun: boolean; reason: string | null },
): Promise<RescanResult | OperatorRefusal> {
  const cursor = await mayScan(deps, fromBlock)
  if (isOperatorRefusal(cursor)) return cursor
  const comparison = await scan(deps, fromBlock, cursor)
  if (isOperatorRefusal(comparison)) return comparison
  const { toBlock, missing, surplus } = comparison
  const first = Math.min(...[...missing, ...surplus].map(({ blockNumber }) => blockNumber))
  const result = { dryRun, fromBlock, toBlock, followedTo: cursor.number, missing, surplus }
  const wentBackTo = dryRun || !Number.isFinite(first) ? null : await goBack(deps, actor, first)
  if (isOperatorRefusal(wentBackTo)) return wentBackTo
  const after = { ...result, wentBackTo }
  const act = { action: 'rescanned', subject: String(fromBlock), after, reason }
  if (!dryRun) await inTransaction(deps.pool, (sql) => recordAct(sql, actor, act))
  return after
}

/** Rewinds the ledger to before a block. The cursor may move on in the meantime, because all later blocks build on the one before. */
async function goBack(
  deps: LedgerDb & RuledBy<FollowRules> & Logging,
  actor: Actor,
  fromBlock: number,
): Promise<number | OperatorRefusal> {
  for (let i = 0; i < TRIES_MAX; i++) {
    const [back, cursor] = [await blockBefore(deps, fromBlock), await readCursor(deps.pool)]
    if (back === undefined || !cursor) return tooFar(fromBlock)
    if (await rewindTo(deps, back, cursor, { actor: actor.name, action: 'wentBack' })) return fromBlock - 1
  }
  return refuseAct('notYet', 'A pass is working on these blocks: try again.')
}

const tooFar = (block: number) =>
  refuseAct(
    'conflict',
    `The ledger has no header for the block before ${block}, so it cannot be rewound to there: rebuild it with "node-ledger rebuild".`,
  )

/** The cursor. Refuses if this is not the chain that the ledger followed, or if the ledger cannot rewind that far. */
async function mayScan(deps: RescanContext, fromBlock: number): Promise<Cursor | OperatorRefusal> {
  if ((await readHalt(deps.pool)) !== null)
    return refuseAct(
      'conflict',
      'The passes are halted, because the chain may be a different one. Look into that first.',
    )
  const [cursor, oldest] = [await readCursor(deps.pool), await oldestBlockNumber(deps.pool)]
  if (!cursor || oldest === null) return refuseAct('conflict', 'The ledger has not followed any block yet.')
  if (fromBlock > cursor.number)
    return refuseAct(
      'invalid',
      `The ledger is at block ${cursor.number}: ${fieldNamed('fromBlock')} must not be beyond it.`,
    )
  if (fromBlock < oldest || (await blockBefore(deps, fromBlock)) === undefined) return tooFar(fromBlock)
  if ((await deps.chain.block(cursor.number))?.hash !== cursor.hash)
    return refuseAct('notYet', 'The chain is being reorganised, or the provider lags. Try again after the next pass.')
  return cursor
}

async function scan(deps: RescanContext, fromBlock: number, cursor: Cursor) {
  const deadline = performance.now() + BUDGET_MS
  let [missing, surplus]: [Happening[], Happening[]] = [[], []]
  let toBlock = fromBlock - 1
  while (toBlock < cursor.number && missing.length + surplus.length === 0 && performance.now() < deadline) {
    const from = toBlock + 1
    const parent = await readBlock(deps.pool, from - 1)
    const upTo = Math.min(cursor.number, from + RANGE_MAX - 1)
    // A provider may have misreported blocks in which nothing seemed to happen, so those blocks must be proven too.
    const watching = { ...(await readWatching(deps.pool)), wholeTo: Number.MAX_SAFE_INTEGER }
    const range = await deps.chain.observe(from, upTo, parent?.hash ?? null, watching)
    await inTransaction(deps.pool, (sql) => tellFailedProofs(deps, sql, range.failedProofs ?? []))
    toBlock = range.blocks.at(-1)?.number ?? cursor.number
    ;({ missing, surplus } = await compareRange(deps.pool, range))
    if (((await readCursor(deps.pool))?.number ?? 0) < toBlock)
      return refuseAct('notYet', 'The ledger was rewound during the comparison: try again.')
    if ([...missing, ...surplus].some(({ part }) => part === 'header'))
      return refuseAct('notYet', 'The chain is being reorganised: the next pass handles that. Try again.')
  }
  const entriesOf = (entries: Happening[]): ShownHappening[] =>
    entries.slice(0, TOLD_MAX).map(({ blockNumber, key }) => ({ blockNumber, key }))
  return { toBlock, missing: entriesOf(missing), surplus: entriesOf(surplus) }
}
