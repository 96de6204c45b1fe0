// The gas fees that our transactions offer. This file cannot send.

import { readFees } from '../../db/sends/fees.ts'
import { type FeeRules, type Fees, feeLimits, feesSeen } from '../../domain/fees.ts'
import type { LedgerDb, RuledBy } from '../../ports/contexts.ts'
import type { AccountReader } from '../../ports/sending.ts'

/** The provider's suggestion, limited by what followed blocks show and by the operator's caps. */
export async function feesNow(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return account.fees(feeLimits(await readFees(ctx.pool), ctx.rules))
}

/** The provider's suggestion, limited only by the operator's caps. For a transaction that a pool rejected. */
export async function feesSuggested(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return account.fees({ ...feeLimits(await readFees(ctx.pool), ctx.rules), tipMaxWei: ctx.rules.tipMaxWei })
}

/** The fees to assume when we estimate whether funds are sufficient: from followed blocks, or else from the provider. */
export async function feesToHave(ctx: LedgerDb & RuledBy<FeeRules>, account: AccountReader): Promise<Fees> {
  return feesSeen(await readFees(ctx.pool), ctx.rules) ?? (await feesNow(ctx, account))
}
