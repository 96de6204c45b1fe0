// The credit terms as the operator enters them: what the preview shows is what we enter. An entry takes effect at a time that no instance has
// reached, so it never applies to anything already due. If the contract's owner has to do something for it, we show the transaction to sign.

import { readBoundsNeeded } from '../../chain/factory/bounds.ts'
import type { OwnerCall, OwnerTransaction } from '../../chain/factory/owner-calls.ts'
import { type Cursor, readCursor } from '../../db/blocks/blocks.ts'
import type { Sql } from '../../db/core/sql.ts'
import { readWindows } from '../../db/nodes/owner-acts.ts'
import {
  deleteTerms,
  insertTerms,
  lockTerms,
  readCreditTerms,
  readTermsHistory,
  type TermsRow,
} from '../../db/sale/terms.ts'
import { readTierPlans, readTierVersions } from '../../db/sale/tiers.ts'
import { type NotOwedWindow, windowCallNeeded } from '../../domain/rounds/payouts.ts'
import { earliestFrom, refuseTerms, sameTerms, type TermsContent } from '../../domain/rounds/terms.ts'
import { type CreditTerms, termsAt } from '../../domain/rounds/turn-amounts.ts'
import { inEther } from '../../domain/units.ts'
import { timeInWords } from '../../lib/times.ts'
import type { ChainReader } from '../../ports/chain.ts'
import type { ChainRead, FactoryRead, LedgerDb } from '../../ports/contexts.ts'
import { orNull } from '../../ports/faults.ts'
import { fieldNamed, isOperatorRefusal, type OperatorRefusal, refuseAct, refuseField, refuseFields } from '../act.ts'
import { defineGuardedAct, defineReading } from '../define-act.ts'
import { ANY_SUM } from '../guard.ts'
import * as field from '../input.ts'

type TermsContext = LedgerDb & ChainRead & FactoryRead

/** A year. If an interval is longer, its unit is probably wrong. */
const INTERVAL_MAX_SEC = 365 * 86_400

/** An entry, and whether it is in force at the requested block time. */
export interface TermsView extends TermsRow {
  state: 'past' | 'inForce' | 'planned'
}

/** All entries, and what the contract's owner has to do so that the contract agrees with them. */
export interface TermsList {
  terms: TermsView[]
  windows: NotOwedWindow[]
  ownersTransaction: OwnerTransaction | null
}

/** The terms, as of the followed block. */
export const listTerms = defineReading({
  path: 'terms',
  command: 'terms list',
  summary: "list the credit terms, and what the contract's owner must sign for them",
  examples: ['terms list'],
  fields: {},
  onChain: true,
  run: async ({ pool, contract }: LedgerDb & FactoryRead): Promise<TermsList> => {
    const [rows, windows, cursor] = [await readTermsHistory(pool), await readWindows(pool), await readCursor(pool)]
    const now = cursor?.time ?? 0
    const inForce = termsAt(rows, now)
    const stateOf = ({ fromTime }: TermsRow) =>
      fromTime > now ? 'planned' : fromTime === inForce?.fromTime ? 'inForce' : 'past'
    return {
      terms: rows.map((row) => ({ ...row, state: stateOf(row) })),
      windows,
      ownersTransaction: await ownersNext(contract.factory, rows, windows, now),
    }
  },
})

/** The effect of an entry, previewed or done. Times are in unix seconds. */
export interface TermsProposal {
  dryRun: boolean
  /** False if the latest entry is the same. */
  changed: boolean
  /** The rows to enter: one, or two if the ledger had no terms and the factory has nodes. */
  entries: CreditTerms[]
  /** The previous entry. */
  before: CreditTerms | null
  latestBlockTime: number
  /** The contract owner's next transaction for this entry. Until that is on chain, turns that the terms declare not owed are still owed, and wait. */
  ownersTransaction: OwnerTransaction | null
}

