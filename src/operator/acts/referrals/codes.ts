// The operator's referral codes: who gets how much of the price if a payment names a code in its calldata. A version is never changed. A new version
// takes effect at the block after the chain's head at the earliest, so payments already made keep their version. Nothing here sends money.
import type { Sql } from '../../../db/core/sql.ts'
import { insertReferral, type ReferralTerms, type ReferralVersion, readReferrals } from '../../../db/sale/referrals.ts'
import { COMMISSION_BPS_MAX, codeOf, WAIT_SEC_MAX } from '../../../domain/payers/referrals.ts'
import { inUtc } from '../../../lib/times.ts'
import type { ChainRead, LedgerDb } from '../../../ports/contexts.ts'
import { fieldNamed, isOperatorRefusal, type OperatorRefusal, refuseField } from '../../act.ts'
import { type Changing, defineAct, defineReading } from '../../define-act.ts'
import * as field from '../../input.ts'
import { readNow } from '../terms.ts'
import { readCodes } from './read.ts'

export const CODE = field.ofForm<string>('the code; capitals do not matter', {
  schema: { type: 'string', maxLength: 32 },
  value: 'code',
  otherwise: '',
  form: '1 to 32 of a-z, 0-9, _ and -',
  parse: (input) => (typeof input === 'string' ? (codeOf(input) ?? undefined) : undefined),
})

/** Codes in order, each with every version it ever had, oldest first. */
export const listReferrals = defineReading({
  path: 'referrals',
  command: 'referrals list',
  summary: 'list the referral codes with their versions',
  examples: ['referrals list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ referrals: await readReferrals(pool) }),
  columns: [
    'code',
    'version',
    'payee',
    'commissionBps',
    'opensAt',
    'closesAt',
    'waitSec',
    'fromBlock',
    'enteredBy',
    'enteredAt',
  ],
})

/** The terms that all codes of a list share; null keeps the current value, 0 means no limit. */
const SHARED = {
  opensAt: field.orNull(field.time('from when it counts, by block time; 0: from the next block on', 0)),
  closesAt: field.orNull(field.time('until when it counts, by block time; 0: forever', 0)),
  waitSec: field.orNull(
    field.whole('for how long a commission waits after the mint, in seconds; 0: not at all', 0, WAIT_SEC_MAX),
  ),
  reason: field.REASON,
}
const ROW = {
  code: CODE,
  payee: field.address('who is paid the commission'),
  commissionBps: field.whole('the commission, in basis points of the price', 0, COMMISSION_BPS_MAX, 'bps'),
}

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
  details: `A payment that carries the code in its calldata (ERC-8021) earns the payee a commission once it is a node. Earlier payments keep
the version of their block. To end a code, register it again with --closes-at. Omitted terms stay as they are; a new code has none.`,
  examples: ['referrals register friends --payee <address> --commission-bps 500 --yes'],
  args: ['code'],
  fields: { ...ROW, ...SHARED },
  onChain: true,
  asks: 'Register it?',
  change: async (
    changing,
    { reason: _, ...terms },
    deps: LedgerDb & ChainRead,
  ): Promise<RegisteredReferral | OperatorRefusal> => {
    const result = await register(changing, deps, [terms])
    if (isOperatorRefusal(result)) return result
    const [one] = result.referrals
    return one ?? Promise.reject(new Error(`there is no code ${terms.code}`))
  },
  preview: async ({ referral }, _request, sql) => {
    const former = (await readReferrals(sql)).find(
      (one) => one.code === referral.code && one.version === referral.version - 1,
    )
    return `${changeInWords(referral, former)}. It counts from block ${referral.fromBlock} on.`
  },
  says: ({ changed, referral: { code, fromBlock } }) =>
    changed ? `Registered: ${code} counts from block ${fromBlock} on.` : 'No change.',
})

/** The effect of a list, previewed or done. */
export interface RegisteredReferrals {
  dryRun: boolean
  /** How many codes the list has. */
  codes: number
  /** How many of them are new or get a new version. */
  changed: number
  /** The first codes, each with what changes for it, in words. */
  first: string[]
}

const CODES_MAX = 1_000
const CODES_CHARS_MAX = 100_000

