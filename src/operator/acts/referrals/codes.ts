// The operator's referral codes: who gets how much of the price if a payment names a code in its calldata. A version is never changed. A new version
// takes effect at the block after the chain's head at the earliest, so payments already made keep their version. Nothing here sends money.
import { insertReferral, type ReferralVersion, readReferrals } from '../../../db/sale/referrals.ts'
import { CODE_FORM, COMMISSION_BPS_MAX } from '../../../domain/payers/referrals.ts'
import type { ChainRead, LedgerDb } from '../../../ports/contexts.ts'
import { fieldNamed, type OperatorRefusal, refuseField } from '../../act.ts'
import { defineAct, defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { readNow } from '../terms.ts'

export const CODE = field.text('the code', {
  max: 32,
  pattern: CODE_FORM,
  form: '1 to 32 of a-z, 0-9, _ and -',
  value: 'code',
})

/** Codes in order, each with every version it ever had, oldest first. */
export const listReferrals = defineReading({
  path: 'referrals',
  command: 'referrals list',
  summary: 'list the referral codes with their versions',
  examples: ['referrals list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ referrals: await readReferrals(pool) }),
  columns: ['code', 'version', 'payee', 'commissionBps', 'opensAt', 'closesAt', 'fromBlock', 'enteredBy', 'enteredAt'],
})

/** A code after an act. `changed` is false if the code was the same before. */
export interface RegisteredReferral {
  referral: ReferralVersion
  changed: boolean
}

export const registerReferral = defineAct({
  path: 'referrals',
  scope: 'prices',
  command: 'referrals register',
  summary: 'register a referral code, or give it a new version, from the next block on',
  details: `A payment that names the code in its calldata (ERC-8021) earns the payee a commission once it is a node. Earlier payments keep
the version of their block. To end a code, register it again with --closes-at.`,
  examples: ['referrals register friends --payee <address> --commission-bps 500 --yes'],
  args: ['code'],
  fields: {
    code: CODE,
    payee: field.address('who is paid the commission'),
    commissionBps: field.whole('the commission, in basis points of the price', 0, COMMISSION_BPS_MAX, 'bps'),
    opensAt: field.orNull(field.time('from when it counts, by block time; by default from the next block on')),
    closesAt: field.orNull(field.time('until when it counts, by block time; by default forever')),
    reason: field.REASON,
  },
  onChain: true,
  asks: 'Register this code?',
  change: async (
    { sql, actor, record },
    { reason: _, ...asked },
    deps: LedgerDb & ChainRead,
  ): Promise<RegisteredReferral | OperatorRefusal> => {
    if (asked.opensAt !== null && asked.closesAt !== null && asked.closesAt <= asked.opensAt)
      return refuseField('invalid', 'closesAt', `must be later than ${fieldNamed('opensAt')}.`)
    await sql`LOCK TABLE referral_codes IN SHARE ROW EXCLUSIVE MODE`
    // This locks the cursor, so that no payment in a later block is stored before this version.
    const now = await readNow(deps, sql)
    const latest = async () => (await readReferrals(sql)).findLast(({ code }) => code === asked.code)
    const before = await latest()
    if (before && TERMS.every((name) => before[name] === asked[name])) return { referral: before, changed: false }
    const version = (before?.version ?? 0) + 1
    await insertReferral(sql, asked, { version, fromBlock: now.number + 1, enteredBy: actor.name })
    record({ action: 'referralRegistered', subject: asked.code, before, after: asked })
    const referral = await latest()
    return referral ? { referral, changed: true } : Promise.reject(new Error(`there is no code ${asked.code}`))
  },
  says: ({ changed, referral: { code, fromBlock } }) =>
    changed ? `Registered: ${code} counts from block ${fromBlock} on.` : 'No change.',
})

const TERMS = ['payee', 'commissionBps', 'opensAt', 'closesAt'] as const
