// Halts if the chain is not the one that the ledger followed. It must never guess: nothing is rewound or sent until the old chain is back, or an
// operator has decided. db/blocks/halts.ts decides after how many observations a halt is sealed (noteHalt), and what clears it: a run (withdrawHalt) or
// the operator (clearHalt).

import { type Cursor, oldestBlockNumber, readBlock } from '../db/blocks/blocks.ts'
import {
  HALTED,
  type HaltReason,
  type HaltState,
  noteHalt,
  noteNoHalt,
  readFinalized,
  readHalt,
  withdrawHalt,
  writeFinalized,
} from '../db/blocks/halts.ts'
import { noteMended } from '../db/blocks/mending.ts'
import { noteMoving } from '../db/blocks/stuck.ts'
import { inTransaction } from '../db/core/sql.ts'
import { readIdentity } from '../db/core/state.ts'
import { noteCalm, noteTrouble } from '../db/core/troubles.ts'
import { canAgree, VOICES } from '../domain/finality.ts'
import type { Block } from '../domain/observed.ts'
import type { ChainReader, ProviderReader } from '../ports/chain.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault, orNull } from '../ports/faults.ts'
import { raiseAlarm } from './alarm.ts'
import { type Contradiction, isContradiction, lookAtFinality } from './followed-finality.ts'

/**
 * Ends a run because the chain is not the one that the ledger followed. `noted`: true if a sealed halt is already on record. `confirmed`: false if
 * only one of several providers shows the other chain.
 */
export class HaltFault extends ChainFault {
  readonly reason: HaltReason
  readonly detail: object
  readonly noted: boolean
  readonly confirmed: boolean

  constructor(reason: HaltReason, detail: object, options: { noted?: boolean; confirmed?: boolean } = {}) {
    super(
      `halted: ${HALTED[reason]}. The service sends nothing and rewinds nothing, but still answers reads. See docs/RUNBOOK.md, "NodeLedgerHalted"`,
      { retryable: false },
    )
    this.name = 'HaltFault'
    this.reason = reason
    this.detail = detail
    this.noted = options.noted ?? false
    this.confirmed = options.confirmed ?? true
  }
}

/**
 * Asks the providers one by one, in order, so that no single provider's word halts the passes. Returns the first answer from a provider on the
 * ledger's chain. Providers that turned out to be on another chain move to the end of the order.
 * @throws the halt if no provider has the ledger's chain.
 */
export async function askOthers<T>(
  { chain, log }: ChainRead & Logging,
  fault: HaltFault,
  ask: (provider: ChainReader) => Promise<T>,
): Promise<T> {
  if (fault.noted || !canAgree(chain)) throw fault
  const elsewhere: ProviderReader[] = []
  for (const provider of chain.providers) {
    try {
      const answer = await ask(provider)
      for (const other of elsewhere) other.distrust()
      return answer
    } catch (error) {
      if (!(error instanceof ChainFault)) throw error
      if (error instanceof HaltFault) elsewhere.push(provider)
      else log.warn({ host: provider.host, err: error }, 'a provider did not show whether it has the ledger’s chain')
    }
  }
  const hosts = elsewhere.map(({ host }) => host)
  throw new HaltFault(fault.reason, { ...fault.detail, reportedBy: hosts }, { confirmed: hosts.length >= VOICES })
}

/**
 * Throws if a sealed halt is in force. @returns a halt that is not sealed yet, if there is one; the caller withdraws it if the chain turns out to be
 * right.
 */
export async function assertNotHalted(ctx: LedgerDb): Promise<HaltState | null> {
  const halt = await readHalt(ctx.pool)
  if (halt?.sealed) throw new HaltFault(halt.reason, halt.detail, { noted: true })
  return halt
}

/** Throws a halt if the provider is on another chain. */
export async function assertOwnChain(ctx: LedgerDb & ChainRead): Promise<void> {
  const identity = await readIdentity(ctx.pool)
  if (!identity) return
  const chainId = await ctx.chain.chainId()
  if (chainId !== identity.chainId) throw new HaltFault('otherChain', { chainId, chainIdOfLedger: identity.chainId })
}

/** Withdraws a halt that is not sealed, once a run has followed without a fault. Does nothing if the provider's head is below the cursor. */
export async function clearHaltIfHealthy(
  ctx: LedgerDb & Logging,
  halt: HaltState | null,
  head: Block,
  cursor: Cursor | null,
) {
  if (cursor && head.number < cursor.number) return
  if (halt && (await withdrawHalt(ctx.pool)))
    ctx.log.warn({ reason: halt.reason }, 'this ledger follows its own chain again')
  await inTransaction(ctx.pool, async (sql) => {
    await noteNoHalt(sql)
    await noteCalm(sql, 'proof')
    await noteMoving(sql)
    await noteMended(sql)
  })
}

