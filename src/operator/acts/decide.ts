// Decides about held payments without asking the chain: releases a payment in a tier, dismisses a payment, or dismisses all dust. It locks
// the payment's row, so if two people decide at the same time, the second is refused.
import { inTransaction, inUndoneTransaction, poolWithin, type Sql } from '../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../db/core/state.ts'
import { readNodesOfRefs } from '../../db/nodes/grants.ts'
import { sumToRelease } from '../../db/operator/sums.ts'
import {
  type DeskPayment,
  dismissDust,
  type PaymentKey,
  readForReview,
  readInBrief,
  sumDust,
} from '../../db/payments/decisions.ts'
import { writeVerdict } from '../../db/payments/moves.ts'
import { readFirstFile } from '../../db/payments/refunds.ts'
import { countPlacesOf, readSupplies } from '../../db/payments/supply.ts'
import { readWalletUse } from '../../db/payments/wallet-use.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import type { Evidence } from '../../domain/judgement.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import type { PaymentState } from '../../domain/transitions.ts'
import { counted, inEther } from '../../domain/units.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import {
  type Actor,
  fieldNamed,
  isOperatorRefusal,
  type OperatorRefusal,
  recordAct,
  refuseAct,
  refuseField,
} from '../act.ts'
import { defineAct, defineGuardedAct } from '../define-act.ts'
import { refuseWhileMending } from '../guard.ts'
import * as field from '../input.ts'
import { filedInWords, firstOf, groupInWords, nameOf, readBrief, sumInWords, warningsOf } from './in-words.ts'
import {
  findRows,
  keysOf,
  lockHeld,
  lockTogether,
  PAYMENT_ACT,
  PAYMENTS,
  refuseSpent,
  TIER_ID,
  type TierNoOf,
} from './payments.ts'

/** How many dust payments one act dismisses at most, to keep the transaction short. */
const DUST_MAX = 10_000

/** The state of a payment after an act. */
export interface DecisionResult {
  id: number
  txHash: string | null
  status: PaymentState
  tierId: string | null
  /** When the first Safe file that refunds it was made, ISO 8601; null if there is none. */
  fileMadeAt: string | null
}

/** A payment's state, in words for people. */
const standingInWords = ({ status, tierId, fileMadeAt }: DecisionResult): string =>
  [`It is ${status}${tierId ? `, in tier ${tierId}` : ''}.`, ...filedInWords({ fileMadeAt })].join(' ')

export const releasePayment = defineGuardedAct({
  path: 'payments/:payment/release',
  scope: 'decide',
  command: 'payments release',
  summary: 'release a held payment: the next pass mints its node to its payer',
  examples: ['payments release <hash> --tier-id basic --reason "agreed by mail" --yes'],
  fields: {
    payment: PAYMENT_ACT.payment,
    tierId: TIER_ID('the tier, if no tier has that price'),
    reason: field.REASON,
  },
  asks: 'Release it?',
  proposedAs: 'release',
  sum: (sql, { payment, tierId }) => sumToRelease(sql, [payment], tierId),
  change: ({ sql, actor }, { payment: key, ...request }) => release(sql, actor, { key, ...request }),
  preview: async ({ id, tierId }, _request, sql) => {
    const payment = await readBrief(sql, id)
    return [`${nameOf(payment)} becomes a node of tier ${tierId} at the next pass.`, ...warningsOf(payment)]
  },
  says: standingInWords,
})

interface Release {
  key: PaymentKey
  tierId: string | null
  reason: string | null
}