const BEFORE = ['same', 'range', 'notOwed'] as const
/** The fields of an entry; null if not given. */
const ENTRY = {
  payouts: field.orNull(field.yesOrNo('whether turns due from then on are owed')),
  minWei: field.orNull(field.wei("the least draw of a turn; a tier's rate multiplies it")),
  maxWei: field.orNull(field.wei('the greatest draw of a turn')),
  intervalSec: field.orNull(
    field.whole('seconds between two turns of a node, for cohorts opened from then on', 1, INTERVAL_MAX_SEC, 's'),
  ),
  slotSec: field.orNull(
    field.whole('seconds between the cohorts of a tier; must divide the interval', 1, INTERVAL_MAX_SEC, 's'),
  ),
  fromTime: field.orNull(field.time('the block time from which they are in force', 0)),
  zero: field.flag('allow turns that pay nothing'),
  before: field.orNull(
    field.word('for a ledger without terms: how to pay earlier turns, "same", "range" or "notOwed"', BEFORE),
  ),
  beforeMinWei: field.orNull(field.wei('with --before range: the least draw of earlier turns')),
  beforeMaxWei: field.orNull(field.wei('with --before range: the greatest draw of earlier turns')),
  dryRun: field.flag('only show what it would do'),
  reason: field.REASON,
}
type TermsRequest = field.Read<typeof ENTRY>

const checkEntry: field.Check<typeof ENTRY> = ({ before }, { isGiven, complain }) => {
  for (const name of ['beforeMinWei', 'beforeMaxWei'])
    if (before === 'range' && !isGiven(name))
      complain(name, 'is required: an amount of wei as a decimal string', 'missing')
}

/** A ledger without terms needs every field and, if the factory has nodes, `before` for the turns already due. */
export const enterTerms = defineGuardedAct({
  path: 'terms',
  scope: 'terms',
  command: 'terms set',
  summary: 'set the credit terms from a time on: whether turns are owed, their range, the schedule',
  details: `They apply from five minutes after the latest block time that any provider shows, or from --from-time. Omitted terms stay as
they are. Earlier turns are paid by the terms of their time. "--payouts false" takes effect once the contract's owner has sent the
printed transaction; until then turns are owed and wait.`,
  examples: ['terms set --max-wei 1600000000000000 --reason "summer" --yes', 'terms set --payouts false --yes'],
  fields: ENTRY,
  check: checkEntry,
  onChain: true,
  asks: 'Enter these terms?',
  proposedAs: 'enterTerms',
  sum: (_sql, { dryRun }) => (dryRun ? 0n : ANY_SUM),
  change: async ({ sql, actor, record }, request, deps: TermsContext): Promise<TermsProposal | OperatorRefusal> => {
    const { dryRun } = request
    if (!dryRun) await lockTerms(sql)
    // The cursor is locked, so that no instance follows later blocks before the entry is stored.
    const proposal = await propose(deps, sql, await readCursor(sql, { lock: !dryRun }), request)
    if (isOperatorRefusal(proposal) || !proposal.changed || dryRun) return proposal
    for (const entry of proposal.entries) await insertTerms(sql, entry, actor.name)
    record({ action: 'termsEntered', before: proposal.before, after: proposal.entries })
    return proposal
  },
  preview: (proposal) => [
    ...(proposal.before ? [`Before: ${entryInWords(proposal.before)}`] : []),
    proposalInWords(proposal),
    ...ownersPart(proposal),
    "Open cohorts keep their interval until the contract's owner sets it.",
  ],
  says: proposalInWords,
})

/** An entry, previewed or done, for people. */
function proposalInWords({ changed, entries }: TermsProposal): string {
  if (!changed) return 'No change: the latest terms are the same.'
  return entries.map(entryInWords).join('\n')
}

const ownersPart = ({ ownersTransaction: next }: TermsProposal): string[] =>
  next === null
    ? []
    : [`The contract's owner must send ${next.call} to ${next.to}; until then turns are owed and wait.`]

const entryInWords = ({ fromTime, payouts, minWei, maxWei, intervalSec, slotSec }: CreditTerms) =>
  `From ${fromTime === 0 ? 'the beginning' : timeInWords(fromTime, Date.now() / 1000)}: turns are ${payouts ? '' : 'not '}owed, ${inEther(minWei)} to ${inEther(maxWei)} ETH, every ${intervalSec} s in slots of ${slotSec} s.`

