// Surveys a range of old blocks: reads the blocks that may contain something of ours, and proves that the others contain nothing. It first reads the
// candidates: blocks with factory logs, and the blocks of the payments that mints name. It must never accept a proof on which too few providers
// agree, and never return only part of what happened. If anything is not available, it returns null.
//
// It does not find transactions that moved nothing and used no nonce of ours: failed payments, failed withdraw calls and zero-value transfers.

import { readSignersKnown } from '../../db/nodes/owner-acts.ts'
import { readWatching } from '../../db/sale/payment-wallets.ts'
import { accountsNamed, type Block, type ObservedRange, type Watching } from '../../domain/observed.ts'
import { isWatched } from '../../domain/payment-wallets.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '../../domain/units.ts'
import type { LoggedBlock, ProvenBlock } from '../../ports/chain.ts'
import {
  addressesOf,
  type ChainRead,
  type FactoryRead,
  type LedgerDb,
  type ServiceAccounts,
} from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'
import { type Proof, proveGaps, type Stretch, type Watched } from './gaps.ts'
import { createSeen, type Seen } from './seen.ts'

/**
 * The most candidates in one range: blocks with logs, plus the payments that these logs name. It is limited because we store a range in one database
 * transaction.
 */
const CANDIDATES_MAX = 1_024

export type SurveyContext = LedgerDb & ChainRead & FactoryRead & ServiceAccounts

/** The blocks to survey: `from` to `to`. `parent` is the hash of the block before `from`. */
export interface Asked {
  from: number
  to: number
  parent: Hash
}

/**
 * The surveyed range, which may end before `to`. Null if we have to read it block by block: states or logs are not available, a wallet has code, or
 * so much happened that a survey would not be cheaper.
 */
export async function surveyRange(ctx: SurveyContext, request: Asked): Promise<ObservedRange | null> {
  const { survey } = ctx.chain
  const watching = await readWatching(ctx.pool)
  const end = lastBefore(watching, request)
  const all = await survey.loggedBlocks(request.from, end)
  if (!all) return null
  const { loggedBlocks, to } = upToSomeCandidates(all, end)
  const accounts = await accountsOf(ctx, watching, request.from, loggedBlocks)
  // We read the states first, because without them all other reads would be useless.
  const first = await readBeginning(ctx, request, accounts)
  if (first === null) return null
  const knowledge = createSeen(survey, loggedBlocks, {
    ...watching,
    signers: [...new Set([...accounts.signers, ...watching.signers])],
  })
  const refBlocks = await survey.blocksOf(loggedBlocks.flatMap(({ refs }) => refs))
  const candidates = [...loggedBlocks.map(({ number }) => number), ...refBlocks.filter((number) => number !== null)]
  if (!(await knowledge.read(candidates.filter((number) => number >= request.from && number <= to)))) return null
  const last = await prove(ctx, { ...request, to }, { first, loggedBlocks, accounts, knowledge })
  if (last === null) return null
  const range = knowledge.rangeTo(last)
  // If providers first left out a log that gave an account a role, we did not watch that account.
  const watchedAccounts = [...accounts.wallets, ...accounts.signers]
  if (!accountsIn(range.events).every((account) => watchedAccounts.includes(account))) return null
  // We watched accounts that no longer have a role only because logs name them; their other transactions do not concern us.
  const ours = [...addressesOf(ctx), ...watching.signers]
  return { ...range, sent: range.sent.filter(({ sender, to }) => ours.includes(sender) || to === ctx.contract.factory) }
}

function accountsIn(events: ObservedRange['events']): Address[] {
  return events.flatMap((event) =>
    event.kind === 'ownerAct'
      ? accountsNamed(event.name, event.detail).filter((account) => account !== ZERO_ADDRESS)
      : [],
  )
}

/** The last block up to which we watch the same wallets as in block `from`. */
function lastBefore({ wallets }: Watching, { from, to }: Asked): number {
  const ends = wallets.flatMap(({ watchedFrom, closedBlock }) => [watchedFrom - 1, closedBlock ?? to])
  return Math.min(to, ...ends.filter((end) => end >= from))
}

/** As many blocks with logs as one range may have, and the block at which the range then ends. */
function upToSomeCandidates(
  all: readonly LoggedBlock[],
  to: number,
): { loggedBlocks: readonly LoggedBlock[]; to: number } {
  let candidates = 0
  const over = all.findIndex(({ refs }, index) => {
    candidates += 1 + refs.length
    return index > 0 && candidates > CANDIDATES_MAX
  })
  const next = all[over]
  return next ? { loggedBlocks: all.slice(0, over), to: next.number - 1 } : { loggedBlocks: all, to }
}

async function accountsOf(
  ctx: SurveyContext,
  watching: Watching,
  from: number,
  loggedBlocks: readonly LoggedBlock[],
): Promise<Watched> {
  const wallets = watching.wallets.filter((wallet) => isWatched(wallet, from)).map(({ wallet }) => wallet)
  const knownSigners = await readSignersKnown(ctx.pool)
  const signers = [
    ...addressesOf(ctx),
    ...watching.signers,
    ...knownSigners,
    ...loggedBlocks.flatMap(({ accounts }) => accounts),
  ]
  const isSigner = (account: Address) => account !== ZERO_ADDRESS && !wallets.includes(account)
  return { wallets, signers: [...new Set(signers)].filter(isSigner), factory: ctx.contract.factory }
}