async function release(
  sql: Sql,
  actor: Actor,
  { key, tierId, reason }: Release,
): Promise<DecisionResult | OperatorRefusal> {
  const wait = await refuseWhileMending(sql)
  if (wait) return wait
  const versions = await readTierVersions(sql)
  const payment = await lockHeld(sql, key, tierNoBy(tierId, versions))
  if (isOperatorRefusal(payment)) return payment
  if (payment.from === null) return noSender
  if (payment.reason === 'walletLimit')
    return refuseAct(
      'conflict',
      'The wallet has as many nodes as the contract allows. The service mints the node once there is room.',
    )
  if (payment.reason === 'mintedElsewhere' && (await readNodesOfRefs(sql, [payment.ref])).length > 0) return refTaken
  const tier = tierToRelease(payment, tierId, versions)
  if (isOperatorRefusal(tier)) return tier
  const place = await placeToTake(sql, tier)
  if (isOperatorRefusal(place)) return place
  const { tierNodes, tierInFlight } = await readWalletUse(sql, payment.from, tier.tierNo)
  const evidence = {
    rule: 'released',
    heldFor: payment.reason,
    note: reason,
    ...placeOf(payment),
    receivedWei: payment.valueWei.toString(),
    expectedWei: tier.priceWei.toString(),
    tierId: tier.tierId,
    tierVersion: tier.version,
    allowance: tier.maxPerWallet,
    nodesOfTier: tierNodes,
    inFlightOfTier: tierInFlight,
    ...place,
  }
  await writeVerdict(sql, payment.id, { move: 'release', tier, evidence, by: actor.name })
  return recordDecision(sql, actor, payment, { status: 'accepted', tierId: tier.tierId, evidence })
}

const tierNoBy =
  (choice: string | null, versions: readonly TierVersion[]): TierNoOf =>
  (payment) => {
    const tier = tierToRelease(payment, choice, versions)
    return isOperatorRefusal(tier) ? null : tier.tierNo
  }

/** The place that a release takes; the tier is locked. Refuses if the supply has no place left. */
async function placeToTake(sql: Sql, { tierNo }: TierVersion): Promise<Evidence | OperatorRefusal> {
  const supply = (await readSupplies(sql, [tierNo])).get(tierNo)
  if (supply === undefined) return {}
  const { sold, reserved } = await countPlacesOf(sql, tierNo)
  if (sold >= supply)
    return refuseAct(
      'conflict',
      `All ${supply} nodes of this tier are sold: raise its supply first, unless the contract allows no more.`,
    )
  if (sold + reserved >= supply)
    return refuseAct('notYet', 'Undecided payments reserve what is left of this tier: try again once they are decided.')
  return { supply, sold, reserved, place: sold + 1 }
}

const refTaken = refuseAct(
  'conflict',
  'Another wallet has the node with its ref, and a ref is minted once: refund or dismiss the payment.',
)

const noSender = refuseAct(
  'conflict',
  'It came by an internal call, and no account is proven to have sent it: it can only be dismissed or refunded. If you know its transaction, attribute it first.',
)

/** The tier's version at the payment's block or, if the tier began later, its first version. */
function tierToRelease(
  payment: DeskPayment,
  choice: string | null,
  versions: readonly TierVersion[],
): TierVersion | OperatorRefusal {
  if (payment.tierId !== null) {
    const own = versions.find((v) => v.tierId === payment.tierId && v.version === payment.tierVersion)
    if (!own) throw new Error(`payment ${payment.id} names a tier version that does not exist`)
    if (choice !== null && choice !== payment.tierId)
      return refuseAct(
        'conflict',
        `The amount is the price of tier ${payment.tierId}: it cannot be released in another tier.`,
      )
    return own
  }
  if (choice === null)
    return refuseAct(
      'invalid',
      payment.reason === 'unattributed'
        ? `The amount of an internal call selects no tier: release the payment with a ${fieldNamed('tierId')}.`
        : `No tier has this price: release the payment with a ${fieldNamed('tierId')}.`,
    )
  const ofTier = versions.filter((v) => v.tierId === choice)
  return (
    ofTier.findLast((v) => v.fromBlock <= (payment.blockNumber ?? 0)) ??
    ofTier[0] ??
    refuseAct('invalid', `There is no tier ${choice}.`)
  )
}

export const dismissPayment = defineAct({
  path: 'payments/:payment/dismiss',
  scope: 'decide',
  summary: 'decide that a held payment gets neither a node nor a refund',
  fields: PAYMENT_ACT,
  asks: 'Dismiss it?',
  change: ({ sql, actor }, { payment: key, reason }) => dismiss(sql, actor, { key, reason }),
  preview: async ({ id }, _request, sql) => {
    const payment = await readBrief(sql, id)
    return [`${nameOf(payment)} gets neither a node nor a refund.`, ...warningsOf(payment)]
  },
  says: standingInWords,
})