/** Records a halt. The reason and the evidence go into the settings, the health report, the audit log and the log. */
export async function raiseHalt(ctx: LedgerDb & Logging, fault: HaltFault): Promise<void> {
  if (fault.noted) return
  const halt = await noteHalt(ctx.pool, fault)
  const remedy = halt.sealed ? '"node-ledger resume --halt" clears it' : 'it ends if the next runs find nothing wrong'
  ctx.log.error({ ...halt }, `${fault.message}; ${remedy}`)
}

/** Checks a head below the cursor. Usually the provider just lags. Throws a halt if its chain shares no stored header with the ledger. */
export async function assertSameHistory(ctx: LedgerDb & ChainRead & RuledBy<FollowRules>, head: Block): Promise<void> {
  const ownBlock = await readBlock(ctx.pool, head.number)
  if (ownBlock?.hash === head.hash) return
  const oldest = await oldestBlockNumber(ctx.pool)
  if (oldest === null) return
  if (oldest > head.number) return void (await assertSameGenesis(ctx))
  const [ours, theirs] = [await readBlock(ctx.pool, oldest), await ctx.chain.block(oldest)]
  if (ours && theirs && ours.hash !== theirs.hash) await assertNotTooDeep(ctx, oldest)
}

/**
 * For a chain that agrees with no stored header; `oldest` is the oldest stored header. Throws a halt, unless that header is the ledger's first block
 * and the chain has the ledger's genesis: then the ledger can start over and loses nothing.
 */
export async function assertNotTooDeep(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules>,
  oldest: number,
): Promise<void> {
  const isSameChain = await assertSameGenesis(ctx)
  if (oldest > ctx.rules.startBlock || !isSameChain) throw new HaltFault('tooDeep', { oldestHeader: oldest })
}

/**
 * Throws a halt if a rewind to `fork` would undo blocks that the chain had called final. The embedded chain is exempt, because it restarts from its
 * last dump.
 */
export async function assertNotPastFinalized(ctx: LedgerDb & RuledBy<FollowRules>, fork: Block | null): Promise<void> {
  if (ctx.rules.rewindsToShorterChain) return
  const finalizedBlock = await readFinalized(ctx.pool)
  if (finalizedBlock && (fork === null || fork.number < finalizedBlock.number))
    throw new HaltFault('pastFinalized', {
      forkBlock: fork?.number ?? null,
      forkHash: fork?.hash ?? null,
      finalized: finalizedBlock,
    })
}

/** Records up to which block the followed chain is final. A reorganisation that goes deeper halts the passes. */
export async function noteFinalized(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  cursor: Cursor,
): Promise<void> {
  if (ctx.rules.rewindsToShorterChain) return
  // If we cannot read it now, the next run will.
  const final = await orNull(lookAtFinality(ctx, cursor))
  if (isContradiction(final)) await reportContradiction(ctx, final)
  if (!final || isContradiction(final)) return
  const [ownBlock, record] = [await readBlock(ctx.pool, final.firm), await readFinalized(ctx.pool)]
  const former = record?.named ?? null
  const namedHeight = final.isNamed && ownBlock ? Math.max(ownBlock.number, former ?? 0) : former
  if (!ownBlock || (record && record.number >= ownBlock.number && former === namedHeight)) return
  const { number, hash } = record && record.number > ownBlock.number ? record : ownBlock
  await writeFinalized(ctx.pool, { number, hash, named: namedHeight })
}

/** Reports a provider that has another block where the ledger's would be final. While it has, only the first time is an event. */
async function reportContradiction(
  ctx: LedgerDb & Logging,
  { host, number, theirs, ours }: Contradiction,
): Promise<void> {
  const says = 'nothing is final: a provider has another block than the ledger'
  const detail = { part: 'header', host, says: `it has ${theirs}, the ledger has ${ours}` }
  await inTransaction(ctx.pool, async (sql) => {
    if (await noteTrouble(sql, 'proof'))
      await raiseAlarm(ctx, sql, { action: 'proofFailed', subject: String(number), detail, says })
    else ctx.log.error({ number, ...detail }, says)
  })
}

/** The chain id that the ledger recorded at its first start, because what a provider reports later may be false. Without a record, the provider's. */
export async function ledgerChainId(ctx: LedgerDb & ChainRead): Promise<number> {
  return (await readIdentity(ctx.pool))?.chainId ?? (await ctx.chain.chainId())
}

/** Throws a halt if the chain has a different block 0. @returns true if block 0 is the ledger's, false if we cannot read it. */
export async function assertSameGenesis(ctx: LedgerDb & ChainRead): Promise<boolean> {
  const identity = await readIdentity(ctx.pool)
  // We cannot compare the embedded chain: it has a new genesis at every start.
  if (!identity?.genesisHash.startsWith('0x')) return false
  const genesis = await ctx.chain.block(0)
  if (genesis && genesis.hash !== identity.genesisHash)
    throw new HaltFault('otherChain', { genesisHash: genesis.hash, genesisHashOfLedger: identity.genesisHash })
  return genesis !== null
}
