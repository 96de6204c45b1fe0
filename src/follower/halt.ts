// Halts if the chain is not the one that the ledger followed. It must never guess: nothing is rewound or sent until the old chain is back, or an
// operator has decided. How many observations seal a halt, and what clears it: db/blocks/halts.ts (noteHalt; withdrawHalt by a run, clearHalt by the
// operator).
import { ChainFault, orNull } from '../chain/faults.ts'
import type { ChainReader, ProviderReader } from '../chain/port.ts'
import { type Cursor, oldestBlockNumber, readBlock } from '../db/blocks/blocks.ts'
import {
  type HaltReason,
  type HaltState,
  noteHalt,
  noteNoHalt,
  readFinalized,
  readHalt,
  withdrawHalt,
} from '../db/blocks/halts.ts'
import { noteMoving } from '../db/blocks/stuck.ts'
import { inTransaction } from '../db/core/sql.ts'
import { type Identity, readState, writeState } from '../db/core/state.ts'
import { noteCalm } from '../db/core/troubles.ts'
import { VOICES } from '../domain/finality.ts'
import type { Block } from '../domain/observed.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { readFinality } from './finality.ts'

const WORDS: Record<HaltReason, string> = {
  otherChain: 'the provider is on another chain than this ledger',
  tooDeep: 'the chain parted from the ledger before the oldest header stored',
  pastFinalized: 'the chain took back blocks that it had called final',
  mintedTwice: 'the chain mints a node that the ledger has from another block',
  unproven: 'no provider gives a block that recomputes to its hash and its roots, as those of this chain did',
}

/**
 * Ends a run because the chain is not the one the ledger followed. `noted`: the halt is already sealed. `confirmed`: false if only one of several
 * providers says so.
 */
export class HaltFault extends ChainFault {
  readonly reason: HaltReason
  readonly detail: object
  readonly noted: boolean
  readonly confirmed: boolean