async function dismiss(
  sql: Sql,
  actor: Actor,
  { key, reason: note }: Omit<Release, 'tierId'>,
): Promise<DecisionResult | OperatorRefusal> {
  const payment = await lockHeld(sql, key)
  if (isOperatorRefusal(payment)) return payment
  const refusal = await refuseSpent(sql, payment)
  if (refusal) return refusal
  const evidence = {
    rule: 'dismissed',
    heldFor: payment.reason,
    note,
    ...placeOf(payment),
    receivedWei: payment.valueWei.toString(),
  }
  await writeVerdict(sql, payment.id, { move: 'dismiss', evidence, by: actor.name })
  return recordDecision(sql, actor, payment, { status: 'dismissed', tierId: payment.tierId, evidence })
}

const DECISIONS = ['release', 'dismiss'] as const

/** The outcome for each named payment, in the order given. On a dry run, what the outcome would be. */
export interface ManyDecided {
  dryRun: boolean
  /** The number of payments that were decided, or would be. */
  decided: number
  results: ((DecisionResult | typeof NOT_DECIDED) & { payment: string; refusal: string | null })[]
}

const MANY = {
  decision: field.word('what to do with them', DECISIONS),
  payments: PAYMENTS,
  tierId: TIER_ID('for payments whose amount matches no tier'),
  dryRun: field.flag('only show what would happen to each: the service tries it and undoes it'),
  reason: field.REASON,
}

/**
 * Decides each payment after the one before it, in a transaction of its own. If one is refused, the others are still decided. A dry run tries all of them
 * in one transaction and undoes it, so that each sees the places that the earlier ones take.
 */
export const decideMany = defineGuardedAct({
  path: 'payments/decide',
  scope: 'decide',
  summary: 'release or dismiss several held payments',
  fields: MANY,
  proposedAs: 'decideMany',
  sum: (sql, { decision, dryRun, payments, tierId }) =>
    decision === 'release' && !dryRun ? sumToRelease(sql, keysOf(payments), tierId) : 0n,
  run: (deps, actor, input) =>
    input.dryRun
      ? inUndoneTransaction(deps.pool, (sql) => decideEach({ pool: poolWithin(sql) }, actor, input))
      : decideEach(deps, actor, input),
  preview: ({ results }, { decision }, sql) => decisionsInWords(sql, decision, results),
  says: ({ dryRun, decided, results }) =>
    `${decided} ${dryRun ? 'would be decided' : 'decided'}, ${results.length - decided} not.`,
})

async function decideEach(
  { pool }: LedgerDb,
  actor: Actor,
  { decision, tierId, reason, dryRun, payments }: field.Read<typeof MANY>,
): Promise<ManyDecided> {
  const decide = async (sql: Sql, key: PaymentKey) => {
    if (decision === 'dismiss') return dismiss(sql, actor, { key, reason })
    const [own] = await readForReview(sql, key, { lock: false })
    return release(sql, actor, { key, tierId: own?.tierId == null ? tierId : null, reason })
  }
  const rows = await findRows(pool, payments)
  const versions = await readTierVersions(pool)
  const tierNoOf: TierNoOf = (payment) => tierNoBy(payment.tierId === null ? tierId : null, versions)(payment)
  await lockTogether(pool, rows, decision === 'release' ? tierNoOf : undefined)
  const results: ManyDecided['results'] = []
  for (const { payment, row } of rows) {
    const outcome = isOperatorRefusal(row) ? row : await inTransaction(pool, (sql) => decide(sql, row))
    results.push(
      isOperatorRefusal(outcome)
        ? { ...NOT_DECIDED, payment, refusal: outcome.message }
        : { ...outcome, payment, refusal: null },
    )
  }
  return { dryRun, decided: results.filter(({ refusal }) => refusal === null).length, results }
}