export const cancelTerms = defineGuardedAct({
  path: 'terms/cancel',
  scope: 'terms',
  command: 'terms cancel',
  summary: 'cancel the latest credit terms before they take effect',
  details: "You can cancel terms that switch payouts off until the contract's owner has set a window for them.",
  examples: ['terms cancel --reason "a slip" --yes'],
  // The command has no such field, because it withdraws the latest entry, which it has shown.
  leavesOut: ['fromTime'],
  fields: {
    fromTime: field.time('the time from which the latest entry is in force', 0),
    reason: field.REASON,
  },
  onChain: true,
  asks: 'Cancel this entry?',
  proposedAs: 'cancelTerms',
  sum: () => ANY_SUM,
  change: async ({ sql, record }, { fromTime }, { chain }: TermsContext) => {
    await lockTerms(sql)
    const now = await newestOf('time', chain, await readCursor(sql, { lock: true }))
    if (now === null) return unreachable()
    const [former, last] = (await readCreditTerms(sql)).slice(-2)
    if (!last || !former || last.fromTime !== fromTime)
      return refuseAct(
        'conflict',
        'Only the latest entry can be cancelled, if there is an earlier one: enter other terms.',
      )
    const isUnset = former.payouts && !last.payouts && !reaches(await readWindows(sql), last.fromTime)
    if (last.fromTime <= now && !isUnset)
      return refuseAct(
        'conflict',
        `It has been in force since block time ${last.fromTime}: enter other terms from a later time.`,
      )
    await deleteTerms(sql, last.fromTime)
    record({ action: 'termsCancelled', before: last, after: former })
    return { cancelled: last }
  },
  preview: async ({ cancelled }, _request, sql) => {
    const stays = (await readCreditTerms(sql)).at(-1)
    return [`To cancel: ${entryInWords(cancelled)}`, ...(stays ? [`What stays: ${entryInWords(stays)}`] : [])]
  },
  says: 'Cancelled. The earlier terms stay in force.',
})

const reaches = (windows: readonly NotOwedWindow[], time: number) => windows.some(({ until }) => until > time)

/** Turns the request into entries, or refuses it. */
async function propose(
  deps: TermsContext,
  sql: Sql,
  cursor: Cursor | null,
  request: TermsRequest,
): Promise<TermsProposal | OperatorRefusal> {
  const now = await newestOf('time', deps.chain, cursor)
  if (now === null) return unreachable()
  const [terms, windows] = [await readCreditTerms(sql), await readWindows(sql)]
  const before = terms.at(-1) ?? null
  const content = merged(before, request)
  if (isOperatorRefusal(content)) return content
  const head = { dryRun: request.dryRun, before, latestBlockTime: now }
  if (before && sameTerms(before, content))
    return {
      ...head,
      changed: false,
      entries: [],
      ownersTransaction: await ownersNext(deps.contract.factory, terms, windows, now),
    }
  const earliest = earliestFrom(terms, now)
  const fromTime = request.fromTime ?? earliest
  if (fromTime < earliest)
    return refuseField(
      'conflict',
      'fromTime',
      `is ${fromTime}, and ${earliest} is the earliest: five minutes after the latest block time that the ledger or a provider shows, and after the previous entry.`,
    )
  const next = { ...content, fromTime }
  const entries = before ? [next] : await firstEntries(deps, next, request)
  if (isOperatorRefusal(entries)) return entries
  const refusal = await refuseEntries(deps, sql, entries, request)
  if (refusal) return refusal
  const ownersTransaction = await ownersNext(deps.contract.factory, [...terms, ...entries], windows, now)
  return { ...head, changed: true, entries, ownersTransaction }
}

function merged(
  before: CreditTerms | null,
  { payouts, minWei, maxWei, intervalSec, slotSec }: TermsRequest,
): TermsContent | OperatorRefusal {
  const content = {
    payouts: payouts ?? before?.payouts,
    minWei: minWei ?? before?.minWei,
    maxWei: maxWei ?? before?.maxWei,
    intervalSec: intervalSec ?? before?.intervalSec,
    slotSec: slotSec ?? before?.slotSec,
  }
  const missing = Object.entries(content).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (missing.length === 0) return content as TermsContent
  return refuseAct(
    'invalid',
    `This ledger has no terms yet: ${missing.map((name) => `${fieldNamed(name)} is required`).join('; ')}.`,
  )
}

/** The first entries of a ledger. The earliest is in force from time 0, so that turns due before now have terms too. */
async function firstEntries(
  { chain, contract }: ChainRead & FactoryRead,
  next: CreditTerms,
  { before, beforeMinWei, beforeMaxWei }: TermsRequest,
): Promise<CreditTerms[] | OperatorRefusal> {
  const head = await orNull(chain.head())
  const counters = head && (await orNull(contract.counters(head.number)))
  if (!counters) return unreachable()
  const isUnused = counters.lastNodeId === 0n && counters.round === 0
  if (before === 'same' || (before === null && isUnused)) return [{ ...next, fromTime: 0 }]
  if (before === null)
    return refuseField(
      'invalid',
      'before',
      `is required: the factory has nodes, and turns may be due from before these terms. Write "same" if these terms pay them, "range" with ${fieldNamed('beforeMinWei')} and ${fieldNamed('beforeMaxWei')} if other terms do, "notOwed" if they are not owed.`,
    )
  const range = { minWei: beforeMinWei ?? next.minWei, maxWei: beforeMaxWei ?? next.maxWei }
  const earlier = before === 'range' ? { ...next, payouts: true, ...range } : { ...next, payouts: false }
  return [{ ...earlier, fromTime: 0 }, next]
}