  constructor(reason: HaltReason, detail: object, options: { noted?: boolean; confirmed?: boolean } = {}) {
    super(
      `halted: ${WORDS[reason]}. Nothing is sent and nothing taken back; reads go on. docs/RUNBOOK.md, "NodeLedgerHalted", says what to do`,
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
 * Before one provider's word may halt the passes, asks every provider separately, in order. Returns the first answer from the ledger's chain.
 * Providers found on another chain before that become last in order.
 * @throws the halt if no provider has the ledger's chain.
 */
export async function askOthers<T>(
  { chain, log }: ChainRead & Logging,
  fault: HaltFault,
  ask: (provider: ChainReader) => Promise<T>,
): Promise<T> {
  if (fault.noted || chain.providers.length < VOICES) throw fault
  const elsewhere: ProviderReader[] = []
  for (const provider of chain.providers) {
    try {
      const answer = await ask(provider)
      for (const other of elsewhere) other.distrust()
      return answer
    } catch (error) {
      if (!(error instanceof ChainFault)) throw error
      if (error instanceof HaltFault) elsewhere.push(provider)
      else log.warn({ host: provider.host, err: error }, 'a provider could not say whether it has the ledger’s chain')
    }
  }
  const hosts = elsewhere.map(({ host }) => host)
  throw new HaltFault(fault.reason, { ...fault.detail, saidBy: hosts }, { confirmed: hosts.length >= VOICES })
}

/** Checks whether a run may begin. @returns the unsealed halt, which the caller withdraws if the chain turns out to be right. */
export async function assertNotHalted(ctx: LedgerDb): Promise<HaltState | null> {
  const halt = await readHalt(ctx.pool)
  if (halt?.sealed) throw new HaltFault(halt.reason, halt.detail, { noted: true })
  return halt
}

/** Throws a halt if the provider is on another chain. */
export async function assertOwnChain(ctx: LedgerDb & ChainRead): Promise<void> {
  const identity = await readIdentity(ctx)
  if (!identity) return
  const chainId = await ctx.chain.chainId()
  if (chainId !== identity.chainId) throw new HaltFault('otherChain', { chainId, chainIdOfLedger: identity.chainId })
}

/** Withdraws an unsealed halt if the provider's head builds on what the ledger followed. */
export async function clearHaltIfHealthy(
  ctx: LedgerDb & Logging,
  halt: HaltState | null,
  head: Block,
  cursor: Cursor | null,
) {
  if (cursor && head.number < cursor.number) return
  if (halt && (await withdrawHalt(ctx.pool)))
    ctx.log.warn({ reason: halt.reason }, 'the chain is the one of this ledger again')
  await inTransaction(ctx.pool, async (sql) => {
    await noteNoHalt(sql)
    await noteCalm(sql, 'proof')
    await noteMoving(sql)
  })
}

/** Records a halt. The reason and the evidence go to the settings, the health report, the audit log and the log. */
export async function raiseHalt(ctx: LedgerDb & Logging, fault: HaltFault): Promise<void> {
  if (fault.noted) return
  const halt = await noteHalt(ctx.pool, fault)
  const remedy = halt.sealed
    ? '"node-ledger resume --halt" clears it'
    : 'it is withdrawn if the next runs find all well'
  ctx.log.error({ ...halt }, `${fault.message}; ${remedy}`)
}

/** For a head below the cursor. Usually the provider just lags; throws a halt if its chain shares no stored header with the ledger. */
export async function assertSameHistory(ctx: LedgerDb & ChainRead & RuledBy<FollowRules>, head: Block): Promise<void> {
  const stored = await readBlock(ctx.pool, head.number)
  if (stored?.hash === head.hash) return
  const oldest = await oldestBlockNumber(ctx.pool)
  if (oldest === null) return
  if (oldest > head.number) return void (await assertSameGenesis(ctx))
  const [ours, theirs] = [await readBlock(ctx.pool, oldest), await ctx.chain.block(oldest)]
  if (ours && theirs && ours.hash !== theirs.hash) await assertNotTooDeep(ctx, oldest)
}

/**
 * Throws a halt for a chain that agrees with no stored header; `oldest` is the oldest of them. Does not throw if that was the first followed block
 * and the chain has this ledger's genesis, because then starting over loses nothing.
 */
export async function assertNotTooDeep(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules>,
  oldest: number,
): Promise<void> {
  const isSameChain = await assertSameGenesis(ctx)
  if (oldest > ctx.rules.startBlock || !isSameChain) throw new HaltFault('tooDeep', { oldestHeader: oldest })
}

/** Throws a halt instead of rewinding blocks that the chain had called final. Except on the embedded chain, which restarts from its last dump. */
export async function assertNotPastFinalized(ctx: LedgerDb & RuledBy<FollowRules>, fork: Block | null): Promise<void> {
  if (ctx.rules.rewindsToShorterChain) return
  const finalized = await readFinalized(ctx.pool)
  if (finalized && (fork === null || fork.number < finalized.number))
    throw new HaltFault('pastFinalized', { forkBlock: fork?.number ?? null, forkHash: fork?.hash ?? null, finalized })
}

/** Records how far the followed chain is final. A reorganisation deeper than that halts the passes. */
export async function noteFinalized(ctx: LedgerDb & ChainRead & RuledBy<FollowRules>, cursor: Cursor): Promise<void> {
  if (ctx.rules.rewindsToShorterChain) return
  // If we cannot read it now, the next run will.
  const final = await orNull(readFinality(ctx, cursor))
  if (!final) return
  const [stored, noted] = [await readBlock(ctx.pool, final.firm), await readFinalized(ctx.pool)]
  const former = noted?.named ?? null
  const named = final.isNamed && stored ? Math.max(stored.number, former ?? 0) : former
  if (!stored || (noted && noted.number >= stored.number && former === named)) return
  const { number, hash } = noted && noted.number > stored.number ? noted : stored
  await writeState(ctx.pool, 'finalized', { number, hash, named }, 'pass')
}

/** The ledger's chain id, as recorded at the first start, because what a provider says now may be false. */
export async function ledgerChainId(ctx: LedgerDb & ChainRead): Promise<number> {
  return (await readIdentity(ctx))?.chainId ?? (await ctx.chain.chainId())
}

/** Throws a halt for a chain with a different block 0. @returns whether block 0 is this ledger's; false if we cannot read it. */
async function assertSameGenesis(ctx: LedgerDb & ChainRead): Promise<boolean> {
  const identity = await readIdentity(ctx)
  // The embedded chain has a new genesis at every start.
  if (!identity?.genesisHash.startsWith('0x')) return false
  const genesis = await ctx.chain.block(0)
  if (genesis && genesis.hash !== identity.genesisHash)
    throw new HaltFault('otherChain', { genesisHash: genesis.hash, genesisHashOfLedger: identity.genesisHash })
  return genesis !== null
}

async function readIdentity(ctx: LedgerDb): Promise<Identity | null> {
  return (await readState(ctx.pool, 'identity')) as Identity | null
}
