// Watches whether an account's signer signs what a run needs, and whether the account still has its role on the contract. It records both, because if
// one is missing, mints or rounds stop while everything else looks fine. It must never send anything.

import { inTransaction } from '../../db/core/sql.ts'
import { writeAudit } from '../../db/core/state.ts'
import { noteCalm, noteTrouble } from '../../db/core/troubles.ts'
import { readSenderTroubles } from '../../db/sends/signers.ts'
import { type Address, wei } from '../../domain/units.ts'
import type { AccountRole, LedgerDb, Logging } from '../../ports/contexts.ts'
import { SignerFault } from '../../ports/faults.ts'
import type { SignerAnswer } from '../../ports/outcomes.ts'
import type { EstimateOutcome, FactoryCall, SignerAccount } from '../../ports/sending.ts'

/** Empty calls of the same kind as the account's real calls, so that a signer with rules of its own allows them. */
const EMPTY_CALLS: Readonly<Record<AccountRole, FactoryCall>> = {
  minter: { kind: 'mint', orders: [], guard: null, validUntil: 0 },
  distributor: { kind: 'credit', round: 0, credits: [], valueWei: wei(0n), guard: null, validUntil: 0 },
}
/** The contract's error if another account has that role. */
const ROLE_ERRORS: Readonly<Record<AccountRole, string>> = { minter: 'NotMinter', distributor: 'NotDistributor' }
/** No block accepts a transaction with less than 21,000 gas. So a transaction signed with this gas limit can never be mined. */
const TRIAL_GAS = 1n

/**
 * Tries whether the account signs: asks it for an empty call that can never be mined, and drops the result. Throws a SignerFault if the signer does
 * not sign.
 */
export async function trySigning(role: AccountRole, sender: SignerAccount): Promise<void> {
  const fees = { maxFeeWei: 1n, maxPriorityFeeWei: 1n }
  await sender.sign(EMPTY_CALLS[role], { nonce: 0, gasLimit: TRIAL_GAS, fees })
}

/**
 * Runs `body`, watches whether the account signs and still has its role, and stores both findings. If a signer is on record as down, every run tries
 * it even if there is nothing to sign, so that we notice when it works again.
 */
export async function withSigner<T>(
  ctx: LedgerDb & Logging,
  role: AccountRole,
  sender: SignerAccount,
  body: (sender: SignerAccount) => Promise<T>,
): Promise<{ result: T; signer: SignerAnswer }> {
  let refusal: SignerFault | null = null
  let hasSigned = false
  /** Null if no call was simulated. */
  let isInRole: boolean | null = null
  const watchedSender: SignerAccount = {
    ...sender,
    async estimate(call) {
      const outcome = await sender.estimate(call)
      isInRole = !isRoleLost(role, outcome)
      return outcome
    },
    async sign(call, options) {
      try {
        const transaction = await sender.sign(call, options)
        hasSigned = true
        return transaction
      } catch (error) {
        if (error instanceof SignerFault) refusal = error
        throw error
      }
    },
  }
  const result = await body(watchedSender)
  if (isInRole === null && (await isOnRecord(ctx, 'role', role))) await watchedSender.estimate(EMPTY_CALLS[role])
  if (isInRole !== null) await noteRole(ctx, role, { address: sender.address, isInRole })
  if (isInRole === false) return { result, signer: 'roleLost' }
  if (!hasSigned && refusal === null) {
    if (!(await isOnRecord(ctx, 'signer', role))) {
      await noteWell(ctx, role, sender)
      return { result, signer: null }
    }
    await trySigning(role, watchedSender).catch((error: unknown) => {
      if (!(error instanceof SignerFault)) throw error
    })
  }
  await note(ctx, role, sender, refusal)
  return { result, signer: refusal === null ? 'signed' : 'notSigned' }
}

const isRoleLost = (role: AccountRole, outcome: EstimateOutcome) =>
  outcome.kind === 'reverts' && outcome.error === ROLE_ERRORS[role]

/** True if the contract rejects a call because another account has the role. */
export const refusesRole = (outcome: EstimateOutcome) =>
  isRoleLost('minter', outcome) || isRoleLost('distributor', outcome)

const isOnRecord = async ({ pool }: LedgerDb, kind: 'signer' | 'role', role: AccountRole) =>
  (await readSenderTroubles(pool, kind)).some((trouble) => trouble.role === role)

/** Records whether an account has its role. Reports when the role is lost, and once the account has had it back for a while. */
async function noteRole(
  ctx: LedgerDb & Logging,
  role: AccountRole,
  { address, isInRole }: { address: Address; isInRole: boolean },
): Promise<void> {
  const trouble = `role ${role}` as const
  const entryOf = (action: string) => ({ actor: 'pass', action, subject: address, detail: { sender: role } })
  await inTransaction(ctx.pool, async (sql) => {
    if (!isInRole) {
      if (await noteTrouble(sql, trouble, { address })) await writeAudit(sql, entryOf('roleLost'))
    } else if ((await noteCalm(sql, trouble)) === 'over') await writeAudit(sql, entryOf('roleRestored'))
  })
  if (!isInRole)
    ctx.log.error({ sender: role, address }, 'another account has this role on the contract: nothing is sent')
}

/** Records whether the signer signed. Writes the start of a failure to the audit log. */
async function note(
  ctx: LedgerDb & Logging,
  role: AccountRole,
  { address }: SignerAccount,
  refusal: SignerFault | null,
): Promise<void> {
  if (refusal === null) return await noteWell(ctx, role, { address })
  const { message: detail } = refusal
  await inTransaction(ctx.pool, async (sql) => {
    if (!(await noteTrouble(sql, `signer ${role}`, { address, detail }))) return
    await writeAudit(sql, { actor: 'pass', action: 'signerDown', subject: address, detail: { sender: role, detail } })
  })
  ctx.log.error({ sender: role, err: refusal }, 'the signer does not sign: each run tries again')
}

/** Records that the signer did not fail. Reports a recovery once it has lasted. */
async function noteWell(ctx: LedgerDb, role: AccountRole, { address }: Pick<SignerAccount, 'address'>): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if ((await noteCalm(sql, `signer ${role}`)) !== 'over') return
    await writeAudit(sql, { actor: 'pass', action: 'signerRestored', subject: address, detail: { sender: role } })
  })
}
