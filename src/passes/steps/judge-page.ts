// Judges a page of payments in one transaction, in chain order: locks their wallets, reads what the ledger knows, lets the pure rule decide on one
// payment after the other, and stores verdicts with their evidence. An accepted payment takes its place before the next one is judged.
import { inTransaction } from '../../db/core/sql.ts'
import { type JudgedPayment, writeVerdicts } from '../../db/payments/moves.ts'
import type { Payment } from '../../db/payments/rows.ts'
import type { TierUse } from '../../db/payments/wallet-use.ts'
import { type Evidence, judgePayment } from '../../domain/judgement.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { LedgerDb, Logging } from '../../ports/contexts.ts'
import { type Candidate, type JudgingBasis, mayBuy, type Outcome, PageFacts, readLedger } from './judge-facts.ts'
import { tellScarce } from './open-ladder.ts'

export interface Judged {
  candidate: Candidate
  outcome: Outcome
}

interface Decision extends Judged {
  verdictRow?: VerdictRow
  /** What the payment adds to its wallet's use. */
  use?: TierUse
}

interface VerdictRow {
  verdict: keyof typeof MOVE_OF
  row: JudgedPayment
}
const MOVE_OF = { accepted: 'accept', held: 'hold', ignored: 'ignore' } as const

/** Judges payments, given in chain order. If another session holds one of the locks, a page of several payments fails, but a single payment waits. */
export async function judgePage(
  ctx: LedgerDb & Logging,
  basis: JudgingBasis,
  page: readonly Candidate[],
): Promise<Judged[]> {
  const decisions = await inTransaction(ctx.pool, async (sql) => {
    const facts = new PageFacts(basis, await readLedger(sql, basis, page))
    const pageDecisions = decideInOrder(page, facts)
    const verdictRows = pageDecisions.flatMap((decision) => decision.verdictRow ?? [])
    for (const [verdict, group] of Map.groupBy(verdictRows, (one) => one.verdict))
      await writeVerdicts(
        sql,
        MOVE_OF[verdict],
        group.map(({ row }) => row),
      )
    await tellScarce(sql, basis.versions, facts.sales())
    failpoint('judge.storing')
    return pageDecisions
  })
  failpoint('judge.stored')
  logVerdicts(ctx, decisions)
  return decisions
}

/** Decides on the payments one after the other. If a payment stays undecided, so do the later payments of its wallet. */
function decideInOrder(page: readonly Candidate[], facts: PageFacts): Decision[] {
  const waiting = new Set<Address>()
  return page.map((candidate) => {
    const { payment } = candidate
    const decision: Decision = waiting.has(payment.from)
      ? { candidate, outcome: 'undecided' }
      : decide(candidate, facts)
    if (decision.outcome === 'undecided') waiting.add(payment.from)
    facts.count(payment, decision.outcome, decision.use)
    return decision
  })
}

function decide(candidate: Candidate, facts: PageFacts): Decision {
  const { payment } = candidate
  if (!facts.isUnchanged(payment)) return { candidate, outcome: 'unchanged' }
  if (facts.isReleased(payment)) return acceptIfRoom(candidate, facts)
  const verdict = judgePayment(facts.of(candidate))
  if (verdict.kind === 'undecided') return { candidate, outcome: verdict.missing === 'opening' ? 'early' : 'undecided' }
  const was = payment.reason === 'supplySpent' ? 'soldOut' : payment.reason
  const isHeldAgain = verdict.kind === 'held' && verdict.reason === was
  // A contract wallet's payment is judged again when facts in its evidence change, so we store the evidence even if it is held again.
  if (isHeldAgain && verdict.reason !== 'contractWallet') return { candidate, outcome: 'unchanged' }
  const { wallet, from, blockNumber, blockHash } = payment
  const { countedAtBlock } = facts
  const evidence = { ...verdict.evidence, wallet, from, blockNumber, blockHash, countedAtBlock }
  if (verdict.kind === 'accepted') return accept(candidate, evidence, verdict.tier)
  const tier = verdict.kind === 'ignored' ? null : verdict.tier
  const row = { ...rowOf(payment, evidence, tier), reason: verdict.reason }
  return { candidate, outcome: isHeldAgain ? 'unchanged' : verdict.kind, verdictRow: { verdict: verdict.kind, row } }
}

/** Accepts a payment that the operator has released despite its verdict, unless its wallet or its tier has no room. It keeps its tier. */
function acceptIfRoom(candidate: Candidate, facts: PageFacts): Decision {
  const { payment } = candidate
  const { walletMax, walletNodes, walletInFlight } = facts.useOf(payment, payment.tierNo)
  const { supply, sold, reserved } = facts.roomFor(payment, payment.tierNo)
  const isFull = walletNodes + walletInFlight >= walletMax
  if (isFull || (supply !== null && sold + reserved >= supply)) return { candidate, outcome: 'unchanged' }
  const place = supply === null ? {} : { supply, sold, reserved, place: sold + 1 }
  return accept(candidate, { rule: 'released', walletMax, walletNodes, walletInFlight, ...place }, null)
}

function accept(candidate: Candidate, evidence: Evidence, tier: TierVersion | null): Decision {
  const { payment } = candidate
  const use = { tierNo: tier?.tierNo ?? payment.tierNo, nodes: 0, inFlight: 1 }
  return {
    candidate,
    outcome: 'accepted',
    verdictRow: { verdict: 'accepted', row: rowOf(payment, evidence, tier) },
    use,
  }
}

const rowOf = ({ id, blockHash, state }: Payment, evidence: Evidence, tier: TierVersion | null): JudgedPayment => ({
  id,
  blockHash,
  was: state,
  reason: null,
  evidence,
  tierId: tier?.tierId ?? null,
  tierVersion: tier?.version ?? null,
})

/** Logs each verdict on a payment that matches a tier's price. For the other payments, logs only how many were held or ignored for each reason. */
function logVerdicts(ctx: Logging, decisions: readonly Decision[]): void {
  const unpricedRows: VerdictRow[] = []
  for (const { candidate, verdictRow } of decisions) {
    if (!verdictRow) continue
    const { verdict, row } = verdictRow
    if (!mayBuy(candidate)) unpricedRows.push(verdictRow)
    else ctx.log.info({ txHash: candidate.payment.txHash, verdict, ...row.evidence }, 'payment judged')
  }
  for (const group of Map.groupBy(unpricedRows, ({ row }) => row.reason).values())
    ctx.log.info(
      { verdict: group[0]?.verdict, reason: group[0]?.row.reason, count: group.length },
      'judged payments that match no price',
    )
}
