// Mints what was accepted: one transaction for all of it, each node into the cohort that its time belongs to. Opens
// cohorts where a tier lacks them. Never mints without the fork guard, save on chains where the settled height replaces it.
import type { CohortOpening, FactoryCall, MintOrder } from '../../chain/port.ts'
import { readCohorts } from '../../db/cohorts.ts'
import * as payments from '../../db/payments.ts'
import { readCreditTerms, readTierVersions } from '../../db/tiers.ts'
import { termsAt } from '../../domain/credit.ts'
import { type CohortsAt, chooseCohort, type Opening, openingsNeeded } from '../../domain/schedule.ts'
import { MINT_BATCH_MAX } from '../../domain/send.ts'
import type { FeeRules, LedgerDb, Logging, RuledBy } from '../context.ts'
import { type SenderRun, type Sent, send, sendWhatFits } from './send.ts'

type MintContext = LedgerDb & RuledBy<FeeRules> & Logging

/** Cohorts opened in one transaction at most: about 50,000 gas each. */
const OPENINGS_MAX = 100

/**
 * Sends at most one transaction: the mint of accepted payments, or what has to be opened for them first. What the operator released may be
 * of a block above `upToBlock`, the settled height: then it waits.
 */
export async function mint(ctx: MintContext, sending: SenderRun, upToBlock: number): Promise<Sent | null> {
  const { cursor } = sending
  const schedule = termsAt(await readCreditTerms(ctx.pool), cursor.time)
  if (!schedule) return null
  const cohorts = await readCohorts(ctx.pool)
  const accepted = await payments.readPayments(ctx.pool, { states: ['accepted'], upToBlock, limit: MINT_BATCH_MAX })
  const batch = accepted.flatMap((payment) => {
    const cohort = payment.tierNo === null ? null : chooseCohort(cohorts, payment.tierNo, schedule, cursor.time)
    return cohort ? [{ payment, order: { to: payment.from, cohort: cohort.cohort, ref: payment.ref } }] : []
  })
  // Somebody who waits for a cohort goes first: the others' mint is one transaction later, his would be never.
  if (batch.length === 0 || batch.length < accepted.length) {
    const openings = await planOpenings(ctx, { cohorts, schedule, now: cursor.time }, accepted)
    if (openings.length > 0) return sendOpenings(ctx, sending, openings)
  }
  return batch.length > 0 ? sendWhatFits(batch, (part) => sendMint(ctx, sending, part)) : null
}

function sendOpenings(ctx: MintContext, sending: SenderRun, openings: CohortOpening[]): Promise<Sent> {
  return sendWhatFits(openings, (part) =>
    send(ctx, sending, { kind: 'openCohorts', openings: [...part] }, async () => {}),
  )
}

interface Minting {
  payment: payments.Payment
  order: MintOrder
}

async function sendMint(ctx: MintContext, sending: SenderRun, batch: readonly Minting[]): Promise<Sent> {
  const { run, cursor } = sending
  const call: FactoryCall = {
    kind: 'mint',
    orders: batch.map(({ order }) => order),
    guard: run.guardUsable ? { number: cursor.number, hash: cursor.hash } : null,
  }
  return await send(ctx, sending, call, async (sql, outboxId) => {
    const ids = batch.map(({ payment }) => payment.id)
    const current = await payments.lockPayments(sql, ids)
    // A payment that was orphaned or decided otherwise since it was read must not be carried.
    if (current.length !== ids.length || current.some((payment) => payment.state !== 'accepted')) {
      throw new Error('a payment changed while its mint was being signed; the next run mints anew')
    }
    await payments.markMinting(sql, ids, outboxId)
  })
}

/** What has to be opened: for every tier on sale, and for tiers of accepted payments that are on sale no more. */
async function planOpenings(
  ctx: LedgerDb,
  at: CohortsAt,
  accepted: readonly payments.Payment[],
): Promise<CohortOpening[]> {
  const latest = new Map((await readTierVersions(ctx.pool)).map((version) => [version.tierNo, version]))
  const needed = [...latest.values()].flatMap((tier) => {
    const waiting = accepted.some((payment) => payment.tierNo === tier.tierNo)
    return tier.onSale || waiting ? openingsNeeded(at, tier.tierNo, waiting) : []
  })
  const next = Math.max(0, ...at.cohorts.map((cohort) => cohort.cohort)) + 1
  return needed.slice(0, OPENINGS_MAX).map((opening: Opening, i) => ({ cohort: next + i, ...opening }))
}
