// Judges, all at once, transfers that cannot be a sale by any fact about their wallet: failed ones, and amounts that were never the
// price of a tier. They depend on no fact and no other payment, so that many of them delay no buyer.
import { readDenyList } from '../../db/payments/deny-list.ts'
import { writeVerdicts } from '../../db/payments/moves.ts'
import type { Payment } from '../../db/payments/rows.ts'
import { judgePayment } from '../../domain/payment.ts'
import { isOldWallet, type PaymentWallet } from '../../domain/payment-wallets.ts'
import { selectTier, type TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { LedgerDb, Logging } from '../context.ts'

interface UnpricedBasis {
  wallets: readonly PaymentWallet[]
  versions: readonly TierVersion[]
  serviceAccounts: readonly Address[]
}

/** True if no fact about its wallet could make the payment a sale. */
export function isUnpriced(versions: readonly TierVersion[], payment: Payment): boolean {
  return !payment.succeeded || selectTier(versions, payment).kind === 'none'
}

/** Judges payments that are unpriced, one statement for each reason. @returns how many were held. */
export async function judgeUnpriced(
  ctx: LedgerDb & Logging,
  basis: UnpricedBasis,
  unpriced: readonly Payment[],
): Promise<number> {
  if (unpriced.length === 0) return 0
  const denied = new Set((await readDenyList(ctx.pool)).map(({ address }) => address))
  const judged = unpriced.map((payment) => ({ payment, verdict: verdictOn(basis, payment, denied) }))
  let held = 0
  for (const group of Map.groupBy(judged, ({ verdict }) => verdict.reason).values()) {
    const [first] = group
    if (!first) continue
    const rows = group.map(({ payment, verdict }) => ({
      id: payment.id,
      blockHash: payment.blockHash,
      evidence: { ...verdict.evidence, ...seenAt(payment) },
    }))
    const { verdict } = first
    const decision =
      verdict.kind === 'held'
        ? ({ move: 'hold', reason: verdict.reason } as const)
        : ({ move: 'ignore', reason: verdict.reason } as const)
    const count = await writeVerdicts(ctx.pool, rows, decision)
    failpoint('judge.stored')
    if (verdict.kind === 'held') held += count
    ctx.log.info({ verdict: verdict.kind, reason: verdict.reason, count }, 'payments of no price judged')
  }
  return held
}

/** The place of a payment when it was judged, for its evidence. */
export const seenAt = ({ wallet, from, blockNumber, blockHash }: Payment) => ({ wallet, from, blockNumber, blockHash })

/** The block of a payment. */
export const placeOf = ({ blockNumber, blockTime }: Payment) => ({ number: blockNumber, time: blockTime })

function verdictOn({ wallets, serviceAccounts }: UnpricedBasis, payment: Payment, denied: ReadonlySet<Address>) {
  const { from, valueWei, succeeded } = payment
  const verdict = judgePayment({
    ...{ from, valueWei, succeeded, serviceAccounts },
    wallets: wallets.map(({ wallet }) => wallet),
    isToOldWallet: isOldWallet(wallets, payment.wallet, placeOf(payment)),
    senderDenied: denied.has(from),
    selection: { kind: 'none' },
    // No rule comes to these.
    beforeRestore: false,
    holding: { kind: 'notNeeded' },
    payer: { kind: 'plain' },
    ...{ walletNodes: 0, walletInFlight: 0, walletMax: 0, tierNodes: 0, tierInFlight: 0 },
  })
  if (verdict.kind === 'held' || verdict.kind === 'ignored') return verdict
  throw new Error(`payment ${payment.id} was judged as one without a price, and is ${verdict.kind}`)
}
