// Checks from time to time whether the signer accounts have enough ether left, and warns before they run out. It sends nothing, and a failure here
// never stops a pass.

import { passFinished, passStarted, secondsSincePass } from '../../db/core/passes.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { writeAudit } from '../../db/core/state.ts'
import { noteCalm, noteTrouble, writeFinding } from '../../db/core/troubles.ts'
import { readSpending } from '../../db/sends/funds.ts'
import type { FeeRules } from '../../domain/fees.ts'
import { judgeFunds, type Spending, USUAL_GAS } from '../../domain/funds.ts'
import { messageOf } from '../../lib/errors.ts'
import type { AccountsRead, CreditRules, LedgerDb, Logging, RuledBy, UpkeepRules } from '../../ports/contexts.ts'
import type { AccountReader } from '../../ports/sending.ts'
import { feesToHave } from './fees.ts'

/** Seconds between two checks. That is often enough, because a balance that we report as low still lasts for many transactions. */
const EVERY_SEC = 300

/** A signer account's funds when we last read them, on record as `funds minter` or `funds distributor`. */
export interface Funds {
  sender: string
  address: string
  balanceWei: string
  /** A balance below this is low. It counts as low until it has been sufficient for some minutes. */
  neededWei: string
  low: boolean
}

type FundsContext = LedgerDb & AccountsRead & RuledBy<CreditRules & UpkeepRules & FeeRules> & Logging

/** Checks if the last check is long enough ago. */
export async function watchFunds(ctx: FundsContext): Promise<void> {
  if (ctx.rules.fundsWarnTransactions === 0) return
  if ((await secondsSincePass(ctx.pool, 'funds')) < EVERY_SEC) return
  await passStarted(ctx.pool, 'funds')
  try {
    await lookAtBoth(ctx)
    await passFinished(ctx.pool, 'funds', { outcome: {} })
  } catch (error) {
    ctx.log.warn({ err: error }, 'the signer accounts’ funds could not be read')
    await passFinished(ctx.pool, 'funds', { error: messageOf(error) })
  }
}

async function lookAtBoth(ctx: FundsContext): Promise<void> {
  const { minter, distributor } = ctx
  const either = minter ?? distributor
  if (!either) return
  const { maxFeeWei } = await feesToHave(ctx, either)
  if (minter) await lookAt(ctx, 'minter', minter, maxFeeWei)
  if (distributor) await lookAt(ctx, 'distributor', distributor, maxFeeWei)
}

/** The account's gas if there is no ledger that knows what it sends. */
const NO_LEDGER: Spending = { waitingGas: 0n, gasPerTransaction: USUAL_GAS, nextRoundWei: 0n }

/** Reads an account's balance and what it will spend, and judges them. `pool`: the ledger's; null if there is no ledger. */
export async function readFunds(
  pool: LedgerDb['pool'] | null,
  { sender, role, distMode }: { sender: AccountReader; role: string; distMode: CreditRules['distMode'] },
  limits: Parameters<typeof judgeFunds>[2],
) {
  const [balanceWei, spending] = await Promise.all([
    sender.balance(),
    pool ? readSpending(pool, { role, address: sender.address, distMode }) : NO_LEDGER,
  ])
  return { balanceWei, ...spending, ...judgeFunds(balanceWei, spending, limits) }
}

async function lookAt(ctx: FundsContext, role: string, sender: AccountReader, maxFeeWei: bigint): Promise<void> {
  const { fundsWarnTransactions: warnTransactions, distMode } = ctx.rules
  const read = await readFunds(ctx.pool, { sender, role, distMode }, { maxFeeWei, warnTransactions })
  const { balanceWei, neededWei, low: isShort } = read
  await inTransaction(ctx.pool, async (sql) => {
    const trouble = `funds ${role}` as const
    const begins = isShort && (await noteTrouble(sql, trouble))
    const calm = isShort ? null : await noteCalm(sql, trouble)
    // The needed amount changes with the fees. So funds count as low until they have been sufficient for a while.
    const low = isShort || calm === 'lasting'
    const funds: Funds = {
      sender: role,
      address: sender.address,
      balanceWei: String(balanceWei),
      neededWei: String(neededWei),
      low,
    }
    await writeFinding(sql, trouble, funds)
    if (!begins && calm !== 'over') return
    const action = begins ? 'fundsLow' : 'fundsRestored'
    await writeAudit(sql, { actor: 'pass', action, subject: sender.address, detail: funds })
    if (begins)
      ctx.log.warn(funds, 'a signer account’s funds are low: send ether to its address before the passes stop')
  })
}