export const registerReferrals = defineAct({
  path: 'referrals/add',
  scope: 'prices',
  command: 'referrals add',
  summary: 'register the referral codes of a list, all or none',
  details: `Each row of the file is code,payee,commissionBps. A first line of column names (also: note) can give another order. Commas, semicolons or
tabs separate the cells. Omitted terms of a known code stay as they are. If a line is bad, the command shows it and registers nothing.`,
  examples: ['referrals add --file <codes-file> --wait-sec 604800 --yes'],
  fields: {
    rows: field.ofForm<string>(`lines of code,payee,commissionBps, up to ${CODES_MAX}`, {
      schema: { type: 'string', maxLength: CODES_CHARS_MAX },
      value: 'rows',
      otherwise: '',
      form: `lines of code,payee,commissionBps, up to ${CODES_MAX}`,
      parse: (input) => (typeof input === 'string' && input.length <= CODES_CHARS_MAX ? input : undefined),
    }),
    dryRun: field.flag('only show what would change'),
    ...SHARED,
  },
  onChain: true,
  asks: 'Register these codes?',
  change: async (
    changing,
    { rows, dryRun, reason: _, ...common },
    deps: LedgerDb & ChainRead,
  ): Promise<RegisteredReferrals | OperatorRefusal> => {
    const { codes, problems } = await readCodes(rows, ROW, CODES_MAX)
    if (problems.length > 0) return refuseField('invalid', 'rows', `has bad lines. ${problems.join(' ')}`)
    const result = await register(
      changing,
      deps,
      codes.map((one) => ({ ...one, ...common })),
      dryRun,
    )
    if (isOperatorRefusal(result)) return result
    const { before, terms } = result
    const first = terms.slice(0, SHOWN_MAX).map((one) => changeInWords(one, before.get(one.code)))
    const changed = terms.filter((one) => isChanged(one, before.get(one.code))).length
    return { dryRun, codes: codes.length, changed, first }
  },
  preview: (result) => [
    ...result.first,
    ...(result.codes > result.first.length ? [`… and ${result.codes - result.first.length} more`] : []),
    registeredInWords(result),
  ],
  says: registeredInWords,
})

function registeredInWords({ dryRun, codes, changed }: RegisteredReferrals): string {
  return `${dryRun ? 'Would register' : 'Registered'} ${changed}; no change for ${codes - changed}.`
}

/** How many codes a preview shows. */
const SHOWN_MAX = 10
const TERMS = ['payee', 'commissionBps', 'opensAt', 'closesAt', 'waitSec'] as const

const readLatest = async (sql: Sql) => new Map((await readReferrals(sql)).map((one) => [one.code, one]))

/** The terms in which a code differs from its latest version; all terms if it is new. */
const changedTerms = (terms: ReferralTerms, before: ReferralTerms | undefined) =>
  TERMS.filter((name) => before?.[name] !== terms[name])

const isChanged = (terms: ReferralTerms, before: ReferralTerms | undefined) => changedTerms(terms, before).length > 0

function changeInWords(terms: ReferralTerms, before: ReferralTerms | undefined): string {
  const { code, commissionBps, payee, waitSec } = terms
  if (!before) return `${code}: new, ${commissionBps / 100} % to ${payee}, due ${waitSec} s after the mint`
  const shown = (of: ReferralTerms, name: (typeof TERMS)[number]) =>
    name === 'opensAt' || name === 'closesAt' ? (of[name] === null ? '-' : inUtc(of[name])) : of[name]
  const changes = changedTerms(terms, before).map((name) => `${name} ${shown(before, name)} -> ${shown(terms, name)}`)
  return `${code}: ${changes.join(', ') || 'no change'}`
}

/** The terms of a request, over what the code had. */
const over = (
  former: ReferralTerms | undefined,
  { opensAt, closesAt, waitSec, ...terms }: Requested,
): ReferralTerms => ({
  ...terms,
  opensAt: (opensAt ?? former?.opensAt) || null,
  closesAt: (closesAt ?? former?.closesAt) || null,
  waitSec: waitSec ?? former?.waitSec ?? 0,
})
type Requested = Omit<ReferralTerms, 'waitSec'> & { readonly waitSec: number | null }

function refuseTimes(terms: readonly ReferralTerms[]): OperatorRefusal | null {
  const isWrong = terms.some(({ opensAt, closesAt }) => opensAt !== null && closesAt !== null && closesAt <= opensAt)
  return isWrong ? refuseField('invalid', 'closesAt', `must be later than ${fieldNamed('opensAt')}.`) : null
}

interface Registration {
  referrals: RegisteredReferral[]
  /** The latest versions until then, by code. */
  before: ReadonlyMap<string, ReferralVersion>
  /** The terms of each code from then on. */
  terms: ReferralTerms[]
}

/** Gives each code a version with these terms, unless it has them. A dry run only reads. */
async function register(
  { sql, actor, record }: Changing,
  deps: LedgerDb & ChainRead,
  requested: readonly Requested[],
  dryRun = false,
): Promise<Registration | OperatorRefusal> {
  if (!dryRun) await sql`LOCK TABLE referral_codes IN SHARE ROW EXCLUSIVE MODE`
  // This locks the cursor, so that no payment in a later block is stored before these versions.
  const fromBlock = dryRun ? 0 : (await readNow(deps, sql)).number + 1
  const before = await readLatest(sql)
  const terms = requested.map((one) => over(before.get(one.code), one))
  const refusal = refuseTimes(terms)
  if (refusal) return refusal
  if (dryRun) return { referrals: [], before, terms }
  const newTerms = terms.filter((one) => isChanged(one, before.get(one.code)))
  for (const one of newTerms) {
    const former = before.get(one.code)
    const version = (former?.version ?? 0) + 1
    await insertReferral(sql, one, { version, fromBlock, enteredBy: actor.name })
    record({ action: 'referralRegistered', subject: one.code, before: former, after: one })
  }
  const now = await readLatest(sql)
  const referrals = terms.flatMap((one) => {
    const referral = now.get(one.code)
    return referral ? { referral, changed: newTerms.includes(one) } : []
  })
  return { referrals, before, terms }
}
