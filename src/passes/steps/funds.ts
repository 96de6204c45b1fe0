// Checks from time to time whether the sending accounts have enough ether left, and warns before it runs out. Sends nothing, and never keeps a pass
// from its work.
import type { AccountReader } from '../../chain/port.ts'
import { passFinished, passStarted, secondsSincePass } from '../../db/core/passes.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { writeAudit, writeState } from '../../db/core/state.ts'
import { noteCalm, noteTrouble } from '../../db/core/troubles.ts'
import { readNextRoundWei, readUsualGas, readWaitingMintGas } from '../../db/sends/funds.ts'
import type { FeeRules } from '../../domain/fees.ts'
import { fundsNeededWei, type Spending } from '../../domain/funds.ts'
import { messageOf } from '../../lib/errors.ts'
import type { AccountsRead, CreditRules, LedgerDb, Logging, RuledBy, UpkeepRules } from '../context.ts'
import { feesToHave } from './fees.ts'

/** When we report a balance as low, it still lasts for many transactions. */
const EVERY_SEC = 300
/** Assumed before the first transaction; a mint of one node takes less than this. */
const USUAL_GAS = 200_000n

/** A signer account's funds as last read, stored as the setting `funds minter` or `funds distributor`. */
export interface Funds {
  sender: string
  address: string
  balanceWei: string
  /** Below this they are low, and for some minutes after. */
  neededWei: string
  low: boolean
}

type FundsContext = LedgerDb & AccountsRead & RuledBy<CreditRules & UpkeepRules & FeeRules> & Logging

/** Checks if the last time is long enough ago. */
export async function watchFunds(ctx: FundsContext): Promise<void> {
  if (ctx.rules.fundsWarnTransactions === 0) return
  const since = await secondsSincePass(ctx.pool, 'funds')
  if (since !== null && since < EVERY_SEC) return
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
  const { minter, distributor, rules } = ctx
  const either = minter ?? distributor
  if (!either) return
  const { maxFeeWei } = await feesToHave(ctx, either)
  if (minter) {
    const waitingGas = await readWaitingMintGas(ctx.pool)
    await lookAt(ctx, 'minter', minter, { maxFeeWei, waitingGas, nextRoundWei: 0n })
  }
  if (distributor) {
    const nextRoundWei = rules.distMode === 'treasury' ? await readNextRoundWei(ctx.pool) : 0n
    await lookAt(ctx, 'distributor', distributor, { maxFeeWei, waitingGas: 0n, nextRoundWei })
  }
}

async function lookAt(
  ctx: FundsContext,
  role: string,
  sender: AccountReader,
  ahead: Omit<Spending, 'gasPerTransaction'>,
): Promise<void> {
  const [balanceWei, usualGas] = await Promise.all([sender.balance(), readUsualGas(ctx.pool, sender.address)])
  const spending = { gasPerTransaction: usualGas ?? USUAL_GAS, ...ahead }
  const neededWei = fundsNeededWei(spending, ctx.rules.fundsWarnTransactions)
  const isShort = balanceWei < neededWei
  await inTransaction(ctx.pool, async (sql) => {
    const trouble = `funds ${role}` as const
    const begins = isShort && (await noteTrouble(sql, trouble))
    const calm = isShort ? null : await noteCalm(sql, trouble)
    // The needed amount goes up and down with the fees, so funds stay low until they have sufficed for a while.
    const low = isShort || calm === 'lasting'
    const funds: Funds = {
      ...{ sender: role, address: sender.address, balanceWei: String(balanceWei), neededWei: String(neededWei), low },
    }
    await writeState(sql, trouble, funds, 'pass')
    if (!begins && calm !== 'over') return
    const action = begins ? 'fundsLow' : 'fundsRestored'
    await writeAudit(sql, { actor: 'pass', action, subject: sender.address, detail: funds })
    if (begins)
      ctx.log.warn(funds, 'a signer account’s funds are low: send ether to its address before the passes stop')
  })
}