/**
 * The states before the range. Null if they are not available, or if a wallet may have code in the range: value could then come and go without a
 * transaction of the wallet. A wallet may have code if it has code before the range, or if we cannot tell that it belongs to a key.
 */
async function readBeginning(ctx: SurveyContext, request: Asked, accounts: Watched): Promise<ProvenBlock | null> {
  const { wallets, signers, factory } = accounts
  const question = { number: request.from - 1, accounts: [...wallets, ...signers, factory] }
  const first = (await ctx.chain.survey.accountsAt([question]))?.[0]
  if (!first || first.block.hash !== request.parent) return null
  if (wallets.some((wallet) => first.accounts.get(wallet)?.hasCode !== false)) return null
  const unsent = wallets.filter((wallet) => first.accounts.get(wallet)?.nonce === 0)
  return (await readOfNoKey(ctx, unsent))?.length === 0 ? first : null
}

/**
 * The wallets that may not belong to a key, because by the final block they have sent nothing or have code. At an address that has sent nothing, a
 * contract could have been created, have sent everything away and been removed, all in one transaction (CREATE2, EIP-6780), and no later state would
 * show that. Null if the states are not available.
 */
export async function readOfNoKey({ chain }: ChainRead, wallets: readonly Address[]): Promise<Address[] | null> {
  if (wallets.length === 0) return []
  const final = await orNull(chain.finalized())
  const at = final && (await chain.survey.accountsAt([{ number: final.number, accounts: wallets }]))?.[0]
  if (!at) return null
  const isOfKey = (wallet: Address) => {
    const account = at.accounts.get(wallet)
    return account !== undefined && account.nonce > 0 && !account.hasCode
  }
  return wallets.filter((wallet) => !isOfKey(wallet))
}

interface Material {
  first: ProvenBlock
  loggedBlocks: readonly LoggedBlock[]
  accounts: Watched
  knowledge: Seen
}

/**
 * The last block of the range up to which the proof succeeds: the blocks up to there that we did not read contain nothing of ours. Null if there is
 * none.
 */
async function prove(ctx: SurveyContext, request: Asked, material: Material): Promise<Block | null> {
  const { accounts, knowledge } = material
  let { to } = request
  // A round that finds an unexplained block moves the end of the range to before that block.
  while (to >= request.from) {
    const ends = await readEnds(ctx, { ...request, to }, material)
    if (ends === null) return null
    const { block: last } = ends.last
    // The ledger will continue from this block. So the provider that serves the next blocks must have it too.
    const seenAs = knowledge.hashOf(last.number) ?? (await ctx.chain.block(last.number))?.hash
    if (seenAs !== last.hash) return null
    const proof: Proof = await proveGaps(ctx.chain.survey, accounts, knowledge, ends.stretches)
    if (proof.kind === 'proven') return last
    if (proof.kind !== 'unexplained') return null
    to = proof.block - 1
  }
  return null
}

interface Ends {
  last: ProvenBlock
  stretches: Stretch[]
}

/** The states of all accounts at the end of the range, and the factory's state at both ends of each gap between blocks with logs. */
async function readEnds(
  ctx: SurveyContext,
  { from, to }: Asked,
  { first, loggedBlocks, accounts: { wallets, signers, factory } }: Material,
): Promise<Ends | null> {
  const keys = [...wallets, ...signers]
  const gaps = gapsBetween(
    from,
    to,
    loggedBlocks.map(({ number }) => number).filter((number) => number <= to),
  )
  const edges = [...new Set(gaps.flatMap(({ low, high }) => [low, high]))].filter((at) => at !== from - 1 && at !== to)
  const questions = [
    ...edges.map((number) => ({ number, accounts: [factory] })),
    { number: to, accounts: [...keys, factory] },
  ]
  const answers = await ctx.chain.survey.accountsAt(questions)
  if (answers === null) return null
  const last = answers.at(-1) as ProvenBlock
  const at = new Map([first, ...answers].map((proven) => [proven.block.number, proven]))
  const stretches = gaps.map(({ low, high }) => ({
    low: at.get(low) as ProvenBlock,
    high: at.get(high) as ProvenBlock,
    accounts: [factory],
  }))
  return { last, stretches: [{ low: first, high: last, accounts: keys }, ...stretches] }
}

/** The stretches between blocks with logs: each is the blocks after `low`, up to `high`. */
function gapsBetween(from: number, to: number, loggedNumbers: readonly number[]): { low: number; high: number }[] {
  return [from - 1, ...loggedNumbers]
    .map((low, index) => ({ low, high: index < loggedNumbers.length ? (loggedNumbers[index] as number) - 1 : to }))
    .filter(({ low, high }) => high > low)
}
