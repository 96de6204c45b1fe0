// A mint of a node that the ledger has already. If the ledger's row rests on a block that is not its own, or was never doubted, the ledger goes back
// to before that block and reads again; if that has not helped, or cannot be done, the passes halt. It must never pass by in silence, or go round.
import { ChainFault } from '../chain/faults.ts'
import { type Cursor, readBlock, readHashes } from '../db/blocks/blocks.ts'
import { isDuplicate } from '../db/core/sql.ts'
import { hasAudit } from '../db/core/state.ts'
import { readMints } from '../db/nodes/nodes.ts'
import type { NewNode } from '../domain/replay.ts'
import type { FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { HaltFault } from './halt.ts'
import { rewindTo } from './rewind.ts'

/** As the audit log and the halt call it. */
const MINTED_TWICE = 'mintedTwice'

/** Nothing of the range was stored. */
export class MintedTwiceFault extends ChainFault {
  readonly minted: readonly NewNode[]

  constructor(minted: readonly NewNode[], cause: unknown) {
    super('the chain mints a node that the ledger has already', { retryable: true, cause })
    this.name = 'MintedTwiceFault'
    this.minted = minted
  }
}

/** The fault of storing mints; any other error as it is. */
export function asMintedTwice(error: unknown, minted: readonly NewNode[]): unknown {
  return isDuplicate(error, 'nodes') ? new MintedTwiceFault(minted, error) : error
}

/** Takes the ledger back to before the first of these nodes that it has. @throws a HaltFault where that is no remedy. */
export async function takeBackMint(
  ctx: LedgerDb & RuledBy<FollowRules> & Logging,
  { minted }: MintedTwiceFault,
  cursor: Cursor | null,
): Promise<void> {
  const [there] = await readMints(ctx.pool, minted)
  const now = minted.find(({ nodeId, ref }) => String(nodeId) === there?.nodeId || ref === there?.ref) ?? minted[0]
  const detail = {
    ...there,
    mintedIn: now && { nodeId: String(now.nodeId), block: now.blockNumber, hash: now.blockHash },
  }
  if (!there || !cursor) throw new HaltFault(MINTED_TWICE, detail)
  const isOwn = (await readHashes(ctx.pool, [there.blockNumber])).get(there.blockNumber) === there.blockHash
  const before = await readBlock(ctx.pool, there.blockNumber - 1)
  if (!before || (isOwn && (await hasAudit(ctx.pool, MINTED_TWICE, there.nodeId))))
    throw new HaltFault(MINTED_TWICE, detail)
  ctx.log.error(
    { ...detail, isOwn },
    'the chain mints a node that the ledger has from another block: the ledger goes back',
  )
  await rewindTo(ctx, before, cursor, { actor: 'pass', action: MINTED_TWICE, subject: there.nodeId })
}