async function refuseEntries(
  { contract, chain }: ChainRead & FactoryRead,
  sql: Sql,
  entries: readonly CreditTerms[],
  { zero: zeroAllowed }: TermsRequest,
): Promise<OperatorRefusal | null> {
  const latest = new Map((await readTierVersions(sql)).map((version) => [version.tierNo, version.payoutBps]))
  // Rates that are planned must fit the terms as well.
  const plans = (await readTierPlans(sql)).filter(({ names }) => names.includes('payoutBps'))
  const payoutBps = [...latest.values(), ...plans.map((plan) => plan.payoutBps)]
  const head = await orNull(chain.head())
  const leastIntervalSec = await orNull(contract.leastIntervalSec())
  if (!head || leastIntervalSec === null) return unreachable()
  for (const entry of entries) {
    const objections = refuseTerms(entry, { leastIntervalSec, payoutBps, zeroAllowed }, fieldNamed)
    if (objections.length > 0) return refuseFields(objections.map((one) => ({ ...one, code: 'invalid' })))
    const refusal = entry.payouts ? await refuseOutOfBounds(contract, entry, { payoutBps, atBlock: head.number }) : null
    if (refusal) return refusal
  }
  return null
}

/** Refuses amounts that the distributor may not pay, and shows the owner's transaction that would allow them. Throws if the chain does not answer. */
export async function refuseOutOfBounds(
  contract: FactoryRead['contract'],
  range: Pick<CreditTerms, 'minWei' | 'maxWei'>,
  at: { payoutBps: readonly number[]; atBlock: number },
): Promise<OperatorRefusal | null> {
  const bounds = await readBoundsNeeded(contract, range, at)
  if (bounds === null) return null
  const { to, data, call } = await encoded(contract.factory, { name: 'setBounds', ...bounds })
  return refuseAct(
    'conflict',
    `The contract does not let the distributor pay that much, or that little, for a turn. Its owner makes room with ${call}: to ${to}, data ${data}.`,
  )
}

/** The highest block number, or the latest block time, that the ledger or any provider reports; null if no provider answers. */
export async function newestOf(
  what: 'number' | 'time',
  chain: ChainReader,
  cursor: Cursor | null,
): Promise<number | null> {
  const heads = await headsOf([chain, ...chain.providers])
  return heads.length === 0 ? null : Math.max(cursor?.[what] ?? 0, ...heads.map((head) => head[what]))
}

/** The heads of those that answer. */
const headsOf = async (readers: readonly Pick<ChainReader, 'head'>[]) =>
  (await Promise.all(readers.map((reader) => orNull(reader.head())))).filter((head) => head !== null)

/**
 * The newest block, with the newest time, that the ledger or any provider reports. Payments up to it were made under the old terms. No pass follows
 * later blocks before the version is stored, so we judge and credit every payment by the terms in force at its block.
 */
export async function readNow(deps: Pick<LedgerDb & ChainRead, 'chain'>, sql: Sql, { lock } = { lock: true }) {
  const first = await deps.chain.head()
  const head = (await headsOf(deps.chain.providers)).reduce((a, b) => (b.number > a.number ? b : a), first)
  const cursor = await readCursor(sql, { lock })
  const newest = cursor && cursor.number > head.number ? cursor : head
  return { ...newest, time: Math.max(head.time, cursor?.time ?? 0) }
}

async function ownersNext(
  factory: FactoryRead['contract']['factory'],
  terms: readonly CreditTerms[],
  windows: readonly NotOwedWindow[],
  now: number,
): Promise<OwnerTransaction | null> {
  const call = windowCallNeeded(terms, windows, now)
  return call && encoded(factory, call)
}

/** Loads the call encoder on demand, because few acts or readings that use this file encode a call. */
async function encoded(factory: FactoryRead['contract']['factory'], call: OwnerCall): Promise<OwnerTransaction> {
  const { ownerTransaction } = await import('../../chain/factory/owner-calls.ts')
  return ownerTransaction(factory, call)
}

const unreachable = () =>
  refuseAct('unavailable', 'No provider answers, so we cannot tell whether these terms fit the chain.')
