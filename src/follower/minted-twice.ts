// Handles a mint of a node that the ledger already has. The ledger rewinds to before the block from which it has the node, and reads again. It does
// so once per node, and again only if the ledger now has another block at that height. If this did not help, or is impossible, the passes halt. It
// must never ignore such a mint, and never loop.

import { type Cursor, readBlock, readHashes } from '../db/blocks/blocks.ts'
import { isDuplicate } from '../db/core/sql.ts'
import { hasAudit } from '../db/core/state.ts'
import { readMints } from '../db/nodes/nodes.ts'
import type { NewNode } from '../domain/replay.ts'
import type { FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault } from '../ports/faults.ts'
import { HaltFault } from './halt.ts'
import { rewindTo } from './rewind.ts'

/** The action's name in the audit log, and the halt's reason. */
const MINTED_TWICE = 'mintedTwice'

/** The range contains a mint of a node that the ledger has. Nothing of the range was stored. */
export class MintedTwiceFault extends ChainFault {
  readonly minted: readonly NewNode[]

  constructor(mints: readonly NewNode[], cause: unknown) {
    super('the chain minted a node that the ledger already has', { cause })
    this.name = 'MintedTwiceFault'
    this.minted = mints
  }
}

/** Turns the error of a duplicate node into a MintedTwiceFault; returns any other error unchanged. */
export function asMintedTwice(error: unknown, mints: readonly NewNode[]): unknown {
  return isDuplicate(error, 'nodes') ? new MintedTwiceFault(mints, error) : error
}

/**
 * Rewinds the ledger to before the block from which it has one of the minted nodes. @throws a HaltFault if a rewind has not helped before, or is
 * impossible.
 */
export async function rewindBeforeMint(
  ctx: LedgerDb & RuledBy<FollowRules> & Logging,
  { minted }: MintedTwiceFault,
  cursor: Cursor | null,
): Promise<void> {
  const [stored] = await readMints(ctx.pool, minted)
  const mint = minted.find(({ nodeId, ref }) => String(nodeId) === stored?.nodeId || ref === stored?.ref) ?? minted[0]
  const detail = {
    ...stored,
    mintedIn: mint && { nodeId: String(mint.nodeId), block: mint.blockNumber, hash: mint.blockHash },
  }
  if (!stored || !cursor) throw new HaltFault(MINTED_TWICE, detail)
  const isSameBlock = (await readHashes(ctx.pool, [stored.blockNumber])).get(stored.blockNumber) === stored.blockHash
  const before = await readBlock(ctx.pool, stored.blockNumber - 1)
  if (!before || (isSameBlock && (await hasAudit(ctx.pool, MINTED_TWICE, stored.nodeId))))
    throw new HaltFault(MINTED_TWICE, detail)
  ctx.log.error(
    { ...detail, isSameBlock },
    'the chain minted a node that the ledger has from another block; the ledger rewinds',
  )
  await rewindTo(ctx, before, cursor, { actor: 'pass', action: MINTED_TWICE, subject: stored.nodeId })
}
