// What referral codes earned, took back, were paid, and are due, by docs/ADMIN.md (Referral codes), docs/BOOKS.md (commissions: what payments of the
// period earned, what its refunds took back, what was paid) and api/openapi.yaml (getReferral). Loops over payments; which codes a calldata names is
// ../referrals.ts.
//
// Choices in what the documents leave open:
// - A version is in force from its block on. Of several in one block, the last entered.
// - `opensAt` itself is open, `closesAt` itself is closed, as for a tier. A code has no grace.
// - A commission is rounded down.
// - What was earned counts for the payment's block, what a refund takes back for the refund's block.
// - A commission waits from its node's mint on for the time that the version of the payment's block sets. The second at which it ends is due. A refund
//   takes back what waits, too. Whatever is paid counts for what is due first.
// - A payment that is refunded without a node never earned, so its refund takes nothing back. A refund of a node's payment takes back what it earned.

export interface CodeVersion {
  code: string
  version: number
  payee: string
  commissionBps: number
  opensAt: number | null
  closesAt: number | null
  fromBlock: number
  waitSec: number
}
export interface Paid {
  ref: string
  from: string
  valueWei: bigint
  codes: string[]
  block: number
  time: number
  /** The block of its node's mint; null if it is no node. */
  mintedBlock: number | null
  mintedTime: number
  /** True if only one provider reports the payment or its node's mint. */
  isBelieved: boolean
}
export interface Transfer {
  /** The payment that it refunds, or the code whose payee it pays. */
  refunds: string | null
  commissionOf: string | null
  to: string
  valueWei: bigint
  block: number
}
export interface Line {
  code: string
  payee: string
  count: number
  valueWei: bigint
  earnedWei: bigint
  reversedWei: bigint
  paidWei: bigint
}

/** The version of a code in force in a block. */
function inForce(versions: CodeVersion[], code: string, block: number): CodeVersion | undefined {
  let now: CodeVersion | undefined
  for (const one of versions) {
    if (one.code !== code || one.fromBlock > block) continue
    if (now === undefined || one.version > now.version) now = one
  }
  return now
}

/** The code that earns by a payment, as its terms are in the payment's block. Null: none. */
function earns(
  versions: CodeVersion[],
  payment: Paid,
): { code: string; payee: string; wei: bigint; ripeAt: number } | null {
  for (const code of payment.codes) {
    const now = inForce(versions, code, payment.block)
    if (now === undefined) continue
    if (now.opensAt !== null && payment.time < now.opensAt) continue
    if (now.closesAt !== null && payment.time >= now.closesAt) continue
    // The first that is open counts. If its payee is the payer, none does.
    if (now.payee === payment.from) return null
    return {
      code,
      payee: now.payee,
      wei: (payment.valueWei * BigInt(now.commissionBps)) / 10_000n,
      ripeAt: payment.mintedTime + now.waitSec,
    }
  }
  return null
}

/** A line for each code and payee that earned, lost or was paid something in these blocks. */
export function commissionsOf(
  ledger: { versions: CodeVersion[]; payments: Paid[]; transfers: Transfer[] },
  { after, upTo }: { after: number; upTo: number },
): Line[] {
  const lines: Line[] = []
  const lineOf = (code: string, payee: string): Line => {
    const known = lines.find((one) => one.code === code && one.payee === payee)
    if (known !== undefined) return known
    const added = { code, payee, count: 0, valueWei: 0n, earnedWei: 0n, reversedWei: 0n, paidWei: 0n }
    lines.push(added)
    return added
  }
  const isIn = (block: number) => block > after && block <= upTo
  for (const payment of ledger.payments) {
    const earned = payment.mintedBlock === null ? null : earns(ledger.versions, payment)
    if (earned === null) continue
    if (isIn(payment.block)) {
      const line = lineOf(earned.code, earned.payee)
      line.count += 1
      line.valueWei += payment.valueWei
      line.earnedWei += earned.wei
    }
    for (const one of ledger.transfers) {
      if (one.refunds === payment.ref && isIn(one.block)) lineOf(earned.code, earned.payee).reversedWei += earned.wei
    }
  }
  for (const one of ledger.transfers) {
    if (one.commissionOf !== null && isIn(one.block)) lineOf(one.commissionOf, one.to).paidWei += one.valueWei
  }
  return lines
}

/**
 * What is left to pay. Only what nodes minted up to a final block earned is due. What was paid counts from any block. What only one provider reports is
 * shown apart, and is due only to who trustsOne it.
 */
export function dueOf(
  ledger: { versions: CodeVersion[]; payments: Paid[]; transfers: Transfer[] },
  { final, trustsOne, now }: { final: number; trustsOne: boolean; now: number },
): (Line & { notFinalWei: bigint; waitingWei: bigint; believedWei: bigint; dueWei: bigint })[] {
  const payments = ledger.payments.filter((one) => one.mintedBlock !== null)
  const isFinal = (one: Paid) => (one.mintedBlock ?? 0) <= final
  const all = { after: -1, upTo: Number.MAX_SAFE_INTEGER }
  const waits = (one: Paid) => (earns(ledger.versions, one)?.ripeAt ?? 0) > now
  /** What is left of some payments' commissions. */
  const leftOf = (some: Paid[], { code, payee }: Line): bigint => {
    const same = commissionsOf({ ...ledger, payments: some }, all).find(
      (one) => one.code === code && one.payee === payee,
    )
    return (same?.earnedWei ?? 0n) - (same?.reversedWei ?? 0n)
  }
  return commissionsOf({ ...ledger, payments }, all).map((line) => {
    const leftIf = (isOne: (one: Paid) => boolean) => leftOf(payments.filter(isOne), line)
    const notFinalWei = leftIf((one) => !isFinal(one))
    const waitingWei = leftIf((one) => isFinal(one) && waits(one))
    const believedWei = leftIf((one) => isFinal(one) && one.isBelieved && !waits(one))
    const owed = line.earnedWei - line.reversedWei - line.paidWei
    // What was paid counts for what is final, ripe and proven first.
    const overpaid = owed < 0n ? owed : 0n
    const ripe = owed - notFinalWei - waitingWei - (trustsOne ? 0n : believedWei)
    return { ...line, notFinalWei, waitingWei, believedWei, dueWei: ripe > overpaid ? ripe : overpaid }
  })
}
