// The gas fees that our transactions would offer now. This file cannot send.
import type { AccountReader } from '../../chain/port.ts'
import { readFees } from '../../db/sends/fees.ts'
import { type FeeRules, type Fees, feeLimits, feesSeen } from '../../domain/fees.ts'
import type { LedgerDb, RuledBy } from '../context.ts'

/** What the provider suggests, within the limits of what followed blocks show and the operator allows. */
export async function feesNow(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return account.fees(feeLimits(await readFees(ctx.pool), ctx.rules))
}

/** For a transaction that a pool rejected: the provider's suggestion, limited only by the operator's caps. */
export async function feesSuggested(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return account.fees({ ...feeLimits(await readFees(ctx.pool), ctx.rules), tipMaxWei: ctx.rules.tipMaxWei })
}

/** The fees that a transaction would offer, to estimate whether funds suffice: from followed blocks, else from the provider. */
export async function feesToHave(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return feesSeen(await readFees(ctx.pool), ctx.rules) ?? (await feesNow(ctx, account))
}
