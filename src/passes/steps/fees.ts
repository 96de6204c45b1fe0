// The gas fees that our transactions would offer now. It cannot send.
import type { AccountReader } from '../../chain/port.ts'
import { readFees } from '../../db/sends/fees.ts'
import { type FeeRules, type Fees, feeLimits, feesSeen } from '../../domain/fees.ts'
import type { LedgerDb, RuledBy } from '../context.ts'

/** Asks the provider, and believes it within the limits of what followed blocks show and the operator allows. */
export async function feesNow(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return account.fees(feeLimits(await readFees(ctx.pool), ctx.rules))
}

/** What the provider suggests, within only the operator's caps, for when pools refuse what followed blocks show to be enough. */
export async function feesSuggested(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return account.fees({ ...feeLimits(await readFees(ctx.pool), ctx.rules), tipMaxWei: ctx.rules.tipMaxWei })
}

/** The fees that a transaction would offer, for estimating whether funds suffice: from the followed blocks, or else from the provider. */
export async function feesToHave(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return feesSeen(await readFees(ctx.pool), ctx.rules) ?? (await feesNow(ctx, account))
}