/** What many decisions would do: how many and how much, what is refused and why, and what warns before them. */
export async function decisionsInWords(
  sql: Sql,
  decision: keyof typeof EFFECTS,
  results: readonly { payment: string; id: number | null; tierId?: string | null; refusal: string | null }[],
): Promise<string[]> {
  const ids = results.flatMap(({ id, refusal }) => (refusal === null && id !== null ? id : []))
  const briefs = await readInBrief(sql, ids)
  const tierOf = new Map(results.map(({ id, tierId }) => [id, tierId ?? '']))
  const byTier = Map.groupBy(briefs, ({ id }) => (decision === 'release' ? tierOf.get(id) : ''))
  const refusals = Map.groupBy(
    results.filter(({ refusal }) => refusal !== null),
    ({ refusal }) => refusal,
  )
  const warnings = briefs.flatMap((one) => warningsOf(one).map((text) => `${nameOf(one)}: ${text}`))
  return [
    ...[...byTier].map(([tier, those]) => `${sumInWords(those)}: ${EFFECTS[decision]}${tier && `, in tier ${tier}`}.`),
    ...[...refusals].map(([why, those]) => `Not ${groupInWords(those)}: ${why}`),
    ...firstOf(warnings),
  ]
}

const EFFECTS = {
  release: 'a node for each',
  dismiss: 'neither a node nor a refund',
}

const NOT_DECIDED = { id: null, txHash: null, status: null, tierId: null, fileMadeAt: null }

/** The block and payer to which a decision applies. In another block, an inner transfer is judged again. */
const placeOf = ({ blockHash, from }: DeskPayment) => ({ blockHash, from })

/** Writes the audit log's row, notifies all instances, and returns the result. */
export async function recordDecision(
  sql: Sql,
  actor: Actor,
  payment: DeskPayment,
  { evidence, ...after }: Pick<DecisionResult, 'status' | 'tierId'> & { evidence: { rule: string } },
): Promise<DecisionResult> {
  const before = { status: payment.state, reason: payment.reason, tierId: payment.tierId }
  const subject = payment.txHash ?? String(payment.id)
  const action = evidence.rule
  await recordAct(sql, actor, { action, subject, before, after: { ...after, ...evidence } })
  await notifyLedgerChanged(sql)
  return { id: payment.id, txHash: payment.txHash, ...after, fileMadeAt: await readFirstFile(sql, payment.ref) }
}

/** The outcome of a bulk dismissal, done or previewed. `remaining` is how many another act would still find. */
export interface DustDismissal {
  dryRun: boolean
  count: number
  sumWei: bigint
  remaining: number
}

export const dismissAllDust = defineAct({
  path: 'payments/dismiss',
  scope: 'decide',
  summary: 'dismiss every held payment below an amount, which may be at most the lowest price ever',
  asks: 'Dismiss them all?',
  otherwise: 'Nothing was dismissed.',
  fields: {
    belowWei: field.wei('held payments below this amount'),
    dryRun: field.flag('only show how many there are, and their sum'),
    reason: field.REASON,
  },
  change: async (
    { sql, actor, record },
    { belowWei, reason: note, dryRun },
  ): Promise<DustDismissal | OperatorRefusal> => {
    const lowestWei = (await readTierVersions(sql)).reduce<bigint | null>(
      (lowest, { priceWei }) => (lowest === null || priceWei < lowest ? priceWei : lowest),
      null,
    )
    if (lowestWei !== null && belowWei > lowestWei)
      return refuseField('invalid', 'belowWei', `may be at most ${lowestWei}, the lowest price ever: more is not dust.`)
    const total = await sumDust(sql, belowWei)
    if (dryRun) return { dryRun, ...total, remaining: total.count }
    const evidence = { rule: 'dismissed', note, belowWei: belowWei.toString() }
    const { count, sumWei } = await dismissDust(sql, { belowWei, limit: DUST_MAX }, { evidence, by: actor.name })
    const after = { belowWei: belowWei.toString(), count, sumWei: sumWei.toString() }
    if (count > 0) record({ action: 'dustDismissed', after })
    const { count: remaining } = await sumDust(sql, belowWei)
    return { dryRun, count, sumWei, remaining }
  },
  says: ({ dryRun, count, sumWei, remaining }) => {
    const figures = `${counted(count, 'payment')}, ${inEther(sumWei)} ETH in all`
    return dryRun ? `${figures}: neither a node nor a refund.` : `Dismissed ${figures}; ${remaining} left.`
  },
})
